#pragma once
#include "base/json.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace indx {

/// Hosts refuse or spill results over 25,000 tokens (mcp.md section 9).
inline constexpr std::size_t kMaxResultBytes = 38'000;

std::size_t json_size(const Json& value);

/// A value cut until it is at most `max_bytes` as JSON: first its longest strings and lists.
/// `*cuts` says what is missing.
Json cut_to_size(Json value, std::size_t max_bytes, std::vector<std::string>* cuts);

}  // namespace indx
