#include "vault/inline_scanner.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/line_marks.hpp"
#include "vault/tag_text.hpp"
#include "vault/written_link.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <unordered_map>

namespace indx {
namespace {

constexpr auto kNone = std::string_view::npos;

constexpr std::array<bool, 256> kInlineMarks = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("`$<[]#\\")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

bool is_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The text of a leaf as one view: the bytes themselves where lines follow each other directly,
/// else a copy.
class LeafText {
 public:
  LeafText(std::string_view bytes, const std::vector<BlockLine>& lines) : lines_(lines) {
    bool contiguous = true;
    for (std::size_t i = 0; contiguous && i + 1 < lines.size(); ++i) {
      const std::string_view gap = bytes.substr(lines[i].end, lines[i + 1].begin - lines[i].end);
      contiguous = gap.find_first_not_of(" \t\r\n") == kNone;
    }
    if (contiguous) {
      text_ = bytes.substr(lines.front().begin, lines.back().end - lines.front().begin);
      return;
    }
    for (const BlockLine& line : lines) {
      starts_.push_back(copy_.size());
      copy_.append(bytes.substr(line.begin, line.end - line.begin)).append("\n");
    }
    text_ = copy_;
  }
  LeafText(const LeafText&) = delete;
  LeafText& operator=(const LeafText&) = delete;

  std::string_view text() const { return text_; }

  std::size_t in_file(std::size_t at) const {
    if (starts_.empty()) return lines_.front().begin + at;
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), at);
    const auto index = static_cast<std::size_t>(next - starts_.begin()) - 1;
    return std::min(lines_[index].begin + (at - starts_[index]), lines_[index].end);
  }

  const BlockLine& line_at(std::size_t file_offset) const {
    const auto next = std::upper_bound(
        lines_.begin(), lines_.end(), file_offset,
        [](std::size_t offset, const BlockLine& line) { return offset < line.line_begin; });
    return next == lines_.begin() ? *next : *(next - 1);
  }

 private:
  const std::vector<BlockLine>& lines_;
  std::string copy_;
  std::string_view text_;
  std::vector<std::size_t> starts_;
};

class InlineScanner {
 public:
  InlineScanner(std::string_view text, const LeafText* place, InlineMode mode, InlineResult& result)
      : text_(text),
        place_(place),
        is_html_(mode == InlineMode::Html),
        result_(result),
        first_tag_(result.tags.size()) {}

  void run() {
    std::size_t i = 0;
    while (true) {
      while (i < text_.size() && !kInlineMarks[static_cast<unsigned char>(text_[i])]) ++i;
      if (i >= text_.size()) return;
      i = step(i);
    }
  }

 private:
  /// Handles the mark at `i` and gives the place where scanning goes on.
  std::size_t step(std::size_t i) {
    switch (text_[i]) {
      case '\\':
        escaped_ = i + 1;
        return i + 1 < text_.size() && is_ascii_punctuation(text_[i + 1]) ? i + 2 : i + 1;
      case '`':
        return is_html_ ? i + 1 : code_span(i);
      case '$':
        return is_html_ ? i + 1 : math(i);
      case '<':
        return angle(i);
      case '#':
        return is_html_ ? i + 1 : tag(i);
      case '[':
        return open_bracket(i);
      case ']':
        return close_bracket(i);
      default:
        return i + 1;
    }
  }

  std::size_t file(std::size_t at) const { return place_ == nullptr ? at : place_->in_file(at); }

  void mask(std::size_t begin, std::size_t end) {
    result_.masked.emplace_back(file(begin), file(end - 1) + 1);
  }

  // --- what hides other marks ---

  std::size_t code_span(std::size_t i) {
    std::size_t run_end = i;
    while (run_end < text_.size() && text_[run_end] == '`') ++run_end;
    if (!runs_known_) index_backtick_runs(i);
    const auto it = closing_run_.find(i);
    if (it == closing_run_.end()) return run_end;
    const std::size_t end = it->second + (run_end - i);
    mask(i, end);
    return end;
  }

  /// For every run of backticks the next run of the same length, found from the back in one pass.
  void index_backtick_runs(std::size_t from) {
    runs_known_ = true;
    std::vector<std::pair<std::size_t, std::size_t>> runs;
    for (std::size_t at = text_.find('`', from); at != kNone; at = text_.find('`', at)) {
      const std::size_t begin = at;
      while (at < text_.size() && text_[at] == '`') ++at;
      runs.emplace_back(begin, at - begin);
    }
    std::unordered_map<std::size_t, std::size_t> last_of_length;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      const auto [it, is_new] = last_of_length.try_emplace(run->second, run->first);
      if (!is_new) {
        closing_run_.emplace(run->first, it->second);
        it->second = run->first;
      }
    }
    // An escaped backtick shortens the run that follows it; such a run finds its partner by the
    // shorter length.
    for (std::size_t r = 0; r < runs.size(); ++r)
      if (runs[r].second > 1 && runs[r].first > 0 && text_[runs[r].first - 1] == '\\')
        for (std::size_t next = r + 1; next < std::min(runs.size(), r + 64); ++next)
          if (runs[next].second == runs[r].second - 1) {
            closing_run_.emplace(runs[r].first + 1, runs[next].first);
            break;
          }
  }

  std::size_t math(std::size_t i) {
    const bool is_double = text_.substr(i, 2) == "$$";
    if (is_double) {
      if (double_ahead_ != kNone && double_ahead_ < i + 2) double_ahead_ = text_.find("$$", i + 2);
      if (double_ahead_ == kNone) return i + 2;
      const std::size_t end = double_ahead_ + 2;
      mask(i, end);
      return end;
    }
    if (i + 1 >= text_.size() || is_white(text_[i + 1])) return i + 1;
    const std::size_t close = math_closer(i + 1);
    if (close == kNone) return i + 1;
    mask(i, close + 1);
    return close + 1;
  }

  /// The next `$` that may close math: not after white space or a backslash, not before a digit.
  /// What it is does not depend on the opener, so the last answer serves all openers before it.
  std::size_t math_closer(std::size_t from) {
    if (closer_ahead_ == kNone || (closer_ahead_ >= from && closer_ahead_ != 0))
      return closer_ahead_;
    for (std::size_t at = text_.find('$', from); at != kNone; at = text_.find('$', at + 1)) {
      if (is_white(text_[at - 1]) || text_[at - 1] == '\\' ||
          (at + 1 < text_.size() && is_ascii_number(text_[at + 1])))
        continue;
      return closer_ahead_ = at;
    }
    return closer_ahead_ = kNone;
  }

  std::size_t angle(std::size_t i) {
    if (text_.substr(i, 4) == "<!--") {
      if (comment_ahead_ != kNone && comment_ahead_ < i + 4)
        comment_ahead_ = text_.find("-->", i + 4);
      if (comment_ahead_ == kNone) return i + 4;
      const std::size_t end = comment_ahead_ + 3;
      mask(i, end);
      return end;
    }
    if (is_html_) return i + 1;
    const std::size_t end = std::max(autolink_end(i), html_tag_end(i));
    return end > i ? end : i + 1;
  }

  std::size_t autolink_end(std::size_t i) const {
    std::size_t at = i + 1;
    while (at < text_.size() && at < i + 34 &&
           (is_ascii_letter(text_[at]) || is_ascii_number(text_[at]) || text_[at] == '+' ||
            text_[at] == '.' || text_[at] == '-'))
      ++at;
    if (at < i + 3 || at >= text_.size() || text_[at] != ':' || !is_ascii_letter(text_[i + 1]))
      return i;
    while (at < text_.size() && text_[at] != '>' && text_[at] != '<' &&
           static_cast<unsigned char>(text_[at]) > 0x20)
      ++at;
    return at < text_.size() && text_[at] == '>' ? at + 1 : i;
  }

  /// The end of an inline HTML tag, by CommonMark's grammar; `i` if there is none.
  std::size_t html_tag_end(std::size_t i) {
    std::size_t at = i + 1;
    const auto skip_white = [&] {
      const std::size_t from = at;
      while (at < text_.size() && is_white(text_[at])) ++at;
      return at > from;
    };
    const bool closing = at < text_.size() && text_[at] == '/';
    if (closing) ++at;
    if (at >= text_.size() || !is_ascii_letter(text_[at])) return i;
    while (at < text_.size() &&
           (is_ascii_letter(text_[at]) || is_ascii_number(text_[at]) || text_[at] == '-'))
      ++at;
    while (true) {
      const bool spaced = skip_white();
      if (at >= text_.size()) return i;
      if (text_[at] == '>') return at + 1;
      if (text_[at] == '/' && text_.substr(at, 2) == "/>") return at + 2;
      if (closing || !spaced ||
          !(is_ascii_letter(text_[at]) || text_[at] == '_' || text_[at] == ':'))
        return i;
      while (at < text_.size() &&
             (is_ascii_letter(text_[at]) || is_ascii_number(text_[at]) || text_[at] == '_' ||
              text_[at] == '.' || text_[at] == ':' || text_[at] == '-'))
        ++at;
      const std::size_t name_end = at;
      skip_white();
      if (at >= text_.size() || text_[at] != '=') {
        at = name_end;
        continue;
      }
      ++at;
      skip_white();
      if (at >= text_.size()) return i;
      if (text_[at] == '"' || text_[at] == '\'') {
        const std::size_t quote = find_quote(text_[at], at + 1);
        if (quote == kNone) return i;
        at = quote + 1;
      } else {
        const std::size_t from = at;
        while (at < text_.size() && !is_white(text_[at]) &&
               std::string_view("\"'=<>`").find(text_[at]) == kNone)
          ++at;
        if (at == from) return i;
      }
    }
  }

  /// Once there is no quote of a kind ahead, there is none later either.
  std::size_t find_quote(char quote, std::size_t from) {
    bool& none = quote == '"' ? no_double_quote_ : no_single_quote_;
    if (none) return kNone;
    const std::size_t found = text_.find(quote, from);
    none = found == kNone;
    return found;
  }

  // --- tags and links ---

  std::size_t tag(std::size_t i) {
    const bool allowed = white_space_before(text_, i) || text_[i - 1] == '[';
    const std::size_t end = allowed ? tag_end(text_, i + 1) : i + 1;
    if (end == i + 1) return i + 1;
    TagUse use;
    use.tag = std::string(text_.substr(i + 1, end - i - 1));
    use.begin = file(i + 1);
    use.end = use.begin + use.tag.size();
    use.line = place_ == nullptr ? 0 : place_->line_at(use.begin).number;
    result_.tags.push_back(std::move(use));
    return end;
  }

  bool is_embed(std::size_t i) const { return i > 0 && text_[i - 1] == '!' && escaped_ != i - 1; }

  Link new_link(std::size_t begin, std::size_t end, LinkSyntax syntax, bool embed) const {
    Link link;
    link.kind = embed ? LinkKind::Embed : LinkKind::Link;
    link.syntax = syntax;
    link.begin = file(begin);
    link.end = file(end - 1) + 1;
    if (place_ != nullptr) {
      const BlockLine& line = place_->line_at(link.begin);
      link.line = line.number;
      link.column = static_cast<int>(link.begin - line.line_begin) + 1;
    }
    return link;
  }

  void place_parts(const WrittenLink& written, Link& link) const {
    const auto place = [&](std::string_view part, std::size_t& begin, std::size_t& end) {
      if (part.empty()) return;
      const auto at = static_cast<std::size_t>(part.data() - text_.data());
      begin = file(at);
      end = file(at + part.size() - 1) + 1;
    };
    place(written.target, link.target_begin, link.target_end);
    place(written.display, link.display_begin, link.display_end);
    place(written.subpath, link.subpath_begin, link.subpath_end);
  }

  std::size_t open_bracket(std::size_t i) {
    if (text_.substr(i, 2) == "[[") {
      const std::size_t close = wikilink_close(i);
      if (close != kNone) {
        const bool embed = is_embed(i);
        Link link = new_link(embed ? i - 1 : i, close + 2, LinkSyntax::Wiki, embed);
        WrittenLink written;
        if (parse_wikilink(text_.substr(i + 2, close - i - 2), link, written)) {
          place_parts(written, link);
          result_.links.push_back(std::move(link));
        }
        return close + 2;
      }
    }
    brackets_.push_back(i);
    return i + 1;
  }

  /// Where the `]]` of the link stands that opens at `i`; npos when a line end or a later `[[`
  /// comes first.
  std::size_t wikilink_close(std::size_t i) const {
    if (text_.substr(i + 1, 2) == "[[") return kNone;
    for (std::size_t at = i + 2; at + 1 < text_.size(); ++at) {
      const char c = text_[at];
      if (c == '\n' || c == '\r') return kNone;
      if (c == '[' && text_[at + 1] == '[') return kNone;
      if (c == ']' && text_[at + 1] == ']') return at;
    }
    return kNone;
  }

  std::size_t close_bracket(std::size_t i) {
    if (brackets_.empty()) return i + 1;
    const std::size_t open = brackets_.back();
    brackets_.pop_back();
    const bool embed = is_embed(open);
    if (!embed && open < no_link_before_) return i + 1;  // links do not nest
    if (text_.substr(i + 1, 1) != "(") return i + 1;
    std::string_view destination;
    const std::size_t end = inline_destination(i + 1, destination);
    if (end == kNone) return i + 1;
    Link link = new_link(embed ? open - 1 : open, end, LinkSyntax::Markdown, embed);
    const std::string_view shown = text_.substr(open + 1, i - open - 1);
    link.display = replace_invalid_utf8(shown);
    if (parse_destination(destination, link)) {
      const auto hash = std::min(destination.find('#'), destination.size());
      place_parts({destination.substr(0, hash), shown,
                   destination.substr(std::min(hash + 1, destination.size()))},
                  link);
      result_.links.push_back(std::move(link));
    }
    if (embed) {  // an alternative text holds no tags
      while (result_.tags.size() > first_tag_ && result_.tags.back().begin > file(open))
        result_.tags.pop_back();
    } else {
      no_link_before_ = open;
    }
    return end;
  }

  /// Reads `(destination "title")` at `i`; gives the place after it, npos if it is none.
  std::size_t inline_destination(std::size_t i, std::string_view& destination) {
    std::size_t at = i + 1;
    const auto skip_white = [&] {
      while (at < text_.size() && is_white(text_[at])) ++at;
    };
    skip_white();
    if (at >= text_.size()) return kNone;
    if (text_[at] == '<') {
      const std::size_t begin = ++at;
      while (at < text_.size() && text_[at] != '>' && text_[at] != '<' && text_[at] != '\n')
        at += text_[at] == '\\' ? 2 : 1;
      if (at >= text_.size() || text_[at] != '>') return kNone;
      destination = text_.substr(begin, at - begin);
      ++at;
    } else {
      const std::size_t begin = at;
      int depth = 0;
      for (; at < text_.size() && static_cast<unsigned char>(text_[at]) > 0x20; ++at) {
        if (text_[at] == '\\' && at + 1 < text_.size() && is_ascii_punctuation(text_[at + 1]))
          ++at;
        else if (text_[at] == '(' && ++depth > 32)
          return kNone;
        else if (text_[at] == ')' && --depth < 0)
          break;
      }
      if (at >= text_.size() || depth > 0) return kNone;
      destination = text_.substr(begin, at - begin);
    }
    const std::size_t after = at;
    skip_white();
    if (at > after && at < text_.size() &&
        (text_[at] == '"' || text_[at] == '\'' || text_[at] == '(')) {
      const char close = text_[at] == '(' ? ')' : text_[at];
      if (close == '"' ? no_double_quote_ : close == '\'' && no_single_quote_) return kNone;
      const std::size_t title = ++at;
      while (at < text_.size() && text_[at] != close && !(close == ')' && text_[at] == '('))
        at += text_[at] == '\\' ? 2 : 1;
      if (at >= text_.size()) {
        if (close == '"') no_double_quote_ = text_.find('"', title) == kNone;
        if (close == '\'') no_single_quote_ = text_.find('\'', title) == kNone;
        return kNone;
      }
      if (text_[at] != close) return kNone;
      ++at;
      skip_white();
    }
    return at < text_.size() && text_[at] == ')' ? at + 1 : kNone;
  }

  std::string_view text_;
  const LeafText* place_;
  bool is_html_;
  InlineResult& result_;
  std::size_t first_tag_;
  std::vector<std::size_t> brackets_;
  std::size_t no_link_before_ = 0;  ///< brackets that opened before here cannot be links any more
  std::size_t escaped_ = kNone;     ///< the last character behind a backslash
  bool runs_known_ = false;
  std::unordered_map<std::size_t, std::size_t> closing_run_;
  std::size_t double_ahead_ = 0, closer_ahead_ = 0, comment_ahead_ = 0;
  bool no_double_quote_ = false, no_single_quote_ = false;
};

}  // namespace

void scan_inline(std::string_view bytes, const std::vector<BlockLine>& lines, InlineMode mode,
                 InlineResult& result) {
  const LeafText place(bytes, lines);
  InlineScanner(place.text(), &place, mode, result).run();
}

void scan_definition(std::string_view bytes, const std::vector<BlockLine>& lines,
                     InlineResult& result) {
  const LeafText place(bytes, lines);
  const std::string_view text = place.text();
  std::size_t at = text.find("]:");
  if (at == kNone) return;
  at = text.find_first_not_of(" \t\r\n", at + 2);
  if (at == kNone) return;
  const bool angle = text[at] == '<';
  const std::size_t begin = angle ? at + 1 : at;
  const std::size_t end =
      std::min(angle ? text.find('>', begin) : text.find_first_of(" \t\r\n", begin), text.size());
  Link link;
  link.syntax = LinkSyntax::Markdown;
  link.begin = place.in_file(0);
  link.end = place.in_file(angle ? end : end - 1) + 1;
  link.line = lines.front().number;
  link.column = static_cast<int>(lines.front().begin - lines.front().line_begin) + 1;
  const std::string_view destination = text.substr(begin, end - begin);
  if (!parse_destination(destination, link)) return;
  const std::size_t target = std::min(destination.find('#'), destination.size());
  if (target > 0) {
    link.target_begin = place.in_file(begin);
    link.target_end = place.in_file(begin + target - 1) + 1;
  }
  if (target + 1 < destination.size()) {
    link.subpath_begin = place.in_file(begin + target + 1);
    link.subpath_end = place.in_file(begin + destination.size() - 1) + 1;
  }
  result.links.push_back(std::move(link));
}

std::vector<Link> links_in_text(std::string_view text) {
  InlineResult result;
  InlineScanner(text, nullptr, InlineMode::Markdown, result).run();
  return std::move(result.links);
}

}  // namespace indx
