// An OpenID provider made of oidc-provider, with one client. Reads the client from the first line of the standard
// input, writes its issuer, and then each logout token that it sends, as lines. The clock of its tokens is the real one.
import { createServer } from "node:http"
import { createInterface } from "node:readline"
import { Provider } from "oidc-provider"

const client = JSON.parse((await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next()).value)
const server = createServer()
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
const provider = new Provider(`http://127.0.0.1:${server.address().port}`, {
  clients: [{ ...client, token_endpoint_auth_method: "client_secret_basic" }],
  scopes: ["openid", "email", "profile"],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
  pkce: { required: () => true },
  features: { backchannelLogout: { enabled: true } },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: id, email_verified: true, name: "Maria", groups: ["staff"] }),
  }),
  cookies: { keys: ["a key of the tests"] },
  // The receiver of logout tokens is no server: the test reads them here and delivers them.
  fetch: async (url, options) => {
    console.log(String(options.body))
    return new Response(null, { status: 200 })
  },
})
server.on("request", provider.callback())
console.log(provider.issuer)
