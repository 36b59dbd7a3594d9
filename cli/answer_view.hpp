#pragma once
#include "base/json.hpp"

#include <cstddef>
#include <string>

namespace indx {

/// The answer of an AI operation for people: documents as Markdown, citations as `path:line`, what
/// was found or would change by note, then warnings and what it cost. Nothing in it can steer the
/// terminal.
std::string answer_text(const Json& data, std::size_t width, bool has_color);

/// `$0.0123`; `price unknown` for what is no number.
std::string price_text(const Json& usd);

}  // namespace indx
