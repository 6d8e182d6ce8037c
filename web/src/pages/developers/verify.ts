import type { Language } from "../../parts/request";

/** A receiver that verifies the signature of a delivery: without a client by a shell, and with each client. */
export function verifyCode(): Record<Language, string> {
  return {
    curl: `# Sign a body yourself and post it to your endpoint, to test that it verifies.
# WEBHOOK_SECRET is whsec_…
id=test-1; timestamp=$(date +%s); body='{"type":"webhook.test","data":{}}'
key=$(printf %s "\${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \\n')
signature=$(printf %s "$id.$timestamp.$body" |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
curl -sS http://localhost:3000/hook \\
  -H "Content-Type: application/json" \\
  -H "webhook-id: $id" -H "webhook-timestamp: $timestamp" \\
  -H "webhook-signature: v1,$signature" \\
  -d "$body"`,
    typescript: `// npm install @postern/sdk
import { verify, WebhookVerificationError } from "@postern/sdk/webhooks";

export async function POST(request: Request): Promise<Response> {
  try {
    const secret = process.env.WEBHOOK_SECRET!;
    const event = await verify(await request.text(), request.headers, secret);
    if (event.type === "email.bounced") console.log("bounced:", event.data);
    return new Response(null, { status: 204 });
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return new Response(error.message, { status: 401 });
  }
}`,
    python: `# pip install postern-sdk flask
import os

from flask import Flask, request
from postern_sdk import WebhookVerificationError, webhooks

app = Flask(__name__)


@app.post("/hook")
def receive():
    secret = os.environ["WEBHOOK_SECRET"]
    try:
        event = webhooks.verify(request.get_data(), request.headers, secret)
    except WebhookVerificationError as error:
        return str(error), 401
    print(event.type)
    return "", 204`,
  };
}
