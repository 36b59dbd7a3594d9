#include "ai/note_text.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kMaxQuoteBytes = 200;

bool is_blank_char(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view without_line_end(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_frontmatter_fence(std::string_view line) {
  return line.starts_with("---") && trim(line) == "---";
}

/// Where the body begins (vault-rules 3.1): behind a block that opens the file with `---` and
/// closes with it.
std::size_t find_body(std::string_view bytes) {
  const std::size_t bom = bytes.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (std::size_t at = bom; at < bytes.size();) {
    const auto next = std::min(
        bytes.size(), bytes.find('\n', at) == bytes.npos ? bytes.size() : bytes.find('\n', at) + 1);
    const bool is_fence = is_frontmatter_fence(bytes.substr(at, next - at));
    if (at == bom && !is_fence) return bom;
    if (at > bom && is_fence) return next;
    at = next;
  }
  return bom;
}

/// The length of a run of at least three backticks or tildes that opens or closes a code block,
/// after spaces.
std::size_t fence_length(std::string_view line, char* mark) {
  const auto at = line.find_first_not_of(" \t>");
  if (at == line.npos || (line[at] != '`' && line[at] != '~')) return 0;
  *mark = line[at];
  const auto end = std::min(line.size(), line.find_first_not_of(line[at], at));
  const auto length = end - at;
  if (length < 3 || (*mark == '`' && line.find('`', end) != line.npos)) return 0;
  return length;
}

/// Whether the line begins a block of its own: a list item, quote, table row or rule.
bool begins_block(std::string_view line) {
  line = trim(line);
  if (line.empty() || std::string_view("#>|").find(line[0]) != std::string_view::npos) return true;
  if (line.size() > 1 && std::string_view("-*+").find(line[0]) != std::string_view::npos &&
      line[1] == ' ')
    return true;
  const auto digits = line.find_first_not_of("0123456789");
  return digits != line.npos && digits > 0 && digits < 10 &&
         (line[digits] == '.' || line[digits] == ')');
}

/// Where the status of a task stands in the line of a list item, with its brackets; empty: nowhere.
std::pair<std::size_t, std::size_t> task_status(std::string_view line) {
  const auto open = line.find_first_not_of(" \t>-*+.)0123456789");
  if (open == line.npos || line[open] != '[' || !begins_block(line)) return {};
  const auto status = decode_at(line, open + 1);
  const auto close = open + 1 + status.length;
  if (close >= line.size() || line[close] != ']') return {};
  return {open, close + 1};
}

/// As in the vault's outline: lower case, runs of spaces as one hyphen.
std::string heading_slug(std::string_view text) {
  std::string slug;
  for (const char c : to_lower(text)) {
    const bool is_gap = c == ' ' || c == '\t';
    if (!is_gap)
      slug += c;
    else if (!slug.empty() && slug.back() != '-')
      slug += '-';
  }
  return slug;
}

/// Where a mark stands next in a text whose marks only ever go. Looked for from places that only
/// move on, so that all look-ups together read the text once: else n^2 on a hostile note.
class NextMark {
 public:
  NextMark(std::string_view text, std::string_view mark) : text_(text), mark_(mark) {}

  /// The first at `from` or behind it that ends before `limit`; npos: none.
  std::size_t find(std::size_t from, std::size_t limit) {
    if (at_ == text_.npos) return at_;
    if (at_ < from || text_.substr(at_, mark_.size()) != mark_)
      at_ = text_.find(mark_, std::max(from, at_));
    return at_ != text_.npos && at_ + mark_.size() <= limit ? at_ : text_.npos;
  }

 private:
  const std::string_view text_, mark_;
  std::size_t at_ = 0;
};

}  // namespace

bool has_word(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto point = decode_at(text, at);
    if (is_letter(point.value) || is_digit(point.value)) return true;
    at += point.length;
  }
  return false;
}

NoteText::NoteText(std::string_view bytes)
    : bytes_(bytes), body_begin_(find_body(bytes)), prose_(bytes) {
  blank(0, body_begin_);
  scan_lines();
  blank_inline();
}

void NoteText::blank(std::size_t begin, std::size_t end) {
  for (auto at = begin; at < end; ++at)
    if (prose_[at] != '\n') prose_[at] = ',';
}

void NoteText::scan_lines() {
  char fence = 0;
  std::size_t fence_size = 0;
  for (std::size_t at = 0; at < bytes_.size();) {
    const auto stop = bytes_.find('\n', at);
    const auto end = stop == bytes_.npos ? bytes_.size() : stop + 1;
    lines_.push_back(at);
    const auto line = without_line_end(bytes_.substr(at, end - at));
    if (at >= body_begin_) {
      char mark = 0;
      const auto length = fence_length(line, &mark);
      const bool closes = fence != 0 && mark == fence && length >= fence_size &&
                          trim(line).find_first_not_of(std::string(1, mark) + "> ") == line.npos;
      if (fence != 0 || length > 0) {
        blank(at, end);
        if (fence == 0)
          fence = mark, fence_size = length;
        else if (closes)
          fence = 0;
        if (at > 0) prose_[at - 1] = kHardBreak;
      } else {
        scan_heading(at, at + line.size());
        if (at > 0 && begins_block(line)) prose_[at - 1] = kHardBreak;
        const auto [begin, behind] = task_status(line);
        blank(at + begin, at + behind);
      }
    }
    at = end;
  }
}

void NoteText::scan_heading(std::size_t begin, std::size_t end) {
  auto line = bytes_.substr(begin, end - begin);
  const auto indent = std::min<std::size_t>(line.find_first_not_of(' '), line.size());
  line.remove_prefix(indent);
  const auto level = std::min(line.find_first_not_of('#'), line.size());
  if (indent > 3 || level == 0 || level > 6 ||
      (level < line.size() && line[level] != ' ' && line[level] != '\t'))
    return;
  auto text = trim(line.substr(level));
  const auto last = text.find_last_not_of('#');
  if (last == text.npos)
    text = {};
  else if (last + 1 < text.size() && (text[last] == ' ' || text[last] == '\t'))
    text = trim(text.substr(0, last));
  headings_.push_back({begin, end, unique_slug(heading_slug(text))});
  if (end < prose_.size()) prose_[end] = kHardBreak;
}

std::string NoteText::unique_slug(const std::string& base) {
  int& count = slug_counts_[base];
  auto slug = count == 0 ? base : cat(base, '-', count);
  while (!slugs_.insert(slug).second) slug = cat(base, '-', ++count);
  ++count;
  return slug;
}

/// Inline code, link destinations, bare URLs, HTML tags, comments, math and tags; link brackets
/// too.
void NoteText::blank_inline() {
  const std::string_view text = prose_;  // blanking changes bytes in place, never the length
  std::size_t paragraph_end = 0;
  bool no_comment_end = false, no_percent_end = false,
       no_math_end = false;  // searched once: else n^2 on a hostile note
  NextMark destination_end(text, ")"), link_end(text, "]]"), bar_of_link(text, "|"),
      html_end(text, ">");
  // In this paragraph no run of backticks is as long as this, from some place on.
  std::size_t missing_run = text.npos;
  // Blanks what begins at `at` up to the end of its mark; returns where to go on.
  const auto blank_until = [&](std::size_t at, std::size_t skip, std::size_t stop,
                               std::size_t mark_size) {
    if (stop == text.npos) return at + skip;
    blank(at, stop + mark_size);
    return stop + mark_size;
  };
  const auto blank_far = [&](std::size_t at, std::size_t skip, std::string_view close, bool& none) {
    const auto stop = none ? text.npos : text.find(close, at + skip);
    none = stop == text.npos;
    return blank_until(at, skip, stop, close.size());
  };
  const auto blank_code = [&](std::size_t at, const std::string& run) {
    if (run.size() >= missing_run) return at + run.size();
    const auto stop = text.substr(0, paragraph_end).find(run, at + run.size());
    if (stop == text.npos) missing_run = run.size();
    return blank_until(at, run.size(), stop, run.size());
  };
  const auto blank_run = [&](std::size_t at, std::string_view ends) {
    const auto stop = std::min(text.size(), text.find_first_of(ends, at));
    blank(at, stop);
    return stop;
  };
  for (std::size_t at = body_begin_; at < text.size();) {
    if (at >= paragraph_end) {
      paragraph_end = std::min(text.size(), text.find(kHardBreak, at + 1));
      missing_run = text.npos;
    }
    const auto rest = text.substr(at);
    const char before = at > 0 ? text[at - 1] : '\n';
    const char after = rest.size() > 1 ? rest[1] : '\n';
    if (rest[0] == '`') {
      const std::string run(rest.substr(0, rest.find_first_not_of('`')));
      at = blank_code(at, run);
    } else if (rest.starts_with("](")) {
      at = blank_until(at, 2, destination_end.find(at + 2, paragraph_end), 1);
    } else if (rest.starts_with("[[")) {
      const auto close = link_end.find(at, paragraph_end);
      const auto bar = close == text.npos ? text.npos : bar_of_link.find(at, close);
      blank(at, bar == text.npos ? at + 2 : bar + 1);
      at += 2;
    } else if (rest.starts_with("http://") || rest.starts_with("https://") ||
               rest.starts_with("www.")) {
      at = blank_run(at, " \t\r\n<>)\"\x1E");
    } else if (rest.starts_with("<!--")) {
      at = blank_far(at, 4, "-->", no_comment_end);
    } else if (rest.starts_with("%%")) {
      at = blank_far(at, 2, "%%", no_percent_end);
    } else if (rest.starts_with("$$")) {
      at = blank_far(at, 2, "$$", no_math_end);
    } else if (rest[0] == '<' &&
               (after == '/' || (after >= 'a' && after <= 'z') || (after >= 'A' && after <= 'Z'))) {
      at = blank_until(at, 1, html_end.find(at + 1, paragraph_end), 1);
    } else if (rest[0] == '#' && (is_blank_char(before) || before == kHardBreak) && after != '#' &&
               !is_blank_char(after)) {
      at = blank_run(at, " \t\r\n,.;:!?\x1E");
    } else {
      ++at;
    }
  }
}

bool NoteText::is_heading(std::size_t at) const {
  const auto next = std::upper_bound(headings_.begin(), headings_.end(), at,
                                     [](std::size_t a, const Heading& h) { return a < h.begin; });
  return next != headings_.begin() && at < (next - 1)->end;
}

std::size_t NoteText::line_begin(std::size_t at) const {
  const auto next = std::upper_bound(lines_.begin(), lines_.end(), at);
  return next == lines_.begin() ? 0 : *(next - 1);
}

std::size_t NoteText::line_end(std::size_t at) const {
  return std::min(bytes_.size(), bytes_.find('\n', at));
}

TagEvidence NoteText::evidence(std::size_t begin, std::size_t end) const {
  TagEvidence evidence;
  evidence.quote = std::string(bytes_.substr(begin, end - begin));
  evidence.begin = begin;
  evidence.end = end;
  evidence.line =
      static_cast<int>(std::upper_bound(lines_.begin(), lines_.end(), begin) - lines_.begin());
  const auto next = std::upper_bound(headings_.begin(), headings_.end(), begin,
                                     [](std::size_t a, const Heading& h) { return a < h.begin; });
  if (next != headings_.begin()) evidence.anchor = (next - 1)->slug;
  return evidence;
}

TagEvidence NoteText::sentence_around(std::size_t begin, std::size_t end) const {
  const auto first = line_begin(begin), last = std::max(end, line_end(begin));
  const auto is_stop = [&](std::size_t at) {
    return std::string_view(".!?").find(bytes_[at]) != std::string_view::npos &&
           (at + 1 >= bytes_.size() || is_blank_char(bytes_[at + 1]));
  };
  auto from = begin, to = end;
  while (from > first && !is_stop(from - 1) && end - from < kMaxQuoteBytes) --from;
  while (to < last && to - from < kMaxQuoteBytes && (to == end || !is_stop(to - 1))) ++to;
  while (from > first && from < begin && !is_blank_char(bytes_[from - 1]))
    ++from;  // whole words, whole characters
  while (to > end && to < last && !is_blank_char(bytes_[to])) --to;
  while (from < begin && (is_blank_char(bytes_[from]) ||
                          (static_cast<unsigned char>(bytes_[from]) & 0xC0U) == 0x80U))
    ++from;
  while (to > end &&
         (is_blank_char(bytes_[to - 1]) ||
          (to < bytes_.size() && (static_cast<unsigned char>(bytes_[to]) & 0xC0U) == 0x80U)))
    --to;
  return evidence(from, to);
}

std::optional<TagEvidence> NoteText::find_quote(std::string_view quote, std::size_t from,
                                                std::size_t to) const {
  const auto bytes = bytes_.substr(0, to);
  from = std::min(std::max(from, body_begin_), bytes.size());
  quote = trim(quote);
  if (!has_word(quote)) return std::nullopt;
  if (const auto at = bytes.find(quote, from); at != bytes.npos)
    return evidence(at, at + quote.size());

  // The same without regard to the kind and amount of white space.
  const auto squeeze = [](std::string_view text, std::vector<std::size_t>* places) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const auto point = decode_at(text, at);
      const bool is_gap = is_space(point.value);
      if (!is_gap || (!out.empty() && out.back() != ' ')) {
        const auto part = is_gap ? std::string_view(" ") : text.substr(at, point.length);
        out += part;
        if (places != nullptr)
          for (std::size_t i = 0; i < part.size(); ++i) places->push_back(at + i);
      }
      at += point.length;
    }
    return out;
  };
  std::vector<std::size_t> places;
  const auto text = squeeze(bytes.substr(from), &places);
  auto wanted = squeeze(quote, nullptr);
  if (wanted.ends_with(' ')) wanted.pop_back();  // a place tells where such a character begins only
  const auto at = text.find(wanted);
  if (at == text.npos) return std::nullopt;
  return evidence(from + places[at], from + places[at + wanted.size() - 1] + 1);
}

}  // namespace indx
