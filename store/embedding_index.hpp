#pragma once
#include "store/index_pool.hpp"
#include "store/vector_index.hpp"
#include "vault/retrieval_query.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// The row of `embedding_models`.
struct EmbeddingModel {
  std::int64_t id = 0;
  std::string model;
  std::size_t dim = 0;
};
Result<std::optional<EmbeddingModel>> embedding_model_of(Database& db);
/// Which vectors belong together; nullopt: there are none yet.
Result<std::optional<VectorSpaceId>> vector_space_of(Database& db);

/// In order of labels, those after a label, at most `limit`; without those that were left out.
Result<std::vector<LabelledVector>> vectors_after(Database& db, std::int64_t label,
                                                  std::size_t limit);
/// Exactly the nearest ones of the rows after a label. `allowed`: sorted labels, nullptr: all.
Result<std::vector<NearLabel>> scan_vectors(Database& db, const Int8Vector& query, std::size_t most,
                                            std::int64_t after,
                                            const std::vector<std::int64_t>* allowed);
/// `heading_path_json` of a chunk.
std::vector<std::string> headings_of(std::string_view json);
/// Whether a chunk of the index has no row in `embeddings`.
Result<bool> has_chunk_to_embed(Database& db);

/// The rows of vectors, for what is not a search. Safe from any thread.
class EmbeddingIndex {
 public:
  explicit EmbeddingIndex(IndexPool& pool) : pool_(pool) {}
  Result<EmbeddingCounts> counts();
  /// Chunks without a row, by key, after a key; each key once.
  Result<std::vector<ChunkToEmbed>> to_embed(const std::string& after_key, int limit);

 private:
  IndexPool& pool_;
};

}  // namespace indx
