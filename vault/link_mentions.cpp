#include "vault/link_mentions.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/markdown.hpp"

#include <algorithm>

namespace indx {
namespace {

/// A text folded for comparing, with the place in the original that each of its bytes came from.
struct Folded {
  std::string text;
  std::vector<std::size_t> origin;
};

Folded fold_with_origin(std::string_view bytes, std::size_t begin) {
  Folded folded;
  for (std::size_t at = begin; at < bytes.size();) {
    std::size_t length = decode_at(bytes, at).length;
    // A letter and its combining marks fold together: NFC may join them.
    while (at + length < bytes.size() && is_mark(decode_at(bytes, at + length).value))
      length += decode_at(bytes, at + length).length;
    const auto piece = fold_case(replace_invalid_utf8(bytes.substr(at, length)));
    folded.text += piece;
    folded.origin.insert(folded.origin.end(), piece.size(), at);
    at += length;
  }
  folded.origin.push_back(bytes.size());
  return folded;
}

char32_t last_code_point(std::string_view text) {
  std::size_t at = text.size();
  while (at > 0) {
    --at;
    if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U) break;
  }
  return text.empty() ? 0 : decode_at(text, at).value;
}

/// Whether a word goes on across the border between two code points.
bool joins(char32_t left, char32_t right) {
  return is_word_character(left) && is_word_character(right) && !is_unspaced_script(left) &&
         !is_unspaced_script(right);
}

}  // namespace

std::vector<TextPlace> find_mentions(std::string_view bytes,
                                     const std::vector<std::string>& names) {
  const ParsedNote note = parse_note(bytes);
  const std::size_t body = note.frontmatter.body_begin;
  const Folded folded = fold_with_origin(bytes, body);
  std::vector<TextPlace> found;
  for (const auto& name : names) {
    const auto key = fold_case(trim(name));
    if (key.empty()) continue;
    for (auto at = folded.text.find(key); at != std::string::npos;
         at = folded.text.find(key, at + 1)) {
      const std::string_view text = folded.text;
      const auto end = at + key.size();
      const bool is_inside_word =
          (at > 0 && joins(last_code_point(text.substr(0, at)), decode_at(text, at).value)) ||
          (end < text.size() && joins(last_code_point(key), decode_at(text, end).value));
      if (is_inside_word) continue;
      found.push_back({folded.origin[at], folded.origin[end], 0, 0});
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> hidden = masked_ranges(bytes);
  for (const auto& link : note.links)
    if (link.end > 0) hidden.emplace_back(link.begin, link.end);
  std::sort(hidden.begin(), hidden.end());
  std::sort(found.begin(), found.end(), [](const TextPlace& a, const TextPlace& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<TextPlace> kept;
  std::size_t next_hidden = 0, hidden_to = 0, line_begin = 0, counted_to = 0;
  int line = 1;
  for (auto& place : found) {
    while (next_hidden < hidden.size() && hidden[next_hidden].first < place.end)
      hidden_to = std::max(hidden_to, hidden[next_hidden++].second);
    if (place.begin < hidden_to) continue;
    if (!kept.empty() && place.begin < kept.back().end) continue;
    for (; counted_to < place.begin; ++counted_to)
      if (bytes[counted_to] == '\n' ||
          (bytes[counted_to] == '\r' && bytes.substr(counted_to + 1, 1) != "\n")) {
        ++line;
        line_begin = counted_to + 1;
      }
    place.line = line;
    place.column = static_cast<int>(place.begin - line_begin) + 1;
    kept.push_back(place);
  }
  return kept;
}

}  // namespace indx
