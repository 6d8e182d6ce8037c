// An MCP client that knows only the URL of an MCP server. Reads its settings from the first line of the standard input,
// writes the authorization URL, reads the code with which the browser returned, calls a tool, and writes what it got.
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js"
import { createInterface } from "node:readline"

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const read = async () => JSON.parse((await lines.next()).value)
const write = (value) => console.log(JSON.stringify(value))

const settings = await read()
const saved = {}
const provider = {
  redirectUrl: settings.redirectUri,
  clientMetadata: {
    client_name: "Notes in the terminal",
    redirect_uris: [settings.redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  // The URL of the client's metadata, for providers that take it as the id of the client; undefined for none.
  clientMetadataUrl: settings.clientMetadataUrl,
  state: () => "state-of-the-client",
  clientInformation: () => saved.client,
  saveClientInformation: (client) => void (saved.client = client),
  tokens: () => saved.tokens,
  saveTokens: (tokens) => void (saved.tokens = tokens),
  codeVerifier: () => saved.verifier,
  saveCodeVerifier: (verifier) => void (saved.verifier = verifier),
  redirectToAuthorization: (url) => void (saved.url = url.href),
  // Without these, the client discovers everything again when it has the code.
  discoveryState: () => saved.discovery,
  saveDiscoveryState: (state) => void (saved.discovery = state),
}

const connect = async () => {
  const transport = new StreamableHTTPClientTransport(new URL(settings.url), { authProvider: provider })
  const client = new Client({ name: "peer", version: "1.0.0" })
  try {
    await client.connect(transport)
    return { client, transport }
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error
    return { transport }
  }
}

const first = await connect()
write({ url: saved.url, client: saved.client })
const { code } = await read()
await first.transport.finishAuth(code)
const { client } = await connect()
const tools = await client.listTools()
const result = await client.callTool({ name: "whoami", arguments: {} })
write({ tools: tools.tools.map((tool) => tool.name), text: result.content[0].text, tokens: saved.tokens })
process.exit(0)
