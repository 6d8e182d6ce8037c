import type { OAuthClient } from "@postern/sdk";
import type { Language } from "../../parts/request";
import { DEVICE, isStandardScope } from "./apps.ts";

/** The ways in which a program gets its first token. */
export type Flow = "browser" | "machine" | "device";

/** The ways that an app may use. */
export function flowsOf({ grantTypes }: Pick<OAuthClient, "grantTypes">): Flow[] {
  const flows: [string, Flow][] = [
    ["authorization_code", "browser"],
    ["client_credentials", "machine"],
    [DEVICE, "device"],
  ];
  return flows.filter(([grant]) => grantTypes.includes(grant)).map(([, flow]) => flow);
}

/** A text as one word of a POSIX shell. */
const word = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const text = (value: string) => JSON.stringify(value);

/** The scopes that a program asks for: for itself only permissions, otherwise all that the app may have. */
function scopeOf({ scopes }: OAuthClient, flow: Flow): string {
  return (flow === "machine" ? scopes.filter((each) => !isStandardScope(each)) : scopes).join(" ");
}

/** A program that gets tokens in one of the ways. The secret comes from the environment. */
export function codesOf(app: OAuthClient, flow: Flow): Record<Language, string> {
  return { curl: curlOf(app, flow), typescript: typescriptOf(app, flow), python: pythonOf(app, flow) };
}

function curlOf(app: OAuthClient, flow: Flow): string {
  const { issuer, clientId, redirectUris } = app;
  const isPublic = app.type === "PUBLIC";
  const scope = scopeOf(app, flow);
  const credential = isPublic ? `-d client_id=${clientId}` : `-u "${clientId}:$OAUTH_CLIENT_SECRET"`;
  const scopeLine = scope ? [`  --data-urlencode scope=${word(scope)} \\`] : [];
  const post = (path: string, ...fields: string[]) =>
    [`curl -sS ${word(`${issuer}/oauth/${path}`)} \\`, `  ${credential} \\`, ...fields].join("\n").replace(/ \\$/, "");
  if (flow === "machine") return post("token", ...scopeLine, "  -d grant_type=client_credentials");
  if (flow === "device")
    return `# 1. Show user_code and verification_uri to the customer.
${post("device_authorization", ...scopeLine)}

# 2. Every \`interval\` seconds, until the customer has decided:
${post("token", `  -d grant_type=${DEVICE} \\`, '  -d device_code="$DEVICE_CODE"')}`;
  const redirect = redirectUris[0] ?? "";
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirect,
    scope,
    code_challenge_method: "S256",
  });
  return `# 1. Open the printed URL in a browser. Each sign-in needs a new verifier and a new state.
verifier=$(openssl rand -hex 32); state=$(openssl rand -hex 16)
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d =)
echo ${word(`${issuer}/oauth/authorize?${query}`)}"&state=$state&code_challenge=$challenge"

# 2. The browser comes back with \`code\` and \`state\`. Compare the state, and exchange the code within a minute.
${post(
  "token",
  "  -d grant_type=authorization_code \\",
  `  --data-urlencode redirect_uri=${word(redirect)} \\`,
  '  -d code_verifier="$verifier" -d code="$CODE"',
)}`;
}

function typescriptOf(app: OAuthClient, flow: Flow): string {
  const { issuer, clientId, redirectUris } = app;
  const authentication = app.type === "PUBLIC" ? "undefined, client.None()" : "process.env.OAUTH_CLIENT_SECRET";
  // The library refuses URLs without TLS unless told otherwise.
  const isInsecure = issuer.startsWith("http:");
  const options = isInsecure
    ? `, ${app.type === "PUBLIC" ? "" : "undefined, "}{ execute: [client.allowInsecureRequests] }`
    : "";
  const scope = scopeOf(app, flow);
  const parameters = scope ? `{ scope: ${text(scope)} }` : "{}";
  const start = `// npm install openid-client
import * as client from "openid-client";

const issuer = new URL(${text(issuer)});
const config = await client.discovery(issuer, ${text(clientId)}, ${authentication}${options});
`;
  if (flow === "machine")
    return `${start}
const tokens = await client.clientCredentialsGrant(config, ${parameters});
console.log(tokens.access_token, tokens.expires_in);`;
  if (flow === "device")
    return `${start}
const device = await client.initiateDeviceAuthorization(config, ${parameters});
console.log("Open", device.verification_uri, "and enter", device.user_code);
const tokens = await client.pollDeviceAuthorizationGrant(config, device);
console.log(tokens.claims());`;
  return `${start}
const verifier = client.randomPKCECodeVerifier(); // keep both in the browser's session
const state = client.randomState();
const url = client.buildAuthorizationUrl(config, {
  redirect_uri: ${text(redirectUris[0] ?? "")},
  scope: ${text(scope)},
  state,
  code_challenge: await client.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
});
console.log("Redirect the browser to", url.href);

/** At the redirect URI, with the whole URL of the request. */
export async function signedIn(callbackUrl: string) {
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const tokens = await client.authorizationCodeGrant(config, new URL(callbackUrl), checks);
  return tokens.claims();
}`;
}

function pythonOf(app: OAuthClient, flow: Flow): string {
  const { issuer, clientId, redirectUris } = app;
  const isPublic = app.type === "PUBLIC";
  const scope = scopeOf(app, flow);
  if (flow !== "browser") {
    const credential = isPublic ? "" : `, auth=(${text(clientId)}, os.environ["OAUTH_CLIENT_SECRET"])`;
    const fields = [
      ...(isPublic ? [`"client_id": ${text(clientId)}`] : []),
      ...(scope ? [`"scope": ${text(scope)}`] : []),
    ];
    const start = `# pip install httpx
${[...(isPublic ? [] : ["import os"]), ...(flow === "device" ? ["import time"] : [])].map((each) => `${each}\n`).join("")}
import httpx

issuer = ${text(issuer)}
postern = httpx.Client(base_url=issuer${credential})
`;
    if (flow === "machine")
      return `${start}
form = {${['"grant_type": "client_credentials"', ...fields].join(", ")}}
tokens = postern.post("/oauth/token", data=form).raise_for_status().json()
print(tokens["access_token"], tokens["expires_in"])`;
    return `${start}
device = postern.post("/oauth/device_authorization", data={${fields.join(", ")}}).raise_for_status().json()
print("Open", device["verification_uri"], "and enter", device["user_code"])
form = {
    "grant_type": ${text(DEVICE)},
    "device_code": device["device_code"],${isPublic ? `\n    "client_id": ${text(clientId)},` : ""}
}
while True:
    time.sleep(device["interval"])
    tokens = postern.post("/oauth/token", data=form).json()
    if tokens.get("error") not in ("authorization_pending", "slow_down"):
        break
print(tokens)`;
  }
  return `# pip install authlib httpx
${isPublic ? "" : "import os\n"}import secrets

from authlib.integrations.httpx_client import OAuth2Client
import httpx

issuer = ${text(issuer)}
metadata = httpx.get(f"{issuer}/.well-known/openid-configuration").raise_for_status().json()
client = OAuth2Client(
    ${text(clientId)},
    ${isPublic ? 'token_endpoint_auth_method="none"' : 'os.environ["OAUTH_CLIENT_SECRET"]'},
    scope=${text(scope)},
    redirect_uri=${text(redirectUris[0] ?? "")},
    code_challenge_method="S256",
)
verifier = secrets.token_urlsafe(48)  # keep it with \`state\` in the browser's session
url, state = client.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier)
print("Redirect the browser to", url)


def signed_in(callback_url):
    """At the redirect URI, with the whole URL of the request."""
    client.fetch_token(
        metadata["token_endpoint"], authorization_response=callback_url, code_verifier=verifier, state=state
    )
    return client.get(metadata["userinfo_endpoint"]).raise_for_status().json()`;
}
