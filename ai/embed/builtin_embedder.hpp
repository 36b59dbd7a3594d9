#pragma once
#include "ai/embedder.hpp"

#include <memory>
#include <string>

namespace indx {

/// The embedder that needs no server: Universal Sentence Encoder Lite, for English. The weights are
/// read from `model_file`, or, when that is empty, from the file of that name in `../share/indx`
/// beside the running program. Vectors are the same on every machine.
/// Errors: `ai_unavailable` {required_role: embeddings, cause: missing | unreadable | damaged |
/// other_model}: there is no semantic search then, and nothing takes its place.
Result<std::unique_ptr<Embedder>> make_builtin_embedder(const std::string& model_file = {});

/// Where make_builtin_embedder looks when no file is named.
std::string default_embedding_model_file();

}  // namespace indx
