// A client of an OpenID provider. Reads its settings from the first line of the standard input, writes the
// authorization URL, reads the URL to which the browser returned, and writes what it got as JSON.
import * as client from "openid-client"
import { createInterface } from "node:readline"

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const read = async () => (await lines.next()).value
const write = (value) => console.log(JSON.stringify(value))

const settings = JSON.parse(await read())
const authentication = settings.secret === null ? client.None() : client.ClientSecretBasic(settings.secret)
const options = { execute: [client.allowInsecureRequests], algorithm: settings.oauth2 ? "oauth2" : "oidc" }
const config = await client.discovery(new URL(settings.issuer), settings.clientId, undefined, authentication, options)

const verifier = client.randomPKCECodeVerifier()
const state = client.randomState()
const nonce = client.randomNonce()
write({
  url: client.buildAuthorizationUrl(config, {
    redirect_uri: settings.redirectUri,
    scope: settings.scope,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    nonce,
    ...settings.extra,
  }).href,
})

const returned = JSON.parse(await read())
const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true, maxAge: 3600 }
const response = returned.form
  ? new Request(settings.redirectUri, { method: "POST", body: new URLSearchParams(returned.form) })
  : new URL(returned.url)
const tokens = await client.authorizationCodeGrant(config, response, checks)
const claims = tokens.claims()
const userinfo = await client.fetchUserInfo(config, tokens.access_token, claims.sub)
const renewed = await client.refreshTokenGrant(config, tokens.refresh_token)
const introspected = settings.secret === null ? null : await client.tokenIntrospection(config, renewed.access_token)
const machine = settings.secret === null ? null : await client.clientCredentialsGrant(config, {})
const logout = client.buildEndSessionUrl(config, {
  id_token_hint: renewed.id_token,
  post_logout_redirect_uri: settings.redirectUri,
}).href
await client.tokenRevocation(config, renewed.refresh_token)
const refused = await client.refreshTokenGrant(config, renewed.refresh_token).catch((error) => error.error)
write({ claims, userinfo, introspected, machine: machine?.scope ?? null, logout, refused })
process.exit(0)
