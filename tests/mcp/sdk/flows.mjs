// The worked flows of an agent, told once; the files v1.mjs and v2.mjs play them with an SDK each.
// A peer is {call(tool, arguments) -> structuredContent, callRaw(tool, arguments) -> result, watch(uri, onUpdate), readText(uri)}.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** Read, patch under the etag that was read, and get a new one; the old one is refused then. */
export async function readThenPatch (peer, path) {
  await peer.call('note_write', { path, body: '# Runbook\n\n## Steps\n\n- look\n' })
  const read = await peer.call('note_read', { path })
  const ops = [{ op: 'append_to_section', heading: 'Steps', markdown: '- act' }]
  const patched = await peer.call('note_patch', { path, ops, if_match: read.etag })
  assert.notEqual(patched.etag, read.etag)
  const again = await peer.call('note_read', { path })
  assert.equal(again.etag, patched.etag)
  assert.match(again.body, /- look\n- act/)
  const late = await peer.callRaw('note_patch', { path, ops, if_match: read.etag })
  assert.equal(late.isError, true)
  const told = JSON.parse(late.content.find(block => block.type === 'text' && block.text.startsWith('{')).text)
  assert.equal(told.code, 'etag_mismatch')
  assert.equal((await peer.call('note_read', { path })).etag, patched.etag)
}

/** Search, then read all hits at once: each answer is the note that was asked for, through the tool and as a resource. */
export async function searchThenRead (peer) {
  const found = await peer.call('vault_search', { q: 'salt beans', limit: 5 })
  const paths = (found.hits ?? found.results).map(hit => hit.path)
  assert.ok(paths.length > 1)
  const notes = await Promise.all(paths.map(path => peer.call('note_read', { path })))
  assert.deepEqual(notes.map(note => note.path), paths)
  const texts = await Promise.all(paths.map(path => peer.readText('vault://' + path.split('/').map(encodeURIComponent).join('/'))))
  for (let i = 0; i < paths.length; i++) assert.ok(texts[i].includes(notes[i].body), paths[i])
}

/** Watch a folder; when a note of it changes, add a line to the index note. What lies outside is not told. */
export async function watchThenPatch (peer, folder) {
  const index = `${folder}-Index.md`, entry = `${folder}/2026-04-22.md`
  await peer.call('note_write', { path: index, body: '# Index\n' })
  const updates = []
  const stop = await peer.watch(`vault://${folder}/**`, uri => updates.push(uri))
  await peer.call('note_write', { path: `${folder}-elsewhere.md`, body: 'outside' })
  await peer.call('note_write', { path: entry, body: 'Sowed beans.' })
  for (let waited = 0; waited < 10000 && !updates.includes(`vault://${entry}`); waited += 50) await sleep(50)
  assert.ok(updates.includes(`vault://${entry}`), `no update of ${entry}: ${updates}`)
  const ops = [{ op: 'append_body', markdown: `- [[${entry}]]` }]
  await peer.call('note_patch', { path: index, ops, if_match: (await peer.call('note_read', { path: index })).etag })
  assert.ok((await peer.call('note_read', { path: index })).body.includes(entry))
  await stop()
  const told = updates.length
  await peer.call('note_write', { path: entry, body: 'Sowed peas.' })
  await sleep(1500)
  assert.equal(updates.length, told, 'told after the end of the watch')
  assert.ok(updates.every(uri => uri.startsWith(`vault://${folder}/`)), `told of notes outside: ${updates}`)
}

let passed = 0; let failed = 0
export async function test (name, run) {
  try {
    await run()
    passed++
    console.log(`ok ${name}`)
  } catch (error) {
    failed++
    console.log(`FAIL ${name}: ${error.message}`)
  }
}
export function finish () {
  console.log(`${passed} passed, ${failed} failed`)
  process.exit(failed ? 1 : 0)
}

/** Structured content of a result that went well. */
export function facts (result) {
  assert.ok(!result.isError, JSON.stringify(result.content))
  return result.structuredContent
}
