// rows: B69 B70 B71
// The flows through version 1 of the official SDK, over Streamable HTTP and over stdio.
// usage: node v1.mjs INDX_BINARY VAULT URL TOKEN
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { facts, finish, readThenPatch, searchThenRead, test, watchThenPatch } from './flows.mjs'

const [binary, vault, url, token] = process.argv.slice(2)

const transports = {
  HTTP: () => new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
  stdio: () => new StdioClientTransport({ command: binary, args: ['mcp', 'serve', '--stdio'], env: { INDX_VAULT: vault }, stderr: 'ignore' })
}

async function withPeer (transport, use) {
  const client = new Client({ name: 'sdk-1', version: '1' })
  await client.connect(transport)
  const callRaw = (name, args) => client.callTool({ name, arguments: args })
  const peer = {
    callRaw,
    call: async (name, args) => facts(await callRaw(name, args)),
    readText: async uri => (await client.readResource({ uri })).contents[0].text,
    watch: async (uri, onUpdate) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, note => onUpdate(note.params.uri))
      await client.subscribeResource({ uri })
      return () => client.unsubscribeResource({ uri })
    }
  }
  try { await use(peer) } finally { await client.close() }
}

for (const [name, connect] of Object.entries(transports)) {
  await test(`SDK 1 over ${name}: read, then patch under the etag`, () => withPeer(connect(), peer => readThenPatch(peer, `v1/${name} Runbook.md`)))
  await test(`SDK 1 over ${name}: search, then read all hits at once`, () => withPeer(connect(), searchThenRead))
  await test(`SDK 1 over ${name}: watch a folder, then patch the index`, () => withPeer(connect(), peer => watchThenPatch(peer, `v1-${name}`)))
}
finish()
