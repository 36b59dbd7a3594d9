// rows: B69 B70 B71
// The flows through version 2 of the official SDK, over Streamable HTTP and over stdio, as a client of each era and as one that asks first.
// usage: node v2.mjs INDX_BINARY VAULT URL TOKEN
import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { facts, finish, readThenPatch, searchThenRead, test, watchThenPatch } from './flows.mjs'

const [binary, vault, url, token] = process.argv.slice(2)

const transports = {
  HTTP: () => new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
  stdio: () => new StdioClientTransport({ command: binary, args: ['mcp', 'serve', '--stdio'], env: { INDX_VAULT: vault }, stderr: 'ignore' })
}
const eras = { legacy: 'legacy', modern: { pin: '2026-07-28' }, auto: 'auto' }

async function withPeer (transport, era, use) {
  const client = new Client({ name: 'sdk-2', version: '2' }, { versionNegotiation: { mode: eras[era] } })
  await client.connect(transport)
  assert.equal(client.getProtocolEra(), era === 'legacy' ? 'legacy' : 'modern')
  const callRaw = (name, args) => client.callTool({ name, arguments: args })
  const peer = {
    callRaw,
    call: async (name, args) => facts(await callRaw(name, args)),
    readText: async uri => (await client.readResource({ uri })).contents[0].text,
    watch: async (uri, onUpdate) => {
      client.setNotificationHandler('notifications/resources/updated', note => onUpdate(note.params.uri))
      if (era === 'legacy') {
        await client.subscribeResource({ uri })
        return () => client.unsubscribeResource({ uri })
      }
      const subscription = await client.listen({ resourceSubscriptions: [uri] })
      return () => subscription.close()
    }
  }
  try { await use(peer) } finally { await client.close() }
}

for (const [name, connect] of Object.entries(transports)) {
  for (const era of Object.keys(eras)) {
    const title = `SDK 2 over ${name}, ${era}`
    await test(`${title}: read, then patch under the etag`, () => withPeer(connect(), era, peer => readThenPatch(peer, `v2/${name} ${era}.md`)))
    await test(`${title}: search, then read all hits at once`, () => withPeer(connect(), era, searchThenRead))
    await test(`${title}: watch a folder, then patch the index`, () => withPeer(connect(), era, peer => watchThenPatch(peer, `v2-${name}-${era}`)))
  }
}
finish()
