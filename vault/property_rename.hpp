#pragma once
#include "base/result.hpp"
#include "vault/text_edit.hpp"

#include <string_view>
#include <vector>

namespace indx {

/// The edits that give a property another name; its value, comments and place stay. None when the
/// note has no such property (names compare without case) or its block is invalid. Fails with
/// `conflict` when the note has the new name already, `not_utf8`, `parse_failed`,
/// `validation_failed` for a name that cannot be one.
Result<std::vector<TextEdit>> rename_property(std::string_view bytes, std::string_view from,
                                              std::string_view to);

/// Whether a fenced code block in one of these languages holds the text as a word or name of its
/// own, whatever the case.
bool code_mentions(std::string_view bytes, const std::vector<std::string_view>& languages,
                   std::string_view text);
/// The same for a whole text.
bool mentions_name(std::string_view bytes, std::string_view name);

/// Whether a property block, which may be no YAML, seems to hold a property of that name, whatever
/// the case: the name, perhaps in quotes, and a colon.
bool mentions_key(std::string_view block, std::string_view name);

}  // namespace indx
