#pragma once
#include <cstddef>
#include <string_view>

namespace indx {

/// Levenshtein distance in bytes, for "did you mean"; time is the product of the lengths, so cut
/// what strangers send.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace indx
