#pragma once
#include "ai/providers/wire_format.hpp"

namespace indx {

/// The Gemini format (`models/…:generateContent`, `:streamGenerateContent`, `:batchEmbedContents`).
std::unique_ptr<WireFormat> make_gemini_format(Upstream upstream);

}  // namespace indx
