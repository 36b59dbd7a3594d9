#pragma once
#include "ai/providers/wire_format.hpp"

namespace indx {

/// The Anthropic Messages format (`/v1/messages`). JSON of a given shape is asked for as the call
/// of a tool. It has no embeddings.
std::unique_ptr<WireFormat> make_anthropic_format(Upstream upstream);

}  // namespace indx
