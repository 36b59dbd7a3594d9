#pragma once
#include "base/unicode.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace indx::fuzz {

/// Ends the run; libFuzzer keeps the input.
[[noreturn]] inline void refute(const char* claim, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: refuted: %s\n", file, line, claim);
  std::abort();
}

/// The pieces between separators; at least one.
inline std::vector<std::string_view> pieces(std::string_view text, char separator) {
  std::vector<std::string_view> all;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    all.push_back(text.substr(begin, end == text.npos ? text.npos : end - begin));
    if (end == text.npos) return all;
    begin = end + 1;
  }
}

/// The parts of an input by number; those that are missing are empty.
class Parts {
 public:
  explicit Parts(std::string_view input) : parts_(pieces(input, '\x1f')) {}
  std::size_t size() const { return parts_.size(); }
  std::string_view operator[](std::size_t i) const {
    return i < parts_.size() ? parts_[i] : std::string_view();
  }

 private:
  std::vector<std::string_view> parts_;
};

/// Whether an offset stands inside of the text, and at the border of a character where the text is
/// UTF-8.
inline bool is_border(std::string_view text, bool is_utf8, std::size_t at) {
  if (at > text.size()) return false;
  return !is_utf8 || at == text.size() || (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
}
inline bool is_range(std::string_view text, bool is_utf8, std::size_t begin, std::size_t end) {
  return begin <= end && is_border(text, is_utf8, begin) && is_border(text, is_utf8, end);
}

/// Whether `after` is `before` with bytes of [begin, end) exchanged for others.
inline bool keeps_outside(std::string_view before, std::string_view after, std::size_t begin,
                          std::size_t end) {
  const std::size_t kept_below = before.size() - end;
  return after.size() >= begin + kept_below && after.substr(0, begin) == before.substr(0, begin) &&
         after.substr(after.size() - kept_below) == before.substr(end);
}

}  // namespace indx::fuzz

#define CLAIM(claim) \
  if (!(claim)) ::indx::fuzz::refute(#claim, __FILE__, __LINE__)

/// Each target defines it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
#define FUZZ_INPUT(data, size) std::string_view(reinterpret_cast<const char*>(data), size)
