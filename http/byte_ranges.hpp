#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace indx {

struct ByteRange {
  std::uint64_t begin = 0, size = 0;
};

/// What a Range header asks of `size` bytes (RFC 9110, 14). `Whole`: there is no such header, or
/// one that is to be ignored (another unit, malformed, more than kMaxRanges, or more bytes in all
/// than there are). `None`: nothing of what it asks exists (416).
struct RangeAnswer {
  enum class Kind : std::uint8_t { Whole, Parts, None };
  Kind kind = Kind::Whole;
  std::vector<ByteRange> ranges;  ///< of Parts, in the order asked for; ones that touch are joined
};
inline constexpr std::size_t kMaxRanges = 32;
RangeAnswer read_ranges(const std::string& header, std::uint64_t size);

}  // namespace indx
