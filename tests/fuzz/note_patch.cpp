#include "base/text.hpp"
#include "tests/fuzz/claims.hpp"
#include "vault/markdown.hpp"
#include "vault/note_edit.hpp"

/// Input: note, then steps: one letter for the kind, and its fields in one list. Each step keeps
/// every byte outside of the range that it is about.

namespace indx::fuzz {
namespace {

constexpr std::size_t kKinds = static_cast<std::size_t>(PatchKind::RenameBlock) + 1;

PatchOp op_of(std::string_view step) {
  const auto fields = pieces(step, '\x1e');
  const auto field = [&](std::size_t i) {
    return i < fields.size() ? std::string(fields[i]) : std::string();
  };
  PatchOp op;
  const auto code = fields[0].empty() ? std::size_t{0} : static_cast<unsigned char>(fields[0][0]);
  op.kind = static_cast<PatchKind>((code + kKinds - 'a' % kKinds) % kKinds);
  op.keep_subsections = fields[0].find('+') != std::string_view::npos;
  op.side =
      fields[0].find('<') != std::string_view::npos ? SectionSide::Before : SectionSide::After;
  op.key = op.from = op.block_id = op.heading.heading = field(1);
  op.to = op.target.heading = op.markdown = field(2);
  op.value = Json::parse(op.markdown, nullptr, false);
  if (op.value.is_discarded()) op.value = op.markdown;
  op.cells = {op.markdown, field(3)};
  for (const char c : op.key) op.line = c >= '0' && c <= '9' ? op.line % 1000 * 10 + c - '0' : 0;
  if (field(3).size() == 1 && field(3)[0] >= '0' && field(3)[0] <= '9')
    op.heading.occurrence = field(3)[0] - '0';
  if (fields.size() > 3) op.status = field(3);
  return op;
}

/// Whether `after` is `before` with a text put in at one place of [begin, end].
bool is_insertion(std::string_view before, std::string_view after, std::size_t begin,
                  std::size_t end) {
  if (after.size() < before.size()) return false;
  std::size_t common = 0;
  while (common < before.size() && before[common] == after[common]) ++common;
  common = std::min(common, end);
  for (;; --common) {
    if (after.ends_with(before.substr(common))) return true;
    if (common <= begin) return false;
  }
}

/// What a step may touch, [begin, end) of the bytes before.
std::pair<std::size_t, std::size_t> touched(std::string_view bytes, const ParsedNote& note,
                                            const PatchOp& op) {
  const auto heading = [&] { return *find_heading(note, op.heading); };
  switch (op.kind) {
    case PatchKind::SetFrontmatter:
    case PatchKind::DeleteFrontmatter:
      return {note.frontmatter.begin, note.frontmatter.body_begin};
    case PatchKind::AppendBody:
      return {bytes.size(), bytes.size()};
    case PatchKind::PrependBody:
      return {note.frontmatter.body_begin, note.frontmatter.body_begin};
    case PatchKind::InsertBeforeHeading:
      return {note.headings[heading()].begin, note.headings[heading()].begin};
    case PatchKind::InsertAfterHeading:
      return {note.headings[heading()].content, note.headings[heading()].content};
    case PatchKind::ReplaceSection:
    case PatchKind::AppendToSection: {
      const auto section = section_at(note, bytes.size(), heading(), op.keep_subsections);
      return {section.content, section.end};
    }
    case PatchKind::DeleteSection: {
      // At the end of the file the blank lines above go too.
      const auto section = section_at(note, bytes.size(), heading(), op.keep_subsections);
      auto begin = section.begin;
      while (section.end == bytes.size() && begin > note.frontmatter.body_begin &&
             std::string_view(" \t\r\n").find(bytes[begin - 1]) != std::string_view::npos)
        --begin;
      return {begin, section.end};
    }
    case PatchKind::RenameHeading:
      return {note.headings[heading()].begin, note.headings[heading()].content};
    case PatchKind::ReplaceBlock:
    case PatchKind::AppendTableRow: {
      const auto& block = **find_block(note, op.block_id);
      return {block.begin, block.end};
    }
    case PatchKind::RenameBlock: {
      const auto& block = **find_block(note, op.block_id);
      return {block.mark + 1, block.mark + 1 + block.id.size()};
    }
    case PatchKind::RenameTag:
    case PatchKind::MoveSection:
    case PatchKind::SetTask:
      break;
  }
  return {0, bytes.size()};
}

bool is_pure_insertion(PatchKind kind) {
  return kind == PatchKind::AppendBody || kind == PatchKind::PrependBody ||
         kind == PatchKind::InsertBeforeHeading || kind == PatchKind::InsertAfterHeading ||
         kind == PatchKind::AppendToSection || kind == PatchKind::AppendTableRow;
}

std::vector<std::string> sorted_text_lines(std::string_view bytes) {
  std::vector<std::string> lines;
  std::string line;
  for (const char c : std::string(bytes) + "\n") {
    if (c != '\n' && c != '\r') {
      line += c;
      continue;
    }
    if (!trim(line).empty()) lines.push_back(line);
    line.clear();
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

void check_step(std::string_view before, std::string_view after, const PatchOp& op) {
  const ParsedNote note = parse_note(before);
  const auto [begin, end] = touched(before, note, op);
  CLAIM(keeps_outside(before, after, begin, end));
  if (is_pure_insertion(op.kind)) CLAIM(is_insertion(before, after, begin, end));
  const ParsedNote now = parse_note(after);
  if (op.kind != PatchKind::SetFrontmatter && op.kind != PatchKind::DeleteFrontmatter &&
      op.kind != PatchKind::RenameTag) {
    CLAIM(now.frontmatter.exists == note.frontmatter.exists);
    CLAIM(now.frontmatter.values == note.frontmatter.values);
  }
  if (op.kind == PatchKind::MoveSection)
    CLAIM(sorted_text_lines(before) == sorted_text_lines(after));
  if (op.kind == PatchKind::RenameHeading) CLAIM(now.headings.size() == note.headings.size());
  if (op.kind == PatchKind::SetTask) {
    CLAIM(now.tasks.size() >= 1);
    std::size_t same = 0;
    while (same < before.size() && same < after.size() && before[same] == after[same]) ++same;
    CLAIM(after == before || is_border(before, false, same));
    CLAIM(after.size() + 4 > before.size() && before.size() + 4 > after.size());
  }
  if (op.kind == PatchKind::RenameTag) {
    const auto is_free = [](char c) { return c == '\n' || c == '\r'; };
    CLAIM(std::count_if(before.begin(), before.end(), is_free) >=
          std::count_if(after.begin(), after.end(), is_free));
    CLAIM(now.headings.size() == note.headings.size() && now.blocks.size() == note.blocks.size());
  }
}

void check(const Parts& parts) {
  const std::string before(parts[0]);
  NoteChange change{NoteChange::Kind::Patch, *NotePath::parse("a.md")};
  std::string expected = before;
  bool is_good = true;
  for (std::size_t i = 1; i < parts.size() && i < 7; ++i) {
    change.ops.push_back(op_of(parts[i]));
    if (!is_good) continue;
    NoteChange one{NoteChange::Kind::Patch, change.path};
    one.ops.push_back(change.ops.back());
    const auto after = apply_change(one, expected);
    if (!after.has_value()) {
      CLAIM(after.error().reason != Reason::Internal);
      is_good = false;
      continue;
    }
    CLAIM(is_valid_utf8(**after));
    check_step(expected, **after, one.ops[0]);
    unified_diff("a.md", expected, **after);
    expected = **after;
  }
  if (change.ops.empty()) return;
  // All or nothing: the steps together are the steps one by one, or fail where the first one fails.
  const auto together = apply_change(change, before);
  CLAIM(together.has_value() == is_good);
  if (is_good) CLAIM(**together == expected);
}

}  // namespace
}  // namespace indx::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  indx::fuzz::check(indx::fuzz::Parts(FUZZ_INPUT(data, size)));
  return 0;
}
