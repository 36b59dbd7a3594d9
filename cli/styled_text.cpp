#include "cli/styled_text.hpp"

#include "base/unicode.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool steers_terminal(char32_t c) {
  return (c < 0x20 && c != '\n') || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) ||
         (c >= 0xE0000 && c <= 0xE007F);
}

std::string escape_of(std::uint8_t style) {
  std::string codes;
  const auto add = [&](std::uint8_t bit, const char* code) {
    if ((style & bit) != 0) codes += (codes.empty() ? "" : ";") + std::string(code);
  };
  add(look::kBold, "1");
  add(look::kDim, "2");
  add(look::kItalic, "3");
  add(look::kUnderline, "4");
  add(look::kStrike, "9");
  add(look::kCode, "36");
  add(look::kAdded, "32");
  return codes.empty() ? "" : "\x1b[" + codes + "m";
}

struct Glyph {
  char32_t value = 0;
  std::size_t columns = 0;
  std::uint8_t style = look::kPlain;
  bool is_space() const { return value == ' '; }
  bool is_wide() const { return columns == 2; }
};
using Glyphs = std::vector<Glyph>;

Glyphs glyphs_of(const std::vector<StyledRun>& runs) {
  Glyphs glyphs;
  for (const auto& run : runs) {
    const std::string text = harmless(run.text);
    for (std::size_t at = 0; at < text.size();) {
      const auto point = decode_at(text, at);
      glyphs.push_back({point.value, columns_of(point.value), run.style});
      at += point.length;
    }
  }
  return glyphs;
}

std::string line_text(const Glyphs& glyphs, std::size_t begin, std::size_t end, bool has_color) {
  std::string line;
  std::uint8_t style = look::kPlain;
  const auto change_to = [&](std::uint8_t next) {
    if (!has_color || next == style) return;
    if (style != look::kPlain) line += "\x1b[0m";
    line += escape_of(next);
    style = next;
  };
  for (std::size_t i = begin; i < end; ++i) {
    change_to(glyphs[i].style);
    append_utf8(line, glyphs[i].value);
  }
  change_to(look::kPlain);
  return line;
}

}  // namespace

std::size_t columns_of(char32_t c) {
  if (is_mark(c)) return 0;
  const bool is_wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
                       (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
                       (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
                       (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
  return is_wide ? 2 : 1;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = decode_at(text, at);
    columns += columns_of(point.value);
    at += point.length;
  }
  return columns;
}

std::string harmless(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = decode_at(text, at);
    at += point.length;
    if (point.value == '\t')
      result += "    ";
    else if (point.value == '\r' && at < text.size() && text[at] == '\n')
      continue;
    else
      append_utf8(result, steers_terminal(point.value) ? kReplacement : point.value);
  }
  return result;
}

std::string styled(std::string_view text, std::uint8_t style, bool has_color) {
  const std::string escape = has_color ? escape_of(style) : "";
  return escape.empty() ? harmless(text) : escape + harmless(text) + "\x1b[0m";
}

std::vector<std::string> wrap(const std::vector<StyledRun>& runs, const WrapOptions& options) {
  const Glyphs glyphs = glyphs_of(runs);
  const std::size_t width = std::max<std::size_t>(2, options.width);
  std::vector<std::string> lines;
  std::size_t begin = 0;
  const auto skip_spaces = [&](std::size_t from) {
    while (!options.keeps_space && from < glyphs.size() && glyphs[from].is_space()) ++from;
    return from;
  };
  while (begin < glyphs.size()) {
    std::size_t end = begin, columns = 0, best = begin;
    while (end < glyphs.size() && glyphs[end].value != '\n' &&
           columns + glyphs[end].columns <= width) {
      columns += glyphs[end].columns;
      ++end;
      const bool may_break =
          !options.keeps_space && end < glyphs.size() &&
          (glyphs[end].is_space() || (glyphs[end].is_wide() && !glyphs[end - 1].is_space()) ||
           (glyphs[end - 1].is_wide() && glyphs[end].columns > 0));
      if (may_break) best = end;
    }
    const bool is_cut = end < glyphs.size() && glyphs[end].value != '\n';
    if (is_cut && best > begin && !options.keeps_space) end = best;
    std::size_t shown = end;
    while (!options.keeps_space && shown > begin && glyphs[shown - 1].is_space()) --shown;
    lines.push_back(line_text(glyphs, begin, shown, options.has_color));
    const bool is_line_end = end < glyphs.size() && glyphs[end].value == '\n';
    begin = is_line_end ? skip_spaces(end + 1) : skip_spaces(end);
  }
  return lines;
}

std::size_t columns_of(const std::vector<StyledRun>& runs) {
  std::size_t widest = 0, columns = 0;
  for (const auto& glyph : glyphs_of(runs)) {
    columns = glyph.value == '\n' ? 0 : columns + glyph.columns;
    widest = std::max(widest, columns);
  }
  return widest;
}

}  // namespace indx
