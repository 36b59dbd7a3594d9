#pragma once
#include "actors/core.hpp"
#include "ops/retrieval.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace indx {

/// Search by meaning, over the index and the model of this process, for one caller.
class EngineRetrieval : public Retrieval {
 public:
  /// `embed` asks the model of this process, which is there, in the name of the caller.
  using Embed =
      std::function<Result<std::vector<std::vector<float>>>(std::span<const std::string> texts)>;
  EngineRetrieval(Core& core, PathScope scope, Embed embed)
      : core_(core), scope_(std::move(scope)), embed_(std::move(embed)) {}

  Result<Vectors> vectors() override;
  Result<EmbeddingCounts> counts() override;
  std::string model() override;
  Result<std::unique_ptr<RetrievalSource>> ask(const RetrievalQuestion& question,
                                               bool by_meaning) override;
  Result<std::vector<NearChunk>> near_note(const NotePath& path, NoteFilter filter,
                                           std::size_t most_notes) override;
  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts) override;
  Result<std::vector<ChunkToEmbed>> to_embed(const std::string& after_key, int limit) override;
  Status keep(const std::vector<EmbeddedChunk>& chunks) override;
  Status forget_all() override;
  Status forget_left_out() override;
  Result<std::int64_t> tidy() override;
  void end_pass() override { core_.parts.embedding.complete_at = pass_began_at_; }

 private:
  Result<std::vector<float>> vector_of(const RetrievalQuestion& question);

  Core& core_;
  const PathScope scope_;
  const Embed embed_;
  std::int64_t pass_began_at_ = 0;  ///< EmbeddingProgress::changes then
};

}  // namespace indx
