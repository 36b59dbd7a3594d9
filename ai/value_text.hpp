#pragma once
#include "base/json.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace indx {

/// What texts mean as values, without guessing: nullopt where two readings are possible or none.

/// `YYYY-MM-DD` of a day: ISO 8601 (also with a time behind it, whose date counts as written),
/// `2024/3/5`, `20240305`, `5.3.2024`, `5 March 2024`, `March 5th, 2024`, and `13/4/2024` where
/// only one order gives a day. Not `3/4/2024`, not `yesterday`.
std::optional<std::string> normal_date(std::string_view text);
/// `YYYY-MM-DDTHH:mm:ssZ`, in UTC: ISO 8601 or RFC 3339 with `T` or a space; a time without an
/// offset counts as UTC. Not a date alone.
std::optional<std::string> normal_datetime(std::string_view text);
/// The first date that stands in the text, with its bytes [begin, end) there.
struct FoundDate {
  std::string date;
  std::size_t begin = 0, end = 0;
};
std::optional<FoundDate> find_date(std::string_view text);
/// `today`, `tomorrow`, `yesterday` and `in N days|weeks` from the given day `YYYY-MM-DD`.
std::optional<std::string> relative_date(std::string_view text, std::string_view day);

/// A whole text that is one number: `42`, `-1.5`, `1,234.5`, with a currency sign or a unit word
/// behind or before it only when `allow_unit`.
std::optional<Json> number_of_text(std::string_view text, bool allow_unit = false);
/// `true false yes no on off` and check marks, in any case.
std::optional<bool> boolean_of_text(std::string_view text);

}  // namespace indx
