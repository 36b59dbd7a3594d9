#include "http/byte_ranges.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace indx {
namespace {

/// Digits only; what is too large for any file counts as its end.
std::optional<std::uint64_t> read_position(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return std::numeric_limits<std::uint64_t>::max();
  return value;
}

/// nullopt: malformed. Size 0: nothing of it exists.
std::optional<ByteRange> read_range(std::string_view text, std::uint64_t size) {
  const auto dash = text.find('-');
  if (dash == text.npos) return std::nullopt;
  const auto first = trim(text.substr(0, dash)), last = trim(text.substr(dash + 1));
  if (first.empty()) {
    const auto suffix = read_position(last);
    if (!suffix) return std::nullopt;
    const auto taken = std::min(*suffix, size);
    return ByteRange{size - taken, taken};
  }
  const auto begin = read_position(first);
  const auto end =
      last.empty() ? std::optional(std::numeric_limits<std::uint64_t>::max()) : read_position(last);
  if (!begin || !end || *end < *begin) return std::nullopt;
  if (*begin >= size) return ByteRange{};
  return ByteRange{*begin, std::min(*end, size - 1) - *begin + 1};
}

/// Joins `next` to the last range when they overlap or touch, in this order.
void add_range(std::vector<ByteRange>& ranges, ByteRange next) {
  if (!ranges.empty()) {
    auto& last = ranges.back();
    if (next.begin >= last.begin && next.begin <= last.begin + last.size) {
      last.size = std::max(last.begin + last.size, next.begin + next.size) - last.begin;
      return;
    }
  }
  ranges.push_back(next);
}

}  // namespace

RangeAnswer read_ranges(const std::string& header, std::uint64_t size) {
  const auto equals = header.find('=');
  auto unit = std::string(trim(header.substr(0, equals)));
  std::transform(unit.begin(), unit.end(), unit.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (equals == header.npos || unit != "bytes") return {};
  RangeAnswer answer;
  std::size_t count = 0;
  for (const auto& part : split(header.substr(equals + 1), ',')) {
    if (trim(part).empty()) continue;
    const auto range = read_range(trim(part), size);
    if (!range || ++count > kMaxRanges) return {};
    if (range->size > 0) add_range(answer.ranges, *range);
  }
  if (count == 0) return {};
  answer.kind = answer.ranges.empty() ? RangeAnswer::Kind::None : RangeAnswer::Kind::Parts;
  std::uint64_t total = 0;
  for (const auto& range : answer.ranges) total += range.size;
  if (answer.ranges.size() > 1 && total >= size) return {};  // overlaps cost more than the whole
  return answer;
}

}  // namespace indx
