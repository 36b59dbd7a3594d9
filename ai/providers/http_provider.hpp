#pragma once
#include "ai/providers/wire_format.hpp"
#include "ai/remote_embedder.hpp"

namespace indx {

/// The provider that speaks `format`: the same limits, checks and errors for all.
std::unique_ptr<Provider> make_http_provider(const AiConfig& config,
                                             std::unique_ptr<WireFormat> format);

/// The embedder that speaks `format`, whose model is one for vectors.
std::unique_ptr<RemoteEmbedder> make_http_embedder(const AiConfig& config,
                                                   std::unique_ptr<WireFormat> format);

}  // namespace indx
