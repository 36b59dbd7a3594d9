#include "ai/embed/windows.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace indx::embed {
namespace {

constexpr std::size_t kLongSentenceBytes = 1000;  // bounds the memory that its segmentation takes

std::string with_single_spaces(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = decode_at(text, at);
    if (!is_space(point.value))
      out += text.substr(at, point.length);
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
    at += point.length;
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

/// Where the sentence that begins at `at` ends: at the end of its line, or behind a full stop,
/// question or exclamation mark with a space after it. What goes on for longer than any sentence
/// ends at a space, or, without one, at a character.
std::size_t sentence_end(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  for (; at < text.size(); ++at) {
    if (text[at] == '\n' || (text[at] == ' ' && at - begin > kLongSentenceBytes)) return at + 1;
    const bool is_character = (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
    if (is_character && at - begin > 2 * kLongSentenceBytes) return at;
    const bool is_mark = text[at] == '.' || text[at] == '?' || text[at] == '!';
    if (is_mark && at + 1 < text.size() && (text[at + 1] == ' ' || text[at + 1] == '\n'))
      return at + 1;
  }
  return at;
}

/// The largest part of the front of `pieces` that has at most `room` and ends before a word.
std::size_t cut_before_word(const Tokenizer& tokenizer, std::span<const PieceId> pieces,
                            std::size_t room) {
  if (pieces.size() <= room) return pieces.size();
  for (std::size_t cut = room; cut > 0; --cut)
    if (tokenizer.begins_word(pieces[cut])) return cut;
  return room;
}

}  // namespace

std::vector<std::vector<PieceId>> windows_of(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<PieceId> head;
  const auto line_end = text.find('\n');
  if (line_end != std::string_view::npos && !trim(text.substr(line_end)).empty()) {
    auto line = with_single_spaces(text.substr(0, line_end));
    if (!line.empty() && std::string_view(".!?:").find(line.back()) == std::string_view::npos)
      line += '.';  // the form that recall was measured with
    head = tokenizer.encode(line);
    if (head.size() > kMaxHeadPieces) head.resize(kMaxHeadPieces);
    text.remove_prefix(line_end);
  }
  const std::size_t room = kWindowPieces - head.size();
  std::vector<std::vector<PieceId>> windows;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = sentence_end(text, at);
    const auto sentence = tokenizer.encode(with_single_spaces(text.substr(at, end - at)));
    at = end;
    for (std::span<const PieceId> rest = sentence; !rest.empty();) {
      if (windows.empty() || windows.back().size() + std::min(rest.size(), room) > kWindowPieces)
        windows.push_back(head);
      const auto part = cut_before_word(tokenizer, rest, room);
      windows.back().insert(windows.back().end(), rest.begin(),
                            rest.begin() + static_cast<std::ptrdiff_t>(part));
      rest = rest.subspan(part);
    }
  }
  return windows;
}

}  // namespace indx::embed
