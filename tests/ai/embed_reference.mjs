// Usage: node tests/ai/embed_reference.mjs [GOLDENS.json]
// Computes anew what the C++ embedder is compared with: the pieces of every text in the file, and the vector of those
// that have one. It shares no code with the embedder. It reads the weights as they are published, in float64 and without
// quantisation, and follows the graph: piece table, position signal, two transformer layers, mean, tanh, L2 norm.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = `${root}/.cache/embedding-model/dist`;
const goldens = process.argv[2] ?? `${root}/tests/data/embed_goldens.json`;
const manifest = JSON.parse(readFileSync(`${folder}/model.json`, 'utf8')).weightsManifest[0];
const bytes = Buffer.concat(manifest.paths.map((path) => readFileSync(`${folder}/${path}`)));
const weights = new Map();
let offset = 0;
for (const { name, shape, dtype } of manifest.weights) {
  const count = shape.reduce((a, b) => a * b, 1);
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    values[i] = dtype === 'float32' ? bytes.readFloatLE(offset + 4 * i) : bytes.readInt32LE(offset + 4 * i);
  }
  offset += 4 * count;
  weights.set(name, values);
}
const encode = 'Encoder_en/KonaTransformer/Encode/';
const weight = (end) => {
  const found = [...weights.keys()].filter((name) => name.endsWith(end));
  if (found.length !== 1) throw new Error(`${found.length} weights end with ${end}`);
  return weights.get(found[0]);
};

// ---- text to piece ids
const vocabulary = JSON.parse(readFileSync(`${folder}/vocab.json`, 'utf8'));
const reserved = 6;
const idOf = new Map(vocabulary.map(([piece], id) => [piece, id]).slice(reserved));
const longest = Math.max(...vocabulary.map(([piece]) => [...piece].length));

function pieceIds(text) {
  const normal = text.normalize('NFKC');
  if (normal === '') return [];
  const symbols = [...`\u2581${normal.replaceAll(' ', '\u2581')}`];
  const best = new Array(symbols.length + 1).fill(-Infinity);
  const from = new Array(symbols.length + 1).fill(null);
  best[0] = 0;
  const offer = (start, end, id, score) => {
    if (best[start] + score >= best[end]) [best[end], from[end]] = [best[start] + score, { start, id }];
  };
  for (let end = 1; end <= symbols.length; end++) {
    for (let start = Math.max(0, end - longest); start < end; start++) {
      const id = idOf.get(symbols.slice(start, end).join(''));
      if (id !== undefined) offer(start, end, id, vocabulary[id][1] ?? 0);
      else if (end === start + 1 && !startsPiece(symbols, start)) offer(start, end, 0, 0);
    }
  }
  const ids = [];
  for (let end = symbols.length; end > 0; end = from[end].start) ids.unshift(from[end].id);
  return ids.filter((id, i) => id !== 0 || ids[i - 1] !== 0);
}
function startsPiece(symbols, start) {
  for (let end = start + 1; end <= Math.min(symbols.length, start + longest); end++) {
    if (idOf.has(symbols.slice(start, end).join(''))) return true;
  }
  return false;
}

// ---- rows of numbers
const dense = (rows, kernel, bias, outputs) => rows.map((row) => {
  const sum = Float64Array.from(bias);
  for (let i = 0; i < row.length; i++) for (let o = 0; o < outputs; o++) sum[o] += row[i] * kernel[i * outputs + o];
  return sum;
});
const add = (a, b) => a.map((row, i) => row.map((value, j) => value + b[i][j]));
const norm = (rows, scale, bias) => rows.map((row) => {
  const mean = row.reduce((a, b) => a + b, 0) / row.length;
  const variance = row.reduce((a, b) => a + (b - mean) ** 2, 0) / row.length;
  return row.map((value, i) => ((value - mean) / Math.sqrt(variance + 1e-6)) * scale[i] + bias[i]);
});
function attention(qkv, width) {
  const heads = 4, size = width / heads;
  return qkv.map((query) => {
    const out = new Float64Array(width);
    for (let h = 0; h < heads; h++) {
      const at = (row, part, i) => row[part * width + h * size + i];
      const scores = qkv.map((key) => {
        let sum = 0;
        for (let i = 0; i < size; i++) sum += at(query, 0, i) * at(key, 1, i);
        return sum / Math.sqrt(size);
      });
      const top = Math.max(...scores);
      const shares = scores.map((score) => Math.exp(score - top));
      const total = shares.reduce((a, b) => a + b, 0);
      qkv.forEach((value, j) => {
        for (let i = 0; i < size; i++) out[h * size + i] += (shares[j] / total) * at(value, 2, i);
      });
    }
    return out;
  });
}

function layer(x, index, width) {
  const inner = `${encode}Layer_${index}/TransformerLayer/`;
  const part = (name) => weight(`${inner}${name}`);
  const all = '/ConcatPartitions/concat';
  const normal = norm(x, part(`layer_prepostprocess/layer_norm/layer_norm_scale${all}`),
    part(`layer_prepostprocess/layer_norm/layer_norm_bias${all}`));
  const mha = 'MultiheadAttention/';
  const qkv = dense(normal, part(`${mha}qkv_transform_single/kernel/part_0`),
    part(`${mha}qkv_transform_single/bias${all}`), 3 * width);
  const attended = dense(attention(qkv, width), part(`${mha}output_transform_single/kernel/part_0`),
    part(`${mha}output_transform_single/bias${all}`), 512);
  const residual = index === 0 ? dense(x, part(`dense/kernel${all}`), part(`dense/bias${all}`), 512) : x;
  const y = add(attended, residual);
  const ffn = norm(y, part(`FFN/layer_prepostprocess/layer_norm/layer_norm_scale${all}`),
    part(`FFN/layer_prepostprocess/layer_norm/layer_norm_bias${all}`));
  const matrix = (conv) => weight(`TransformerStack/Layer_${index}/TransformerLayer/FFN/${conv}/Tensordot/Reshape_1`);
  const hidden = dense(ffn, matrix('conv1'), part(`FFN/conv1/bias${all}`), 1536).map((row) => row.map((v) => Math.max(v, 0)));
  return add(dense(hidden, matrix('conv2'), part(`FFN/conv2/bias${all}`), 512), y);
}

function vector(ids) {
  const table = weight('Embeddings_en'), rates = weight('AddTimingSignal/TimingSignal/ExpandDims_1');
  let x = ids.slice(0, 128).map((id, position) => Float64Array.from({ length: 256 }, (_, i) =>
    2 * table[id * 256 + i] + (i < 128 ? Math.sin(position * rates[i]) : Math.cos(position * rates[i - 128]))));
  x = layer(layer(x, 0, 256), 1, 512);
  const mean = Float64Array.from({ length: 512 }, (_, i) => x.reduce((sum, row) => sum + row[i], 0) / x.length);
  const out = dense([mean], weight('tanh_layer_0/weights'), weight('tanh_layer_0/bias'), 512)[0].map(Math.tanh);
  const length = Math.sqrt(out.reduce((sum, v) => sum + v * v, 0));
  return Array.from(out, (v) => v / length);
}

const rows = JSON.parse(readFileSync(goldens, 'utf8')).map((row) => {
  const made = { text: row.text, pieces: pieceIds(row.text) };
  if (row.vector) made.vector = vector(made.pieces).map((v) => Number(v.toFixed(6)));
  return `  ${JSON.stringify(made)}`;
});
writeFileSync(goldens, `[\n${rows.join(',\n')}\n]\n`);
