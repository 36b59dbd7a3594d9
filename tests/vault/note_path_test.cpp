#include "vault/note_path.hpp"

#include "base/text.hpp"
#include "vault/note_query.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace indx {

TEST_CASE("a path is normalised to one form", "[vault][A1][A2]") {
  CHECK(NotePath::parse("/a//b\\c.md/")->str() == "a/b/c.md");
  CHECK(NotePath::parse("./a/../b.md")->str() == "b.md");
  CHECK(NotePath::parse("a\xC2\xA0"
                        "b.md")
            ->str() == "a b.md");
  CHECK(NotePath::parse("cafe\xCC\x81.md")->str() == "caf\xC3\xA9.md");
  CHECK(NotePath::parse("Ideas #1 50% \xC3\xA9.md")->str() == "Ideas #1 50% \xC3\xA9.md");
}

TEST_CASE("a path that could leave the vault is refused", "[vault][A2]") {
  for (const std::string_view bad :
       {std::string_view("../x.md"), std::string_view("a/../../x.md"),
        std::string_view("a\\..\\..\\x.md"), std::string_view("C:\\x.md"),
        std::string_view("/C:/x.md"), std::string_view("a\0b.md", 6), std::string_view(""),
        std::string_view("/"), std::string_view("."), std::string_view("a/.."),
        std::string_view("\\\\host\\share\\x.md"), std::string_view("a\xFF.md")}) {
    INFO(bad);
    const auto path = NotePath::parse(bad);
    REQUIRE_FALSE(path.has_value());
    CHECK(path.error().reason == Reason::ValidationFailed);
  }
}

TEST_CASE("the parts of a path", "[vault][A1]") {
  const NotePath note = *NotePath::parse("a/b/Plan 1.2.MD");

  CHECK(note.name() == "Plan 1.2.MD");
  CHECK(note.stem() == "Plan 1.2");
  CHECK(note.folder() == "a/b");
  CHECK(note.extension() == "MD");
  CHECK(note.is_note());
  CHECK_FALSE(NotePath::parse("x.canvas")->is_note());
  CHECK(NotePath::parse("x.canvas")->stem() == "x.canvas");
  CHECK(NotePath::parse("x.md")->folder().empty());
}

TEST_CASE("hidden folders and editor files are ignored", "[vault][A6]") {
  for (const char* path : {".obsidian/x.md", ".trash/y.md", ".git/z.md", ".indx/a.md",
                           "a/node_modules/b.md", "a.md~", ".#a.md", "#a.md#", "a.md.swp", "a.tmp",
                           "4913", ".a.md.icloud", ".backups/x.md", ".ailss/x.md", ".cortex/x.md"})
    CHECK(NotePath::parse(path)->is_ignored());
  CHECK_FALSE(NotePath::parse("a/b.md")->is_ignored());
}

TEST_CASE("a name that breaks links or other systems cannot be created", "[vault][A2]") {
  for (const char* path : {"a#b.md", "a^b.md", "a[b.md", "a]b.md", "a|b.md", "a:b.md", "a*.md",
                           "a?.md", "a\"b.md", "a<b.md", "a>b.md", "a\tb.md", "x./a.md", "x /a.md",
                           "CON.md", "nul", "com1.txt", ".hidden.md", "a\x7F.md"})
    CHECK_FALSE(NotePath::parse(path)->check_creatable().has_value());
  CHECK_FALSE(NotePath::parse(std::string(256, 'a'))->check_creatable().has_value());
  CHECK(NotePath::parse("Ordner/Größe 50% (neu).md")->check_creatable().has_value());
  CHECK(NotePath::parse("console.md")->check_creatable().has_value());
}

TEST_CASE("no text leads out of the vault", "[vault][A2]") {
  std::mt19937 random(13);
  const std::vector<std::string> pieces = {"..",      ".",      "/",     "\\", "a",      "Ä",
                                           "e\u0301", "\u00a0", " ",     "C:", "%2e%2e", "//",
                                           "..\\",    "x.md",   ".indx", "~"};
  for (int round = 0; round < 20000; ++round) {
    std::string input;
    for (auto count = 1 + random() % 8; count > 0; --count)
      input += pieces[random() % pieces.size()];
    const auto path = NotePath::parse(input);
    if (!path) {
      CHECK(path.error().reason == Reason::ValidationFailed);
      continue;
    }
    int depth = 0;
    bool is_below = !path->str().starts_with("/");
    for (const auto& segment : split(path->str(), '/')) {
      depth += segment == ".." ? -1 : 1;
      is_below = is_below && depth > 0 && !segment.empty() && segment != ".";
    }
    INFO(input << " => " << path->str());
    CHECK(is_below);
    CHECK(NotePath::parse(path->str()).value() == *path);
  }
}

TEST_CASE("a scope allows what one glob names and none refuses", "[vault]") {
  CHECK(PathScope{}.allows("a.md"));
  CHECK(PathScope{{"Public/**"}, {}}.allows("Public/a.md"));
  CHECK_FALSE(PathScope{{"Public/**"}, {}}.allows("a.md"));
  CHECK_FALSE(PathScope{{"Public/**"}, {"**/secret.md"}}.allows("Public/secret.md"));
}

}  // namespace indx
