// rows: B7 B8 B9
// The official SDK connects over Streamable HTTP and over stdio, lists tools, calls one and reads a note.
// usage: node list_tools.mjs INDX_BINARY VAULT URL TOKEN READ_TOKEN
import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const [binary, vault, url, token, readToken] = process.argv.slice(2)
let passed = 0

async function withClient (transport, use) {
  const client = new Client({ name: 'sdk-test', version: '1' })
  await client.connect(transport)
  try { return await use(client) } finally { await client.close() }
}

function http (bearer) {
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${bearer}` } } })
}

async function flow (client) {
  assert.equal(client.getServerVersion().name, 'indx')
  const names = (await client.listTools()).tools.map(tool => tool.name)
  for (const name of ['note_read', 'note_patch', 'vault_search', 'job_get']) assert.ok(names.includes(name), `${name} is not listed`)
  const status = await client.callTool({ name: 'vault_status', arguments: {} })
  assert.ok(status.structuredContent.counts.notes > 0)
  const missing = await client.callTool({ name: 'note_read', arguments: { path: 'no such note.md' } })
  assert.equal(missing.isError, true)
  const page = await client.callTool({ name: 'note_list', arguments: { limit: 1 } })
  const path = page.structuredContent.notes[0].path
  const uri = 'vault://' + path.split('/').map(encodeURIComponent).join('/')
  const note = await client.readResource({ uri })
  assert.ok(note.contents[0].text.length > 0)
  return names
}

async function test (name, run) {
  await run()
  passed++
  console.log(`ok ${name}`)
}

await test('the SDK lists tools, calls one and reads a note over HTTP', () => withClient(http(token), flow))
await test('a read token is not shown the tools that write', () => withClient(http(readToken), async client => {
  const names = (await client.listTools()).tools.map(tool => tool.name)
  assert.ok(names.includes('note_read'))
  assert.ok(!names.includes('note_write') && !names.includes('vault_reindex'))
}))
await test('the SDK lists tools, calls one and reads a note over stdio', () => withClient(
  new StdioClientTransport({ command: binary, args: ['mcp', 'serve', '--stdio'], env: { INDX_VAULT: vault }, stderr: 'ignore' }), flow))
await test('narrower scopes hide tools over stdio', () => withClient(
  new StdioClientTransport({ command: binary, args: ['mcp', 'serve', '--stdio', '--scopes', 'vault:read'], env: { INDX_VAULT: vault }, stderr: 'ignore' }),
  async client => assert.ok(!(await client.listTools()).tools.some(tool => tool.name === 'note_write'))))
console.log(`${passed} passed, 0 failed`)
