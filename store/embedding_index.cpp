#include "store/embedding_index.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/columns.hpp"
#include "store/hex_bytes.hpp"
#include "vault/chunk.hpp"

#include <algorithm>

namespace indx {
namespace {

/// So many are looked up one by one; for more, reading all rows is cheaper.
constexpr std::size_t kFewLabels = 2000;
constexpr std::string_view kWithoutRow =
    "NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.embed_key=c.embed_key)";

/// The text of the chunks that have the key, for they have the same.
Result<std::optional<ChunkToEmbed>> read_chunk(Database& db, const std::string& key) {
  ChunkToEmbed chunk{hex_of(key), {}, {}};
  auto owners = db.prepare(
      "SELECT DISTINCT f.path FROM chunk_rows c JOIN files f ON f.id=c.file_id "
      "WHERE c.embed_key=?1 ORDER BY f.path");
  owners.bind_blob(1, key);
  while (INDX_TRY(owners.step())) chunk.paths.push_back(owners.text(0));
  auto query = db.prepare(
      "SELECT f.title, c.heading_path_json, "
      "substr(CAST(n.body AS BLOB), c.char_start+1, c.char_end-c.char_start) "
      "FROM chunk_rows c JOIN files f ON f.id=c.file_id JOIN notes n ON n.id=c.file_id "
      "WHERE c.embed_key=?1 LIMIT 1");
  query.bind_blob(1, key);
  if (!INDX_TRY(query.step())) return std::optional<ChunkToEmbed>();
  chunk.text = embedding_text(query.text(0), headings_of(query.text(1)),
                              replace_invalid_utf8(query.text(2)));
  return std::optional(std::move(chunk));
}

}  // namespace

std::vector<std::string> headings_of(std::string_view json) {
  std::vector<std::string> headings;
  for (const auto& heading : json_value(json))
    if (heading.is_string()) headings.push_back(heading.get<std::string>());
  return headings;
}

Result<std::optional<EmbeddingModel>> embedding_model_of(Database& db) {
  auto query = db.prepare("SELECT id, model, dim FROM embedding_models ORDER BY id DESC LIMIT 1");
  if (!INDX_TRY(query.step())) return std::optional<EmbeddingModel>();
  return std::optional(
      EmbeddingModel{query.integer(0), query.text(1), static_cast<std::size_t>(query.integer(2))});
}

Result<std::optional<VectorSpaceId>> vector_space_of(Database& db) {
  const auto model = INDX_TRY(embedding_model_of(db));
  if (!model) return std::optional<VectorSpaceId>();
  auto query = db.prepare("SELECT value FROM meta WHERE key='epoch'");
  if (!INDX_TRY(query.step())) return std::optional<VectorSpaceId>();
  return std::optional(VectorSpaceId{query.text(0), model->id, model->dim});
}

Result<std::vector<LabelledVector>> vectors_after(Database& db, std::int64_t label,
                                                  std::size_t limit) {
  std::vector<LabelledVector> rows;
  auto query = db.prepare(
      "SELECT id, scale, vector FROM embeddings WHERE id>?1 AND vector<>x'' ORDER BY id LIMIT ?2");
  query.bind(label, limit);
  while (INDX_TRY(query.step()))
    rows.push_back(
        {query.integer(0), int8_vector(static_cast<float>(query.real(1)), query.text(2))});
  return rows;
}

Result<std::vector<NearLabel>> scan_vectors(Database& db, const Int8Vector& query_vector,
                                            std::size_t most, std::int64_t after,
                                            const std::vector<std::int64_t>* allowed) {
  NearestLabels nearest(most);
  const auto look_at = [&](const Database::Statement& row) {
    const auto vector = int8_vector(static_cast<float>(row.real(1)), row.text(2));
    if (vector.scale != 0 && vector.values.size() == query_vector.values.size())
      nearest.add({row.integer(0), similarity(query_vector, vector)});
  };
  if (query_vector.scale == 0) return nearest.take();
  if (allowed != nullptr && allowed->size() < kFewLabels) {
    for (auto label = std::upper_bound(allowed->begin(), allowed->end(), after);
         label != allowed->end(); ++label) {
      auto one = db.prepare("SELECT id, scale, vector FROM embeddings WHERE id=?1");
      if (INDX_TRY(one.bind(*label).step())) look_at(one);
    }
    return nearest.take();
  }
  auto rows = db.prepare("SELECT id, scale, vector FROM embeddings WHERE id>?1");
  rows.bind(after);
  while (INDX_TRY(rows.step()))
    if (allowed == nullptr || std::binary_search(allowed->begin(), allowed->end(), rows.integer(0)))
      look_at(rows);
  return nearest.take();
}

Result<bool> has_chunk_to_embed(Database& db) {
  auto query = db.prepare(cat("SELECT 1 FROM chunk_rows c WHERE ", kWithoutRow, " LIMIT 1"));
  return query.step();
}

Result<EmbeddingCounts> EmbeddingIndex::counts() {
  const auto db = INDX_TRY(pool_.take());
  EmbeddingCounts counts;
  if (const auto model = INDX_TRY(embedding_model_of(*db))) {
    counts.model = model->model;
    counts.dim = model->dim;
  }
  auto query = db->prepare(
      "SELECT count(*), count(e.id), coalesce(sum(e.vector=x''), 0) FROM "
      "(SELECT DISTINCT embed_key FROM chunk_rows) c LEFT JOIN embeddings e ON "
      "e.embed_key=c.embed_key");
  INDX_TRY(query.step());
  counts.chunks = query.integer(0);
  counts.left_out = query.integer(2);
  counts.embedded = query.integer(1) - counts.left_out;
  auto all = db->prepare("SELECT count(*) FROM embeddings");
  INDX_TRY(all.step());
  counts.unused = all.integer(0) - query.integer(1);
  return counts;
}

Result<std::vector<ChunkToEmbed>> EmbeddingIndex::to_embed(const std::string& after_key,
                                                           int limit) {
  const auto db = INDX_TRY(pool_.take());
  std::vector<std::string> keys;
  {
    auto query =
        db->prepare(cat("SELECT DISTINCT c.embed_key FROM chunk_rows c WHERE c.embed_key>?1 AND ",
                        kWithoutRow, " ORDER BY c.embed_key LIMIT ?2"));
    query.bind_blob(1, hex_bytes(after_key));
    query.bind_one(2, limit);
    while (INDX_TRY(query.step())) keys.push_back(query.text(0));
  }
  std::vector<ChunkToEmbed> chunks;
  for (const auto& key : keys)
    if (auto chunk = INDX_TRY(read_chunk(*db, key))) chunks.push_back(std::move(*chunk));
  return chunks;
}

}  // namespace indx
