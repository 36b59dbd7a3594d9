#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Columns that text takes on a terminal: wide letters two, marks none; near enough for layout.
std::size_t columns_of(char32_t c);
std::size_t columns_of(std::string_view text);

/// Text of notes and models as a terminal may get it: control characters (and so the start of every
/// escape sequence), marks that reverse the direction of text, invisible tags and invalid UTF-8
/// become U+FFFD; line feeds stay, tabs become spaces.
std::string harmless(std::string_view text);

/// Looks that can be joined.
namespace look {
inline constexpr std::uint8_t kPlain = 0, kBold = 1, kItalic = 2, kCode = 4, kUnderline = 8,
                              kStrike = 16, kDim = 32, kAdded = 64;
}
struct StyledRun {
  std::string text;
  std::uint8_t style = look::kPlain;
};

/// Text in a style, harmless; without colour as it is.
std::string styled(std::string_view text, std::uint8_t style, bool has_color);

/// Harmless lines of at most `width` columns: broken at spaces and beside wide letters, words that
/// are longer than a line anywhere. White space at a break goes, unless `keeps_space`, which breaks
/// at the width alone.
struct WrapOptions {
  std::size_t width = 80;
  bool has_color = false, keeps_space = false;
};
std::vector<std::string> wrap(const std::vector<StyledRun>& runs, const WrapOptions& options);

/// Columns of the widest line that `wrap` would give to a terminal of any width.
std::size_t columns_of(const std::vector<StyledRun>& runs);

}  // namespace indx
