#pragma once
#include "base/clock.hpp"
#include "base/json_text.hpp"
#include "store/database.hpp"

#include <optional>
#include <string>
#include <string_view>

// How our values are kept in a column: JSON as text, times as milliseconds.
namespace indx {

/// Null for text that is not JSON: a damaged value fails its reader, not every reader of the table.
inline Json json_value(std::string_view text) {
  Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? Json() : value;
}

inline std::optional<std::int64_t> optional_millis(const std::optional<Timestamp>& time) {
  if (!time) return std::nullopt;
  return to_millis(*time);
}
inline Timestamp time_at(const Database::Statement& row, int column) {
  return from_millis(row.integer(column));
}
inline std::optional<Timestamp> optional_time_at(const Database::Statement& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return time_at(row, column);
}
inline std::optional<std::string> null_if_empty(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace indx
