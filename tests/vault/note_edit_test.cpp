#include "vault/note_edit.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/markdown.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace indx {
namespace {

NoteChange change_of(NoteChange::Kind kind, std::string_view path = "a.md") {
  NoteChange change{kind, *NotePath::parse(path)};
  return change;
}

NoteChange write_of(std::string body, FrontmatterMode mode = FrontmatterMode::Keep,
                    Json frontmatter = Json::object()) {
  NoteChange change = change_of(NoteChange::Kind::Write);
  change.body = std::move(body);
  change.frontmatter_mode = mode;
  change.frontmatter = std::move(frontmatter);
  return change;
}

std::string applied(const NoteChange& change, const std::optional<std::string>& before) {
  const auto after = apply_change(change, before);
  if (!after) return cat("error ", after.error().name());
  return after->value_or("deleted");
}

/// Applies a unified diff; the test's own reading of the format.
std::string patched(const std::string& before, const std::string& diff) {
  const auto lines_of = [](const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
      lines.push_back(text.substr(at, end - at));
      at = end;
    }
    return lines;
  };
  const std::vector<std::string> old_lines = lines_of(before), diff_text = lines_of(diff);
  std::string out;
  std::size_t at = 0;
  for (std::size_t i = 2; i < diff_text.size(); ++i) {
    std::string line = diff_text[i];
    if (line[0] == '@') {
      const std::size_t begin = std::stoul(line.substr(4));
      const bool none = line[line.find(',') + 1] == '0';
      while (at < (none ? begin : begin - 1)) out += old_lines[at++];
      continue;
    }
    if (line[0] == '\\') continue;
    if (i + 1 < diff_text.size() && diff_text[i + 1][0] == '\\') line.pop_back();
    if (line[0] != '-') out += line.substr(1);
    if (line[0] != '+') CHECK(old_lines[at++] == line.substr(1));
  }
  while (at < old_lines.size()) out += old_lines[at++];
  return out;
}

}  // namespace

TEST_CASE("added text does not turn the note into properties", "[vault][A30]") {
  CHECK(append_body("---\ntitle\n", "---\nmore").error().reason == Reason::ValidationFailed);
  CHECK(append_body("---\n", "a: 1\n---").error().reason == Reason::ValidationFailed);
  CHECK(*append_body("---\na: 1\n---\nx\n", "---") == "---\na: 1\n---\nx\n\n---\n");
  CHECK(*append_body("---\ntitle\n", "more") == "---\ntitle\n\nmore\n");
  CHECK(prepend_body("text\n", "---\na: 1\n---").error().reason == Reason::ValidationFailed);
}

TEST_CASE("appended text joins the end of the body", "[vault][A30]") {
  CHECK(*append_body("- a\n- b", "- c") == "- a\n- b\n- c\n");
  CHECK(*append_body("* a\n", "- c") == "* a\n\n- c\n");
  CHECK(*append_body("1. a\n", "2. c") == "1. a\n2. c\n");
  CHECK(*append_body("- a\n  - b\n", "- c") == "- a\n  - b\n- c\n");
  CHECK(*append_body("- a\n  more\n", "- c") == "- a\n  more\n- c\n");
  CHECK(*append_body("text", "\n\nmore\n\n") == "text\n\nmore\n");
  CHECK(*append_body("text\n\n", "more") == "text\n\nmore\n");
  CHECK(*append_body("## Open", "- b") == "## Open\n- b\n");
  CHECK(*append_body("T\n===\n", "x") == "T\n===\nx\n");
  CHECK(*append_body("```\n# x\n```\n", "y") == "```\n# x\n```\n\ny\n");
  CHECK(*append_body("a\r\nb\r\n", "c\nd") == "a\r\nb\r\n\r\nc\r\nd\r\n");
  CHECK(*append_body("", "x") == "x\n");
  CHECK(*append_body("---\na: 1\n---", "x") == "---\na: 1\n---\nx\n");
  CHECK(*append_body("---\na: 1\n---\n", "x") == "---\na: 1\n---\nx\n");
  CHECK(*append_body("x", " \n ") == "x");
  CHECK(append_body("# hi\n\xFF\xFE\n", "x").error().reason == Reason::NotUtf8);
}

TEST_CASE("prepended text lands after the property block", "[vault][A31]") {
  CHECK(*prepend_body("---\na: 1\n---\n# T\n", "New") == "---\na: 1\n---\nNew\n\n# T\n");
  CHECK(*prepend_body("\xEF\xBB\xBFtext\n", "New\n") == "\xEF\xBB\xBFNew\n\ntext\n");
  CHECK(*prepend_body("---\na: 1\n---\n\n# T", "New") == "---\na: 1\n---\nNew\n\n# T");
  CHECK(*prepend_body("- b\n", "- a") == "- a\n- b\n");
  CHECK(*prepend_body("", "x") == "x\n");
  CHECK(*prepend_body("---\na: 1\n---", "x") == "---\na: 1\n---\nx\n");
  CHECK_FALSE(prepend_body("x\n", "---\na: 1\n---").has_value());
}

TEST_CASE(
    "a tag is renamed with its children, without regard to case, and not in code (T-07, F-21)",
    "[vault]") {
  CHECK(*rename_tag("#proj #proj/a #project #PROJ `#proj`\n", "proj", "work") ==
        "#work #work/a #project #work `#proj`\n");
  CHECK(*rename_tag("---\nauthor: [[Ann B]]\ntags: x\n---\n", "x", "y") ==
        "---\nauthor: [[Ann B]]\ntags: y\n---\n");
  CHECK(*rename_tag("---\ntags: [ a,b , '#a/c' ] # k\n---\n#a\n", "A", "z") ==
        "---\ntags: [ z,b , '#z/c' ] # k\n---\n#z\n");
  CHECK(*rename_tag("---\ntags:\n  - a # one\n  - b\n---\n", "a", "b") ==
        "---\ntags:\n  - b\n---\n");
  CHECK(*rename_tag("---\ntags: [a, b]\n---\n", "b", "a") == "---\ntags: [a]\n---\n");
  CHECK(*rename_tag("---\ntags: [a, b]\n---\n", "a", "b") == "---\ntags: [b]\n---\n");
  CHECK(*rename_tag("---\n{\"tags\": [\"j\"]}\n---\n", "j", "k") ==
        "---\n{\"tags\": [\"k\"]}\n---\n");
  CHECK(*rename_tag("---\ntitle: x\nother: [x]\n---\n#y\n", "x", "z") ==
        "---\ntitle: x\nother: [x]\n---\n#y\n");
  CHECK_FALSE(rename_tag("#a\n", "a", "1999").has_value());
  CHECK_FALSE(rename_tag("#a\n", "a", "b c").has_value());
}

TEST_CASE("renaming a tag changes no other byte", "[vault]") {
  const std::string text =
      "---\ntags:\n- old\n- old/sub\n---\r\n#old x #OLD/y ```#old``` [[#old]] "
      "https://x/#old\n\xE2\x82\xAC#old #older\n";

  const std::string there = *rename_tag(text, "old", "brand-new");

  CHECK(replace_all(*rename_tag(there, "brand-new", "old"), "#old/y", "#OLD/y") == text);
}

TEST_CASE("a write keeps, removes or replaces the property block (F-23)", "[vault]") {
  const std::string before = "---\na: 1\n---\nold\n";

  CHECK(applied(write_of("new\n"), before) == "---\na: 1\n---\nnew\n");
  CHECK(applied(write_of("new\n", FrontmatterMode::Remove), before) == "new\n");
  CHECK(applied(write_of("new\n", FrontmatterMode::Replace, Json{{"b", "x: y"}}), before) ==
        "---\nb: \"x: y\"\n---\nnew\n");
  CHECK(applied(write_of("---\nc: 2\n---\nnew\n"), before) == "---\nc: 2\n---\nnew\n");
  CHECK(applied(write_of("new\n"), "---\na: 1\n---") == "---\na: 1\n---\nnew\n");
  CHECK(applied(write_of("new\n"), "\xEF\xBB\xBFold") == "\xEF\xBB\xBFnew\n");
  CHECK(applied(write_of("new\n", FrontmatterMode::Replace, Json{{"tags", "t"}}), std::nullopt) ==
        "---\ntags:\n  - t\n---\nnew\n");
  CHECK(applied(write_of("new\n"), "\xFF") == "error not_utf8");
}

TEST_CASE("a change whose guard does not hold is refused", "[vault][A10]") {
  NoteChange guarded = write_of("x");
  guarded.if_match = "0000000000000000";
  CHECK(applied(guarded, "old") == "error etag_mismatch");
  CHECK(apply_change(guarded, "old").error().details["actual"] == etag_of("old"));
  guarded.if_match = etag_of("old");
  CHECK(applied(guarded, "old") == "x");
  guarded.expected_sha256 = sha256_hex("other");
  CHECK(applied(guarded, "old") == "error etag_mismatch");

  NoteChange create = write_of("x");
  create.if_not_exists = true;
  CHECK(applied(create, "old") == "error conflict");
  CHECK(applied(create, std::nullopt) == "x");
  CHECK(applied(change_of(NoteChange::Kind::Delete), std::nullopt) == "error not_found");
  CHECK(applied(change_of(NoteChange::Kind::Delete), "x") == "deleted");
  CHECK(applied(change_of(NoteChange::Kind::Write, "a#b.md"), std::nullopt) ==
        "error validation_failed");
}

TEST_CASE("the operations of a patch run in order, all or none", "[vault][A27]") {
  NoteChange patch = change_of(NoteChange::Kind::Patch);
  CHECK(applied(patch, "a\n") == "error validation_failed");
  patch.ops = {{PatchKind::SetFrontmatter, "k", 1, "", "", ""},
               {PatchKind::AppendBody, "", nullptr, "x #t", "", ""},
               {PatchKind::RenameTag, "", nullptr, "", "t", "u"}};
  CHECK(applied(patch, "a\n") == "---\nk: 1\n---\na\n\nx #u\n");
  patch.ops.push_back({PatchKind::SetFrontmatter, "", 1, "", "", ""});
  const auto failed = apply_change(patch, "a\n");
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().details["op_index"] == 3);
  CHECK(applied(patch, std::nullopt) == "error not_found");
}

TEST_CASE("a change for any version needs a file", "[vault][A11]") {
  NoteChange write = change_of(NoteChange::Kind::Write);
  write.if_match = "*";
  write.body = "new\n";
  CHECK(applied(write, std::nullopt) == "error etag_mismatch");
  CHECK(applied(write, "old\n") == "new\n");
  CHECK(applied(write, "") == "new\n");
  CHECK_FALSE(write.is_for_one_version());
  write.if_match = "0000000000000000";
  CHECK(write.is_for_one_version());
}

TEST_CASE("random renames of tags change those tags and nothing else", "[vault][A51]") {
  std::mt19937 random(17);
  const std::vector<std::string> names = {"a", "A", "a/b", "ab", "a/b/c", "ä", "Ä/x", "b", "x-1"};
  const std::vector<std::string> pieces = {
      "#@ ",  "`#@` ",    "\n```\n#@\n```\n", "https://x/#@ ", "\n# Head #@\n", "\n- [ ] do #@\n",
      "w#@ ", "[[n#@]] ", "%% #@ %% ",        "$#@$ ",         "\\#@ ",         "<!-- #@ -->\n"};
  const auto renamed = [](const std::string& tag, const std::string& from, const std::string& to) {
    const auto depth = std::count(from.begin(), from.end(), '/') + 1;
    std::size_t end = 0;
    for (std::int64_t i = 0; i < depth && end != tag.npos; ++i)
      end = tag.find('/', i == 0 ? 0 : end + 1);
    return fold_case(tag.substr(0, end)) == fold_case(from)
               ? to + tag.substr(std::min(end, tag.size()))
               : tag;
  };
  for (int round = 0; round < 1500; ++round) {
    std::string text;
    if (random() % 2 == 0)
      text = cat("---\ntags: [", names[random() % names.size()], "]\nk: a # a\n---\n");
    for (auto count = random() % 8; count > 0; --count)
      text += replace_all(pieces[random() % pieces.size()], "@", names[random() % names.size()]);
    const auto &from = names[random() % names.size()], &to = names[random() % names.size()];
    INFO(text << "\n" << from << " => " << to);
    const auto after = rename_tag(text, from, to);
    REQUIRE(after);
    const auto was = parse_note(text), is = parse_note(*after);
    REQUIRE(was.tags.size() == is.tags.size());
    std::string before_rest = text, after_rest = *after;
    for (std::size_t i = was.tags.size(); i-- > 0;) {
      CHECK(is.tags[i].tag == renamed(was.tags[i].tag, from, to));
      if (was.tags[i].line == 0) continue;
      before_rest.erase(was.tags[i].begin, was.tags[i].end - was.tags[i].begin);
      after_rest.erase(is.tags[i].begin, is.tags[i].end - is.tags[i].begin);
    }
    const auto body = [](const std::string& bytes) {
      return bytes.substr(bytes.starts_with("---") ? bytes.find("]\n") : 0);
    };
    CHECK(body(before_rest) == body(after_rest));
  }
}

TEST_CASE("a diff shows what changed and can be applied", "[vault]") {
  CHECK(unified_diff("a.md", "x\n", "x\n").empty());
  CHECK(unified_diff("a.md", "a\nb\nc\n", "a\nB\nc\n") ==
        "--- a/a.md\n+++ b/a.md\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
  CHECK(unified_diff("a.md", "", "x") ==
        "--- a/a.md\n+++ b/a.md\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n");
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const auto text = [&] {
      std::string lines;
      for (std::size_t i = random() % 30; i > 0; --i)
        lines += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
      if (random() % 3 == 0 && !lines.empty()) lines.pop_back();
      return lines;
    };
    const std::string before = text(), after = text();
    INFO(before << "=>\n" << after << "=>\n" << unified_diff("x", before, after));
    CHECK(patched(before, unified_diff("x", before, after)) == after);
  }
  std::string big_a, big_b;
  for (int i = 0; i < 5000; ++i) {
    big_a += "a" + std::to_string(i) + "\n";
    big_b += "b" + std::to_string(i) + "\n";
  }
  CHECK(patched(big_a, unified_diff("x", big_a, big_b)) == big_b);
}

TEST_CASE("a write outcome survives JSON", "[vault]") {
  WriteOutcome outcome{
      *NotePath::parse("a/b.md"), "e1", "e2", "s", 1, 2, true, true, "d", ".trash/x",
      {"index_pending"}};

  const auto back = write_outcome_from_json(to_json(outcome));

  REQUIRE(back.has_value());
  CHECK(to_json(*back) == to_json(outcome));
}

}  // namespace indx
