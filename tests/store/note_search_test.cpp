#include "base/unicode.hpp"
#include "tests/store/index_fixture.hpp"

namespace indx {
namespace {

Result<SearchPage> search_page(const IndexFixture& index, const std::string& q, int limit,
                               const std::string& cursor = "",
                               SearchMatch match = SearchMatch::AllThenAny,
                               const NoteFilter& filter = {}) {
  SearchRequest request;
  request.q = q;
  request.limit = limit;
  request.cursor = cursor;
  request.match = match;
  request.filter = filter;
  return index.reader->search(request);
}

}  // namespace

TEST_CASE("punctuation in a query never breaks it and is checked on the raw text",
          "[store][A60][Q-01]") {
  IndexFixture index;
  index.put({{"n.md", "the co-op runs 1.0.21 in C++, don’t panic\n"},
             {"c.md", "C notes on c and co op and don t 1 0 21\n"}});

  for (const auto* q : {"co-op", "1.0.21", "C++", "c++", "don't"})
    CHECK(index.find(q) == Paths{"n.md"});
  CHECK(index.find("runs:") == Paths{"n.md"});
  CHECK(index.find("(panic)") == Paths{"n.md"});
  CHECK(index.find("zz/b:c*(").empty());
  CHECK(index.find("C#").empty());
  CHECK(index.find("c") == Paths{"c.md", "n.md"});
  CHECK(index.find("*").empty());
}

TEST_CASE("any part of unspaced text is found", "[store][A60][Q-03]") {
  IndexFixture index;
  index.put({{"n.md", "東京都の天気\n"},
             {"m.md", "重跑gen后引用清零\n"},
             {"t.md", "ไทยภาษา\n"},
             {"k.md", "한국어 검색\n"}});

  CHECK(index.find("東京") == Paths{"n.md"});
  CHECK(index.find("京都") == Paths{"n.md"});
  CHECK(index.find("天") == Paths{"n.md"});
  CHECK(index.find("引用") == Paths{"m.md"});
  CHECK(index.find("gen") == Paths{"m.md"});
  CHECK(index.find("ภาษา") == Paths{"t.md"});
  CHECK(index.find("국어") == Paths{"k.md"});
  CHECK(index.find("雨").empty());
  CHECK(index.first_hit("京都").snippet == "東**京都**の天気");
}

TEST_CASE("accents and case are ignored, operator words are words", "[store][A60][Q-04][Q-06]") {
  IndexFixture index;
  index.put({{"n.md", "Café crème naïve\n"}, {"o.md", "cats AND dogs near me NOT here\n"}});

  for (const auto* q : {"cafe", "CREME", "naïve", "naive"}) CHECK(index.find(q) == Paths{"n.md"});
  for (const auto* q : {"AND", "NOT", "near", "NEAR"}) CHECK(index.find(q) == Paths{"o.md"});
}

TEST_CASE("phrases, negation, choice, groups and prefixes", "[store][A60][Q-08]") {
  IndexFixture index;
  index.put({{"a.md", "star wars work\n"}, {"b.md", "star trek wars\n"}});

  CHECK(index.find("\"star wars\"") == Paths{"a.md"});
  CHECK(index.find("star -work") == Paths{"b.md"});
  CHECK(index.find("work OR trek") == Paths{"a.md", "b.md"});
  CHECK(index.find("star (work OR file:b)") == Paths{"a.md", "b.md"});
  CHECK(index.find("-(work OR none)") == Paths{"b.md"});
  CHECK(index.find("tre*") == Paths{"b.md"});
  CHECK(index.find("wor") == Paths{});
  CHECK(index.find("-star").empty());
}

TEST_CASE("tag, path, file and property operators", "[store][A60][Q-11]") {
  IndexFixture index;
  index.put({{"a.md", "#x/y\n"},
             {"b.md", "`#x`\n"},
             {"sub/c.md", "---\nStatus: In Progress\nn: 3\nlist: [Red, blue]\ne:\n---\n#xy\n"}});

  CHECK(index.find("tag:x") == Paths{"a.md"});
  CHECK(index.find("tag:#X/Y") == Paths{"a.md"});
  CHECK(index.find("-tag:x") == Paths{"b.md", "sub/c.md"});
  CHECK(index.find("path:SUB") == Paths{"sub/c.md"});
  CHECK(index.find("file:c.") == Paths{"sub/c.md"});
  CHECK(index.find("file:sub").empty());
  for (const auto* q : {"[status]", "[Status:progress]", "[n:3]", "[list:red]", "[e:null]"})
    CHECK(index.find(q) == Paths{"sub/c.md"});
  CHECK(index.find("[n:30]").empty());
  CHECK(index.find("[none]").empty());
}

TEST_CASE("filters are applied before the page is cut", "[store][A60][Q-13]") {
  IndexFixture index;
  std::map<std::string, std::string> notes{{"small/x.md", "w #in\n"}, {"other/y.md", "w #in\n"}};
  for (int i = 0; i < 500; ++i) notes[cat("big/", i, ".md")] = "w w w w w w w w w w\n";
  index.put(notes);
  NoteFilter filter;

  filter.path_glob = "small/**";
  CHECK(index.find("w", SearchMatch::All, filter) == Paths{"small/x.md"});
  filter.path_glob.clear();
  filter.scope.any_of = {"small/**"};
  CHECK(index.find("w", SearchMatch::AllThenAny, filter) == Paths{"small/x.md"});
  filter.scope = {};
  filter.tags = {"IN"};
  CHECK(index.find("w", SearchMatch::All, filter) == Paths{"other/y.md", "small/x.md"});
}

TEST_CASE("the order is that of SQLite's bm25 with weights 5, 3, 3, 1 and ties by path",
          "[store][A63]") {
  IndexFixture index;
  SeededRandom random(3);
  const std::vector<std::string> words = {"apple", "pear", "plum", "fig", "kiwi"};
  const auto some = [&] {
    std::string text;
    for (auto n = random.next() % 12; n > 0; --n) text += words[random.next() % words.size()] + " ";
    return text;
  };
  std::map<std::string, std::string> notes;
  for (int i = 0; i < 120; ++i)
    notes[cat("n", 100 + i, ".md")] =
        cat("# ", some(), "\n", some(), "\n## ", some(), "\n", some(), some());
  for (int i = 0; i < 30; ++i) notes[cat("tie", 10 + i, ".md")] = "apple pear\n";
  index.put(notes);

  Paths expected;
  auto db = Database::open(index.folder.str() + "/index.db", {.read_only = true}).value();
  auto query = db.prepare(
      "SELECT f.path FROM notes_fts JOIN files f ON f.id=notes_fts.rowid WHERE notes_fts MATCH "
      "'apple AND pear' "
      "ORDER BY bm25(notes_fts, 5.0, 3.0, 3.0, 1.0), f.path");
  while (query.step().value()) expected.push_back(query.text(0));
  Paths seen;
  std::string cursor;
  do {
    const auto page = search_page(index, "apple pear", 7, cursor, SearchMatch::All).value();
    for (const auto& hit : page.rows) seen.push_back(hit.path);
    cursor = page.next_cursor.value_or("");
  } while (!cursor.empty());

  REQUIRE(expected.size() > 60);
  CHECK(seen == expected);
}

TEST_CASE("notes with all words come before notes with some, across pages", "[store][A60][A26]") {
  IndexFixture index;
  std::map<std::string, std::string> notes;
  for (int i = 0; i < 3; ++i) notes[cat("both", i, ".md")] = "alpha beta filler filler filler\n";
  for (int i = 0; i < 10; ++i) notes[cat("one", i, ".md")] = "alpha alpha alpha\n";
  index.put(notes);

  std::vector<std::string> matched;
  Paths seen;
  std::string cursor;
  do {
    const auto page = search_page(index, "alpha beta", 4, cursor).value();
    for (const auto& hit : page.rows) {
      matched.push_back(hit.matched);
      seen.push_back(hit.path);
    }
    cursor = page.next_cursor.value_or("");
  } while (!cursor.empty());

  CHECK(seen.size() == 13);
  CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == 13);
  CHECK(matched[2] == "all");
  CHECK(matched[3] == "some");
  CHECK(search_page(index, "alpha beta", 3).value().rows.back().matched == "all");
  CHECK(index.find("alpha beta", SearchMatch::Any).size() == 13);
  CHECK(index.find("alpha beta -filler", SearchMatch::Any).size() == 10);
  CHECK(search_page(index, "alpha gamma", 5).value().rows.front().matched == "some");
}

TEST_CASE("a hit tells where it matched and shows it in bold", "[store][A61]") {
  IndexFixture index;
  index.put({{"Plan.md",
              "---\ntags: [budget]\nowner: Zelda\n---\nSome long text about the **budget**\nof the "
              "year\n"},
             {"other.md", "# Budget heading\n"}});

  const auto hit = index.first_hit("budget plan");

  CHECK(hit.path == "Plan.md");
  CHECK(hit.matched_in == Paths{"title", "body", "tags", "frontmatter"});
  CHECK(hit.tags == Paths{"budget"});
  CHECK(hit.score > 0);
  CHECK(hit.snippet.find("**budget**") != std::string::npos);
  CHECK(index.first_hit("zelda").matched_in == Paths{"frontmatter"});
  CHECK(index.first_hit("tag:budget").matched_in == Paths{"tags"});
  CHECK(index.first_hit("text year").snippet ==
        "Some long **text** about the **budget** of the **year**");
}

TEST_CASE("snippets never cut a grapheme", "[store][A61]") {
  IndexFixture index;
  std::string family = "\U0001F468\u200D\U0001F469\u200D\U0001F467", accents = "e\u0301\u0323",
              text;
  for (int i = 0; i < 60; ++i) text += family + accents;
  index.put("n.md", text + " needle " + text + "ก\u0E33\n");

  const auto snippet = index.first_hit("needle").snippet;

  CHECK(is_valid_utf8(snippet));
  REQUIRE(snippet.find("**needle**") != std::string::npos);
  const auto tail = snippet.substr(snippet.find("**needle** ") + 11);
  const auto shown = tail.substr(0, tail.rfind(" …"));
  CHECK((family + accents).substr(0, 0).empty());
  CHECK((text.starts_with(shown) && (shown.ends_with(family) || shown.ends_with(accents))));
}

TEST_CASE("a search of an unchanged vault gives the same bytes a hundred times", "[store][A64]") {
  IndexFixture index;
  std::map<std::string, std::string> notes;
  for (int i = 0; i < 50; ++i) notes[cat("n", i, ".md")] = cat("same words ", i % 5, " here\n");
  index.put(notes);
  const auto print = [&] {
    std::string all;
    const auto page = search_page(index, "same here 3", 20).value();
    for (const auto& hit : page.rows)
      all += cat(hit.path, hit.score, hit.snippet, hit.matched, join(hit.matched_in, ","), "\n");
    return all + page.next_cursor.value_or("");
  };
  const auto first = print();

  for (int i = 0; i < 100; ++i) REQUIRE(print() == first);
}

TEST_CASE("a limit out of bounds, an empty query and a foreign cursor are refused",
          "[store][A26][A60]") {
  IndexFixture index;
  index.put({{"a.md", "w\n"}, {"b.md", "w\n"}});
  const auto cursor = search_page(index, "w", 1).value().next_cursor.value();

  CHECK(search_page(index, "w", 1, cursor).value().rows.front().path == "b.md");
  for (const auto& refused :
       {search_page(index, "w", 0), search_page(index, "w", 201), search_page(index, "  ", 5),
        search_page(index, "other", 1, cursor), search_page(index, "w", 1, "%%%")}) {
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().reason == Reason::ValidationFailed);
  }
}

TEST_CASE("hostile queries are answered", "[store][A60]") {
  IndexFixture index;
  index.put({{"a.md", "some \"text\" (here) AND *more* NEAR(x, 2) 🎉\n"}});
  SeededRandom random(11);
  const std::string_view alphabet = "ab \"()[]:-*\\^{}+'OR NEAR tag:#\xC3\xA9\xF0\x9F\xFF\x00";

  for (int round = 0; round < 500; ++round) {
    std::string q;
    for (auto length = 1 + random.next() % 30; length > 0; --length)
      q += alphabet[random.next() % alphabet.size()];
    const auto page = search_page(index, q, 5);
    if (!page.has_value()) CHECK(page.error().reason == Reason::ValidationFailed);
  }
  CHECK(index.find("🎉") == Paths{"a.md"});
  CHECK(index.find("NEAR(x,") == Paths{"a.md"});
  CHECK(index.find("body:text").empty());
}

}  // namespace indx
