// Generic checks for any MCP server. See README.md for the environment variables.
import { spawn } from 'node:child_process';
import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as T from '@modelcontextprotocol/sdk/types.js';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
const addFormats = addFormatsModule.default ?? addFormatsModule;

// ------------------------------------------------------------------ parameters
const env = process.env;
const URL_ = env.URL || '';
const TOKEN = env.TOKEN || '';
const READ_TOKEN = env.READ_TOKEN || '';        // a token of smaller scope, optional
const STDIO = env.STDIO ? JSON.parse(env.STDIO) : null; // ["cmd","arg",...]
const ERA = env.ERA || 'auto';                  // legacy | modern | auto
const ONLY = env.ONLY ? new RegExp(env.ONLY) : null;
const STRICT = env.STRICT === '1';              // warnings count as failures
const T_REQ = Number(env.TIMEOUT_MS || 15000);
const J = (s, d) => (s ? JSON.parse(s) : d);
const TOOL = env.TOOL || '', TOOL_ARGS = J(env.TOOL_ARGS, {});
const SLOW = env.SLOW_TOOL || '', SLOW_ARGS = J(env.SLOW_ARGS, {});       // runs >= 3 s, sends progress
const PROG = env.PROGRESS_TOOL || SLOW, PROG_ARGS = J(env.PROGRESS_ARGS, SLOW_ARGS);
const BAD_ARGS = env.TOOL_BAD_ARGS ? JSON.parse(env.TOOL_BAD_ARGS) : null; // invalid arguments for TOOL
const TASK_TOOL = env.TASK_TOOL || '', TASK_ARGS = J(env.TASK_ARGS, {});
const SUB_URI = env.SUBSCRIBE_URI || '';
const TRIGGER = env.TRIGGER_TOOL || '', TRIGGER_ARGS = J(env.TRIGGER_ARGS, {}); // makes SUB_URI change
const TRIGGER_MS = Number(env.TRIGGER_MS || 8000);
const READ_MAX = Number(env.READ_MAX || 5);
const PROMPT_ARGS = J(env.PROMPT_ARGS, {});     // {promptName:{arg:value}}
const LATEST = '2025-11-25', MODERN = '2026-07-28';
const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', LATEST];
const NS = 'io.modelcontextprotocol/';

// ------------------------------------------------------------------ reporting
let passed = 0, failed = 0, skipped = 0, warned = 0;
const one = s => String(s).replace(/\s+/g, ' ').slice(0, 400);
const ok = n => { passed++; console.log(`ok ${n}`); };
const bad = (n, r) => { failed++; console.log(`FAIL ${n} ${one(r)}`); };
const warn = (n, r) => { if (STRICT) return bad(n, r); warned++; console.log(`warn ${n} ${one(r)}`); };
const skip = (n, r) => { skipped++; console.log(`skip ${n} ${one(r)}`); };
class Skip extends Error {}
class Warn extends Error {}
const assert = (c, m) => { if (!c) throw new Error(m); };
async function check(name, fn) {
  if (ONLY && !ONLY.test(name)) return;
  try { await withTimeout(fn(), 90000, 'check hung for 90 s'); ok(name); }
  catch (e) {
    if (e instanceof Skip) skip(name, e.message);
    else if (e instanceof Warn) warn(name, e.message);
    else bad(name, e?.message ?? e);
  }
}
function withTimeout(p, ms, msg) {
  let t; const lim = new Promise((_, r) => { t = setTimeout(() => r(new Error(msg)), ms); });
  return Promise.race([p, lim]).finally(() => clearTimeout(t));
}
const short = v => { const s = typeof v === 'string' ? v : JSON.stringify(v); return s?.length > 160 ? s.slice(0, 160) + '…' : s; };

// ------------------------------------------------------------------ raw HTTP
const authHeader = t => (t ? { authorization: `Bearer ${t}` } : {});
function headersFor(o = {}) {
  const h = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...authHeader(o.token === undefined ? TOKEN : o.token) };
  if (o.session) h['mcp-session-id'] = o.session;
  if (o.version) h['mcp-protocol-version'] = o.version;
  for (const [k, v] of Object.entries(o.headers || {})) { if (v === null) delete h[k.toLowerCase()]; else h[k.toLowerCase()] = v; }
  return h;
}
// One SSE parser, spec rules: CR, LF or CRLF line ends; comments ignored; multi-line data joined.
async function* sse(body) {
  const dec = new TextDecoder('utf-8', { fatal: true });
  let buf = '', ev = { data: [] , comments: 0 };
  const flush = () => { const e = { id: ev.id, event: ev.event, retry: ev.retry, data: ev.data.join('\n'), has: ev.data.length > 0 || ev.id !== undefined || ev.retry !== undefined }; ev = { data: [] }; return e; };
  for await (const chunk of body) {
    buf += dec.decode(chunk, { stream: true });
    for (;;) {
      const m = /\r\n|\n|\r(?!$)/.exec(buf);
      if (!m) break;
      const line = buf.slice(0, m.index); buf = buf.slice(m.index + m[0].length);
      if (line === '') { const e = flush(); if (e.has) yield e; continue; }
      if (line[0] === ':') continue;
      const i = line.indexOf(':'); const f = i < 0 ? line : line.slice(0, i); let v = i < 0 ? '' : line.slice(i + 1); if (v[0] === ' ') v = v.slice(1);
      if (f === 'data') ev.data.push(v); else if (f === 'id') ev.id = v; else if (f === 'event') ev.event = v; else if (f === 'retry') ev.retry = Number(v);
    }
  }
}
// POST; for an SSE answer reads until the response for `id` came and the stream ended (or 2 s passed).
async function post(body, o = {}) {
  const ac = new AbortController();
  const timer = setTimeout(() => ac.abort(new Error(`no answer in ${o.ms || T_REQ} ms`)), o.ms || T_REQ);
  try {
    const res = await fetch(o.url || URL_, { method: 'POST', headers: headersFor(o), body: typeof body === 'string' ? body : JSON.stringify(body), signal: ac.signal, redirect: 'manual' });
    const out = { status: res.status, headers: res.headers, type: (res.headers.get('content-type') || '').split(';')[0].trim(), msgs: [], events: [], json: undefined, text: '', closed: false };
    if (out.type === 'text/event-stream') {
      const id = body?.id; const it = sse(res.body);
      const rd = (async () => { for await (const e of it) { out.events.push(e); if (e.data) { const m = JSON.parse(e.data); out.msgs.push(m); o.onMessage?.(m, e); if (m.id === id && (m.result !== undefined || m.error)) { out.json = m; return 'got'; } } } out.closed = true; return 'end'; })();
      await rd;
      if (!out.closed) { const r = await Promise.race([(async () => { for await (const e of it) { out.events.push(e); if (e.data) out.msgs.push(JSON.parse(e.data)); } return true; })().catch(() => false), sleep(2000, false, { ref: false })]); out.closed = r === true; }
    } else {
      out.text = await res.text();
      if (out.text) try { out.json = JSON.parse(out.text); } catch { /* not JSON */ }
      if (out.json && !Array.isArray(out.json)) out.msgs.push(out.json);
    }
    return out;
  } finally { clearTimeout(timer); ac.abort(); }
}
// Host/Origin need node:http, as fetch may own those headers.
function rawRequest(method, headers, body) {
  return new Promise((resolve, reject) => {
    const u = new URL(URL_); const lib = u.protocol === 'https:' ? https : http;
    const r = lib.request({ hostname: u.hostname.replace(/^\[|\]$/g, ''), port: u.port, path: u.pathname + u.search, method, headers, timeout: T_REQ }, res => {
      let s = ''; const done = () => resolve({ status: res.statusCode, headers: res.headers, text: s });
      if ((res.headers['content-type'] || '').includes('event-stream')) { res.destroy(); return resolve({ status: res.statusCode, headers: res.headers, text: '' }); }
      res.on('data', d => (s += d)); res.on('end', done); res.on('error', reject);
    });
    r.on('error', reject); r.on('timeout', () => r.destroy(new Error('timeout')));
    r.end(body);
  });
}
const clientInfo = { name: 'mcp-check', version: '1.0.0' };
const initBody = (v = LATEST, caps = {}) => ({ jsonrpc: '2.0', id: 'init', method: 'initialize', params: { protocolVersion: v, capabilities: caps, clientInfo } });
const req = (id, method, params) => ({ jsonrpc: '2.0', id, method, ...(params !== undefined ? { params } : {}) });
const note = (method, params) => ({ jsonrpc: '2.0', method, ...(params !== undefined ? { params } : {}) });
const sessions = new Set();
async function open(v = LATEST, o = {}) {
  const r = await post(initBody(v, o.caps), { token: o.token });
  assert(r.status === 200 && r.json?.result, `initialize answered ${r.status} ${short(r.json ?? r.text)}`);
  const s = { id: r.headers.get('mcp-session-id') || '', version: r.json.result.protocolVersion, result: r.json.result, token: o.token };
  const n = await post(note('notifications/initialized'), { session: s.id, version: s.version, token: o.token });
  s.noteStatus = n.status; s.noteText = n.text;
  s.call = (id, method, params, x = {}) => post(req(id, method, params), { session: s.id, version: s.version, token: o.token, ...x });
  s.note = (method, params) => post(note(method, params), { session: s.id, version: s.version, token: o.token });
  s.close = async () => s.id ? fetch(URL_, { method: 'DELETE', headers: headersFor({ session: s.id, version: s.version, token: o.token }) }).then(async r => { await r.arrayBuffer(); sessions.delete(s); return r.status; }) : 0;
  sessions.add(s);
  return s;
}
const code = r => r.json?.error?.code;

// ------------------------------------------------------------------ JSON Schema
const ajvOpts = { strict: false, allErrors: false, validateFormats: true };
function compile(schema) {
  const d7 = typeof schema?.$schema === 'string' && /draft-0[4-7]/.test(schema.$schema);
  const a = d7 ? new Ajv(ajvOpts) : new Ajv2020(ajvOpts); addFormats(a);
  return a.compile(schema);
}
const NAME_STRICT = /^[a-zA-Z0-9_-]{1,64}$/, PROP_STRICT = /^[a-zA-Z0-9_.-]{1,64}$/;
// Problems that real model hosts reject (E) or drop/mangle (W).
function portability(schema, kind) {
  const out = []; let nodes = 0; const put = (lv, p, m) => out.push([lv, `${kind}${p}: ${m}`]);
  if (kind === 'inputSchema') {
    if (schema.type !== 'object') put('E', '', 'root type is not "object"');
    for (const k of ['oneOf', 'anyOf', 'allOf', 'not', 'enum', '$ref', 'if']) if (k in schema) put('E', '', `root keyword ${k}`);
    if (!schema.properties) put('W', '', 'no properties key at root');
  }
  const walk = (n, p, d) => {
    nodes++;
    if (typeof n === 'boolean') return put('E', p, `boolean schema ${n}`);
    if (!n || typeof n !== 'object' || Array.isArray(n)) return put('E', p, 'not a schema object');
    if (d > 10) put('W', p, 'nesting deeper than 10');
    const t = n.type;
    if (Array.isArray(t)) put('W', p, `type is an array ${JSON.stringify(t)}`);
    if (t === 'array' && !('items' in n) && !('prefixItems' in n)) put(kind === 'inputSchema' ? 'E' : 'W', p, 'array without items');
    if (Array.isArray(n.items)) put('E', p, 'items is an array (draft-07 tuple)');
    if (n.$ref !== undefined) { if (!String(n.$ref).startsWith('#')) put('E', p, `remote $ref ${n.$ref}`); else put('W', p, `$ref ${n.$ref}`); }
    if (t === undefined && !['$ref', 'anyOf', 'oneOf', 'allOf', 'const', 'enum', 'not'].some(k => k in n)) put('W', p, 'no type');
    if ('const' in n) put('W', p, 'const');
    if ('oneOf' in n) put('W', p, 'oneOf');
    if (Array.isArray(n.enum) && n.enum.some(x => typeof x !== 'string')) put('W', p, 'enum with non-string values');
    for (const k of ['patternProperties', 'if', 'not', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties', 'propertyNames', 'contains']) if (k in n) put('W', p, k);
    if (typeof n.pattern === 'string' && /\(\?[=!<]|\\p\{|\\[1-9]/.test(n.pattern)) put('W', p, 'pattern uses lookaround, \\p{} or backreference');
    if (n.format && !['date-time', 'date', 'time', 'email', 'uri', 'uuid', 'int32', 'int64', 'float', 'double', 'byte', 'hostname', 'ipv4', 'ipv6', 'regex', 'uri-reference', 'duration'].includes(n.format)) put('W', p, `format ${n.format}`);
    for (const [k, v] of Object.entries(n.properties || {})) { if (!PROP_STRICT.test(k)) put('E', `${p}.${k}`, 'property name outside [A-Za-z0-9_.-]{1,64}'); walk(v, `${p}.${k}`, d + 1); }
    for (const k of n.required || []) if (n.properties && !(k in n.properties)) put('E', p, `required lists ${k} which is no property`);
    for (const k of ['$defs', 'definitions', 'patternProperties']) for (const [a, v] of Object.entries(n[k] || {})) walk(v, `${p}.${k}.${a}`, d + 1);
    for (const k of ['items', 'additionalProperties', 'not', 'if', 'then', 'else']) if (n[k] !== undefined && typeof n[k] === 'object' && !Array.isArray(n[k])) walk(n[k], `${p}.${k}`, d + 1);
    for (const k of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) (n[k] || []).forEach((v, i) => walk(v, `${p}.${k}[${i}]`, d + 1));
  };
  walk(schema, '', 0);
  return { out, nodes };
}
function checkContent(list, where) {
  assert(Array.isArray(list), `${where}: content is no array`);
  for (const c of list) {
    assert(['text', 'image', 'audio', 'resource', 'resource_link'].includes(c.type), `${where}: content type ${c.type}`);
    if (c.type === 'text') assert(typeof c.text === 'string', `${where}: text missing`);
    if (c.type === 'image' || c.type === 'audio') { assert(c.mimeType, `${where}: mimeType missing`); assert(isB64(c.data), `${where}: data not base64`); }
    if (c.type === 'resource') assert(c.resource?.uri && (typeof c.resource.text === 'string' || isB64(c.resource.blob)), `${where}: bad embedded resource`);
    if (c.type === 'resource_link') assert(c.uri && c.name, `${where}: resource_link needs uri and name`);
  }
}
const isB64 = s => typeof s === 'string' && s.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(s);
async function pages(fn, key) {
  const all = []; let cursor, n = 0; const seen = new Set();
  do {
    const r = await fn(cursor); all.push(...r[key]); cursor = r.nextCursor; n++;
    if (cursor !== undefined) { assert(!seen.has(cursor), `cursor repeats after ${n} pages`); seen.add(cursor); }
    assert(n < 500, 'more than 500 pages');
  } while (cursor !== undefined);
  return { all, n };
}

// ================================================================== legacy era, wire level
let info = null; // result of initialize
async function legacyWire() {
  if (TOKEN) {
    await check('auth.missing-token-401', async () => {
      const r = await post(initBody(), { token: '' });
      assert(r.status === 401, `status ${r.status}`);
      const w = r.headers.get('www-authenticate') || '';
      assert(/^Bearer\b/i.test(w), `WWW-Authenticate is ${w || 'absent'}`);
    });
    await check('auth.bad-token-401', async () => { const r = await post(initBody(), { token: 'wrong-' + TOKEN.slice(0, 3) }); assert(r.status === 401, `status ${r.status}`); });
    await check('auth.token-in-query-refused', async () => {
      const u = new URL(URL_); u.searchParams.set('access_token', TOKEN); u.searchParams.set('token', TOKEN);
      const r = await post(initBody(), { token: '', url: u.href }); assert(r.status === 401, `status ${r.status}`);
    });
    await check('auth.scheme-case-insensitive', async () => { const r = await post(initBody(), { token: '', headers: { authorization: `bearer ${TOKEN}` } }); if (r.status !== 200) throw new Warn(`status ${r.status} for lower-case scheme`); });
    await check('auth.resource-metadata-hint', async () => { const r = await post(initBody(), { token: '' }); const w = r.headers.get('www-authenticate') || ''; if (!/resource_metadata=/.test(w)) throw new Warn('no resource_metadata in WWW-Authenticate (needed only with an OAuth authorization server)'); });
  } else skip('auth.*', 'TOKEN not set');

  for (const v of LEGACY) await check(`init.version-${v}`, async () => {
    const s = await open(v); info ??= s.result; await s.close();
    assert(LEGACY.includes(s.version), `answered ${s.version}`);
    if (s.version !== v) throw new Warn(`asked ${v}, got ${s.version}`);
  });
  await check('init.unknown-version-negotiated', async () => {
    const r = await post(initBody('1999-01-01'));
    if (r.json?.error) { assert(r.json.error.code === -32602, `error code ${r.json.error.code}`); throw new Warn('error instead of offering another version'); }
    assert(LEGACY.includes(r.json?.result?.protocolVersion), `answered ${short(r.json ?? r.text)}`);
    const sid = r.headers.get('mcp-session-id'); if (sid) await fetch(URL_, { method: 'DELETE', headers: headersFor({ session: sid }) });
  });
  await check('init.result-shape', async () => {
    const s = await open(); info = s.result; await s.close();
    assert(info.serverInfo?.name && info.serverInfo?.version, 'serverInfo lacks name or version');
    assert(info.capabilities && typeof info.capabilities === 'object', 'no capabilities');
    if (!info.instructions) throw new Warn('no instructions');
  });
  await check('init.missing-params-refused', async () => { const r = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }); assert(r.json?.error || r.status >= 400, `accepted: ${short(r.json)}`); });
  await check('session.id-format', async () => {
    const a = await open(), b = await open();
    try {
      if (!a.id) throw new Skip('server is stateless (no session id)');
      assert(/^[\x21-\x7e]+$/.test(a.id), 'not visible ASCII'); assert(a.id !== b.id, 'two sessions share an id'); assert(a.id.length >= 16, `only ${a.id.length} characters`);
    } finally { await a.close(); await b.close(); }
  });
  const s = await open().catch(e => { bad('session.open', e.message); return null; });
  if (!s) return;
  await check('notify.initialized-202', async () => { assert(s.noteStatus === 202, `status ${s.noteStatus}`); assert(s.noteText === '', `body ${short(s.noteText)}`); });
  await check('notify.unknown-202', async () => { const r = await s.note('notifications/nobody_knows_this', { a: 1 }); assert(r.status === 202 && r.text === '', `status ${r.status} body ${short(r.text)}`); });
  await check('notify.client-response-202', async () => { const r = await post({ jsonrpc: '2.0', id: 'never-sent', result: {} }, { session: s.id, version: s.version }); assert(r.status === 202 || (r.status >= 400 && r.status < 500), `status ${r.status}`); });
  await check('ping', async () => { const r = await s.call(1, 'ping'); assert(r.json?.result && Object.keys(r.json.result).filter(k => k !== '_meta').length === 0, short(r.json ?? r.text)); });
  await check('ids.zero-string-negative-big', async () => {
    for (const id of [0, '', '1', 'ключ-🎉', -5, 2 ** 53 - 1, 'x'.repeat(500)]) { const r = await s.call(id, 'ping'); assert(r.json && r.json.id === id, `id ${short(id)} came back as ${short(r.json?.id ?? r.json ?? r.text)}`); }
  });
  await check('rpc.method-not-found', async () => { const r = await s.call(2, 'no/such/method', {}); assert(code(r) === -32601, `${r.status} ${short(r.json ?? r.text)}`); });
  await check('rpc.parse-error', async () => { const r = await post('{"jsonrpc":"2.0","id":1,"method":', { session: s.id, version: s.version }); assert(r.status === 400, `status ${r.status}`); assert(code(r) === -32700, `code ${code(r)}`); });
  await check('rpc.invalid-utf8', async () => {
    const buf = Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"'), Buffer.from([0xff, 0xfe, 0xc3]), Buffer.from('"}}')]);
    const r = await rawRequest('POST', { ...headersFor({ session: s.id, version: s.version }), 'content-length': buf.length }, buf); assert(r.status < 500, `status ${r.status}`);
  });
  for (const [n, b] of [['no-jsonrpc', { id: 1, method: 'ping' }], ['jsonrpc-1.0', { jsonrpc: '1.0', id: 1, method: 'ping' }], ['id-null', { jsonrpc: '2.0', id: null, method: 'ping' }], ['id-object', { jsonrpc: '2.0', id: {}, method: 'ping' }], ['no-method', { jsonrpc: '2.0', id: 1 }], ['scalar', 7]])
    await check(`rpc.invalid-${n}`, async () => { const r = await post(JSON.stringify(b), { session: s.id, version: s.version }); assert(r.status >= 400 && r.status < 500 || r.json?.error, `accepted: ${r.status} ${short(r.json ?? r.text)}`); assert(r.json?.result === undefined, 'a result came back'); if (r.json?.error && ![-32600, -32700].includes(code(r))) throw new Warn(`code ${code(r)}, expected -32600`); });
  await check('rpc.deep-json-refused-or-served', async () => { const r = await post(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":${'['.repeat(20000)}${']'.repeat(20000)}}}`, { session: s.id, version: s.version }); assert(r.status < 500, `status ${r.status}`); });
  await check('batch.refused-since-2025-06-18', async () => { const r = await post(JSON.stringify([req(1, 'ping'), req(2, 'ping')]), { session: s.id, version: s.version }); if (r.status === 200) throw new Warn('array body accepted although the version has no batching'); assert(r.status === 400, `status ${r.status}`); });
  await check('batch.accepted-in-2025-03-26', async () => {
    const b = await open('2025-03-26'); if (b.version !== '2025-03-26') { await b.close(); throw new Skip('version not offered'); }
    const r = await post(JSON.stringify([req(1, 'ping'), note('notifications/x'), req(2, 'ping')]), { session: b.id, ms: 6000 }).catch(e => ({ status: 0, text: e.message })); await b.close();
    const got = Array.isArray(r.json) ? r.json : r.msgs?.flat() ?? [];
    if (r.status !== 200 || got.length < 2) throw new Warn(`2025-03-26 says receivers MUST support batches; got ${r.status} ${short(r.text)}`);
  });
  await check('session.header-missing-400', async () => { if (!s.id) throw new Skip('stateless'); const r = await post(req(1, 'ping'), { version: s.version }); assert(r.status === 400, `status ${r.status}`); });
  await check('session.unknown-404', async () => { if (!s.id) throw new Skip('stateless'); const r = await post(req(1, 'ping'), { session: 'no-such-session-0123456789', version: s.version }); assert(r.status === 404, `status ${r.status}`); });
  await check('session.unknown-get-404', async () => { if (!s.id) throw new Skip('stateless'); const r = await rawRequest('GET', headersFor({ session: 'no-such-session-0123456789', version: s.version, headers: { accept: 'text/event-stream', 'content-type': null } })); assert([404, 405].includes(r.status), `status ${r.status}`); });
  await check('session.same-id-twice-in-flight', async () => { const [a, b] = await Promise.all([s.call(77, 'ping'), s.call(77, 'ping')]); assert(a.status < 500 && b.status < 500, `${a.status}/${b.status}`); });
  await check('session.second-initialize-refused', async () => { if (!s.id) throw new Skip('stateless'); const r = await post(initBody(), { session: s.id, version: s.version }); if (r.json?.result) throw new Warn('a second initialize inside a session was accepted'); assert(r.status < 500, `status ${r.status}`); });
  await check('header.version-bogus-400', async () => { const r = await s.call(1, 'ping', undefined, { version: '1999-01-01' }); assert(r.status === 400, `status ${r.status}`); });
  await check('header.version-missing-ok', async () => { const r = await s.call(1, 'ping', undefined, { version: '' }); assert(r.status === 200, `status ${r.status}`); });
  await check('header.accept-unusable-406', async () => { const r = await s.call(1, 'ping', undefined, { headers: { accept: 'text/plain' } }); assert([400, 406].includes(r.status), `status ${r.status}`); });
  for (const a of ['*/*', 'application/json', 'text/event-stream', 'text/event-stream;q=0.9, application/json'])
    await check(`header.accept-lenient ${a}`, async () => { const r = await s.call(1, 'ping', undefined, { headers: { accept: a } }); if (r.status !== 200) throw new Warn(`status ${r.status} (allowed, yet real clients send this)`); assert(a.includes('*') || a.includes(r.type), `answered ${r.type} although only ${a} was acceptable`); });
  await check('header.content-type-wrong-415', async () => { const r = await s.call(1, 'ping', undefined, { headers: { 'content-type': 'text/plain' } }); assert([400, 415].includes(r.status), `status ${r.status}`); });
  await check('header.content-type-charset-ok', async () => { const r = await s.call(1, 'ping', undefined, { headers: { 'content-type': 'application/json; charset=utf-8' } }); assert(r.status === 200, `status ${r.status}`); });
  const probe = JSON.stringify(initBody());
  for (const o of ['http://evil.example', 'https://evil.example:8080', 'http://localhost.evil.example', 'http://127.0.0.1.evil.example', 'null'])
    await check(`origin.refused ${o}`, async () => { const r = await rawRequest('POST', { ...headersFor(), origin: o, 'content-length': Buffer.byteLength(probe) }, probe); assert(r.status === 403, `status ${r.status}`); if (r.headers['access-control-allow-origin'] === '*') throw new Warn('Access-Control-Allow-Origin: * on a refusal'); });
  await check('origin.refused-on-get', async () => { const r = await rawRequest('GET', { ...headersFor({ session: s.id, version: s.version, headers: { accept: 'text/event-stream', 'content-type': null } }), origin: 'http://evil.example' }); assert([403, 405].includes(r.status), `status ${r.status}`); });
  await check('host.rebinding-refused', async () => { const r = await rawRequest('POST', { ...headersFor(), host: 'evil.example', origin: 'http://evil.example', 'content-length': Buffer.byteLength(probe) }, probe); assert(r.status >= 400 && r.status < 500, `status ${r.status}`); });
  await check('host.rebinding-refused-without-origin', async () => { const r = await rawRequest('POST', { ...headersFor(), host: 'evil.example', 'content-length': Buffer.byteLength(probe) }, probe); if (r.status < 400) throw new Warn(`foreign Host served (${r.status})`); });
  await check('http.method-405', async () => { for (const m of ['PUT', 'PATCH']) { const r = await rawRequest(m, { ...headersFor({ session: s.id }), 'content-length': 2 }, '{}'); assert([404, 405].includes(r.status), `${m} ${r.status}`); } });
  await check('http.get-sse-or-405', async () => {
    const ac = new AbortController(); const r = await fetch(URL_, { headers: headersFor({ session: s.id, version: s.version, headers: { accept: 'text/event-stream', 'content-type': null } }), signal: ac.signal });
    const t = r.headers.get('content-type') || ''; ac.abort();
    assert(r.status === 405 || (r.status === 200 && t.startsWith('text/event-stream')), `status ${r.status} type ${t}`);
    if (r.status === 200) { if (!/no-cache|no-store/.test(r.headers.get('cache-control') || '')) throw new Warn('SSE without Cache-Control: no-cache'); if (!/no/i.test(r.headers.get('x-accel-buffering') || '')) throw new Warn('SSE without X-Accel-Buffering: no'); }
  });
  await check('http.get-wrong-accept', async () => { const r = await rawRequest('GET', headersFor({ session: s.id, version: s.version, headers: { accept: 'application/json', 'content-type': null } })); assert([400, 405, 406].includes(r.status), `status ${r.status}`); });
  await check('http.large-request-ok', async () => { const r = await s.call(1, 'ping', { _meta: { pad: 'x'.repeat(300000) } }); assert(r.status === 200, `status ${r.status} for a 300 kB request`); });
  await check('http.oversized-request-refused', async () => { const mb = Number(env.OVERSIZE_MB || 0); if (!mb) throw new Skip('OVERSIZE_MB not set'); let st; try { st = (await s.call(1, 'ping', { _meta: { pad: 'x'.repeat(mb << 20) } }, { ms: 60000 })).status; } catch (e) { st = 'connection closed'; } assert(st === 413 || st === 400 || st === 'connection closed', `status ${st}`); const r = await s.call(2, 'ping'); assert(r.status === 200, 'server not well afterwards'); });

  await check('concurrent.same-ids-two-sessions', async () => {
    const a = await open(), b = await open(); const jobs = [];
    for (let i = 1; i <= 12; i++) for (const [w, x] of [['a', a], ['b', b]]) { const m = (i + (w === 'b')) % 2 ? 'ping' : 'tools/list'; jobs.push(x.call(i, m, {}).then(r => ({ i, w, m, r }))); }
    for (const { i, w, m, r } of await Promise.all(jobs)) { assert(r.status === 200 && r.json?.id === i, `${w}/${i} ${m}: ${r.status} ${short(r.json ?? r.text)}`); if (info?.capabilities?.tools) assert(m === 'ping' ? r.json.result.tools === undefined : Array.isArray(r.json.result?.tools), `${w}/${i}: answer belongs to another request`); assert(r.msgs.filter(x => x.id !== undefined).length === 1, 'more than one response on a stream'); }
    await a.close(); await b.close();
  });
  await check('concurrent.30-in-one-session', async () => { const rs = await Promise.all(Array.from({ length: 30 }, (_, i) => s.call(`c${i}`, i % 3 ? 'ping' : 'tools/list', {}))); rs.forEach((r, i) => assert(r.json?.id === `c${i}`, `c${i}: ${r.status} ${short(r.json ?? r.text)}`)); });
  await check('sse.stream-ends-after-response', async () => { const r = await s.call('e', 'tools/list', {}); if (r.type !== 'text/event-stream') throw new Skip('answered as JSON'); assert(r.closed, 'stream stayed open 2 s after the response'); });

  if (PROG) for (const tok of ['tok-ü-1', 0, 7]) await check(`progress.token ${JSON.stringify(tok)}`, async () => {
    const seen = []; const r = await s.call(`p${tok}`, 'tools/call', { name: PROG, arguments: PROG_ARGS, _meta: { progressToken: tok } }, { ms: 60000, onMessage: m => { if (m.method === 'notifications/progress') seen.push(m.params); } });
    assert(r.json?.result && !r.json.result.isError, short(r.json ?? r.text)); assert(seen.length > 0, 'no progress arrived on the response stream');
    let last = -Infinity; for (const p of seen) { assert(p.progressToken === tok, `token came back as ${JSON.stringify(p.progressToken)}`); assert(typeof p.progress === 'number' && p.progress > last, `progress ${p.progress} after ${last}`); last = p.progress; if (p.total !== undefined) assert(p.progress <= p.total + 1e-9, `progress ${p.progress} above total ${p.total}`); }
    const after = r.msgs.slice(r.msgs.findIndex(m => m.id !== undefined) + 1).filter(m => m.method === 'notifications/progress'); assert(!after.length, 'progress after the response');
  }); else skip('progress.*', 'PROGRESS_TOOL not set');
  await check('progress.none-without-token', async () => { if (!PROG) throw new Skip('PROGRESS_TOOL not set'); const r = await s.call('np', 'tools/call', { name: PROG, arguments: PROG_ARGS }, { ms: 60000 }); assert(!r.msgs.some(m => m.method === 'notifications/progress'), 'progress sent without a token'); });

  await check('cancel.in-flight', async () => {
    if (!SLOW) throw new Skip('SLOW_TOOL not set');
    const t0 = Date.now(); let done = null;
    const p = s.call('slow1', 'tools/call', { name: SLOW, arguments: SLOW_ARGS }, { ms: 60000 }).then(r => (done = { r, t: Date.now() - t0 }), e => (done = { e, t: Date.now() - t0 }));
    await sleep(500); if (done) throw new Skip(`SLOW_TOOL ended in ${done.t} ms`);
    const c = await s.note('notifications/cancelled', { requestId: 'slow1', reason: 'check' }); assert(c.status === 202, `cancel answered ${c.status}`);
    const q = Date.now(); const r2 = await s.call('after', 'ping'); assert(r2.status === 200 && Date.now() - q < 2000, 'server busy after cancel');
    await Promise.race([p, sleep(4000)]);
    if (done?.r?.json) throw new Warn(`a response still came after cancellation: ${short(done.r.json)}`);
    if (!done) throw new Warn('the cancelled request’s HTTP exchange stayed open 4 s');
  });
  await check('cancel.unknown-and-malformed-ignored', async () => { for (const p of [{ requestId: 'nope' }, { requestId: 12345 }, {}, undefined]) { const r = await s.note('notifications/cancelled', p); assert(r.status === 202 || r.status === 400, `status ${r.status}`); } assert((await s.call(5, 'ping')).status === 200, 'not well afterwards'); });
  await check('cancel.other-session-cannot', async () => {
    if (!SLOW) throw new Skip('SLOW_TOOL not set'); const b = await open(); let got = null;
    const p = s.call('x1', 'tools/call', { name: SLOW, arguments: SLOW_ARGS }, { ms: 60000 }).then(r => (got = r), e => (got = { e }));
    await sleep(300); await b.note('notifications/cancelled', { requestId: 'x1' }); await p; await b.close();
    assert(got?.json?.result, 'a cancel from another session ended the request');
  });
  await check('disconnect.is-not-cancel-and-server-survives', async () => {
    if (!SLOW) throw new Skip('SLOW_TOOL not set'); const ac = new AbortController();
    const f = fetch(URL_, { method: 'POST', headers: headersFor({ session: s.id, version: s.version }), body: JSON.stringify(req('gone', 'tools/call', { name: SLOW, arguments: SLOW_ARGS })), signal: ac.signal }).catch(() => null);
    await sleep(400); ac.abort(); await f; await sleep(300); assert((await s.call(6, 'ping')).status === 200, 'server not well after a dropped connection');
  });
  await check('resume.last-event-id', async () => {
    if (!PROG) throw new Skip('PROGRESS_TOOL not set');
    const ac = new AbortController(); const h = headersFor({ session: s.id, version: s.version });
    const res = await fetch(URL_, { method: 'POST', headers: h, body: JSON.stringify(req('res1', 'tools/call', { name: PROG, arguments: PROG_ARGS, _meta: { progressToken: 'r1' } })), signal: ac.signal });
    if (!(res.headers.get('content-type') || '').startsWith('text/event-stream')) { ac.abort(); throw new Skip('answered as JSON'); }
    let last, n = 0; try { for await (const e of sse(res.body)) { n++; if (e.id !== undefined) last = e.id; if (e.data && JSON.parse(e.data).id === 'res1') { last = undefined; break; } if (n >= 1 && last !== undefined) break; } } catch { /* aborted */ }
    ac.abort(); if (last === undefined) throw new Skip('no event ids (or the answer came at once): not resumable');
    const ac2 = new AbortController(); const tm = setTimeout(() => ac2.abort(), 60000); let ans = null; const ids = new Set(); let g, tries = 0;
    do { if (tries) await sleep(400); g = await fetch(URL_, { headers: { ...headersFor({ session: s.id, version: s.version, headers: { accept: 'text/event-stream', 'content-type': null } }), 'last-event-id': last }, signal: ac2.signal }); } while (g.status === 409 && ++tries < 6);
    assert(g.status === 200, `GET with Last-Event-ID answered ${g.status}`);
    try { for await (const e of sse(g.body)) { if (e.id !== undefined) { assert(!ids.has(e.id) && e.id !== last, `event ${e.id} repeated`); ids.add(e.id); } if (e.data) { const m = JSON.parse(e.data); if (m.id === 'res1') { ans = m; break; } } } } catch (e) { if (e.name !== 'AbortError') throw e; } finally { clearTimeout(tm); ac2.abort(); }
    assert(ans?.result, 'the response never arrived on the resumed stream');
    if (tries) throw new Warn(`409 for ${tries * 400} ms: the newest connection should take the stream over`);
  });
  await check('resume.bogus-id-no-500', async () => { const r = await rawRequest('GET', { ...headersFor({ session: s.id, version: s.version, headers: { accept: 'text/event-stream', 'content-type': null } }), 'last-event-id': 'bogus-😀'.replace(/[^\x20-\x7e]/g, '?') }); assert(r.status < 500, `status ${r.status}`); });
  await check('session.other-token-refused', async () => { if (!READ_TOKEN) throw new Skip('READ_TOKEN not set'); const r = await s.call(1, 'ping', undefined, { token: READ_TOKEN }); assert([401, 403, 404].includes(r.status), `another principal used the session: ${r.status}`); });
  await check('scope.list-is-smaller-for-read-token', async () => { if (!READ_TOKEN) throw new Skip('READ_TOKEN not set'); const a = await s.call(1, 'tools/list', {}); const b = await open(LATEST, { token: READ_TOKEN }); const r = await b.call(1, 'tools/list', {}); await b.close(); const A = a.json.result.tools.map(t => t.name), B = r.json.result.tools.map(t => t.name); assert(B.every(x => A.includes(x)), 'reader sees tools the writer does not'); assert(B.length < A.length, 'reader sees every tool'); });
  await check('session.delete-then-404', async () => {
    if (!s.id) throw new Skip('stateless'); const st = await s.close();
    if (st === 405) throw new Skip('DELETE answered 405'); assert(st >= 200 && st < 300, `DELETE answered ${st}`);
    const r = await post(req(1, 'ping'), { session: s.id, version: s.version }); assert(r.status === 404, `POST after DELETE answered ${r.status}`);
    const g = await rawRequest('GET', headersFor({ session: s.id, version: s.version, headers: { accept: 'text/event-stream', 'content-type': null } })); assert([404, 405].includes(g.status), `GET after DELETE answered ${g.status}`);
    const d = await fetch(URL_, { method: 'DELETE', headers: headersFor({ session: s.id }) }); assert(d.status >= 400 && d.status < 500, `second DELETE answered ${d.status}`);
  });
}

// ================================================================== legacy era, through the official SDK
async function legacySdk() {
  const client = new Client(clientInfo, { capabilities: {} });
  const transport = new StreamableHTTPClientTransport(new URL(URL_), { requestInit: { headers: authHeader(TOKEN) } });
  let up = false; const errs = []; client.onerror = e => errs.push(e.message);
  await check('sdk.connect', async () => { await withTimeout(client.connect(transport), T_REQ, 'connect timed out'); up = true; });
  if (!up) return;
  const caps = client.getServerCapabilities() || {};
  const o = { timeout: T_REQ };
  let tools = [];
  if (caps.tools) {
    await check('tools.list-paginate', async () => { const r = await pages(c => client.listTools(c === undefined ? {} : { cursor: c }, o), 'tools'); tools = r.all; assert(tools.length, 'no tools'); const names = tools.map(t => t.name); assert(new Set(names).size === names.length, 'duplicate names'); });
    await check('tools.list-stable-order', async () => { const r = await pages(c => client.listTools(c === undefined ? {} : { cursor: c }, o), 'tools'); assert(JSON.stringify(r.all) === JSON.stringify(tools), 'two lists differ'); });
    await check('tools.names', async () => { const b = tools.filter(t => !NAME_STRICT.test(t.name)); assert(!b.length, `not [A-Za-z0-9_-]{1,64}: ${b.map(t => t.name)}`); const l = tools.filter(t => t.name.length > 48); if (l.length) throw new Warn(`longer than 48 (hosts prefix the server name, cap 60-64): ${l.map(t => t.name)}`); });
    await check('tools.descriptions', async () => { const b = tools.filter(t => !t.description); assert(!b.length, `none for ${b.map(t => t.name)}`); const l = tools.filter(t => t.description.length > 1024); if (l.length) throw new Warn(`over 1024 characters: ${l.map(t => t.name)}`); });
    await check('tools.catalog-size', async () => { const n = JSON.stringify(tools).length; if (n > 100000 || tools.length > 40) throw new Warn(`${tools.length} tools, ${n} bytes (some hosts cap at 40-128 tools)`); });
    await check('tools.annotations', async () => { const b = tools.filter(t => t.annotations?.readOnlyHint === undefined); for (const t of tools) assert(!(t.annotations?.readOnlyHint && t.annotations?.destructiveHint === true), `${t.name} read-only and destructive`); if (b.length) throw new Warn(`no readOnlyHint: ${b.map(t => t.name)}`); });
    for (const k of ['inputSchema', 'outputSchema']) await check(`tools.${k}-valid`, async () => { const e = []; for (const t of tools) if (t[k]) { try { assert(t[k].type === 'object', 'root type is not object'); compile(t[k]); } catch (x) { e.push(`${t.name}: ${x.message}`); } } assert(!e.length, e.join('; ')); });
    await check('tools.schema-portable', async () => {
      const E = [], W = new Map(); for (const t of tools) for (const k of ['inputSchema', 'outputSchema']) if (t[k]) { const { out, nodes } = portability(t[k], k); if (nodes > 300) out.push(['W', `${k}: ${nodes} subschemas`]); for (const [lv, m] of out) if (lv === 'E') E.push(`${t.name}.${m}`); else W.set(t.name, [...(W.get(t.name) || []), m]); }
      assert(!E.length, E.slice(0, 8).join('; ')); if (W.size) throw new Warn([...W].map(([n, m]) => `${n}: ${m.slice(0, 3).join(', ')}${m.length > 3 ? ` (+${m.length - 3})` : ''}`).slice(0, 6).join(' | '));
    });
    await check('tools.bad-cursor', async () => { const r = await client.request({ method: 'tools/list', params: { cursor: 'not-a-cursor-%%' } }, T.ListToolsResultSchema, o).then(() => 'ok', e => e.code); if (r === 'ok') throw new Warn('a bogus cursor was accepted'); assert(r === -32602, `code ${r}`); });
    await check('tools.unknown-tool', async () => { const r = await client.request({ method: 'tools/call', params: { name: 'no_such_tool_zz', arguments: {} } }, T.CallToolResultSchema, o).then(x => x, e => e.code); if (typeof r === 'object') { assert(r.isError, 'answered as success'); throw new Warn('isError result instead of JSON-RPC -32602'); } assert(r === -32602, `code ${r}`); });
    await check('tools.call-malformed', async () => { const r = await client.request({ method: 'tools/call', params: { arguments: {} } }, T.CallToolResultSchema, o).then(x => x, e => e.code); const q = await client.request({ method: 'tools/call', params: { name: tools[0].name, arguments: [1] } }, T.CallToolResultSchema, o).then(x => x, e => e.code); assert(q === -32602 || q === -32600 || q === -32603 || q?.isError, `array arguments: ${short(q)}`); if (r === -32603) throw new Warn('missing name: -32603, expected -32602'); assert(r === -32602 || r === -32600, `missing name: ${short(r)}`); });
    const auto = tools.find(t => t.annotations?.readOnlyHint && !t.inputSchema.required?.length && t.outputSchema) || tools.find(t => t.annotations?.readOnlyHint && !t.inputSchema.required?.length);
    const name = TOOL || auto?.name, args = TOOL ? TOOL_ARGS : {};
    await check(`tools.call ${name ?? ''}`.trim(), async () => {
      if (!name) throw new Skip('TOOL not set and no read-only tool without required arguments');
      const t = tools.find(x => x.name === name); assert(t, 'not in the list');
      const r = await client.request({ method: 'tools/call', params: { name, arguments: args } }, T.CallToolResultSchema, { timeout: 60000 });
      assert(!r.isError, `isError: ${short(r.content)}`); checkContent(r.content, name);
      if (t.outputSchema) { assert(r.structuredContent !== undefined, 'outputSchema but no structuredContent'); const v = compile(t.outputSchema); assert(v(r.structuredContent), `structuredContent: ${JSON.stringify(v.errors?.[0])}`); assert(r.content.length > 0, 'structuredContent without any text block: older hosts show nothing');
        const same = r.content.some(c => { try { return c.type === 'text' && JSON.stringify(JSON.parse(c.text)) === JSON.stringify(r.structuredContent); } catch { return false; /* prose */ } }); const n = JSON.stringify(r).length; if (n > 100000) throw new Warn(`result is ${n} bytes (hosts truncate near 25k tokens)`); if (!same) throw new Warn('no text block with the serialized structuredContent (SHOULD, for hosts that ignore structuredContent)'); }
    });
    await check('tools.call-bad-arguments', async () => {
      const n = TOOL || tools.find(t => t.inputSchema.required?.length)?.name; if (!n) throw new Skip('no tool with required arguments');
      const a = BAD_ARGS ?? (tools.find(t => t.name === n)?.inputSchema.required?.length ? {} : null); if (!a) throw new Skip('TOOL_BAD_ARGS not set');
      const t = tools.find(x => x.name === n); const r = await client.request({ method: 'tools/call', params: { name: n, arguments: a } }, T.CallToolResultSchema, o).then(x => x, e => e.code);
      if (r === -32602) throw new Warn('JSON-RPC -32602; since 2025-11-25 input validation errors should be isError results'); assert(r?.isError, `accepted: ${short(r)}`); checkContent(r.content, n);
      if (t?.outputSchema && r.structuredContent) assert(compile(t.outputSchema)(r.structuredContent), 'error result carries structuredContent that breaks outputSchema: the official client throws');
    });
  } else skip('tools.*', 'no tools capability');

  if (caps.resources) {
    let list = [], tmpl = [];
    await check('resources.list-paginate', async () => { const r = await pages(c => client.listResources(c === undefined ? {} : { cursor: c }, o), 'resources'); list = r.all; const u = list.map(x => x.uri); assert(new Set(u).size === u.length, 'duplicate URIs'); for (const x of list) { assert(x.name, `${x.uri} has no name`); assert(/^[a-zA-Z][a-zA-Z0-9+.-]*:[\x21-\x7e]*$/.test(x.uri), `not an RFC 3986 URI: ${x.uri}`); try { new URL(x.uri); } catch { throw new Error(`WHATWG URL parser refuses ${x.uri}`); } } });
    await check('resources.templates', async () => { const r = await pages(c => client.listResourceTemplates(c === undefined ? {} : { cursor: c }, o), 'resourceTemplates'); tmpl = r.all; for (const t of tmpl) { assert(t.name && t.uriTemplate, `bad template ${short(t)}`); assert((t.uriTemplate.match(/\{/g) || []).length === (t.uriTemplate.match(/\}/g) || []).length, `unbalanced ${t.uriTemplate}`); } });
    await check('resources.bad-cursor', async () => { const r = await client.request({ method: 'resources/list', params: { cursor: 'not-a-cursor-%%' } }, T.ListResourcesResultSchema, o).then(() => 'ok', e => e.code); if (r === 'ok') throw new Warn('a bogus cursor was accepted'); assert(r === -32602, `code ${r}`); });
    await check('resources.read', async () => { const us = env.RESOURCE ? [env.RESOURCE] : list.slice(0, READ_MAX).map(x => x.uri); if (!us.length) throw new Skip('empty list and RESOURCE not set'); for (const uri of us) { const r = await client.readResource({ uri }, { timeout: 30000 }); assert(r.contents.length, `${uri}: empty contents`); for (const c of r.contents) { assert(c.uri, 'no uri'); assert((typeof c.text === 'string') !== (c.blob !== undefined), `${uri}: text xor blob`); if (c.blob !== undefined) assert(isB64(c.blob), `${uri}: blob not base64`); } } });
    await check('resources.read-unknown', async () => { const u = (env.RESOURCE || list[0]?.uri || 'file:///x').replace(/[^/]*$/, 'no-such-thing-zz-0.md'); const r = await client.readResource({ uri: u }, o).then(() => 'ok', e => e.code); assert([-32002, -32602].includes(r), `code ${r} for ${u}`); });
    await check('resources.read-hostile', async () => { for (const u of ['vault://../../etc/passwd', 'file:///etc/passwd', 'vault://%2e%2e/%2e%2e/etc/passwd', 'not a uri', '', 'x'.repeat(10000)]) { const r = await client.readResource({ uri: u }, o).then(x => x, e => e.code); assert(typeof r === 'number', `${short(u)} was served`); assert(!JSON.stringify(r).includes('root:'), 'file leaked'); } });
    if (caps.resources.subscribe) {
      const uri = SUB_URI || list[0]?.uri; const got = []; client.setNotificationHandler(T.ResourceUpdatedNotificationSchema, n => { got.push(n.params.uri); });
      await check('resources.subscribe', async () => { if (!uri) throw new Skip('no resource'); await client.subscribeResource({ uri }, o); });
      await check('resources.updated-arrives', async () => { if (!TRIGGER || !uri) throw new Skip('TRIGGER_TOOL not set'); await client.callTool({ name: TRIGGER, arguments: TRIGGER_ARGS }, undefined, { timeout: 30000 }); for (let t = 0; t < TRIGGER_MS && !got.length; t += 50) await sleep(50); assert(got.length, `no notifications/resources/updated in ${TRIGGER_MS} ms`); });
      await check('resources.unsubscribe-stops', async () => { if (!uri) throw new Skip('no resource'); await client.unsubscribeResource({ uri }, o); if (!TRIGGER) return; await sleep(300); const n = got.length; await client.callTool({ name: TRIGGER, arguments: TRIGGER_ARGS }, undefined, { timeout: 30000 }); await sleep(Math.min(TRIGGER_MS, 6000)); const m = got.filter(u => u === uri).length; assert(m <= n, `${m - n} notifications after unsubscribe (or old ones replayed on another stream)`); });
      await check('resources.unsubscribe-unknown', async () => { await client.unsubscribeResource({ uri: uri + '-never' }, o).catch(e => assert([-32602, -32002].includes(e.code), `code ${e.code}`)); });
    } else skip('resources.subscribe', 'not declared');
    if (caps.completions && tmpl.length) await check('completion.template', async () => { const t = tmpl.find(x => /\{/.test(x.uriTemplate)); const v = /\{[+#./;?&]?([A-Za-z0-9_]+)/.exec(t.uriTemplate)[1]; const r = await client.complete({ ref: { type: 'ref/resource', uri: t.uriTemplate }, argument: { name: v, value: '' } }, o); assert(r.completion.values.length <= 100, 'over 100 values'); });
  } else skip('resources.*', 'no resources capability');

  if (caps.prompts) {
    let ps = [];
    await check('prompts.list-paginate', async () => { const r = await pages(c => client.listPrompts(c === undefined ? {} : { cursor: c }, o), 'prompts'); ps = r.all; assert(new Set(ps.map(p => p.name)).size === ps.length, 'duplicate names'); });
    await check('prompts.get', async () => { let n = 0; for (const p of ps) { const a = PROMPT_ARGS[p.name]; if (!a && p.arguments?.some(x => x.required)) continue; const r = await client.getPrompt({ name: p.name, ...(a ? { arguments: a } : {}) }, { timeout: 30000 }); n++; assert(r.messages.length, `${p.name}: no messages`); for (const m of r.messages) { assert(['user', 'assistant'].includes(m.role), `${p.name}: role ${m.role}`); checkContent([m.content], p.name); } } if (!n) throw new Skip('every prompt needs arguments (PROMPT_ARGS)'); });
    await check('prompts.unknown', async () => { const r = await client.getPrompt({ name: 'no_such_prompt_zz' }, o).then(() => 'ok', e => e.code); assert(r === -32602, `code ${r}`); });
    await check('prompts.missing-argument', async () => { const p = ps.find(x => x.arguments?.some(a => a.required)); if (!p) throw new Skip('no prompt with a required argument'); const r = await client.getPrompt({ name: p.name, arguments: {} }, o).then(() => 'ok', e => e.code); assert(r === -32602, `code ${r}`); });
    await check('prompts.non-string-argument', async () => { const p = ps.find(x => x.arguments?.length); if (!p) throw new Skip('no arguments'); const r = await client.request({ method: 'prompts/get', params: { name: p.name, arguments: { [p.arguments[0].name]: 5 } } }, T.GetPromptResultSchema, o).then(() => 'ok', e => e.code); assert(r === 'ok' || r === -32602 || r === -32603 || r === -32600, `code ${r}`); });
    if (caps.completions) await check('completion.prompt', async () => { const p = ps.find(x => x.arguments?.length); if (!p) throw new Skip('no prompt arguments'); const r = await client.complete({ ref: { type: 'ref/prompt', name: p.name }, argument: { name: p.arguments[0].name, value: '' } }, o); assert(Array.isArray(r.completion.values) && r.completion.values.length <= 100, short(r)); });
  } else skip('prompts.*', 'no prompts capability');
  if (caps.completions) await check('completion.unknown-ref', async () => { const r = await client.complete({ ref: { type: 'ref/prompt', name: 'no_such_prompt_zz' }, argument: { name: 'x', value: '' } }, o).then(() => 'ok', e => e.code); if (r === 'ok') throw new Warn('unknown prompt completed'); assert(r === -32602, `code ${r}`); });
  if (caps.logging) await check('logging.set-level', async () => { await client.setLoggingLevel('warning', o); const r = await client.request({ method: 'logging/setLevel', params: { level: 'loud' } }, T.EmptyResultSchema, o).then(() => 'ok', e => e.code); assert(r === -32602 || r === -32603, `bad level: ${r}`); if (r !== -32602) throw new Warn(`code ${r}, expected -32602`); });
  await check('capabilities.undeclared-refused', async () => { const t = [['tools/list', caps.tools], ['resources/list', caps.resources], ['prompts/list', caps.prompts], ['logging/setLevel', caps.logging], ['tasks/list', caps.tasks?.list]].filter(x => !x[1]); for (const [m] of t) { const r = await client.request({ method: m, params: m === 'logging/setLevel' ? { level: 'info' } : {} }, T.ResultSchema, o).then(() => 'ok', e => e.code); assert(r === -32601, `${m} undeclared but answered ${r}`); } });

  if (caps.tasks?.requests?.tools?.call && TASK_TOOL) {
    const meta = r => r._meta?.[NS + 'related-task']?.taskId; let id;
    const raw = (m, p) => client.request({ method: m, params: p }, T.ResultSchema, { timeout: 60000 });
    await check('tasks25.create', async () => { const r = await raw('tools/call', { name: TASK_TOOL, arguments: TASK_ARGS, task: { ttl: 60000 } }); const t = r.task; assert(t?.taskId && t.status && t.createdAt && t.lastUpdatedAt && 'ttl' in t, `bad CreateTaskResult ${short(r)}`); assert(t.taskId.length >= 16, 'guessable id'); id = t.taskId; });
    if (id) {
      await check('tasks25.get-immediately', async () => { const r = await raw('tasks/get', { taskId: id }); assert(r.taskId === id && ['working', 'input_required', 'completed', 'failed'].includes(r.status), short(r)); });
      await check('tasks25.result-blocks-and-has-meta', async () => { const r = await raw('tasks/result', { taskId: id }); assert(r.content, short(r)); assert(meta(r) === id, 'no related-task _meta'); const g = await raw('tasks/get', { taskId: id }); assert(['completed', 'failed'].includes(g.status), g.status); });
      await check('tasks25.list-has-it', async () => { if (!caps.tasks.list) throw new Skip('no tasks/list'); const r = await pages(c => raw('tasks/list', c === undefined ? {} : { cursor: c }), 'tasks'); assert(r.all.some(t => t.taskId === id), 'missing'); });
      await check('tasks25.cancel-terminal', async () => { if (!caps.tasks.cancel) throw new Skip('no tasks/cancel'); const r = await raw('tasks/cancel', { taskId: id }).then(() => 'ok', e => e.code); assert(r === -32602, `code ${r}`); });
      await check('tasks25.cancel-working', async () => { if (!caps.tasks.cancel) throw new Skip('no tasks/cancel'); const c = await raw('tools/call', { name: TASK_TOOL, arguments: TASK_ARGS, task: {} }); const r = await raw('tasks/cancel', { taskId: c.task.taskId }); assert(r.status === 'cancelled', short(r)); const g = await raw('tasks/get', { taskId: c.task.taskId }).catch(e => ({ status: e.code })); assert(g.status === 'cancelled' || g.status === -32602, `status ${g.status}`); });
      await check('tasks25.unknown', async () => { for (const m of ['tasks/get', 'tasks/result', 'tasks/cancel']) { const r = await raw(m, { taskId: 'nope' }).then(() => 'ok', e => e.code); assert(r === -32602, `${m}: ${r}`); } });
      await check('tasks25.forbidden-tool', async () => { const t = tools.find(x => (x.execution?.taskSupport ?? 'forbidden') === 'forbidden'); if (!t) throw new Skip('every tool supports tasks'); const r = await raw('tools/call', { name: t.name, arguments: {}, task: {} }).then(x => x, e => e.code); if (r !== -32601) throw new Warn(`-32601 expected, got ${short(r)}`); });
    }
  } else skip('tasks25.*', caps.tasks ? 'TASK_TOOL not set' : 'no tasks capability');
  await check('sdk.close', async () => { await transport.terminateSession(); await client.close(); });
}

// ================================================================== modern era (2026-07-28), wire level
const modernMeta = (caps = {}, extra = {}) => ({ [NS + 'protocolVersion']: MODERN, [NS + 'clientInfo']: clientInfo, [NS + 'clientCapabilities']: caps, ...extra });
function modern(id, method, params = {}, o = {}) {
  const name = params.name ?? params.uri ?? params.taskId;
  const safe = v => (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(v) ? v : `=?base64?${Buffer.from(v).toString('base64')}?=`);
  const h = { 'mcp-method': method, ...(name !== undefined && /^(tools\/call|resources\/read|prompts\/get|tasks\/)/.test(method) ? { 'mcp-name': safe(String(name)) } : {}), ...(o.headers || {}) };
  const p = o.noMeta ? params : { ...params, _meta: o.meta ?? modernMeta(o.caps, o.metaExtra) };
  return post(req(id, method, p), { version: o.version ?? MODERN, token: o.token, headers: h, ms: o.ms, onMessage: o.onMessage });
}
async function modernWire() {
  const d0 = await modern('d', 'server/discover').catch(e => ({ status: 0, text: e.message }));
  if (!d0.json?.result && ERA !== 'modern') return skip('modern.*', `server/discover answered ${d0.status} ${short(d0.json?.error ?? d0.text)}`);
  const caps = d0.json?.result?.capabilities || {};
  await check('modern.discover', async () => { const r = d0.json?.result; assert(d0.status === 200 && r, `${d0.status} ${short(d0.json ?? d0.text)}`); assert(r.supportedVersions?.includes(MODERN), `supportedVersions ${short(r.supportedVersions)}`); assert(r.resultType === 'complete', 'resultType'); assert(Number.isInteger(r.ttlMs) && r.ttlMs >= 0 && ['public', 'private'].includes(r.cacheScope), 'ttlMs/cacheScope'); if (!r._meta?.[NS + 'serverInfo']?.name) throw new Warn('no serverInfo in result _meta'); });
  await check('modern.no-session-minted', async () => { assert(!d0.headers.get('mcp-session-id'), 'session id on a modern answer'); const r = await modern(1, 'tools/list', {}, { headers: { 'mcp-session-id': 'bogus-session' } }); assert(r.status === 200, `Mcp-Session-Id must be ignored, got ${r.status}`); });
  for (const [n, m] of [['all', undefined], ['protocolVersion', 'protocolVersion'], ['clientCapabilities', 'clientCapabilities']]) await check(`modern.meta-missing-${n}`, async () => { const meta = modernMeta(); if (m) delete meta[NS + m]; const r = await modern(3, 'server/discover', {}, m ? { meta } : { noMeta: true }); assert(r.status === 400 && code(r) === -32602, `${r.status} code ${code(r)}`); assert(r.json.id === 3, 'id not echoed'); });
  await check('modern.meta-clientInfo-optional', async () => { const meta = modernMeta(); delete meta[NS + 'clientInfo']; const r = await modern(1, 'server/discover', {}, { meta }); assert(r.status === 200 && r.json.result, `${r.status}`); });
  await check('modern.unsupported-version', async () => { const r = await modern(4, 'server/discover', {}, { version: '1900-01-01', meta: { ...modernMeta(), [NS + 'protocolVersion']: '1900-01-01' } }); assert(r.status === 400 && code(r) === -32022, `${r.status} code ${code(r)}`); const e = r.json.error.data; assert(e?.requested === '1900-01-01' && e.supported?.includes(MODERN), short(e)); });
  await check('modern.header-mismatch', async () => { const r = await modern(5, 'server/discover', {}, { meta: { ...modernMeta(), [NS + 'protocolVersion']: '1900-01-01' } }); assert(r.status === 400 && code(r) === -32020, `version: ${r.status} code ${code(r)}`); });
  for (const [n, h] of [['wrong', { 'mcp-method': 'prompts/list' }], ['missing', { 'mcp-method': null }], ['case', { 'mcp-method': 'TOOLS/LIST' }]]) await check(`modern.mcp-method-${n}`, async () => { const r = await modern(6, 'tools/list', {}, { headers: h }); assert(r.status === 400, `status ${r.status}`); assert(code(r) === -32020, `code ${code(r)}`); });
  for (const m of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe', 'no/such/method']) await check(`modern.404 ${m}`, async () => { const r = await modern(7, m, {}); assert(r.status === 404 && code(r) === -32601 && r.json.id === 7, `${r.status} ${short(r.json ?? r.text)}`); });
  const first = {};
  for (const [m, k, c] of [['tools/list', 'tools', 'tools'], ['resources/list', 'resources', 'resources'], ['resources/templates/list', 'resourceTemplates', 'resources'], ['prompts/list', 'prompts', 'prompts']]) {
    if (!caps[c]) { await check(`modern.undeclared ${m}`, async () => { const r = await modern(8, m); assert(r.status === 404 && code(r) === -32601, `${r.status} code ${code(r)}`); }); continue; }
    await check(`modern.cacheable ${m}`, async () => { const r = await modern(8, m); const x = r.json?.result; assert(x && Array.isArray(x[k]), short(r.json ?? r.text)); first[k] = x[k]; assert(x.resultType === 'complete', `resultType ${x.resultType}`); assert(Number.isInteger(x.ttlMs) && x.ttlMs >= 0, `ttlMs ${x.ttlMs}`); assert(['public', 'private'].includes(x.cacheScope), `cacheScope ${x.cacheScope}`); if (READ_TOKEN && x.cacheScope === 'public' && m === 'tools/list') throw new Warn('public cacheScope on a list that varies by scope'); });
  }
  if (first.tools?.length) {
    const t = first.tools.find(x => x.annotations?.readOnlyHint && !x.inputSchema.required?.length) || first.tools[0]; const n = TOOL || t.name, a = TOOL ? TOOL_ARGS : {};
    await check('modern.mcp-name-wrong', async () => { const r = await modern(9, 'tools/call', { name: n, arguments: a }, { headers: { 'mcp-name': 'other_tool' } }); assert(r.status === 400 && code(r) === -32020, `${r.status} code ${code(r)}`); });
    await check('modern.mcp-name-missing', async () => { const r = await modern(9, 'tools/call', { name: n, arguments: a }, { headers: { 'mcp-name': null } }); assert(r.status === 400 && code(r) === -32020, `${r.status} code ${code(r)}`); });
    if (TOOL || t.annotations?.readOnlyHint) {
      await check('modern.mcp-name-base64', async () => { const r = await modern(9, 'tools/call', { name: n, arguments: a }, { headers: { 'mcp-name': `=?base64?${Buffer.from(n).toString('base64')}?=` } }); assert(r.status === 200 && r.json?.result, `${r.status} ${short(r.json ?? r.text)}`); });
      await check('modern.tools-call', async () => { const r = await modern(9, 'tools/call', { name: n, arguments: a }, { ms: 60000 }); const x = r.json?.result; assert(x?.resultType === 'complete', `resultType ${x?.resultType ?? short(r.json ?? r.text)}`); checkContent(x.content, n); assert(!r.msgs.some(m => m.method && m.id !== undefined), 'server-initiated request on the stream'); assert(!r.msgs.some(m => m.method === 'notifications/message'), 'log message without logLevel'); });
    }
    await check('modern.unknown-tool', async () => { const r = await modern(9, 'tools/call', { name: 'no_such_tool_zz', arguments: {} }); if (r.json?.result?.isError) throw new Warn('isError result instead of -32602'); assert(code(r) === -32602, `code ${code(r)}`); });
  }
  if (caps.resources) await check('modern.resource-not-found', async () => { const u = (first.resources?.[0]?.uri || 'file:///x').replace(/[^/]*$/, 'no-such-thing-zz.md'); const r = await modern(10, 'resources/read', { uri: u }); assert(code(r) === -32602, `code ${code(r)} ${short(r.json?.result)}`); });
  if (first.resources?.length) await check('modern.resources-read', async () => { const r = await modern(10, 'resources/read', { uri: first.resources[0].uri }); const x = r.json?.result; assert(x?.contents?.length && x.resultType === 'complete' && Number.isInteger(x.ttlMs) && x.cacheScope, short(x ?? r.json ?? r.text)); });
  await check('modern.log-level-invalid', async () => { const r = await modern(11, 'tools/list', {}, { metaExtra: { [NS + 'logLevel']: 'loud' } }); if (r.json?.result) throw new Warn('bad logLevel accepted'); assert(code(r) === -32602, `code ${code(r)}`); });
  if (PROG) await check('modern.progress-on-own-stream', async () => { const seen = []; const r = await modern(12, 'tools/call', { name: PROG, arguments: PROG_ARGS }, { metaExtra: { progressToken: 0 }, ms: 60000, onMessage: m => { if (m.method === 'notifications/progress') seen.push(m.params); } }); assert(r.json?.result, short(r.json ?? r.text)); assert(seen.length && seen.every(p => p.progressToken === 0), `progress ${short(seen)}`); });
  if (SLOW) await check('modern.disconnect-cancels', async () => { const ac = new AbortController(); const f = fetch(URL_, { method: 'POST', headers: headersFor({ version: MODERN, headers: { 'mcp-method': 'tools/call', 'mcp-name': SLOW } }), body: JSON.stringify(req(13, 'tools/call', { name: SLOW, arguments: SLOW_ARGS, _meta: modernMeta() })), signal: ac.signal }).catch(() => 0); await sleep(400); ac.abort(); await f; assert((await modern(14, 'tools/list')).status === 200, 'server not well'); });
  await check('modern.listen-ack-first', async () => {
    const want = { ...(caps.tools?.listChanged ? { toolsListChanged: true } : {}), ...(caps.resources?.subscribe && (SUB_URI || first.resources?.[0]) ? { resourceSubscriptions: [SUB_URI || first.resources[0].uri] } : {}), ...(caps.resources?.listChanged ? { resourcesListChanged: true } : {}) };
    if (!Object.keys(want).length) throw new Skip('no listChanged/subscribe declared');
    const ac = new AbortController(); const tm = setTimeout(() => ac.abort(), TRIGGER_MS + 5000); const got = [];
    const res = await fetch(URL_, { method: 'POST', headers: headersFor({ version: MODERN, headers: { 'mcp-method': 'subscriptions/listen' } }), body: JSON.stringify(req('sub-1', 'subscriptions/listen', { notifications: want, _meta: modernMeta() })), signal: ac.signal });
    assert((res.headers.get('content-type') || '').startsWith('text/event-stream'), `type ${res.headers.get('content-type')}`);
    try { for await (const e of sse(res.body)) { if (!e.data) continue; const m = JSON.parse(e.data); got.push(m); if (got.length === 1) { assert(m.method === 'notifications/subscriptions/acknowledged', `first message ${m.method}`); if (!TRIGGER || !want.resourceSubscriptions) break; modern(99, 'tools/call', { name: TRIGGER, arguments: TRIGGER_ARGS }, { ms: 30000 }).catch(() => 0); } else if (m.method === 'notifications/resources/updated') break; } } catch (x) { if (x.name !== 'AbortError') throw x; } finally { clearTimeout(tm); ac.abort(); }
    for (const m of got) assert(m.params?._meta?.[NS + 'subscriptionId'] === 'sub-1', `subscriptionId ${short(m.params?._meta)}`);
    if (TRIGGER && want.resourceSubscriptions) assert(got.some(m => m.method === 'notifications/resources/updated'), 'no update arrived');
  });
  const ext = caps.extensions?.[NS + 'tasks'];
  if (!ext) return skip('modern.tasks.*', 'extension not advertised');
  const tc = { extensions: { [NS + 'tasks']: {} } };
  await check('modern.tasks.gated', async () => { for (const m of ['tasks/get', 'tasks/update', 'tasks/cancel']) { const r = await modern(20, m, { taskId: 'nope', ...(m === 'tasks/update' ? { inputResponses: {} } : {}) }); assert(code(r) === -32021 && r.status === 400, `${m}: ${r.status} code ${code(r)}`); assert(r.json.error.data?.requiredCapabilities?.extensions?.[NS + 'tasks'], 'requiredCapabilities'); } });
  await check('modern.tasks.unknown', async () => { for (const m of ['tasks/get', 'tasks/cancel']) { const r = await modern(21, m, { taskId: 'nope' }, { caps: tc }); assert(code(r) === -32602, `${m}: code ${code(r)}`); } });
  await check('modern.tasks.removed-methods', async () => { for (const m of ['tasks/result', 'tasks/list']) { const r = await modern(22, m, { taskId: 'nope' }, { caps: tc }); assert(code(r) === -32601, `${m}: code ${code(r)}`); } });
  if (TASK_TOOL) await check('modern.tasks.lifecycle', async () => {
    const c = await modern(23, 'tools/call', { name: TASK_TOOL, arguments: TASK_ARGS }, { caps: tc, ms: 60000 }); const t = c.json?.result; if (t?.resultType === 'complete') throw new Skip('server chose a synchronous answer'); assert(t?.resultType === 'task' && t.taskId && t.status && t.createdAt && t.lastUpdatedAt && 'ttlMs' in t && !t.task, short(c.json ?? c.text));
    let g; for (let i = 0; i < 240; i++) { const r = await modern(24 + i, 'tasks/get', { taskId: t.taskId }, { caps: tc }); g = r.json?.result; assert(g?.resultType === 'complete' && g.taskId === t.taskId, short(r.json ?? r.text)); if (['completed', 'failed', 'cancelled'].includes(g.status)) break; await sleep(Math.min(t.pollIntervalMs ?? 500, 1000)); }
    assert(g.status === 'completed' && g.result?.content, short(g)); const x = await modern(500, 'tasks/cancel', { taskId: t.taskId }, { caps: tc }); assert(x.json?.result?.resultType === 'complete' && !x.json.result.status, `cancel of a finished task: ${short(x.json)}`);
    const n = await modern(501, 'tools/call', { name: TASK_TOOL, arguments: TASK_ARGS }, { ms: 60000 }); assert(n.json?.result?.resultType !== 'task', 'task returned to a client that did not declare the extension');
  }); else skip('modern.tasks.lifecycle', 'TASK_TOOL not set');
}

// ================================================================== stdio
async function stdio() {
  const start = () => {
    const p = spawn(STDIO[0], STDIO.slice(1), { stdio: ['pipe', 'pipe', 'pipe'] }); const st = { p, lines: [], rawBad: [], err: 0, exit: null }; let buf = Buffer.alloc(0); const waiters = [];
    p.stdout.on('data', d => { buf = Buffer.concat([buf, d]); let i; while ((i = buf.indexOf(10)) >= 0) { const raw = buf.subarray(0, i); buf = buf.subarray(i + 1); const s = new TextDecoder('utf-8').decode(raw); if (s.trim() === '') { st.rawBad.push('(blank line)'); continue; } try { const m = JSON.parse(s); if (m.jsonrpc !== '2.0' && !Array.isArray(m)) st.rawBad.push(s); st.lines.push(m); } catch { st.rawBad.push(s); } for (const w of waiters.splice(0)) w(); } });
    p.stderr.on('data', d => (st.err += d.length)); p.stdin.on('error', () => {}); st.gone = new Promise(r => p.on('exit', (c, s) => { st.exit = { c, s }; r(); for (const w of waiters.splice(0)) w(); }));
    st.send = m => p.stdin.write((typeof m === 'string' ? m : JSON.stringify(m)) + '\n');
    st.wait = async (f, ms = T_REQ) => { const end = Date.now() + ms; for (;;) { const m = st.lines.find(f); if (m) return m; if (st.exit) throw new Error(`server exited ${JSON.stringify(st.exit)}`); const left = end - Date.now(); if (left <= 0) throw new Error(`no answer in ${ms} ms`); await Promise.race([new Promise(r => waiters.push(r)), sleep(Math.min(left, 200))]); } };
    st.rpc = (id, m, p_, ms) => { st.send(req(id, m, p_)); return st.wait(x => x.id === id && (x.result !== undefined || x.error), ms); };
    st.end = async (ms = 5000) => { p.stdin.end(); await Promise.race([st.gone, sleep(ms)]); const e = st.exit; if (!e) p.kill('SIGKILL'); return e; };
    return st;
  };
  let a;
  await check('stdio.handshake-under-10s', async () => { a = start(); const t = Date.now(); const r = await a.rpc('i', 'initialize', initBody().params, 10000); assert(r.result?.protocolVersion, short(r)); a.send(note('notifications/initialized')); const ms = Date.now() - t; if (ms > 3000) throw new Warn(`took ${ms} ms`); });
  if (!a || a.exit) return;
  await check('stdio.pipelined-100', async () => { a.p.stdin.write(Array.from({ length: 100 }, (_, i) => JSON.stringify(req(`q${i}`, 'ping'))).join('\n') + '\n'); for (let i = 0; i < 100; i++) await a.wait(m => m.id === `q${i}`); });
  await check('stdio.split-writes', async () => { const s = JSON.stringify(req('split-ü', 'ping')) + '\n'; const b = Buffer.from(s); for (const x of b) { a.p.stdin.write(Buffer.from([x])); } await a.wait(m => m.id === 'split-ü'); });
  await check('stdio.crlf-and-blank-lines', async () => { a.p.stdin.write('\r\n\n' + JSON.stringify(req('crlf', 'ping')) + '\r\n'); await a.wait(m => m.id === 'crlf'); });
  await check('stdio.line-separators-in-strings', async () => { a.send(`{"jsonrpc":"2.0","id":"ls","method":"no/\u2028\u2029/é😀","params":{}}`); const m = await a.wait(x => x.id === 'ls'); assert(m.error?.code === -32601, short(m)); });
  await check('stdio.one-megabyte-line', async () => { const m = await a.rpc('big', 'ping', { _meta: { pad: 'ü'.repeat(500000) } }, 20000); assert(m.result, short(m)); });
  await check('stdio.parse-error-survives', async () => { const n = a.lines.length; a.send('{"jsonrpc":"2.0", oops'); await sleep(500); const e = a.lines.slice(n).find(m => m.error); const m = await a.rpc('alive', 'ping'); assert(m.result, 'dead after a malformed line'); if (!e) throw new Warn('no -32700 error message'); assert(e.error.code === -32700, `code ${e.error.code}`); });
  await check('stdio.notification-gets-no-answer', async () => { const n = a.lines.length; a.send(note('notifications/nobody_knows_this')); await a.rpc('after-note', 'ping'); assert(a.lines.slice(n).filter(m => m.id !== 'after-note' && !m.method).length === 0, 'answered a notification'); });
  await check('stdio.cancel-in-flight', async () => { if (!SLOW) throw new Skip('SLOW_TOOL not set'); a.send(req('slow', 'tools/call', { name: SLOW, arguments: SLOW_ARGS })); await sleep(300); a.send(note('notifications/cancelled', { requestId: 'slow' })); const t = Date.now(); await a.rpc('after-cancel', 'ping'); assert(Date.now() - t < 2000, 'blocked by the slow call'); await sleep(4500); if (a.lines.some(m => m.id === 'slow')) throw new Warn('a response still came after cancellation'); });
  await check('stdio.slow-call-does-not-block', async () => { if (!SLOW) throw new Skip('SLOW_TOOL not set'); a.send(req('slow2', 'tools/call', { name: SLOW, arguments: SLOW_ARGS })); const t = Date.now(); await a.rpc('fast', 'ping'); assert(Date.now() - t < 1000, 'ping waited for the slow call'); });
  await check('stdio.tools-list', async () => { const m = await a.rpc('tl', 'tools/list', {}); assert(Array.isArray(m.result?.tools) || m.error?.code === -32601, short(m)); });
  await check('stdio.stdout-is-pure', async () => { assert(!a.rawBad.length, `not a JSON-RPC line: ${short(a.rawBad[0])}`); });
  await check('stdio.eof-exits', async () => { const e = await a.end(); assert(e, 'still running 5 s after stdin closed'); assert(e.c === 0, `exit ${JSON.stringify(e)}`); });
  await check('stdio.sigterm-exits', async () => { const b = start(); await b.rpc('i', 'initialize', initBody().params, 10000); b.p.kill('SIGTERM'); await Promise.race([b.gone, sleep(5000)]); const e = b.exit; if (!e) b.p.kill('SIGKILL'); assert(e, 'still running 5 s after SIGTERM'); });
  await check('stdio.eof-before-handshake-exits', async () => { const b = start(); await sleep(1500); const e = await b.end(); assert(e, 'still running'); });
  await check('stdio.request-before-initialize', async () => { const b = start(); try { const m = await b.rpc('early', 'tools/list', {}, 4000); if (m.result) throw new Warn('served before initialize'); } catch (e) { if (e instanceof Warn) throw e; throw new Warn(`no error, silent: ${e.message}`); } finally { await b.end(3000); } });
  await check('stdio.modern-probe', async () => { const b = start(); try { const m = await b.rpc('d', 'server/discover', { _meta: modernMeta() }, 5000); if (m.result) { assert(m.result.supportedVersions?.includes(MODERN), short(m)); const t = await b.rpc('t', 'tools/list', { _meta: modernMeta() }); assert(t.result?.resultType === 'complete', short(t)); } else throw new Skip(`legacy only (${m.error.code})`); const i = await b.rpc('i', 'initialize', initBody().params, 5000); assert(i.result || i.error, 'initialize after probe unanswered'); } finally { await b.end(3000); } });
}

// ================================================================== run
if (!URL_ && !STDIO) { console.error('set URL and/or STDIO'); process.exit(2); }
if (URL_) {
  if (ERA !== 'modern') { await legacyWire().catch(e => bad('legacy.aborted', e.message)); await legacySdk().catch(e => bad('sdk.aborted', e.message)); }
  if (ERA !== 'legacy') await modernWire().catch(e => bad('modern.aborted', e.message));
  for (const s of [...sessions]) await s.close().catch(() => {});
}
if (STDIO) await stdio().catch(e => bad('stdio.aborted', e.message));
console.log(`${skipped} skipped, ${warned} warnings`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
