#pragma once
#include "store/database.hpp"
#include "store/search_query.hpp"

#include <string_view>

namespace indx {

/// Whether one piece of the note (line, block, section, task) holds all children of the node, or
/// its text matches the pattern.
Result<bool> holds_piece_of(Database& db, std::int64_t id, const QueryNode& node);

/// Calls `visit` for each line without its line end, until it gives true; gives whether it did.
template <typename Visit>
bool any_line(std::string_view text, Visit visit) {
  for (std::size_t at = 0; at < text.size();) {
    auto end = text.find_first_of("\r\n", at);
    if (end == text.npos) end = text.size();
    if (visit(at, text.substr(at, end - at))) return true;
    at = end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
  }
  return false;
}

}  // namespace indx
