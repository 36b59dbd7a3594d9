#include "store/search_text.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/tokenizer.hpp"

#include <algorithm>
#include <set>

namespace indx {
namespace {

constexpr std::size_t kSnippetBytes = 220;
constexpr std::size_t kSnippetLead = 60;  // bytes shown before the first match
constexpr std::size_t kGraphemeWindow =
    512;  // how far back a certain grapheme border is looked for

/// Whether a word of a spaced script goes on across `at`: then a match may not end or begin there.
bool is_inside_word(std::string_view text, std::size_t at) {
  if (at == 0 || at >= text.size()) return false;
  auto before = at - 1;
  while (before > 0 && (static_cast<unsigned char>(text[before]) & 0xC0U) == 0x80U) --before;
  const auto left = decode_at(text, before).value, right = decode_at(text, at).value;
  return is_word_character(left) && is_word_character(right) && !is_unspaced_script(left) &&
         !is_unspaced_script(right);
}

bool holds_piece(std::string_view folded, std::string_view piece, bool is_prefix) {
  for (auto at = folded.find(piece); at != folded.npos; at = folded.find(piece, at + 1)) {
    const auto end = at + piece.size();
    if (!is_inside_word(folded, at) && (is_prefix || !is_inside_word(folded, end))) return true;
  }
  return false;
}

/// A grapheme border at or before `at`, close enough to count from: before an ASCII character there
/// always is one.
std::size_t certain_border(std::string_view text, std::size_t at) {
  const auto floor = at > kGraphemeWindow ? at - kGraphemeWindow : 0;
  for (auto i = std::min(at, text.size()); i > floor; --i)
    if (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80 && text[i] != '\n') return i;
  auto i = floor;
  while (i > 0 && i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) ++i;
  return std::min(i, at);
}

std::size_t border_before(std::string_view text, std::size_t at) {
  const auto from = certain_border(text, at);
  return from + prefix_at_grapheme(text.substr(from), at - from).size();
}

std::size_t border_after(std::string_view text, std::size_t at) {
  const auto from = certain_border(text, at);
  for (auto end = at; end < text.size(); ++end)
    if (from + prefix_at_grapheme(text.substr(from), end - from).size() == end) return end;
  return text.size();
}

/// The words of one text seen so far, as many as the longest phrase needs.
struct SeenWord {
  std::string word;
  std::size_t begin = 0, end = 0;
};

bool ends_phrase(const std::vector<SeenWord>& ring, std::size_t count, const QueryText& text,
                 std::string_view raw) {
  const auto length = text.words.size();
  if (count < length) return false;
  for (std::size_t i = 0; i < length; ++i) {
    const auto& at = ring[(count - length + i) % ring.size()];
    const auto& seen = at.word;
    const auto& wanted = text.words[i];
    const bool may_go_on = text.is_prefix && i + 1 == length;
    if (may_go_on ? !seen.starts_with(wanted) : seen != wanted) return false;
    if (!text.has_case) continue;
    const auto spelled = raw.substr(at.begin, at.end - at.begin);
    if (may_go_on ? !spelled.starts_with(text.spelled[i]) : spelled != text.spelled[i])
      return false;
  }
  return true;
}

/// Appends with white space collapsed to single spaces.
void append_collapsed(std::string& out, std::string_view text) {
  for (const char c : text) {
    const bool space = c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
    if (!space)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
}

}  // namespace

/// Of the windows of a snippet: most different texts, then most matches, then the earliest.
std::size_t best_match(const std::vector<TextMatch>& matches) {
  std::size_t best = 0, best_texts = 0, best_count = 0;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    std::set<std::size_t> texts;
    std::size_t count = 0;
    for (auto j = i;
         j < matches.size() && matches[j].end <= matches[i].begin + kSnippetBytes - kSnippetLead;
         ++j, ++count)
      texts.insert(matches[j].text);
    if (texts.size() > best_texts || (texts.size() == best_texts && count > best_count))
      best = i, best_texts = texts.size(), best_count = count;
  }
  return best;
}

void add_pattern_matches(std::string_view text, const std::vector<const Regex*>& patterns,
                         std::size_t first, std::size_t max, std::vector<TextMatch>& matches) {
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    std::size_t from = 0;
    for (std::size_t count = 0; count < max; ++count) {
      const auto found = patterns[i]->find(text, from);
      if (!found) break;
      if (found->second > found->first) matches.push_back({found->first, found->second, first + i});
      from = std::max(found->second, found->first + 1);
    }
  }
  std::sort(matches.begin(), matches.end(),
            [](const TextMatch& a, const TextMatch& b) { return a.begin < b.begin; });
}

bool holds_exact(const QueryText& text, std::string_view folded) {
  return std::all_of(text.exact.begin(), text.exact.end(), [&](const std::string& piece) {
    return holds_piece(folded, piece, text.is_prefix);
  });
}

std::vector<TextMatch> find_texts(std::string_view text,
                                  const std::vector<const QueryText*>& wanted, std::size_t max) {
  std::size_t longest = 1;
  for (const auto* one : wanted) longest = std::max(longest, one->words.size());
  std::vector<SeenWord> ring(longest);
  std::vector<TextMatch> matches;
  std::size_t count = 0;
  for (WordReader reader(text); matches.size() < max && reader.next();) {
    auto& slot = ring[count++ % longest];
    slot.word.assign(reader.word());
    slot.begin = reader.begin();
    slot.end = reader.end();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto& one = *wanted[i];
      if (one.words.empty() || !ends_phrase(ring, count, one, text)) continue;
      const auto begin = ring[(count - one.words.size()) % longest].begin;
      // What the tokenizer dropped has to be there too: `c` alone is no match for `c++`.
      const auto around =
          fold_for_search(text.substr(begin > 8 ? begin - 8 : 0, slot.end - begin + 24));
      if (one.exact.size() == 1 && !holds_exact(one, around)) continue;
      matches.push_back({begin, slot.end, i});
    }
  }
  std::sort(matches.begin(), matches.end(),
            [](const TextMatch& a, const TextMatch& b) { return a.begin < b.begin; });
  return matches;
}

std::string make_snippet(std::string_view text, const std::vector<TextMatch>& matches) {
  std::size_t begin = 0, first = 0;
  if (!matches.empty()) {
    first = best_match(matches);
    const auto wanted =
        matches[first].begin > kSnippetLead ? matches[first].begin - kSnippetLead : 0;
    begin = border_before(text, wanted);
    if (begin > 0)  // from the next word on, when there is one before the match
      if (const auto space = text.find_first_of(" \n", begin); space < matches[first].begin)
        begin = space + 1;
  }
  std::size_t end = text.size();
  if (end - begin > kSnippetBytes) end = border_before(text, begin + kSnippetBytes);
  if (!matches.empty())
    end = std::max(end, border_after(text, std::min(matches[first].end, text.size())));
  std::string out;
  if (begin > 0) out = "… ";
  auto at = begin;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (matches[i].begin < at) continue;
    const auto from = std::max(at, border_before(text, matches[i].begin));
    auto to = border_after(text, matches[i].end);
    if (to > end) break;
    if (to <= from) continue;
    while (i + 1 < matches.size() &&
           matches[i + 1].begin <= to) {  // touching matches share their marks
      const auto next = border_after(text, matches[i + 1].end);
      if (next > end) break;
      to = std::max(to, next);
      ++i;
    }
    append_collapsed(out, text.substr(at, from - at));
    out += "**";
    append_collapsed(out, text.substr(from, to - from));
    out += "**";
    at = to;
  }
  append_collapsed(out, text.substr(at, end - at));
  while (out.ends_with(' ')) out.pop_back();
  if (end < text.size()) out += " …";
  return out;
}

}  // namespace indx
