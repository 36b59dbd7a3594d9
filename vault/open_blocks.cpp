#include "vault/open_blocks.hpp"

#include "vault/line_marks.hpp"

#include <algorithm>
#include <string>

namespace indx {

OpenBlocks::OpenBlocks(const LineCursor& line, BlockSink& sink) : line_(line), sink_(sink) {
  containers.push_back({});
}

void OpenBlocks::note_content() {
  if (line_.blank && state == State::None) return;
  last_content_line_ = line_.number;
  last_content_end_ = line_.end;
}

void OpenBlocks::push_container(Kind kind, std::size_t indent, char mark) {
  containers.back().has_children = true;
  Container container;
  container.kind = kind;
  container.indent = indent;
  container.mark = mark;
  container.line = line_.number;
  container.begin = line_.begin;
  container.text = line_.first;
  containers.push_back(container);
  last_content_line_ = line_.number;
  last_content_end_ = line_.end;
}

void OpenBlocks::close_containers(std::size_t count) {
  if (containers.size() > count) close_leaf();
  while (containers.size() > count) {
    const Container container = containers.back();
    containers.pop_back();
    Extent extent{container.line,
                  std::max(last_content_line_, container.line),
                  container.begin,
                  std::max(last_content_end_, container.begin),
                  0,
                  container.text};
    if (!container.id.empty())
      sink_.on_named_block({container.id, extent.line, extent.end_line, extent.begin, extent.end,
                            BlockKind::Item, extent.text});
    Extent& last = containers.back().last;
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

void OpenBlocks::start_leaf(LeafKind kind, std::size_t begin) {
  leaf = Leaf{};
  leaf.kind = kind;
  leaf.nested = containers.size() > 1;
  leaf_text_ = begin;
  containers.back().has_children = true;
}

void OpenBlocks::start_paragraph() {
  start_leaf(LeafKind::Paragraph, line_.first);
  state = State::Paragraph;
  leaf.lines.push_back(line_.from(line_.first));
}

void OpenBlocks::emit_single(LeafKind kind) {
  start_leaf(kind, line_.first);
  leaf.lines.push_back(line_.from(line_.first));
  finish_leaf();
}

void OpenBlocks::begin_table(const BlockLine& header) {
  state = State::Table;
  table_begin_ = header;
  table_is_new_ = true;
  emit_table_row(header, line_.begin);
}

void OpenBlocks::emit_table_row(const BlockLine& row, std::size_t after) {
  leaf = Leaf{};
  leaf.kind = LeafKind::TableRow;
  leaf.nested = containers.size() > 1;
  leaf.first_of_table = table_is_new_;
  leaf.after = after;
  leaf.lines.push_back(row);
  sink_.on_leaf(leaf);
  table_is_new_ = false;
  leaf.lines.clear();
}

OpenBlocks::Extent OpenBlocks::table_extent() const {
  return {table_begin_.number, last_content_line_, table_begin_.line_begin, last_content_end_, 0,
          table_begin_.begin};
}

void OpenBlocks::close_leaf() {
  if (state == State::None) return;
  if (state == State::Table) {
    containers.back().last = table_extent();
  } else if (state == State::Paragraph) {
    close_paragraph();
  } else {
    emit_leaf();
  }
  state = State::None;
  leaf.lines.clear();
}

void OpenBlocks::finish_leaf() {
  if (leaf.kind == LeafKind::Heading) name_heading();
  emit_leaf();
  state = State::None;
  leaf.lines.clear();
}

void OpenBlocks::emit_leaf() {
  if (leaf.lines.empty()) return;
  const BlockLine& first = leaf.lines.front();
  const BlockLine& last = leaf.lines.back();
  // A heading ends with the current line: its text may end before closing marks.
  const bool is_heading = leaf.kind == LeafKind::Heading;
  leaf.after = is_heading ? line_.next : next_line_after(last);
  const bool begins_with_text = leaf.kind == LeafKind::Paragraph || leaf.setext;
  const std::size_t text = begins_with_text ? first.begin : leaf_text_;
  containers.back().last =
      is_heading ? Extent{first.number, line_.number, first.line_begin, line_.end, 0, text}
                 : Extent{first.number, last.number, first.line_begin, last.end, 0, text};
  sink_.on_leaf(leaf);
}

void OpenBlocks::name_heading() {
  const BlockLine& last = leaf.lines.back();
  const std::string_view id =
      trailing_block_id(line_.bytes.substr(last.begin, last.end - last.begin));
  if (!id.empty())
    sink_.on_named_block({id, leaf.lines.front().number, line_.number,
                          leaf.lines.front().line_begin, line_.end, BlockKind::Heading,
                          leaf.setext ? leaf.lines.front().begin : leaf_text_});
}

void OpenBlocks::name_above(std::string_view id, const Extent& block) {
  sink_.on_named_block(
      {id, block.line, block.end_line, block.begin, block.end, BlockKind::Above, block.text});
}

void OpenBlocks::close_paragraph() {
  flush_reference_definitions();
  if (leaf.lines.empty()) return;
  const BlockLine first = leaf.lines.front(), last = leaf.lines.back();
  const std::string_view last_text = line_.bytes.substr(last.begin, last.end - last.begin);
  const std::string_view id = trailing_block_id(last_text);
  Container& parent = containers.back();
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

std::size_t OpenBlocks::next_line_after(const BlockLine& line) const {
  if (line.end >= line_.bytes.size()) return line_.bytes.size();
  return line.end + (line_.bytes.substr(line.end, 2) == "\r\n" ? 2 : 1);
}

void OpenBlocks::flush_reference_definitions() {
  std::vector<BlockLine>& lines = leaf.lines;
  std::size_t done = 0;
  while (done < lines.size() && lines[done].begin < lines[done].end &&
         line_.bytes[lines[done].begin] == '[') {
    std::string text;
    for (std::size_t i = done; i < lines.size() && i < done + 3; ++i)
      text.append(line_.bytes.substr(lines[i].begin, lines[i].end - lines[i].begin)).append("\n");
    const std::size_t length = reference_definition_length(text);
    if (length == 0) break;
    const auto count = static_cast<std::size_t>(
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length), '\n'));
    Leaf definition;
    definition.nested = leaf.nested;
    definition.is_definition = true;
    for (std::size_t i = 0; i < count; ++i) definition.lines.push_back(lines[done + i]);
    definition.after = next_line_after(definition.lines.back());
    sink_.on_leaf(definition);
    done += count;
  }
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(done));
}

}  // namespace indx
