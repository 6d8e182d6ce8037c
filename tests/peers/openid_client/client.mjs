// A client of an OpenID provider. Reads its settings from the first line of the standard input, writes the
// authorization URL, reads the URL to which the browser returned, and writes what it got as JSON.
import * as client from "openid-client"
import { createInterface } from "node:readline"

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const read = async () => (await lines.next()).value
const write = (value) => console.log(JSON.stringify(value))

const settings = JSON.parse(await read())
const key = settings.key && (await crypto.subtle.importKey("jwk", settings.key, { name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]))
const authentication = key ? client.PrivateKeyJwt(key) : settings.secret === null ? client.None() : client.ClientSecretBasic(settings.secret)
const options = { execute: [client.allowInsecureRequests], algorithm: settings.oauth2 ? "oauth2" : "oidc" }
const config = await client.discovery(new URL(settings.issuer), settings.clientId, undefined, authentication, options)

const DPoP = settings.dpop ? client.getDPoPHandle(config, await client.randomDPoPKeyPair("ES256")) : undefined
const verifier = client.randomPKCECodeVerifier()
const state = client.randomState()
const nonce = client.randomNonce()
const request = {
  redirect_uri: settings.redirectUri,
  scope: settings.scope,
  code_challenge: await client.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
  state,
  nonce,
  ...settings.extra,
}
const url = settings.pushed
  ? await client.buildAuthorizationUrlWithPAR(config, request, { DPoP })
  : client.buildAuthorizationUrl(config, request)
write({ url: url.href })

const returned = JSON.parse(await read())
const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true, maxAge: 3600 }
const response = returned.form
  ? new Request(settings.redirectUri, { method: "POST", body: new URLSearchParams(returned.form) })
  : new URL(returned.url)
const tokens = await client.authorizationCodeGrant(config, response, checks, undefined, { DPoP })
const claims = tokens.claims()
const userinfo = await client.fetchUserInfo(config, tokens.access_token, claims.sub, { DPoP })
const renewed = await client.refreshTokenGrant(config, tokens.refresh_token, undefined, { DPoP })
const isPublic = settings.secret === null && !key
const introspected = isPublic ? null : await client.tokenIntrospection(config, renewed.access_token)
const machine = isPublic ? null : await client.clientCredentialsGrant(config, {}, { DPoP })
const logout = client.buildEndSessionUrl(config, {
  id_token_hint: renewed.id_token,
  post_logout_redirect_uri: settings.redirectUri,
}).href
await client.tokenRevocation(config, renewed.refresh_token)
const refused = await client.refreshTokenGrant(config, renewed.refresh_token, undefined, { DPoP }).catch((error) => error.error)
write({ type: tokens.token_type, claims, userinfo, introspected, machine: machine?.scope ?? null, logout, refused })
process.exit(0)
