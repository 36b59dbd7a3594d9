#pragma once
#include "base/result.hpp"

#include <charconv>
#include <cstdint>
#include <string>

namespace indx {

/// The id in a cursor of a list that goes by ids, that of the last row that was given; `start` for
/// an empty one. `validation_failed` for any other text.
inline Result<std::int64_t> id_cursor(const std::string& cursor, std::int64_t start) {
  if (cursor.empty()) return start;
  std::int64_t id = 0;
  const auto* const last = cursor.data() + cursor.size();
  const auto [end, error] = std::from_chars(cursor.data(), last, id);
  if (error == std::errc() && end == last && id > 0) return id;
  return invalid("`cursor` is not one of ours: use `next_cursor` of the answer before, unchanged.",
                 Json{{"path", "cursor"},
                      {"expected", "next_cursor of an earlier answer"},
                      {"actual", "another text"}});
}

}  // namespace indx
