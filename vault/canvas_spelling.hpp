#pragma once
#include "base/json.hpp"
#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Internal to `vault/`: how the JSON of a canvas is written so that what does not change keeps its
/// bytes, such as the number `1.10` (vault-rules 9.2).

/// A value as the shortest JSON.
std::string json_bytes(const Json& value);
/// Whether both are the same JSON value: the order of keys does not count, nor how a number is
/// spelled.
bool is_same_json(const Json& a, const Json& b);

/// A member of an object and the bytes of its value.
struct SpelledMember {
  std::string key, value;
};
/// The object with members set and removed; all others keep their bytes, and new ones look like
/// those that are there. A member both set and removed is set. Fails with `parse_failed` when the
/// text is no object or holds a key twice.
Result<std::string> spell_members(std::string_view object, const std::vector<SpelledMember>& set,
                                  const std::vector<std::string>& unset);

/// What stands around the items of a list that was empty before.
struct ListStyle {
  std::string_view lead, tail;  ///< before each item; before `]`
};
/// `value` in the spelling of `before`, which is the text of a JSON value: all of it when both are
/// the same, else that of each part that is the same. Members keep their place and new ones follow;
/// items of a list belong together by their `id`, without ids by their place, and stand in the
/// order of `value`.
std::string respell(std::string_view before, const Json& value, const ListStyle& style = {});

}  // namespace indx
