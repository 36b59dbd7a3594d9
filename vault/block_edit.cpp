#include "vault/block_edit.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/following_text.hpp"
#include "vault/join.hpp"
#include "vault/line_ends.hpp"
#include "vault/link_resolver.hpp"

#include <algorithm>

namespace indx {
namespace {

Status check_text(std::string_view bytes, std::string_view markdown) {
  if (!is_valid_utf8(bytes))
    return make_error(Reason::NotUtf8,
                      "The note is not valid UTF-8; it can be read but not edited.");
  if (!is_valid_utf8(markdown)) return invalid("The Markdown is not valid UTF-8.");
  return {};
}

bool is_gap(char c) { return c == ' ' || c == '\t'; }

/// The marks of containers as they stand on a line that goes on: quotes stay, list marks become
/// spaces.
std::string continued(std::string_view prefix) {
  std::string out(prefix);
  for (char& c : out)
    if (c != '>' && !is_gap(c)) c = ' ';
  return out;
}

std::vector<std::string_view> lines_of_text(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = line_end_of(text, at);
    lines.push_back(text.substr(at, end - at));
    at = next_line_of(text, end);
  }
  return lines;
}

/// Lines of a block with the prefix of its first and of its other lines, without the last line end.
std::string laid_out(const std::vector<std::string>& lines, std::string_view first,
                     std::string_view rest, std::string_view eol) {
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += eol;
    const std::string_view prefix = i == 0 ? first : rest;
    if (lines[i].empty())
      out += prefix.substr(0, prefix.find_last_not_of(" \t") + 1);
    else
      out.append(prefix).append(lines[i]);
  }
  return out;
}

/// Without the id, when the Markdown repeats it: the caller's copy would be a second one.
std::string without_same_id(std::string text, const std::string& id) {
  const std::size_t end = text.find_last_not_of(" \t") + 1;
  if (end < id.size() + 1 || text[end - id.size() - 1] != '^' ||
      fold_case(text.substr(end - id.size(), id.size())) != fold_case(id))
    return text;
  const std::size_t mark = end - id.size() - 1;
  if (mark > 0 && !is_gap(text[mark - 1]) && text[mark - 1] != '\n' && text[mark - 1] != '\r')
    return text;
  text.resize(text.find_last_not_of(" \t\r\n", mark == 0 ? 0 : mark - 1) + 1);
  return mark == 0 ? std::string() : text;
}

/// What a piece of Markdown begins and ends with.
class PieceSink : public BlockSink {
 public:
  void on_leaf(const Leaf& leaf) override {
    if (leaves++ == 0 && leaf.kind == LeafKind::Paragraph && !leaf.is_definition)
      first_paragraph_end = leaf.lines.back().number;
    ends_plain = !leaf.nested && !leaf.setext && !leaf.is_definition &&
                 (leaf.kind == LeafKind::Paragraph || leaf.kind == LeafKind::Heading);
  }
  int leaves = 0;
  int first_paragraph_end = 0;  ///< line of its end when the piece begins with a paragraph, else 0
  bool ends_plain = false;      ///< ends in a paragraph or heading on the top level
};
PieceSink piece_of(std::string_view piece) {
  PieceSink sink;
  scan_blocks(piece, 0, 1, sink);
  return sink;
}

struct BlockReplacement {
  std::string_view bytes, eol;
  const Block& block;
  std::vector<std::string> lines;  ///< of the Markdown, without the id

  std::string_view mark() const { return bytes.substr(block.mark, block.id.size() + 1); }
  std::string_view prefix() const { return bytes.substr(block.begin, block.text - block.begin); }
  bool is_mark_alone() const {
    const std::size_t line = line_begin_of(bytes, block.mark);
    return line > block.begin &&
           bytes.substr(line, block.mark - line).find_first_not_of(" \t>") == std::string::npos;
  }
  std::string with(const std::string& text) const {
    return std::string(bytes.substr(0, block.begin)).append(text).append(bytes.substr(block.end));
  }
};

/// The line of the new text whose end is the place of the block's own id, if any.
std::string* line_for_id(BlockReplacement& r) {
  const PieceSink piece = piece_of(laid_out(r.lines, "", "", "\n"));
  if (r.block.kind != BlockKind::Item) return piece.ends_plain ? &r.lines.back() : nullptr;
  const auto end = static_cast<std::size_t>(piece.first_paragraph_end);
  return end > 0 ? &r.lines[end - 1] : nullptr;
}

/// Refuses Markdown with another id of its own for the block; the same one is left out.
Status take_own_id(BlockReplacement& r) {
  std::string* line = line_for_id(r);
  if (line == nullptr) return {};
  const std::string text = cat(" ", replace_all(*line, "\t", " "));
  const std::string padded(text.substr(0, text.find_last_not_of(' ') + 1));
  const std::size_t plain = without_block_id(padded).size();
  if (plain == padded.size()) return {};
  const std::string id = padded.substr(plain + 2);
  if (fold_case(id) != fold_case(r.block.id))
    return invalid(cat("The Markdown ends in the id `^", id, "`, but the block keeps `^",
                       r.block.id, "`; leave it out, and change an id with rename_block."),
                   Json{{"path", "markdown"},
                        {"expected", cat("`^", r.block.id, "` or no id")},
                        {"actual", "^" + id}});
  const std::string_view kept = std::string_view(*line).substr(0, line->rfind('^'));
  if (const auto end = kept.find_last_not_of(" \t"); end != kept.npos) line->resize(end + 1);
  return {};
}

bool is_block_id(std::string_view id) {
  return !id.empty() && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

/// The ways to write the new block, the closest to the old one first.
std::vector<std::string> new_plain_blocks(const BlockReplacement& r) {
  const std::string first(r.prefix()), rest = continued(first);
  if (r.block.kind == BlockKind::Above) return {laid_out(r.lines, first, rest, r.eol)};
  std::vector<std::string> own_line = r.lines, below = r.lines, same_line = r.lines;
  own_line.emplace_back();
  own_line.emplace_back(r.mark());
  below.emplace_back(r.mark());
  same_line.back().append(" ").append(r.mark());
  std::vector<std::string> ways;
  const std::string piece = laid_out(r.lines, "", "", "\n");
  if (piece_of(piece).ends_plain)
    ways.push_back(laid_out(r.is_mark_alone() ? below : same_line, first, rest, r.eol));
  ways.push_back(laid_out(own_line, first, rest, r.eol));
  return ways;
}

/// The mark of a list item with the gap behind it.
std::string item_mark_of(std::string_view line) {
  std::size_t end = 0;
  while (end < line.size() && !is_gap(line[end])) ++end;
  std::size_t content = end;
  while (content < line.size() && is_gap(line[content])) ++content;
  if (content == line.size() || content - end > 4 || line[end] == '\t')
    return std::string(line.substr(0, end)) + " ";
  return std::string(line.substr(0, content));
}

std::vector<std::string> new_items(const BlockReplacement& r) {
  const std::string base(r.prefix()), base_rest = continued(base);
  const std::size_t line_end = line_end_of(r.bytes, r.block.text);
  const bool brings_mark = !is_gap(r.lines.front()[0]) && item_family(r.lines.front()) != 0;
  const std::string mark =
      item_mark_of(brings_mark ? std::string_view(r.lines.front())
                               : r.bytes.substr(r.block.text, line_end - r.block.text));
  const std::string indent = continued(mark);
  std::vector<std::string> lines = r.lines;
  if (!brings_mark)
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (i == 0 || !lines[i].empty()) lines[i].insert(0, i == 0 ? mark : indent);

  std::vector<std::string> ways;
  const int paragraph_end = piece_of(laid_out(lines, "", "", "\n")).first_paragraph_end;
  if (paragraph_end > 0 && !r.is_mark_alone()) {
    std::vector<std::string> same_line = lines;
    same_line[static_cast<std::size_t>(paragraph_end) - 1].append(" ").append(r.mark());
    ways.push_back(laid_out(same_line, base, base_rest, r.eol));
  }
  std::vector<std::string> own_line = lines;
  if (r.is_mark_alone() && lines.size() == 1) {
    const std::size_t mark_line = line_begin_of(r.bytes, r.block.mark);
    const std::size_t above = before_blank_lines(r.bytes, r.block.begin, mark_line);
    if (above == mark_line) {  // no blank line stood between
      own_line.push_back(indent + std::string(r.mark()));
      ways.push_back(laid_out(own_line, base, base_rest, r.eol));
      own_line.pop_back();
    }
  }
  own_line.emplace_back();
  own_line.push_back(indent + std::string(r.mark()));
  ways.push_back(laid_out(own_line, base, base_rest, r.eol));
  return ways;
}

/// The rows of tables inside of a block.
class RowSink : public BlockSink {
 public:
  RowSink(std::size_t begin, std::size_t end) : begin_(begin), end_(end) {}
  void on_leaf(const Leaf& leaf) override {
    if (leaf.kind != LeafKind::TableRow || leaf.lines.front().line_begin < begin_ ||
        leaf.lines.front().begin > end_)
      return;
    if (leaf.first_of_table) {
      header = leaf.lines.front();
      ++tables;
    }
    last = leaf.lines.front();
  }
  int tables = 0;
  BlockLine header, last;

 private:
  std::size_t begin_, end_;
};

std::size_t cells_in(std::string_view row) {
  row = trim(row);
  if (row.starts_with('|')) row.remove_prefix(1);
  std::size_t cells = 1;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '\\')
      ++i;
    else if (row[i] == '|' && i + 1 < row.size())
      ++cells;
  }
  return cells;
}

std::string table_cell(std::string_view text) {
  std::string out;
  text = trim(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] != '\r' && text[i + 1] != '\n') {
      out.append(text.substr(i++, 2));
    } else if (text[i] == '\r' || text[i] == '\n') {
      out += "<br>";
      if (text.substr(i, 2) == "\r\n") ++i;
    } else if (text[i] == '|') {
      out += "\\|";
    } else {
      out += text[i];
    }
  }
  if (out.ends_with('\\') && !out.ends_with("\\\\")) out += '\\';  // else it escapes the bar behind
  return out;
}

Json task_candidates(const std::vector<const Task*>& tasks) {
  constexpr std::size_t kMost = 20;
  Json list = Json::array();
  for (std::size_t i = 0; i < tasks.size() && i < kMost; ++i)
    list.push_back(
        Json{{"line", tasks[i]->line}, {"status", tasks[i]->mark}, {"text", tasks[i]->text}});
  return list;
}

Result<const Task*> find_task(const ParsedNote& note, const TaskAddress& address) {
  const auto failed = [&](Reason reason, std::string message,
                          const std::vector<const Task*>& tasks) {
    return make_error(reason, std::move(message),
                      Json{{"candidates", task_candidates(tasks)}, {"total", tasks.size()}});
  };
  std::vector<const Task*> all;
  for (const Task& task : note.tasks) all.push_back(&task);
  if (address.line > 0) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Task* task) { return task->line == address.line; });
    if (found != all.end()) return *found;
    return failed(Reason::TargetNotFound, cat("Line ", address.line, " holds no task."), all);
  }
  const Block* block = INDX_TRY(find_block(note, address.block_id));
  std::vector<const Task*> inside;
  for (const Task* task : all)
    if (task->line >= block->line && task->line <= block->end_line) inside.push_back(task);
  if (inside.empty())
    return failed(Reason::TargetNotFound, cat("Block `^", block->id, "` holds no task."), all);
  // The id of an item means its own box, not those of its children.
  if (inside.size() == 1 || (block->kind == BlockKind::Item && inside[0]->line == block->line))
    return inside.front();
  return failed(Reason::Ambiguous,
                cat("Block `^", block->id, "` holds ", inside.size(), " tasks; give the line."),
                inside);
}

}  // namespace

Result<std::string> replace_block(std::string_view bytes, std::string_view id,
                                  std::string_view markdown) {
  INDX_TRY(check_text(bytes, markdown));
  const ParsedNote note = parse_note(bytes);
  const Block& block = *INDX_TRY(find_block(note, id));
  const std::string_view eol = dominant_line_end(bytes);
  const std::string text = without_same_id(trimmed_markdown(markdown, "\n"), block.id);
  if (text.empty())
    return invalid("A block is replaced by some text; there is no Markdown besides the id.",
                   Json{{"path", "markdown"}, {"expected", "text"}, {"actual", "none"}});
  BlockReplacement replacement{bytes, eol, block, {}};
  for (const std::string_view line : lines_of_text(text)) replacement.lines.emplace_back(line);
  INDX_TRY(take_own_id(replacement));
  const auto ways =
      block.kind == BlockKind::Item ? new_items(replacement) : new_plain_blocks(replacement);
  for (const std::string& way : ways) {
    std::string out = replacement.with(way);
    const ParsedNote after = parse_note(out);
    const auto found = find_block(after, block.id);
    if (!found) continue;
    const Block& now = **found;
    const bool is_inside = now.begin >= block.begin && now.end <= block.begin + way.size();
    const bool is_item =
        block.kind != BlockKind::Item || (now.kind == BlockKind::Item && now.begin == block.begin);
    if (is_inside && is_item && after.frontmatter.content_end == note.frontmatter.content_end &&
        check_following(bytes, block.end, out))
      return out;
  }
  return invalid(cat("With this Markdown `^", block.id,
                     "` would no longer name the block; keep to one block, and close fences."),
                 Json{{"path", "markdown"},
                      {"expected", "a block that an id can name"},
                      {"actual", "Markdown that takes the id in"}});
}

Result<std::string> rename_block(std::string_view bytes, std::string_view id, std::string_view to) {
  INDX_TRY(check_text(bytes, to));
  const ParsedNote note = parse_note(bytes);
  const Block& block = *INDX_TRY(find_block(note, id));
  const std::string_view wanted = plain_block_id(to);
  const auto refused = [&] {
    return invalid(cat("`", wanted, "` cannot be the id of a block: letters, digits and `-`."),
                   Json{{"path", "to"}, {"expected", "a block id"}, {"actual", wanted}});
  };
  if (!is_block_id(wanted)) return refused();
  if (fold_case(wanted) != fold_case(block.id))
    if (const auto taken = find_block(note, wanted))
      return make_error(Reason::Conflict,
                        cat("Another block has the id `^", (*taken)->id, "` already."),
                        Json{{"block_id", (*taken)->id}, {"line", (*taken)->line}});
  std::string out(bytes);
  out.replace(block.mark + 1, block.id.size(), wanted);
  const ParsedNote after = parse_note(out);
  const auto now = find_block(after, wanted);
  if (!now || (*now)->mark != block.mark || (*now)->begin != block.begin) return refused();
  return out;
}

Result<std::string> append_table_row(std::string_view bytes, std::string_view id,
                                     const std::vector<std::string>& cells) {
  INDX_TRY(check_text(bytes, ""));
  const ParsedNote note = parse_note(bytes);
  const Block& block = *INDX_TRY(find_block(note, id));
  RowSink rows(block.begin, block.end);
  scan_blocks(bytes, note.frontmatter.body_begin, 1, rows);
  if (rows.tables != 1)
    return make_error(Reason::TargetNotFound, cat("Block `^", block.id, "` is no table."),
                      Json{{"block_id", block.id}, {"line", block.line}});
  const std::size_t columns =
      cells_in(bytes.substr(rows.header.begin, rows.header.end - rows.header.begin));
  if (cells.empty() || cells.size() > columns)
    return invalid(cat("The table has ", columns, " columns."),
                   Json{{"path", "cells"}, {"expected", columns}, {"actual", cells.size()}});
  std::string row;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::string& cell = i < cells.size() ? cells[i] : std::string();
    if (!is_valid_utf8(cell)) return invalid("A cell is not valid UTF-8.");
    row += cat(i == 0 ? "| " : " ", table_cell(cell), " |");
  }
  const std::string_view prefix =
      bytes.substr(rows.last.line_begin, rows.last.begin - rows.last.line_begin);
  std::string out(bytes.substr(0, rows.last.end));
  out.append(dominant_line_end(bytes)).append(prefix).append(row);
  return out.append(bytes.substr(rows.last.end));
}

Result<std::string> set_task(std::string_view bytes, const TaskAddress& address,
                             const std::optional<std::string>& status) {
  INDX_TRY(check_text(bytes, ""));
  const ParsedNote note = parse_note(bytes);
  const Task& task = *INDX_TRY(find_task(note, address));
  const std::string mark = status.value_or(task.mark == " " ? "x" : " ");
  const bool is_one = is_valid_utf8(mark) && !mark.empty() &&
                      decode_at(mark, 0).length == mark.size() && mark != "]" &&
                      (mark == " " || static_cast<unsigned char>(mark[0]) > 0x20);
  if (!is_one)
    return invalid(
        "A task's status is one character, a single code point (no joined emoji), and none of "
        "`]`, tab or line end.",
        Json{{"path", "status"},
             {"expected", "one character"},
             {"actual", replace_invalid_utf8(mark)}});
  std::string out(bytes);
  out.replace(task.begin, decode_at(bytes, task.begin).length, mark);
  return out;
}

}  // namespace indx
