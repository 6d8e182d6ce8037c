// Verifies webhook requests: node verify_webhooks.mjs CASES, a JSON file of {body (base64), headers, secret}.
// Prints for each the event's type or the error, and at the end the headers that signWebhook makes.
import { readFileSync } from "node:fs";
import { Postern, verifyWebhook } from "@postern/sdk";
import { signWebhook } from "@postern/sdk/testing";
import { verify, WebhookVerificationError } from "@postern/sdk/webhooks";

const results = [];
for (const { body, headers, secret } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const bytes = Buffer.from(body, "base64");
  const outcomes = await Promise.all(
    [
      verify(bytes, headers, secret),
      verify(new Uint8Array(bytes).buffer, new Headers(headers), secret),
      verifyWebhook(bytes.toString("utf8"), headers, secret),
      new Postern().webhooks.verify(bytes, new Request("http://a.example", { headers }).headers, secret),
    ].map((each) =>
      each.then(
        (event) => `event ${event.type}`,
        (error) => (error instanceof WebhookVerificationError ? `${error.name}: ${error.message}` : `other ${error}`),
      ),
    ),
  );
  results.push([...new Set(outcomes)].join(" / "));
}
const [secret, body] = process.argv.slice(3);
console.log(JSON.stringify({ results, signed: await signWebhook(body, secret, { id: "msg_1" }) }));
