#pragma once
#include "ai/embedder.hpp"
#include "ai/provider.hpp"

#include <functional>
#include <memory>

namespace indx {

/// Texts that a model is given in one call (row G23).
inline constexpr std::size_t kEmbedBatch = 32;

/// What one call gave.
struct EmbedReply {
  std::vector<std::vector<float>> vectors;  ///< of length 1, one for each text, in their order
  AiUsage usage;
};

/// An embedder that asks a server. Whoever has to count the calls, keep them within limits and try
/// them again makes each of them alone, with `embed_by`; `embed` just makes them.
class RemoteEmbedder : public Embedder {
 public:
  virtual std::string provider() const = 0;
  virtual std::string model() const = 0;

  /// One exchange for 1 to kEmbedBatch texts, each of which holds something. Errors: as of
  /// Provider::generate.
  virtual Result<EmbedReply> embed_batch(std::span<const std::string> texts,
                                         const CancelToken& cancel) = 0;

  /// Makes the calls of `embed`; the first that fails ends it.
  using Batch = std::function<Result<EmbedReply>(std::span<const std::string> texts)>;
  Result<std::vector<std::vector<float>>> embed_by(std::span<const std::string> texts,
                                                   const Batch& batch) const;

  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts,
                                                const CancelToken& cancel) override;
  RemoteEmbedder* remote() override { return this; }
};

/// The embedder of the provider that `embeddings.provider` names; nullptr when it names none or
/// the builtin one, or when the provider lacks its key. Fails with `validation_failed` for a
/// provider without embeddings.
Result<std::unique_ptr<Embedder>> make_remote_embedder(const AiConfig& config);

/// The model for vectors where none is configured; empty: the provider has no embeddings.
std::string usual_embedding_model(std::string_view provider);

}  // namespace indx
