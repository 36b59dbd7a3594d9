#pragma once
#include "ai/embedder.hpp"
#include "base/config.hpp"

#include <memory>

namespace indx {

/// The embedder of the provider that `embeddings.provider` names; nullptr when it names none or
/// the builtin one, or when the provider lacks its key. Fails with `validation_failed` for a
/// provider without embeddings.
Result<std::unique_ptr<Embedder>> make_remote_embedder(const AiConfig& config);

/// The model for vectors where none is configured; empty: the provider has no embeddings.
std::string usual_embedding_model(std::string_view provider);

}  // namespace indx
