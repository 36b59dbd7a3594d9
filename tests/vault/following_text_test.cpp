#include "base/text.hpp"
#include "vault/note_edit.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace indx {
namespace {

const std::string kThreeSections = "# A\n\ntext\n\n## B\n\ninner ^b\n\n# C\n\n- [ ] task\n";

PatchOp op_on_b(PatchKind kind, std::string markdown) {
  PatchOp op;
  op.kind = kind;
  op.markdown = std::move(markdown);
  op.heading.heading = "B";
  op.block_id = "b";
  return op;
}
Result<std::string> patched_text(const std::string& bytes, const PatchOp& op) {
  NoteChange change{.path = NotePath::parse("n.md").value()};
  change.ops = {op};
  const auto after = apply_change(change, bytes);
  if (!after) return after.error();
  return after->value_or("");
}

}  // namespace

TEST_CASE("Markdown that leaves a block open is refused where it would take in what follows",
          "[vault]") {
  for (const auto* open : {"```\ncode", "~~~~ sh\ncode\n~~~", "<!-- note", "<script>", "<pre>\nx",
                           "- item\n\n```\ncode"})
    for (const auto kind :
         {PatchKind::ReplaceSection, PatchKind::AppendToSection, PatchKind::InsertBeforeHeading,
          PatchKind::InsertAfterHeading, PatchKind::PrependBody, PatchKind::ReplaceBlock}) {
      INFO(open << " by step " << static_cast<int>(kind));
      const auto after = patched_text(kThreeSections, op_on_b(kind, open));
      REQUIRE_FALSE(after);
      CHECK(after.error().reason == Reason::ValidationFailed);
      CHECK(after.error().details["op_index"] == 0);
    }
}

TEST_CASE("a block may stay open at the end of a note, and inside of a quote or an item",
          "[vault]") {
  PatchOp at_end = op_on_b(PatchKind::AppendBody, "```\ncode");
  CHECK(patched_text(kThreeSections, at_end));
  at_end.kind = PatchKind::AppendToSection;
  at_end.heading.heading = "C";
  CHECK(patched_text(kThreeSections, at_end));
  for (const auto* closed : {"> ```\n> x", "- x\n\n  ```\n  y", "<div>", "$$\nx", "text $x", "`x",
                             "%% x", "- item", "| a |\n| - |", "[^1]: note", "    code"}) {
    INFO(closed);
    CHECK(patched_text(kThreeSections, op_on_b(PatchKind::InsertBeforeHeading, closed)));
    CHECK(patched_text(kThreeSections, op_on_b(PatchKind::ReplaceSection, closed)));
  }
}

TEST_CASE("an opening mark that pairs with one further down is refused", "[vault]") {
  const std::string math = "# B\n\npara\n\n$$\nx\n$$\n",
                    comment = "# B\n\n- [ ] one\n\n%%\nhidden\n%%\n";

  CHECK_FALSE(patched_text(math, op_on_b(PatchKind::InsertAfterHeading, "$$\ny")));
  CHECK(patched_text(math, op_on_b(PatchKind::InsertAfterHeading, "$$\ny\n$$")));
  CHECK_FALSE(patched_text(comment, op_on_b(PatchKind::InsertAfterHeading, "%%\nmore")));
  CHECK(patched_text(comment, op_on_b(PatchKind::InsertAfterHeading, "%% more %%")));
}

TEST_CASE("a heading that would become a part of a list item is refused", "[vault]") {
  const std::string note = "# B\n\ntext\n\n  ## Indented\n\nmore\n";

  PatchOp op = op_on_b(PatchKind::AppendToSection, "- item");
  op.keep_subsections = true;
  CHECK_FALSE(patched_text(note, op));
  op.markdown = "plain";
  CHECK(patched_text(note, op));
}

TEST_CASE("a section with an open fence is not moved in front of others", "[vault]") {
  const std::string note = "# A\n\na\n\n# B\n\n```\ncode\n";
  PatchOp op = op_on_b(PatchKind::MoveSection, "");
  op.target.heading = "A";
  op.side = SectionSide::Before;

  CHECK_FALSE(patched_text(note, op));
  CHECK(patched_text(note + "```\n", op).value() == "# B\n\n```\ncode\n```\n\n# A\n\na\n");
}

TEST_CASE("what followed an edit reads as before or the edit is refused", "[vault]") {
  const std::vector<std::string> pieces = {
      "```",    "~~~",      "<!--",         "-->",      "<script>", "</script>", "$$",
      "%%",     "- item",   "  child",      "",         "",         "> quote",   "text",
      "# Head", "Set\n---", "| a |\n| - |", "    code", "1. x",     "<div>",     "[^n]: note"};
  unsigned seed = 5;
  const auto next = [&](std::size_t n) {
    seed = seed * 1664525U + 1013904223U;
    return static_cast<std::size_t>(seed >> 16U) % n;
  };
  const auto some = [&](std::size_t most) {
    std::string text;
    for (std::size_t i = 0, count = 1 + next(most); i < count; ++i)
      text += pieces[next(pieces.size())] + "\n";
    return text;
  };
  int done = 0;
  for (int round = 0; round < 600; ++round) {
    const std::string note = cat(some(4), "\n# B\n\n", some(5), "\n# Last\n\nend\n");
    const std::string markdown = some(4);
    INFO(note << "\n=== with\n" << markdown);
    const auto after = patched_text(note, op_on_b(PatchKind::ReplaceSection, markdown));
    if (!after) continue;
    ++done;
    const auto was = parse_note(note), now = parse_note(*after);
    const auto is_last = [](const Heading& h) { return h.text == "Last" && !h.nested; };
    CHECK(std::any_of(was.headings.begin(), was.headings.end(), is_last) <=
          std::any_of(now.headings.begin(), now.headings.end(), is_last));
  }
  CHECK(done > 50);
}

}  // namespace indx
