#include "vault/block_scanner.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace indx {
namespace {

constexpr std::size_t kMaxNesting = 100;
constexpr std::size_t kMaxTableColumns = 256;

bool is_blank_char(char c) { return c == ' ' || c == '\t'; }
bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_ascii_number(char c) { return c >= '0' && c <= '9'; }

/// Characters with which a block mark can begin; a line that begins otherwise continues or starts a
/// paragraph.
constexpr std::array<bool, 256> kMarkStart = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("#>*+-_=0123456789`~<[$|:%"))
    table[static_cast<unsigned char>(c)] = true;
  return table;
}();

std::string lower_word(std::string_view text, std::size_t at) {
  std::string word;
  for (; at < text.size() && word.size() < 12 &&
         (is_ascii_letter(text[at]) || is_ascii_number(text[at]));
       ++at)
    word += static_cast<char>(text[at] >= 'A' && text[at] <= 'Z' ? text[at] - 'A' + 'a' : text[at]);
  return word;
}

constexpr std::array<std::string_view, 62> kBlockTags = {
    "address",  "article",  "aside",    "base",       "basefont", "blockquote", "body",   "caption",
    "center",   "col",      "colgroup", "dd",         "details",  "dialog",     "dir",    "div",
    "dl",       "dt",       "fieldset", "figcaption", "figure",   "footer",     "form",   "frame",
    "frameset", "h1",       "h2",       "h3",         "h4",       "h5",         "h6",     "head",
    "header",   "hr",       "html",     "iframe",     "legend",   "li",         "link",   "main",
    "menu",     "menuitem", "nav",      "noframes",   "ol",       "optgroup",   "option", "p",
    "param",    "section",  "source",   "summary",    "table",    "tbody",      "td",     "tfoot",
    "th",       "thead",    "title",    "tr",         "track",    "ul"};

/// A complete open or closing tag and nothing else on the line (HTML block of kind 7).
bool is_lone_tag(std::string_view text) {
  std::size_t i = 1;
  const auto skip_blanks = [&] {
    const std::size_t from = i;
    while (i < text.size() && is_blank_char(text[i])) ++i;
    return i > from;
  };
  const auto rest_is_blank = [&] {
    return text.find_first_not_of(" \t", i) == std::string_view::npos;
  };
  const bool closing = i < text.size() && text[i] == '/';
  if (closing) ++i;
  if (i >= text.size() || !is_ascii_letter(text[i])) return false;
  while (i < text.size() &&
         (is_ascii_letter(text[i]) || is_ascii_number(text[i]) || text[i] == '-'))
    ++i;
  if (closing) {
    skip_blanks();
    return i < text.size() && text[i++] == '>' && rest_is_blank();
  }
  while (true) {
    const bool spaced = skip_blanks();
    if (i >= text.size()) return false;
    if (text[i] == '>') return ++i, rest_is_blank();
    if (text[i] == '/')
      return i + 1 < text.size() && text[i + 1] == '>' && (i += 2, rest_is_blank());
    if (!spaced || !(is_ascii_letter(text[i]) || text[i] == '_' || text[i] == ':')) return false;
    while (i < text.size() &&
           (is_ascii_letter(text[i]) || is_ascii_number(text[i]) ||
            std::strchr("_.:-", text[i]) != nullptr) &&
           text[i] != '\0')
      ++i;
    const std::size_t name_end = i;
    skip_blanks();
    if (i >= text.size() || text[i] != '=') {
      i = name_end;
      continue;
    }
    ++i;
    skip_blanks();
    if (i >= text.size()) return false;
    if (text[i] == '"' || text[i] == '\'') {
      i = text.find(text[i], i + 1);
      if (i == std::string_view::npos) return false;
      ++i;
    } else {
      const std::size_t from = i;
      while (i < text.size() &&
             std::string_view(" \t\"'=<>`").find(text[i]) == std::string_view::npos)
        ++i;
      if (i == from) return false;
    }
  }
}

/// The kind (1 to 7) of HTML block that a line starts, 0 for none.
int html_block_kind(std::string_view text, bool in_paragraph) {
  if (text.size() < 2 || text[0] != '<') return 0;
  if (text.substr(0, 4) == "<!--") return 2;
  if (text[1] == '?') return 3;
  if (text.substr(0, 9) == "<![CDATA[") return 5;
  if (text[1] == '!') return text.size() > 2 && is_ascii_letter(text[2]) ? 4 : 0;
  const std::size_t name_at = text[1] == '/' ? 2 : 1;
  const std::string name = lower_word(text, name_at);
  const std::size_t after = name_at + name.size();
  if (!name.empty()) {
    const bool ends = after >= text.size() || is_blank_char(text[after]) || text[after] == '>';
    if (ends && name_at == 1 &&
        (name == "script" || name == "pre" || name == "style" || name == "textarea"))
      return 1;
    if ((ends || text.substr(after, 2) == "/>") &&
        std::binary_search(kBlockTags.begin(), kBlockTags.end(), name))
      return 6;
  }
  return !in_paragraph && is_lone_tag(text) ? 7 : 0;
}

bool contains_ignoring_case(std::string_view text, std::string_view lower) {
  const auto same = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  };
  return std::search(text.begin(), text.end(), lower.begin(), lower.end(), same) != text.end();
}

bool ends_html_block(int kind, std::string_view text) {
  switch (kind) {
    case 1:
      return contains_ignoring_case(text, "</script>") || contains_ignoring_case(text, "</pre>") ||
             contains_ignoring_case(text, "</style>") ||
             contains_ignoring_case(text, "</textarea>");
    case 2:
      return text.find("-->") != std::string_view::npos;
    case 3:
      return text.find("?>") != std::string_view::npos;
    case 4:
      return text.find('>') != std::string_view::npos;
    case 5:
      return text.find("]]>") != std::string_view::npos;
    default:
      return false;
  }
}

/// Cells of a table row; 0 when there are too many.
std::size_t count_cells(std::string_view row) {
  const std::size_t first = row.find_first_not_of(" \t");
  if (first == std::string_view::npos) return 0;
  std::size_t cells = 1, end = row.find_last_not_of(" \t") + 1;
  for (std::size_t i = first + (row[first] == '|' ? 1 : 0); i < end; ++i) {
    if (row[i] == '\\') {
      ++i;
    } else if (row[i] == '|' && i + 1 < end && ++cells > kMaxTableColumns) {
      return 0;
    }
  }
  return cells;
}

bool is_delimiter_row(std::string_view row) {
  bool has_dash = false, in_cell = false, cell_done = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const char c = row[i];
    if (c == '|') {
      in_cell = cell_done = false;
    } else if (c == '-') {
      if (cell_done) return false;
      has_dash = in_cell = true;
    } else if (c == ':') {
      if (cell_done) return false;
      if (in_cell)
        cell_done = true;
      else if (i + 1 >= row.size() || row[i + 1] != '-')
        return false;
    } else if (is_blank_char(c)) {
      if (in_cell) cell_done = true;
    } else {
      return false;
    }
  }
  return has_dash;
}

/// The id in `^id` at the end of a line: alone or after white space. Empty if there is none.
std::string_view trailing_block_id(std::string_view line) {
  const std::size_t end = line.find_last_not_of(" \t") + 1;
  std::size_t at = end;
  while (at > 0 &&
         (is_ascii_letter(line[at - 1]) || is_ascii_number(line[at - 1]) || line[at - 1] == '-'))
    --at;
  if (at == end || at == 0 || line[at - 1] != '^') return {};
  if (at >= 2 && !is_blank_char(line[at - 2])) return {};
  return line.substr(at, end - at);
}

/// Bytes that a link reference definition at the front of `text` takes, its line end included; 0 if
/// there is none.
std::size_t reference_definition_length(std::string_view text) {
  if (text.size() < 4 || text[0] != '[' || text[1] == '^') return 0;
  std::size_t i = 1;
  bool has_text = false;
  for (; i < text.size() && text[i] != ']'; ++i) {
    if (text[i] == '[' || i > 1000) return 0;
    if (text[i] == '\\') ++i;
    has_text = has_text || !(is_blank_char(text[i]) || text[i] == '\n');
  }
  if (!has_text || i + 1 >= text.size() || text[i + 1] != ':') return 0;
  i += 2;
  const auto skip_space = [&](bool one_line_end) {
    while (i < text.size() && (is_blank_char(text[i]) || (text[i] == '\n' && one_line_end)))
      one_line_end = one_line_end && text[i] != '\n', ++i;
  };
  skip_space(true);
  if (i >= text.size() || text[i] == '\n') return 0;
  if (text[i] == '<') {
    while (i < text.size() && text[i] != '>' && text[i] != '\n') ++i;
    if (i >= text.size() || text[i] != '>') return 0;
    ++i;
  } else {
    while (i < text.size() && !is_blank_char(text[i]) && text[i] != '\n') ++i;
  }
  const std::size_t line_end = std::min(text.find('\n', i), text.size());
  const bool dest_ends_line =
      text.substr(i, line_end - i).find_first_not_of(" \t") == std::string_view::npos;
  const std::size_t after_dest = i;
  skip_space(true);
  if (i > after_dest && i < text.size() && (text[i] == '"' || text[i] == '\'' || text[i] == '(')) {
    const char close = text[i] == '(' ? ')' : text[i];
    const std::size_t title_line_end = std::min(text.find('\n', i), text.size());
    std::size_t quote = i + 1;
    while (quote < title_line_end && text[quote] != close) quote += text[quote] == '\\' ? 2 : 1;
    if (quote < title_line_end &&
        text.substr(quote + 1, title_line_end - quote - 1).find_first_not_of(" \t") ==
            std::string_view::npos)
      return std::min(title_line_end + 1, text.size());
  }
  return dest_ends_line ? std::min(line_end + 1, text.size()) : 0;
}

class BlockScanner {
 public:
  BlockScanner(std::string_view bytes, std::size_t begin, int first_line, BlockSink& sink)
      : bytes_(bytes),
        sink_(sink),
        next_(begin),
        number_(first_line - 1),
        has_cr_(bytes.find('\r') != std::string_view::npos) {
    containers_.push_back({});
  }

  bool run() {
    while (next_ < bytes_.size()) {
      read_line();
      process_line();
    }
    next_ = bytes_.size();
    close_containers(1);
    close_leaf();
    return !guard_met_;
  }

 private:
  enum class Kind : std::uint8_t { Document, Quote, Item, Footnote };
  enum class State : std::uint8_t { None, Paragraph, Fence, Indented, Html, Math, Table };

  /// The last finished block in a container: what an id on a line of its own names.
  struct Extent {
    int line = 0, end_line = 0;  ///< `line` 0: none
    std::size_t begin = 0, end = 0;
    char list_mark = 0;    ///< not 0: a list of this mark
    std::size_t text = 0;  ///< where its own text or mark begins on its first line
  };
  struct Container {
    Kind kind = Kind::Document;
    std::size_t indent = 0;  ///< columns that continuation lines of an item need
    bool has_children = false;
    char mark = 0;
    int line = 0;
    std::size_t begin = 0, text = 0;
    std::string_view id;  ///< of an item, once found
    Extent last;
  };

  // --- the current line ---

  void read_line() {
    line_begin_ = next_;
    ++number_;
    const char* from = bytes_.data() + line_begin_;
    const std::size_t left = bytes_.size() - line_begin_;
    const void* found = std::memchr(from, '\n', left);
    line_end_ =
        found == nullptr
            ? bytes_.size()
            : line_begin_ + static_cast<std::size_t>(static_cast<const char*>(found) - from);
    next_ = std::min(line_end_ + 1, bytes_.size());
    if (has_cr_) {
      if (const void* cr = std::memchr(from, '\r', line_end_ - line_begin_)) {
        line_end_ = line_begin_ + static_cast<std::size_t>(static_cast<const char*>(cr) - from);
        next_ = line_end_ + (bytes_.substr(line_end_, 2) == "\r\n" ? 2 : 1);
      }
    }
    pos_ = line_begin_;
    column_ = 0;
    break_kill_ = 0;
  }

  void find_first() {
    first_ = pos_;
    std::size_t column = column_;
    for (; first_ < line_end_; ++first_) {
      if (bytes_[first_] == ' ')
        ++column;
      else if (bytes_[first_] == '\t')
        column += 4 - column % 4;
      else
        break;
    }
    indent_ = column - column_;
    blank_ = first_ >= line_end_;
  }

  void advance_columns(std::size_t count) {
    while (count > 0 && pos_ < line_end_) {
      const std::size_t width = bytes_[pos_] == '\t' ? 4 - column_ % 4 : 1;
      const std::size_t step = std::min(width, count);
      column_ += step;
      if (step == width) ++pos_;
      count -= step;
    }
  }
  void advance_to_first() { advance_columns(indent_); }

  std::string_view rest() const { return bytes_.substr(first_, line_end_ - first_); }
  BlockLine current_line(std::size_t begin) const {
    return {begin, line_end_, line_begin_, number_};
  }

  // --- one line through the containers, as in cmark's block phase ---

  void process_line() {
    std::size_t matched = 1;
    for (; matched < containers_.size() && continues(containers_[matched]); ++matched) {
    }
    const bool all_matched = matched == containers_.size();
    find_first();
    const bool was_paragraph = state_ == State::Paragraph;
    if (all_matched && state_ != State::None && state_ != State::Paragraph &&
        state_ != State::Table && continue_verbatim())
      return note_content();
    if (was_paragraph && all_matched && blank_) close_leaf();
    if (state_ == State::Table && (!all_matched || blank_)) close_leaf();

    bool opened = false;
    bool maybe_lazy = state_ == State::Paragraph;
    const auto prepare = [&] {  // closes what the line does not continue, once a new block begins
      if (opened) return;
      close_leaf();
      close_containers(matched);
      opened = true;
    };
    while (!blank_ && kMarkStart[static_cast<unsigned char>(bytes_[first_])]) {
      const bool in_paragraph = !opened && all_matched && state_ == State::Paragraph;
      const Step step = open_block(in_paragraph, maybe_lazy, prepare);
      if (step == Step::Leaf) return note_content();
      if (step == Step::Nothing) break;
      maybe_lazy = false;
      find_first();
    }
    if (indent_ >= 4 && !maybe_lazy && !blank_) {
      prepare();
      start_indented();
      return note_content();
    }

    if (blank_) {
      if (!opened && !all_matched) {
        close_leaf();
        close_containers(matched);
      }
      return;
    }
    if (!opened && !all_matched) {
      if (state_ == State::Paragraph) return add_lazy_line(matched);
      close_leaf();
      close_containers(matched);
    }
    add_text_line();
    note_content();
  }

  void note_content() {
    if (blank_ && state_ == State::None) return;
    last_content_line_ = number_;
    last_content_end_ = line_end_;
  }

  bool continues(const Container& container) {
    find_first();
    switch (container.kind) {
      case Kind::Quote:
        if (indent_ > 3 || blank_ || bytes_[first_] != '>') return false;
        advance_to_first();
        skip_quote_mark();
        return true;
      case Kind::Item:
      case Kind::Footnote:
        if (indent_ >= container.indent && !blank_) {
          advance_columns(container.indent);
          return true;
        }
        if (blank_ && container.has_children) {
          advance_to_first();
          return true;
        }
        return false;
      case Kind::Document:
        return true;
    }
    return false;
  }

  void skip_quote_mark() {
    ++pos_;
    ++column_;
    if (pos_ < line_end_ && is_blank_char(bytes_[pos_])) advance_columns(1);
  }

  /// Lines of code, HTML and math go to their block unread. False when the block ended before this
  /// line.
  bool continue_verbatim() {
    switch (state_) {
      case State::Fence: {
        leaf_.lines.push_back(current_line(std::min(first_, line_end_)));
        const std::string_view text = rest();
        if (indent_ <= 3 && !text.empty() && text[0] == fence_mark_) {
          const std::size_t run = std::min(text.find_first_not_of(fence_mark_), text.size());
          if (run >= fence_length_ && text.find_first_not_of(" \t", run) == std::string_view::npos)
            finish_leaf();
        }
        return true;
      }
      case State::Math:
        leaf_.lines.push_back(current_line(std::min(first_, line_end_)));
        if (rest().find("$$") != std::string_view::npos) finish_leaf();
        return true;
      case State::Html:
        if (html_kind_ >= 6 && blank_) {
          finish_leaf();
          return true;
        }
        leaf_.lines.push_back(current_line(pos_));
        if (ends_html_block(html_kind_, rest())) finish_leaf();
        return true;
      case State::Indented:
        if (!blank_ && indent_ < 4) {
          close_leaf();
          return false;
        }
        if (!blank_) leaf_.lines.push_back(current_line(first_));
        return true;
      default:
        return false;
    }
  }

  enum class Step : std::uint8_t { Nothing, Container, Leaf };

  template <typename Prepare>
  Step open_block(bool in_paragraph, bool maybe_lazy, const Prepare& prepare) {
    const char c = bytes_[first_];
    if (indent_ >= 4) return Step::Nothing;
    static_cast<void>(maybe_lazy);
    switch (c) {
      case '>':
        if (!has_room()) return Step::Nothing;
        prepare();
        push_container(Kind::Quote, 0, '>');
        advance_to_first();
        skip_quote_mark();
        return Step::Container;
      case '#':
        return start_atx(prepare) ? Step::Leaf : Step::Nothing;
      case '`':
      case '~':
        return start_fence(prepare) ? Step::Leaf : Step::Nothing;
      case '<':
        return start_html(in_paragraph, prepare) ? Step::Leaf : Step::Nothing;
      case '$':
        return start_math(prepare) ? Step::Leaf : Step::Nothing;
      case '=':
        return in_paragraph && start_setext() ? Step::Leaf : Step::Nothing;
      case '[':
        return start_footnote(prepare) ? Step::Container : Step::Nothing;
      case '%':
        track_comment();
        return Step::Nothing;
      case '|':
      case ':':
        return in_paragraph && start_table() ? Step::Leaf : Step::Nothing;
      default:
        break;
    }
    if (c == '-' && in_paragraph && start_setext()) return Step::Leaf;
    if (c == '-' && in_paragraph && start_table()) return Step::Leaf;
    if ((c == '-' || c == '*' || c == '_') && is_thematic_break()) {
      prepare();
      emit_single(LeafKind::ThematicBreak, first_);
      return Step::Leaf;
    }
    return start_item(in_paragraph, prepare) ? Step::Container : Step::Nothing;
  }

  bool has_room() {
    if (containers_.size() <= kMaxNesting) return true;
    guard_met_ = true;
    return false;
  }

  // --- leaf blocks ---

  template <typename Prepare>
  bool start_atx(const Prepare& prepare) {
    const std::string_view text = rest();
    const std::size_t level = std::min(text.find_first_not_of('#'), text.size());
    if (level > 6 || (level < text.size() && !is_blank_char(text[level]))) return false;
    prepare();
    std::size_t begin = std::min(text.find_first_not_of(" \t", level), text.size());
    std::size_t end = text.find_last_not_of(" \t") + 1;
    std::size_t marks = end;
    while (marks > begin && text[marks - 1] == '#') --marks;
    if (marks < end && (marks == begin || is_blank_char(text[marks - 1]))) end = marks;
    while (end > begin && is_blank_char(text[end - 1])) --end;
    begin = std::min(begin, end);
    start_leaf(LeafKind::Heading);
    leaf_.level = static_cast<int>(level);
    leaf_.lines.push_back({first_ + begin, first_ + end, line_begin_, number_});
    finish_leaf();
    return true;
  }

  bool start_setext() {
    const std::string_view text = rest();
    const std::size_t run = text.find_first_not_of(text[0]);
    if (run != std::string_view::npos &&
        text.find_first_not_of(" \t", run) != std::string_view::npos)
      return false;
    flush_reference_definitions();
    if (leaf_.lines.empty()) {  // nothing but definitions: the underline is text
      start_paragraph();
      return true;
    }
    leaf_.kind = LeafKind::Heading;
    leaf_.setext = true;
    leaf_.level = text[0] == '=' ? 1 : 2;
    finish_leaf();
    return true;
  }

  template <typename Prepare>
  bool start_fence(const Prepare& prepare) {
    const std::string_view text = rest();
    const std::size_t run = std::min(text.find_first_not_of(text[0]), text.size());
    if (run < 3 || (text[0] == '`' && text.find('`', run) != std::string_view::npos)) return false;
    prepare();
    start_leaf(LeafKind::Code);
    leaf_.lines.push_back(current_line(first_));
    state_ = State::Fence;
    fence_mark_ = text[0];
    fence_length_ = run;
    return true;
  }

  void start_indented() {
    start_leaf(LeafKind::Code);
    leaf_text_ = pos_;
    leaf_.lines.push_back(current_line(first_));
    state_ = State::Indented;
  }

  template <typename Prepare>
  bool start_html(bool in_paragraph, const Prepare& prepare) {
    const int kind = html_block_kind(rest(), in_paragraph);
    if (kind == 0) return false;
    prepare();
    start_leaf(kind == 2 ? LeafKind::HtmlComment : kind == 1 ? LeafKind::RawHtml : LeafKind::Html);
    leaf_.lines.push_back(current_line(first_));
    state_ = State::Html;
    html_kind_ = kind;
    if (ends_html_block(kind, kind == 2 ? rest().substr(4) : rest())) finish_leaf();
    return true;
  }

  /// `$$` alone, or with text behind it, up to the next `$$`; without one it is text.
  template <typename Prepare>
  bool start_math(const Prepare& prepare) {
    const std::string_view text = rest();
    if (text.substr(0, 2) != "$$" || text.find('$', 2) != std::string_view::npos) return false;
    if (!occurs_later("$$", math_ahead_)) return false;
    prepare();
    start_leaf(LeafKind::Math);
    leaf_.lines.push_back(current_line(first_));
    state_ = State::Math;
    return true;
  }

  /// Whether `mark` stands on a later line. `ahead` remembers the last answer, so that all calls
  /// together are linear.
  bool occurs_later(std::string_view mark, std::size_t& ahead) const {
    if (ahead != std::string_view::npos && ahead < line_end_) ahead = bytes_.find(mark, line_end_);
    return ahead != std::string_view::npos;
  }

  /// A line that begins with `%%` and holds no second one opens a comment, in which list items are
  /// no tasks.
  void track_comment() {
    const std::string_view text = rest();
    if (number_ == comment_toggle_line_ || text.substr(0, 2) != "%%") return;
    comment_toggle_line_ = number_;
    if (text.find("%%", 2) != std::string_view::npos || line_begin_ < comment_end_) return;
    if (occurs_later("%%", comment_ahead_)) comment_end_ = comment_ahead_ + 2;
  }

  bool is_thematic_break() {
    if (break_kill_ > first_) return false;
    const char mark = bytes_[first_];
    std::size_t count = 0, i = first_;
    for (; i < line_end_; ++i) {
      if (bytes_[i] == mark)
        ++count;
      else if (!is_blank_char(bytes_[i]))
        break;
    }
    if (i >= line_end_ && count >= 3) return true;
    if (i < line_end_ && is_blank_char(bytes_[i - 1]))
      break_kill_ = i;  // no break before here on this line
    return false;
  }

  bool start_table() {
    if (leaf_.lines.empty() || leaf_.lines.back().number + 1 != number_ ||
        !is_delimiter_row(rest()))
      return false;
    const BlockLine header = leaf_.lines.back();
    const std::string_view header_text = bytes_.substr(header.begin, header.end - header.begin);
    if (header_text.find('|') == std::string_view::npos &&
        rest().find_first_of("|:") == std::string_view::npos)
      return false;
    const std::size_t columns = count_cells(rest());
    if (columns == 0) guard_met_ = true;
    if (columns == 0 || count_cells(header_text) != columns) return false;
    leaf_.lines.pop_back();
    flush_reference_definitions();
    emit_leaf();
    state_ = State::Table;
    table_begin_ = header;
    table_is_new_ = true;
    emit_table_row(header, line_begin_);
    emit_table_row(current_line(first_), next_);
    return true;
  }

  void emit_table_row(const BlockLine& row, std::size_t after) {
    leaf_ = Leaf{};
    leaf_.kind = LeafKind::TableRow;
    leaf_.nested = containers_.size() > 1;
    leaf_.first_of_table = table_is_new_;
    leaf_.after = after;
    leaf_.lines.push_back(row);
    sink_.on_leaf(leaf_);
    table_is_new_ = false;
    leaf_.lines.clear();
  }

  void start_leaf(LeafKind kind) {
    leaf_ = Leaf{};
    leaf_.kind = kind;
    leaf_.nested = containers_.size() > 1;
    leaf_text_ = first_;
    containers_.back().has_children = true;
  }

  void start_paragraph() {
    start_leaf(LeafKind::Paragraph);
    state_ = State::Paragraph;
    leaf_.lines.push_back(current_line(first_));
  }

  void emit_single(LeafKind kind, std::size_t begin) {
    start_leaf(kind);
    leaf_.lines.push_back(current_line(begin));
    finish_leaf();
  }

  void add_text_line() {
    if (state_ == State::Table) {
      const std::string_view id = trailing_block_id(rest());
      if (!id.empty() && rest()[0] == '^') {  // alone directly under a table
        const Extent table = table_extent();
        close_leaf();
        name_above(id, table);
        return;
      }
      return emit_table_row(current_line(first_), next_);
    }
    if (state_ == State::Paragraph) {
      leaf_.lines.push_back(current_line(first_));
    } else {
      start_paragraph();
    }
  }

  void add_lazy_line(std::size_t matched) {
    const std::string_view id = trailing_block_id(rest());
    if (!id.empty() && rest()[0] == '^' &&
        containers_[matched].kind == Kind::Quote) {  // alone directly under a quote
      close_leaf();
      close_containers(matched);
      name_above(id, containers_.back().last);
      return;
    }
    leaf_.lines.push_back(current_line(first_));
    note_content();
  }

  // --- containers ---

  void push_container(Kind kind, std::size_t indent, char mark) {
    containers_.back().has_children = true;
    Container container;
    container.kind = kind;
    container.indent = indent;
    container.mark = mark;
    container.line = number_;
    container.begin = line_begin_;
    container.text = first_;
    containers_.push_back(container);
    last_content_line_ = number_;
    last_content_end_ = line_end_;
  }

  template <typename Prepare>
  bool start_footnote(const Prepare& prepare) {
    const std::string_view text = rest();
    if (text.substr(0, 2) != "[^") return false;
    const std::size_t close = text.substr(0, 1000).find_first_of("] \t[", 2);
    if (close == std::string_view::npos || close == 2 || text[close] != ']' ||
        text.substr(close + 1, 1) != ":" || !has_room())
      return false;
    prepare();
    push_container(Kind::Footnote, 4, '^');
    advance_to_first();
    pos_ += close + 2;
    column_ += close + 2;
    return true;
  }

  template <typename Prepare>
  bool start_item(bool in_paragraph, const Prepare& prepare) {
    std::size_t at = first_;
    char mark = bytes_[at];
    if (is_ascii_number(mark)) {
      std::size_t value = 0;
      for (; at < line_end_ && is_ascii_number(bytes_[at]) && at - first_ < 9; ++at)
        value = value * 10 + static_cast<std::size_t>(bytes_[at] - '0');
      if (at >= line_end_ || (bytes_[at] != '.' && bytes_[at] != ')') ||
          (in_paragraph && value != 1))
        return false;
      mark = bytes_[at];
    } else if (mark != '-' && mark != '*' && mark != '+') {
      return false;
    }
    ++at;
    if (at < line_end_ && !is_blank_char(bytes_[at])) return false;
    const std::size_t content = std::min(bytes_.find_first_not_of(" \t", at), line_end_);
    if (in_paragraph && content >= line_end_) return false;
    if (!has_room()) return false;
    prepare();

    const std::size_t mark_offset = indent_, mark_width = at - first_, mark_at = first_;
    advance_to_first();
    pos_ += mark_width;
    column_ += mark_width;
    const std::size_t saved_pos = pos_, saved_column = column_;
    find_first();
    std::size_t padding = mark_width + indent_;
    if (indent_ >= 5 || indent_ < 1 || blank_) {
      pos_ = saved_pos;
      column_ = saved_column;
      padding = mark_width + 1;
      if (indent_ > 0) advance_columns(1);
    } else {
      advance_to_first();
    }
    push_container(Kind::Item, mark_offset + padding, mark);
    containers_.back().text = mark_at;
    if (padding > mark_width + 1 || indent_ < 5)
      sink_.on_item(current_line(std::min(bytes_.find_first_not_of(" \t", pos_), line_end_)),
                    line_begin_ < comment_end_);
    return true;
  }

  /// Closes containers until `count` are left.
  void close_containers(std::size_t count) {
    if (containers_.size() > count) close_leaf();
    while (containers_.size() > count) {
      const Container container = containers_.back();
      containers_.pop_back();
      Extent extent{container.line,
                    std::max(last_content_line_, container.line),
                    container.begin,
                    std::max(last_content_end_, container.begin),
                    0,
                    container.text};
      if (!container.id.empty())
        sink_.on_named_block({container.id, extent.line, extent.end_line, extent.begin, extent.end,
                              BlockKind::Item, extent.text});
      Extent& last = containers_.back().last;
      if (container.kind == Kind::Item) {
        extent.list_mark = container.mark;
        if (last.list_mark == container.mark) {
          extent.line = last.line;
          extent.begin = last.begin;
          extent.text = last.text;
        }
      }
      last = extent;
    }
  }

  // --- the end of a leaf ---

  Extent table_extent() const {
    return {table_begin_.number, last_content_line_, table_begin_.line_begin, last_content_end_, 0,
            table_begin_.begin};
  }

  /// Ends the open leaf before the current line.
  void close_leaf() {
    if (state_ == State::None) return;
    if (state_ == State::Table) {
      containers_.back().last = table_extent();
    } else if (state_ == State::Paragraph) {
      close_paragraph();
    } else {
      emit_leaf();
    }
    state_ = State::None;
    leaf_.lines.clear();
  }

  /// Ends the leaf with the current line.
  void finish_leaf() {
    if (leaf_.kind == LeafKind::Heading) name_heading();
    emit_leaf();
    state_ = State::None;
    leaf_.lines.clear();
  }

  void emit_leaf() {
    if (leaf_.lines.empty()) return;
    const BlockLine& first = leaf_.lines.front();
    const BlockLine& last = leaf_.lines.back();
    // A heading ends with the current line: its text may end before closing marks.
    const bool is_heading = leaf_.kind == LeafKind::Heading;
    leaf_.after = is_heading ? next_ : next_line_after(last);
    const bool begins_with_text = leaf_.kind == LeafKind::Paragraph || leaf_.setext;
    const std::size_t text = begins_with_text ? first.begin : leaf_text_;
    containers_.back().last =
        is_heading ? Extent{first.number, number_, first.line_begin, line_end_, 0, text}
                   : Extent{first.number, last.number, first.line_begin, last.end, 0, text};
    sink_.on_leaf(leaf_);
  }

  void name_heading() {
    const BlockLine& last = leaf_.lines.back();
    const std::string_view id = trailing_block_id(bytes_.substr(last.begin, last.end - last.begin));
    if (!id.empty())
      sink_.on_named_block({id, leaf_.lines.front().number, number_, leaf_.lines.front().line_begin,
                            line_end_, BlockKind::Heading,
                            leaf_.setext ? leaf_.lines.front().begin : leaf_text_});
  }

  void name_above(std::string_view id, const Extent& block) {
    sink_.on_named_block(
        {id, block.line, block.end_line, block.begin, block.end, BlockKind::Above, block.text});
  }

  void close_paragraph() {
    flush_reference_definitions();
    if (leaf_.lines.empty()) return;
    const BlockLine first = leaf_.lines.front(), last = leaf_.lines.back();
    const std::string_view last_text = bytes_.substr(last.begin, last.end - last.begin);
    const std::string_view id = trailing_block_id(last_text);
    Container& parent = containers_.back();
    const bool alone = !id.empty() && last_text[0] == '^';
    const Extent before = parent.last;
    const bool first_in_item = parent.kind == Kind::Item && before.line == 0;
    emit_leaf();
    if (id.empty()) return;
    if (parent.kind == Kind::Item && (first_in_item || alone)) {
      if (parent.id.empty()) parent.id = id;
    } else if (alone && first.number == last.number && before.line != 0) {
      parent.last = before;  // the mark is no block of its own
      name_above(id, before);
    } else {
      sink_.on_named_block({id, first.number, last.number, first.line_begin, last.end,
                            BlockKind::Paragraph, first.begin});
    }
  }

  std::size_t next_line_after(const BlockLine& line) const {
    if (line.end >= bytes_.size()) return bytes_.size();
    return line.end + (bytes_.substr(line.end, 2) == "\r\n" ? 2 : 1);
  }

  /// Takes link reference definitions off the front of the open paragraph and reports them as
  /// paragraphs.
  void flush_reference_definitions() {
    std::vector<BlockLine>& lines = leaf_.lines;
    std::size_t done = 0;
    while (done < lines.size() && lines[done].begin < lines[done].end &&
           bytes_[lines[done].begin] == '[') {
      std::string text;
      for (std::size_t i = done; i < lines.size() && i < done + 3; ++i)
        text.append(bytes_.substr(lines[i].begin, lines[i].end - lines[i].begin)).append("\n");
      const std::size_t length = reference_definition_length(text);
      if (length == 0) break;
      const auto count = static_cast<std::size_t>(
          std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length), '\n'));
      Leaf definition;
      definition.nested = leaf_.nested;
      definition.is_definition = true;
      for (std::size_t i = 0; i < count; ++i) definition.lines.push_back(lines[done + i]);
      definition.after = next_line_after(definition.lines.back());
      sink_.on_leaf(definition);
      done += count;
    }
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(done));
  }

  std::string_view bytes_;
  BlockSink& sink_;
  std::size_t next_;
  int number_;
  bool has_cr_;
  bool guard_met_ = false;

  std::size_t line_begin_ = 0, line_end_ = 0, pos_ = 0, column_ = 0, first_ = 0, indent_ = 0,
              break_kill_ = 0;
  bool blank_ = false;

  std::vector<Container> containers_;
  State state_ = State::None;
  Leaf leaf_;
  std::size_t leaf_text_ = 0;  ///< where the leaf's first line begins, behind its containers
  char fence_mark_ = 0;
  std::size_t fence_length_ = 0;
  int html_kind_ = 0;
  BlockLine table_begin_;
  bool table_is_new_ = false;

  int last_content_line_ = 0;
  std::size_t last_content_end_ = 0;
  std::size_t math_ahead_ = 0, comment_ahead_ = 0, comment_end_ = 0;
  int comment_toggle_line_ = 0;
};

}  // namespace

bool scan_blocks(std::string_view bytes, std::size_t begin, int first_line, BlockSink& sink) {
  return BlockScanner(bytes, begin, first_line, sink).run();
}

}  // namespace indx
