#include "cli/markdown_view.hpp"

#include "base/text.hpp"
#include "cli/styled_text.hpp"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace indx {
namespace {

constexpr std::size_t kMaxIndents = 12;    // deeper containers are shown at this depth
constexpr std::size_t kLeastColumns = 16;  // for text, however deep it stands
constexpr std::size_t kCodeIndent = 4, kLeastCell = 6, kRuleColumns = 40;

struct FreeNode {
  void operator()(cmark_node* node) const { cmark_node_free(node); }
};
struct FreeParser {
  void operator()(cmark_parser* parser) const { cmark_parser_free(parser); }
};
struct FreeIterator {
  void operator()(cmark_iter* iterator) const { cmark_iter_free(iterator); }
};
using MarkdownTree = std::unique_ptr<cmark_node, FreeNode>;

MarkdownTree parse_markdown(const std::string& text) {
  cmark_gfm_core_extensions_ensure_registered();
  const std::unique_ptr<cmark_parser, FreeParser> parser(cmark_parser_new(CMARK_OPT_DEFAULT));
  for (const char* name : {"table", "strikethrough", "tasklist"})
    if (auto* extension = cmark_find_syntax_extension(name))
      cmark_parser_attach_syntax_extension(parser.get(), extension);
  cmark_parser_feed(parser.get(), text.data(), text.size());
  return MarkdownTree(cmark_parser_finish(parser.get()));
}

std::string literal_of(cmark_node* node) {
  const char* text = cmark_node_get_literal(node);
  return text == nullptr ? "" : text;
}

/// Writes the tree in one walk; a loop, for text may nest as deep as it likes.
class MarkdownWriter {
 public:
  MarkdownWriter(std::size_t width, bool has_color) : width_(width), has_color_(has_color) {}

  std::string write(cmark_node* root) {
    const std::unique_ptr<cmark_iter, FreeIterator> walk(cmark_iter_new(root));
    for (auto event = cmark_iter_next(walk.get()); event != CMARK_EVENT_DONE;
         event = cmark_iter_next(walk.get())) {
      auto* node = cmark_iter_get_node(walk.get());
      if (event == CMARK_EVENT_ENTER)
        enter(node, cmark_node_get_type_string(node));
      else
        leave(node, cmark_node_get_type_string(node));
    }
    return std::move(text_);
  }

 private:
  using Runs = std::vector<StyledRun>;
  struct Indent {
    std::string first, rest;  ///< in front of the first line of a container, and of the others
    bool is_used = false;
  };
  struct OpenList {
    bool is_tight = false;
    int next_number = 0;  ///< 0: bullets
  };

  void enter(cmark_node* node, std::string_view type) {
    if (type == "block_quote") {
      begin_block(node);
      push_indent({"│ ", "│ "});
    } else if (type == "list") {
      begin_block(node);
      const bool is_ordered = cmark_node_get_list_type(node) == CMARK_ORDERED_LIST;
      lists_.push_back({cmark_node_get_list_tight(node) != 0,
                        is_ordered ? std::max(1, cmark_node_get_list_start(node)) : 0});
    } else if (type == "item" || type == "tasklist") {
      begin_block(node);
      push_indent(item_indent(node, type == "tasklist"));
    } else if (type == "paragraph" || type == "heading") {
      begin_block(node);
      runs_.clear();
      if (type == "heading") begin_heading(cmark_node_get_heading_level(node));
    } else if (type == "code_block" || type == "html_block") {
      begin_block(node);
      write_code(literal_of(node), type == "code_block");
    } else if (type == "thematic_break") {
      begin_block(node);
      std::string rule;
      for (std::size_t i = 0; i < std::min(room(), kRuleColumns); ++i) rule += "─";
      line(styled(rule, look::kDim, has_color_));
    } else if (type == "table") {
      begin_block(node);
      rows_.clear();
    } else if (type == "table_header" || type == "table_row") {
      rows_.emplace_back();
    } else if (type == "table_cell") {
      runs_.clear();
    } else {
      enter_inline(node, type);
    }
  }

  void enter_inline(cmark_node* node, std::string_view type) {
    if (type == "text" || type == "html_inline")
      add(literal_of(node));
    else if (type == "softbreak")
      add(" ");
    else if (type == "linebreak")
      add("\n");
    else if (type == "code")
      add_code(literal_of(node));
    else if (type == "emph")
      ++italic_;
    else if (type == "strong")
      ++bold_;
    else if (type == "strikethrough")
      begin_strike();
    else if (type == "link")
      begin_link();
    else if (type == "image")
      add("[image: ");
  }

  void leave(cmark_node* node, std::string_view type) {
    if (type == "block_quote") {
      indents_.pop_back();
    } else if (type == "list") {
      lists_.pop_back();
    } else if (type == "item" || type == "tasklist") {
      if (!indents_.back().is_used) line("");  // an empty item has its mark
      indents_.pop_back();
    } else if (type == "paragraph" || type == "heading") {
      if (type == "heading" && bold_ > 0) --bold_;
      for (const auto& text : wrap(runs_, {room(), has_color_})) line(text);
    } else if (type == "table_cell") {
      if (!rows_.empty()) rows_.back().push_back(std::exchange(runs_, {}));
    } else if (type == "table") {
      write_table(node);
    } else if (type == "emph") {
      --italic_;
    } else if (type == "strong") {
      --bold_;
    } else if (type == "strikethrough") {
      end_strike();
    } else if (type == "link") {
      end_link(node);
    } else if (type == "image") {
      add("] (" + url_of(node) + ")");
    }
  }

  // --- blocks

  /// A blank line between blocks, but not inside of tight lists.
  void begin_block(cmark_node* node) {
    if (cmark_node_previous(node) == nullptr) return;
    const std::string_view parent = cmark_node_get_type_string(cmark_node_parent(node));
    const bool is_in_list = parent == "list" || parent == "item" || parent == "tasklist";
    if (!is_in_list || lists_.empty() || !lists_.back().is_tight) line("");
  }

  void begin_heading(int level) {
    ++bold_;
    if (!has_color_) add(std::string(static_cast<std::size_t>(level), '#') + " ");
  }

  Indent item_indent(cmark_node* node, bool is_task) {
    std::string mark = "• ";
    if (!lists_.empty() && lists_.back().next_number > 0)
      mark = std::to_string(lists_.back().next_number++) + ". ";
    if (is_task) mark = cmark_gfm_extensions_get_tasklist_item_checked(node) ? "☑ " : "☐ ";
    return {mark, std::string(columns_of(std::string_view(mark)), ' ')};
  }

  void push_indent(Indent indent) {
    if (indents_.size() >= kMaxIndents) indent.first = indent.rest = "";
    indents_.push_back(std::move(indent));
  }

  /// Columns that are left for text.
  std::size_t room() const {
    std::size_t used = 0;
    for (const auto& indent : indents_) used += columns_of(std::string_view(indent.rest));
    return std::max(width_ > used ? width_ - used : 0, std::min(width_, kLeastColumns));
  }

  void line(const std::string& text) {
    std::string whole;
    for (auto& indent : indents_)
      whole += std::exchange(indent.is_used, true) ? indent.rest : indent.first;
    whole += text;
    const auto end = whole.find_last_not_of(' ');
    text_ += whole.substr(0, end == whole.npos ? 0 : end + 1) + "\n";
  }

  void write_code(std::string text, bool is_code) {
    if (text.ends_with('\n')) text.pop_back();
    const std::size_t indent = is_code ? kCodeIndent : 0;
    for (const auto& source : split(text, '\n')) {
      const WrapOptions options{room() - std::min(indent, room() / 2), has_color_, true};
      auto lines = wrap({{source, is_code ? look::kCode : look::kDim}}, options);
      if (lines.empty()) lines.emplace_back();
      for (const auto& one : lines) line(std::string(indent, ' ') + one);
    }
  }

  void write_table(cmark_node* node) {
    std::size_t count = 0;
    for (const auto& row : rows_) count = std::max(count, row.size());
    if (count == 0) return;
    std::vector<std::size_t> widths(count, 1);
    for (const auto& row : rows_)
      for (std::size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], columns_of(row[i]));
    const auto total = [&] {
      return std::accumulate(widths.begin(), widths.end(), 2 * (count - 1));
    };
    while (total() > room()) {
      auto& widest = *std::max_element(widths.begin(), widths.end());
      if (widest <= kLeastCell) break;
      widest = std::max(kLeastCell, widest - std::min(widest, total() - room()));
    }
    const auto* aligned = cmark_gfm_extensions_get_table_alignments(node);
    const std::size_t aligned_count = cmark_gfm_extensions_get_table_columns(node);
    bool is_head = true;
    for (auto& row : rows_) {
      if (is_head)
        for (auto& cell : row)
          for (auto& run : cell) run.style |= look::kBold;
      write_row(row, widths, [&](std::size_t column) {
        return aligned != nullptr && column < aligned_count && aligned[column] == 'r';
      });
      if (std::exchange(is_head, false)) write_table_rule(widths);
    }
  }

  template <typename IsRight>
  void write_row(const std::vector<Runs>& row, const std::vector<std::size_t>& widths,
                 const IsRight& is_right) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(wrap(row[i], {widths[i], has_color_}));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t at = 0; at < height; ++at) {
      std::string text;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = at < cells[i].size() ? cells[i][at] : "";
        const std::size_t shown = visible_columns(cell);
        const std::string pad(widths[i] > shown ? widths[i] - shown : 0, ' ');
        text += (i == 0 ? "" : "  ") + (is_right(i) ? pad + cell : cell + pad);
      }
      line(text);
    }
  }

  void write_table_rule(const std::vector<std::size_t>& widths) {
    std::string rule;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      rule += i == 0 ? "" : "  ";
      for (std::size_t n = 0; n < widths[i]; ++n) rule += "─";
    }
    line(styled(rule, look::kDim, has_color_));
  }

  /// Of a line that `wrap` made, without its own escape sequences.
  static std::size_t visible_columns(std::string_view text) {
    std::string bare;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\x1b') {
        bare += text[i];
        continue;
      }
      while (i < text.size() && text[i] != 'm') ++i;
    }
    return columns_of(std::string_view(bare));
  }

  // --- inlines

  void add(std::string text) { runs_.push_back({std::move(text), style()}); }
  void add_code(const std::string& text) {
    const std::string shown = has_color_ ? text : "`" + text + "`";
    runs_.push_back({shown, static_cast<std::uint8_t>(style() | look::kCode)});
  }
  std::uint8_t style() const {
    unsigned bits = look::kPlain;
    if (bold_ > 0) bits |= look::kBold;
    if (italic_ > 0) bits |= look::kItalic;
    if (strike_ > 0) bits |= look::kStrike;
    if (!links_.empty()) bits |= look::kUnderline;
    return static_cast<std::uint8_t>(bits);
  }
  /// Without colour its marks stay, at both ends.
  void begin_strike() {
    if (!has_color_) add("~");
    ++strike_;
  }
  void end_strike() {
    --strike_;
    if (!has_color_) add("~");
  }
  void begin_link() { links_.push_back(runs_.size()); }
  void end_link(cmark_node* node) {
    std::string shown;
    if (links_.empty()) return;
    for (std::size_t i = links_.back(); i < runs_.size(); ++i) shown += runs_[i].text;
    links_.pop_back();
    const std::string url = url_of(node);
    if (!url.empty() && url != shown && url != "mailto:" + shown) add(" (" + url + ")");
  }
  static std::string url_of(cmark_node* node) {
    const char* url = cmark_node_get_url(node);
    return url == nullptr ? "" : url;
  }

  const std::size_t width_;
  const bool has_color_;
  std::string text_;
  std::vector<Indent> indents_;
  std::vector<OpenList> lists_;
  Runs runs_;                            ///< of the paragraph or cell at hand
  std::vector<std::vector<Runs>> rows_;  ///< of the table at hand
  std::vector<std::size_t> links_;       ///< where the text of each open link begins in runs_
  int bold_ = 0, italic_ = 0, strike_ = 0;
};

}  // namespace

std::string markdown_text(std::string_view markdown, std::size_t width, bool has_color) {
  const MarkdownTree tree = parse_markdown(harmless(markdown));
  return tree ? MarkdownWriter(width, has_color).write(tree.get()) : std::string();
}

}  // namespace indx
