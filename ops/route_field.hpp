#pragma once
#include <algorithm>
#include <array>
#include <string_view>

namespace indx {

/// Whether a field of a route's pattern takes several segments: its slashes are written as they
/// are.
inline bool takes_segments(std::string_view field) {
  constexpr std::array<std::string_view, 4> kLong{"path", "from", "to", "tag"};
  return std::find(kLong.begin(), kLong.end(), field) != kLong.end();
}

}  // namespace indx
