#include "base/text.hpp"
#include "store/embedding_index.hpp"
#include "store/hex_bytes.hpp"
#include "store/note_index_impl.hpp"
#include "store/vector_cache.hpp"

#include <cmath>

namespace indx {
namespace {

/// Vectors without a chunk that are always kept (EmbeddingCounts::is_untidy).
constexpr std::int64_t kKeptVectors = 1000;
constexpr std::int64_t kPrunedAtOnce = 5000;

Error other_model(const EmbeddingModel& has, const std::string& model, std::size_t dim) {
  return make_error(
      Reason::Conflict,
      cat("The index holds vectors of ", has.model, " (", has.dim, " numbers), not of ", model,
          " (", dim, "). `vault_embed` with `reset` makes all of them anew."),
      {{"index_model", has.model}, {"model", model}});
}

/// With the first vectors: from here on chunks are looked up by their key.
Result<std::int64_t> add_model(Database& db, const std::string& model, std::size_t dim) {
  INDX_TRY(db.execute("CREATE INDEX IF NOT EXISTS chunks_by_key ON chunk_rows(embed_key)"));
  auto insert = db.prepare("INSERT INTO embedding_models(model, dim) VALUES (?1, ?2)");
  INDX_TRY(insert.bind(model, dim).run());
  return db.last_insert_id();
}

Status put_vector(Database& db, std::int64_t model_id, const EmbeddedChunk& chunk) {
  // A row is only ever replaced where the chunk had been left out: what a label stands for stays.
  const auto key = hex_bytes(chunk.key);
  auto left_out = db.prepare("DELETE FROM embeddings WHERE embed_key=?1 AND vector=x''");
  left_out.bind_blob(1, key);
  INDX_TRY(left_out.run());
  const auto vector = to_int8(chunk.vector);
  auto insert = db.prepare(
      "INSERT INTO embeddings(model_id, embed_key, scale, vector) VALUES (?1,?2,?3,?4) "
      "ON CONFLICT(embed_key) DO NOTHING");
  insert.bind_one(1, model_id);
  insert.bind_blob(2, key);
  insert.bind_one(3, static_cast<double>(vector.scale));
  insert.bind_blob(4, bytes_of(vector));
  INDX_TRY(insert.run());
  return {};
}

/// The size of the vectors; 0: all of them are left out. An error where a model gave nonsense.
Result<std::size_t> size_of(const std::vector<EmbeddedChunk>& chunks) {
  std::size_t dim = 0;
  for (const auto& [key, vector] : chunks) {
    if (vector.empty()) continue;
    if (dim != 0 && dim != vector.size())
      return make_error(Reason::AiProviderError, "The model gave vectors of different sizes.");
    dim = vector.size();
    for (const float number : vector)
      if (!std::isfinite(number))
        return make_error(Reason::AiProviderError, "The model gave a vector that is no vector.");
  }
  return dim;
}

}  // namespace

Result<bool> NoteIndexWriter::Impl::is_embedded(std::string_view key) {
  auto query = db.prepare("SELECT 1 FROM embeddings WHERE embed_key=?1");
  query.bind_blob(1, key);
  return query.step();
}

/// A change of vectors alone.
template <typename Body>
Status NoteIndexWriter::Impl::change_vectors(Body body) {
  if (in_transaction) INDX_TRY(roll_back());  // one that failed and was given up
  auto transaction = INDX_TRY(Database::Transaction::begin(db));
  INDX_TRY(body());
  return transaction.commit();
}

Result<std::optional<std::string>> NoteIndexWriter::embedding_model() {
  const auto model = INDX_TRY(embedding_model_of(impl_->db));
  if (!model) return std::optional<std::string>();
  return std::optional(model->model);
}

Status NoteIndexWriter::put_embeddings(const std::string& model,
                                       const std::vector<EmbeddedChunk>& chunks) {
  const auto dim = INDX_TRY(size_of(chunks));
  return impl_->change_vectors([&]() -> Status {
    const auto has = INDX_TRY(embedding_model_of(impl_->db));
    if (has && (has->model != model || (dim != 0 && has->dim != dim)))
      return other_model(*has, model, dim);
    if (!has && dim == 0) return {};  // nothing yet that could be searched
    const auto id = has ? has->id : INDX_TRY(add_model(impl_->db, model, dim));
    for (const auto& chunk : chunks) INDX_TRY(put_vector(impl_->db, id, chunk));
    return {};
  });
}

Status NoteIndexWriter::forget_embeddings() {
  return impl_->change_vectors(
      [&] { return impl_->db.execute("DELETE FROM embeddings; DELETE FROM embedding_models"); });
}

Result<std::int64_t> NoteIndexWriter::forget_left_out() {
  std::int64_t count = 0;
  INDX_TRY(impl_->change_vectors([&]() -> Status {
    count = INDX_TRY(impl_->db.prepare("DELETE FROM embeddings WHERE vector=x''").run());
    return {};
  }));
  return count;
}

Result<std::int64_t> NoteIndexWriter::prune_embeddings(VectorCache& cache) {
  if (!INDX_TRY(embedding_model_of(impl_->db))) return std::int64_t{0};
  constexpr std::string_view kUnused =
      "FROM embeddings e WHERE NOT EXISTS (SELECT 1 FROM chunk_rows c WHERE "
      "c.embed_key=e.embed_key)";
  EmbeddingCounts counts;
  {
    auto query =
        impl_->db.prepare(cat("SELECT count(*), (SELECT count(*) FROM embeddings) ", kUnused));
    INDX_TRY(query.step());
    counts.unused = query.integer(0);
    counts.embedded = query.integer(1) - counts.unused;
  }
  if (!counts.is_untidy()) return std::int64_t{0};
  std::vector<std::int64_t> labels;
  INDX_TRY(impl_->change_vectors([&]() -> Status {
    auto oldest = impl_->db.prepare(cat("SELECT e.id ", kUnused, " ORDER BY e.id LIMIT ?1"));
    oldest.bind(std::min(counts.unused - kKeptVectors, kPrunedAtOnce));
    while (INDX_TRY(oldest.step())) labels.push_back(oldest.integer(0));
    for (const auto label : labels) {
      auto statement = impl_->db.prepare("DELETE FROM embeddings WHERE id=?1");
      INDX_TRY(statement.bind(label).run());
    }
    return {};
  }));
  cache.remove(labels);
  return static_cast<std::int64_t>(labels.size());
}

Result<bool> NoteIndexWriter::take_unembedded(bool looks) {
  const bool was_put = std::exchange(impl_->has_unembedded, false);
  if (was_put || !looks) return was_put;
  return has_chunk_to_embed(impl_->db);
}

Result<bool> NoteIndexWriter::work_on(VectorCache& cache) { return cache.work(impl_->db); }

}  // namespace indx
