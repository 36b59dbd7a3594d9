#pragma once
#include "ai/providers/wire_format.hpp"

namespace indx {

/// The OpenAI-compatible format (`/chat/completions`, `/embeddings`, `/models`), which many other
/// servers speak too. `structured_output`: json_schema | tool_call | json_object.
std::unique_ptr<WireFormat> make_openai_format(Upstream upstream,
                                               const std::string& structured_output);

/// Whether a schema may be asked for strictly: each object lists all its properties as required
/// and allows no others, and no keyword stands in it that strict schemas refuse.
bool fits_strict_mode(const Json& schema);

}  // namespace indx
