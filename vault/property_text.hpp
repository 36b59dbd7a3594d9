#pragma once
#include "base/result.hpp"
#include "vault/text_edit.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// The edits of one text; offsets count in it. None: the text stays.
using TextRewrite = std::function<std::vector<TextEdit>(std::string_view text)>;

/// Applies a rewriting to every text among the property values of a note and gives the edits of the
/// file. Only bytes that must change do; where the spelling of a value cannot carry its new text,
/// the value is written anew in double quotes. Fails with `parse_failed` when neither reads back
/// right. The block must be valid; without one there is nothing to do.
Result<std::vector<TextEdit>> rewrite_property_texts(std::string_view bytes,
                                                     const TextRewrite& rewrite);

}  // namespace indx
