#pragma once
#include "ai/embedder.hpp"
#include "ai/providers/wire_format.hpp"

namespace indx {

/// The provider that speaks `format`: the same limits, checks and errors for all.
std::unique_ptr<Provider> make_http_provider(const AiConfig& config,
                                             std::unique_ptr<WireFormat> format);

/// The embedder that speaks `format`, whose model is one for vectors; at most 32 texts a call.
std::unique_ptr<Embedder> make_http_embedder(const AiConfig& config,
                                             std::unique_ptr<WireFormat> format);

}  // namespace indx
