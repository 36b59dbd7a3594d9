#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Bytes [begin, end) of a text become `text`.
struct TextEdit {
  std::size_t begin = 0, end = 0;
  std::string text;
  bool operator==(const TextEdit&) const = default;
};

/// Applies edits that are sorted and do not overlap; every other byte stays.
std::string apply_edits(std::string_view bytes, const std::vector<TextEdit>& edits);
/// Whether the edits are sorted, apart and inside of a text of this size.
bool are_applicable(const std::vector<TextEdit>& edits, std::size_t size);

}  // namespace indx
