#include "vault/join.hpp"

#include "vault/line_ends.hpp"
#include "vault/markdown.hpp"

#include <algorithm>

namespace indx {
namespace {

std::string_view last_line_of(std::string_view text) {
  const std::size_t end = text.find_last_not_of("\r\n") + 1;
  const std::size_t begin = line_begin_of(text, end);
  return text.substr(begin, end - begin);
}

bool ends_line(std::string_view text) {
  return !text.empty() && (text.back() == '\n' || text.back() == '\r');
}

/// The text before the last line border, without that line end.
std::string_view without_line_end(std::string_view text) {
  if (!ends_line(text)) return text;
  const bool crlf = text.size() > 1 && text.back() == '\n' && text[text.size() - 2] == '\r';
  text.remove_suffix(crlf ? 2 : 1);
  return text;
}

/// The family of the list that a text ends in; nested items and indented lines belong to the item
/// above them.
char family_at_end(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = last_line_of(text);
    if (is_blank_line(line)) return 0;
    const bool indented = line[0] == ' ' || line[0] == '\t';
    if (!indented) return item_family(line);
    text = text.substr(0, static_cast<std::size_t>(line.data() - text.data()));
    if (text.empty() || is_blank_line(last_line_of(text))) return item_family(line);
    text = without_line_end(text);
    if (ends_line(text)) return 0;
  }
  return 0;
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::string trimmed_markdown(std::string_view markdown, std::string_view eol) {
  std::string out;
  std::size_t written_to = 0;  // end of the last line that is not blank
  for (std::size_t at = 0; at < markdown.size();) {
    const std::size_t end = line_end_of(markdown, at);
    const std::string_view line = markdown.substr(at, end - at);
    at = next_line_of(markdown, end);
    if (out.empty() && is_blank_line(line)) continue;
    out.append(line);
    if (!is_blank_line(line)) written_to = out.size();
    out.append(eol);
  }
  out.resize(written_to);
  return out;
}

bool ends_in_text_line(std::string_view text) {
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return !is_blank_line(text.substr(line_begin_of(text, text.size())));
}

bool ends_in_heading(std::string_view text) {
  const ParsedNote note = parse_note(text);
  if (note.headings.empty()) return false;
  const Heading& last = note.headings.back();
  return !last.nested && is_blank_line(text.substr(last.content));
}

char item_family(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return 0;
  std::size_t at = first;
  while (at < line.size() && at - first < 10 && line[at] >= '0' && line[at] <= '9') ++at;
  const bool numbered = at > first;
  if (at >= line.size()) return 0;
  const char mark = line[at];
  if (numbered ? mark != '.' && mark != ')' : mark != '-' && mark != '*' && mark != '+') return 0;
  return at + 1 == line.size() || line[at + 1] == ' ' || line[at + 1] == '\t' ? mark : '\0';
}

bool is_tight_list(std::string_view above, std::string_view below) {
  const char family = family_at_end(above);
  return family != 0 && family == item_family(below.substr(0, line_end_of(below, 0)));
}

bool needs_blank_line(std::string_view above, std::string_view below) {
  return !is_tight_list(above, below) && !ends_in_heading(above);
}

std::size_t after_blank_lines(std::string_view bytes, std::size_t from, std::size_t to) {
  while (from < to) {
    const std::size_t end = line_end_of(bytes, from);
    if (!is_blank_line(bytes.substr(from, end - from))) return from;
    from = next_line_of(bytes, end);
  }
  return to;
}

std::size_t before_blank_lines(std::string_view bytes, std::size_t from, std::size_t to) {
  while (to > from) {
    const std::size_t end = without_line_end(bytes.substr(0, to)).size();
    const std::size_t begin = std::max(line_begin_of(bytes, end), from);
    if (!is_blank_line(bytes.substr(begin, to - begin))) return to;
    to = begin;
  }
  return from;
}

std::string joined(std::string_view bytes, const JoinPlace& place, std::string_view added,
                   std::string_view eol) {
  const std::string_view above = bytes.substr(place.body_begin, place.from - place.body_begin);
  const std::string_view below = bytes.substr(place.to);
  std::string out(bytes.substr(0, place.from));
  if (!out.empty() && out != kByteOrderMark && !ends_line(out)) out += eol;
  if (ends_in_text_line(above) && !place.is_under_heading && !is_tight_list(above, added))
    out += eol;
  out.append(added).append(eol);
  const bool text_below = !below.empty() && !is_blank_line(below.substr(0, line_end_of(below, 0)));
  if (text_below && needs_blank_line(added, below)) out += eol;
  return out.append(below);
}

}  // namespace indx
