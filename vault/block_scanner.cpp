#include "vault/block_scanner.hpp"

#include "vault/html_block.hpp"
#include "vault/line_marks.hpp"
#include "vault/open_blocks.hpp"

#include <algorithm>
#include <array>

namespace indx {
namespace {

constexpr std::size_t kMaxNesting = 100;

/// Characters with which a block mark can begin; a line that begins otherwise continues or starts a
/// paragraph.
constexpr std::array<bool, 256> kMarkStart = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("#>*+-_=0123456789`~<[$|:%"))
    table[static_cast<unsigned char>(c)] = true;
  return table;
}();

class BlockScanner {
 public:
  BlockScanner(std::string_view bytes, std::size_t begin, int first_line, BlockSink& sink)
      : sink_(sink), line_(bytes, begin, first_line), open_(line_, sink) {}

  bool run() {
    while (line_.read()) process_line();
    open_.close_containers(1);
    open_.close_leaf();
    return !guard_met_;
  }

 private:
  using Kind = OpenBlocks::Kind;
  using State = OpenBlocks::State;

  // --- one line through the containers, as in cmark's block phase ---

  void process_line() {
    std::size_t matched = 1;
    for (; matched < open_.containers.size() && continues(open_.containers[matched]); ++matched) {
    }
    const bool all_matched = matched == open_.containers.size();
    line_.find_first();
    const bool was_paragraph = open_.state == State::Paragraph;
    if (all_matched && open_.state != State::None && open_.state != State::Paragraph &&
        open_.state != State::Table && continue_verbatim())
      return open_.note_content();
    if (was_paragraph && all_matched && line_.blank) open_.close_leaf();
    if (open_.state == State::Table && (!all_matched || line_.blank)) open_.close_leaf();

    bool opened = false;
    bool maybe_lazy = open_.state == State::Paragraph;
    const auto prepare = [&] {  // closes what the line does not continue, once a new block begins
      if (opened) return;
      open_.close_leaf();
      open_.close_containers(matched);
      opened = true;
    };
    while (!line_.blank && kMarkStart[static_cast<unsigned char>(line_.bytes[line_.first])]) {
      const bool in_paragraph = !opened && all_matched && open_.state == State::Paragraph;
      const Step step = open_block(in_paragraph, prepare);
      if (step == Step::Leaf) return open_.note_content();
      if (step == Step::Nothing) break;
      maybe_lazy = false;
      line_.find_first();
    }
    if (line_.indent >= 4 && !maybe_lazy && !line_.blank) {
      prepare();
      start_indented();
      return open_.note_content();
    }

    if (line_.blank) {
      if (!opened && !all_matched) {
        open_.close_leaf();
        open_.close_containers(matched);
      }
      return;
    }
    if (!opened && !all_matched) {
      if (open_.state == State::Paragraph) return add_lazy_line(matched);
      open_.close_leaf();
      open_.close_containers(matched);
    }
    add_text_line();
    open_.note_content();
  }

  bool continues(const OpenBlocks::Container& container) {
    line_.find_first();
    switch (container.kind) {
      case Kind::Quote:
        if (line_.indent > 3 || line_.blank || line_.bytes[line_.first] != '>') return false;
        line_.advance_to_first();
        skip_quote_mark();
        return true;
      case Kind::Item:
      case Kind::Footnote:
        if (line_.indent >= container.indent && !line_.blank) {
          line_.advance_columns(container.indent);
          return true;
        }
        if (line_.blank && container.has_children) {
          line_.advance_to_first();
          return true;
        }
        return false;
      case Kind::Document:
        return true;
    }
    return false;
  }

  void skip_quote_mark() {
    line_.skip_mark(1);
    if (line_.pos < line_.end && is_blank_char(line_.bytes[line_.pos])) line_.advance_columns(1);
  }

  /// Lines of code, HTML and math go to their block unread. False when the block ended before this
  /// line.
  bool continue_verbatim() {
    switch (open_.state) {
      case State::Fence: {
        open_.leaf.lines.push_back(line_.from(std::min(line_.first, line_.end)));
        const std::string_view text = line_.rest();
        if (line_.indent <= 3 && !text.empty() && text[0] == fence_mark_) {
          const std::size_t run = std::min(text.find_first_not_of(fence_mark_), text.size());
          if (run >= fence_length_ && text.find_first_not_of(" \t", run) == std::string_view::npos)
            open_.finish_leaf();
        }
        return true;
      }
      case State::Math:
        open_.leaf.lines.push_back(line_.from(std::min(line_.first, line_.end)));
        if (line_.rest().find("$$") != std::string_view::npos) open_.finish_leaf();
        return true;
      case State::Html:
        if (html_kind_ >= 6 && line_.blank) {
          open_.finish_leaf();
          return true;
        }
        open_.leaf.lines.push_back(line_.from(line_.pos));
        if (ends_html_block(html_kind_, line_.rest())) open_.finish_leaf();
        return true;
      case State::Indented:
        if (!line_.blank && line_.indent < 4) {
          open_.close_leaf();
          return false;
        }
        if (!line_.blank) open_.leaf.lines.push_back(line_.from(line_.first));
        return true;
      default:
        return false;
    }
  }

  enum class Step : std::uint8_t { Nothing, Container, Leaf };

  template <typename Prepare>
  Step open_block(bool in_paragraph, const Prepare& prepare) {
    const char c = line_.bytes[line_.first];
    if (line_.indent >= 4) return Step::Nothing;
    switch (c) {
      case '>':
        if (!has_room()) return Step::Nothing;
        prepare();
        open_.push_container(Kind::Quote, 0, '>');
        line_.advance_to_first();
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
      open_.emit_single(LeafKind::ThematicBreak);
      return Step::Leaf;
    }
    return start_item(in_paragraph, prepare) ? Step::Container : Step::Nothing;
  }

  bool has_room() {
    if (open_.containers.size() <= kMaxNesting) return true;
    guard_met_ = true;
    return false;
  }

  // --- leaf blocks ---

  template <typename Prepare>
  bool start_atx(const Prepare& prepare) {
    const std::string_view text = line_.rest();
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
    open_.start_leaf(LeafKind::Heading, line_.first);
    open_.leaf.level = static_cast<int>(level);
    open_.leaf.lines.push_back({line_.first + begin, line_.first + end, line_.begin, line_.number});
    open_.finish_leaf();
    return true;
  }

  bool start_setext() {
    const std::string_view text = line_.rest();
    const std::size_t run = text.find_first_not_of(text[0]);
    if (run != std::string_view::npos &&
        text.find_first_not_of(" \t", run) != std::string_view::npos)
      return false;
    open_.flush_reference_definitions();
    if (open_.leaf.lines.empty()) {  // nothing but definitions: the underline is text
      open_.start_paragraph();
      return true;
    }
    open_.leaf.kind = LeafKind::Heading;
    open_.leaf.setext = true;
    open_.leaf.level = text[0] == '=' ? 1 : 2;
    open_.finish_leaf();
    return true;
  }

  template <typename Prepare>
  bool start_fence(const Prepare& prepare) {
    const std::string_view text = line_.rest();
    const std::size_t run = std::min(text.find_first_not_of(text[0]), text.size());
    if (run < 3 || (text[0] == '`' && text.find('`', run) != std::string_view::npos)) return false;
    prepare();
    open_.start_leaf(LeafKind::Code, line_.first);
    open_.leaf.lines.push_back(line_.from(line_.first));
    open_.state = State::Fence;
    fence_mark_ = text[0];
    fence_length_ = run;
    return true;
  }

  void start_indented() {
    open_.start_leaf(LeafKind::Code, line_.pos);
    open_.leaf.lines.push_back(line_.from(line_.first));
    open_.state = State::Indented;
  }

  template <typename Prepare>
  bool start_html(bool in_paragraph, const Prepare& prepare) {
    const int kind = html_block_kind(line_.rest(), in_paragraph);
    if (kind == 0) return false;
    prepare();
    open_.start_leaf(kind == 2   ? LeafKind::HtmlComment
                     : kind == 1 ? LeafKind::RawHtml
                                 : LeafKind::Html,
                     line_.first);
    open_.leaf.lines.push_back(line_.from(line_.first));
    open_.state = State::Html;
    html_kind_ = kind;
    if (ends_html_block(kind, kind == 2 ? line_.rest().substr(4) : line_.rest()))
      open_.finish_leaf();
    return true;
  }

  /// `$$` alone, or with text behind it, up to the next `$$`; without one it is text.
  template <typename Prepare>
  bool start_math(const Prepare& prepare) {
    const std::string_view text = line_.rest();
    if (text.substr(0, 2) != "$$" || text.find('$', 2) != std::string_view::npos) return false;
    if (!occurs_later("$$", math_ahead_)) return false;
    prepare();
    open_.start_leaf(LeafKind::Math, line_.first);
    open_.leaf.lines.push_back(line_.from(line_.first));
    open_.state = State::Math;
    return true;
  }

  /// Whether `mark` stands on a later line. `ahead` remembers the last answer, so that all calls
  /// together are linear.
  bool occurs_later(std::string_view mark, std::size_t& ahead) const {
    if (ahead != std::string_view::npos && ahead < line_.end)
      ahead = line_.bytes.find(mark, line_.end);
    return ahead != std::string_view::npos;
  }

  /// A line that begins with `%%` and holds no second one opens a comment, in which list items are
  /// no tasks.
  void track_comment() {
    const std::string_view text = line_.rest();
    if (line_.number == comment_toggle_line_ || text.substr(0, 2) != "%%") return;
    comment_toggle_line_ = line_.number;
    if (text.find("%%", 2) != std::string_view::npos || line_.begin < comment_end_) return;
    if (occurs_later("%%", comment_ahead_)) comment_end_ = comment_ahead_ + 2;
  }

  bool is_thematic_break() {
    if (break_kill_ > line_.first) return false;
    const char mark = line_.bytes[line_.first];
    std::size_t count = 0, i = line_.first;
    for (; i < line_.end; ++i) {
      if (line_.bytes[i] == mark)
        ++count;
      else if (!is_blank_char(line_.bytes[i]))
        break;
    }
    if (i >= line_.end && count >= 3) return true;
    if (i < line_.end && is_blank_char(line_.bytes[i - 1]))
      break_kill_ = i;  // no break before here on this line
    return false;
  }

  bool start_table() {
    if (open_.leaf.lines.empty() || open_.leaf.lines.back().number + 1 != line_.number ||
        !is_delimiter_row(line_.rest()))
      return false;
    const BlockLine header = open_.leaf.lines.back();
    const std::string_view header_text =
        line_.bytes.substr(header.begin, header.end - header.begin);
    if (header_text.find('|') == std::string_view::npos &&
        line_.rest().find_first_of("|:") == std::string_view::npos)
      return false;
    const std::size_t columns = count_cells(line_.rest());
    if (columns == 0) guard_met_ = true;
    if (columns == 0 || count_cells(header_text) != columns) return false;
    open_.leaf.lines.pop_back();
    open_.flush_reference_definitions();
    open_.emit_leaf();
    open_.begin_table(header);
    open_.emit_table_row(line_.from(line_.first), line_.next);
    return true;
  }

  void add_text_line() {
    if (open_.state == State::Table) {
      const std::string_view id = trailing_block_id(line_.rest());
      if (!id.empty() && line_.rest()[0] == '^') {  // alone directly under a table
        const OpenBlocks::Extent table = open_.table_extent();
        open_.close_leaf();
        open_.name_above(id, table);
        return;
      }
      return open_.emit_table_row(line_.from(line_.first), line_.next);
    }
    if (open_.state == State::Paragraph) {
      open_.leaf.lines.push_back(line_.from(line_.first));
    } else {
      open_.start_paragraph();
    }
  }

  void add_lazy_line(std::size_t matched) {
    const std::string_view id = trailing_block_id(line_.rest());
    if (!id.empty() && line_.rest()[0] == '^' &&
        open_.containers[matched].kind == Kind::Quote) {  // alone directly under a quote
      open_.close_leaf();
      open_.close_containers(matched);
      open_.name_above(id, open_.containers.back().last);
      return;
    }
    open_.leaf.lines.push_back(line_.from(line_.first));
    open_.note_content();
  }

  // --- containers ---

  template <typename Prepare>
  bool start_footnote(const Prepare& prepare) {
    const std::string_view text = line_.rest();
    if (text.substr(0, 2) != "[^") return false;
    const std::size_t close = text.substr(0, 1000).find_first_of("] \t[", 2);
    if (close == std::string_view::npos || close == 2 || text[close] != ']' ||
        text.substr(close + 1, 1) != ":" || !has_room())
      return false;
    prepare();
    open_.push_container(Kind::Footnote, 4, '^');
    line_.advance_to_first();
    line_.skip_mark(close + 2);
    return true;
  }

  template <typename Prepare>
  bool start_item(bool in_paragraph, const Prepare& prepare) {
    std::size_t at = line_.first;
    char mark = line_.bytes[at];
    if (is_ascii_number(mark)) {
      std::size_t value = 0;
      for (; at < line_.end && is_ascii_number(line_.bytes[at]) && at - line_.first < 9; ++at)
        value = value * 10 + static_cast<std::size_t>(line_.bytes[at] - '0');
      if (at >= line_.end || (line_.bytes[at] != '.' && line_.bytes[at] != ')') ||
          (in_paragraph && value != 1))
        return false;
      mark = line_.bytes[at];
    } else if (mark != '-' && mark != '*' && mark != '+') {
      return false;
    }
    ++at;
    if (at < line_.end && !is_blank_char(line_.bytes[at])) return false;
    const std::size_t content = std::min(line_.bytes.find_first_not_of(" \t", at), line_.end);
    if (in_paragraph && content >= line_.end) return false;
    if (!has_room()) return false;
    prepare();

    const std::size_t mark_offset = line_.indent, mark_width = at - line_.first,
                      mark_at = line_.first;
    line_.advance_to_first();
    line_.skip_mark(mark_width);
    const std::size_t saved_pos = line_.pos, saved_column = line_.column;
    line_.find_first();
    std::size_t padding = mark_width + line_.indent;
    if (line_.indent >= 5 || line_.indent < 1 || line_.blank) {
      line_.pos = saved_pos;
      line_.column = saved_column;
      padding = mark_width + 1;
      if (line_.indent > 0) line_.advance_columns(1);
    } else {
      line_.advance_to_first();
    }
    open_.push_container(Kind::Item, mark_offset + padding, mark);
    open_.containers.back().text = mark_at;
    if (padding > mark_width + 1 || line_.indent < 5)
      sink_.on_item(
          line_.from(std::min(line_.bytes.find_first_not_of(" \t", line_.pos), line_.end)),
          line_.begin < comment_end_);
    return true;
  }

  BlockSink& sink_;
  LineCursor line_;
  OpenBlocks open_;
  bool guard_met_ = false;
  char fence_mark_ = 0;
  std::size_t fence_length_ = 0;
  int html_kind_ = 0;
  std::size_t break_kill_ = 0;
  std::size_t math_ahead_ = 0, comment_ahead_ = 0, comment_end_ = 0;
  int comment_toggle_line_ = 0;
};

}  // namespace

bool scan_blocks(std::string_view bytes, std::size_t begin, int first_line, BlockSink& sink) {
  return BlockScanner(bytes, begin, first_line, sink).run();
}

}  // namespace indx
