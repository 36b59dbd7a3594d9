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
    CHECK(index.find(q) == PathList{"n.md"});
  CHECK(index.find("runs:") == PathList{"n.md"});
  CHECK(index.find("(panic)") == PathList{"n.md"});
  CHECK(index.find("zz/b:c*(").empty());
  CHECK(index.find("C#").empty());
  CHECK(index.find("c") == PathList{"c.md", "n.md"});
  CHECK(index.find("*").empty());
}

TEST_CASE("any part of unspaced text is found", "[store][A60][Q-03]") {
  IndexFixture index;
  index.put({{"n.md", "東京都の天気\n"},
             {"m.md", "重跑gen后引用清零\n"},
             {"t.md", "ไทยภาษา\n"},
             {"k.md", "한국어 검색\n"}});

  CHECK(index.find("東京") == PathList{"n.md"});
  CHECK(index.find("京都") == PathList{"n.md"});
  CHECK(index.find("天") == PathList{"n.md"});
  CHECK(index.find("引用") == PathList{"m.md"});
  CHECK(index.find("gen") == PathList{"m.md"});
  CHECK(index.find("ภาษา") == PathList{"t.md"});
  CHECK(index.find("국어") == PathList{"k.md"});
  CHECK(index.find("雨").empty());
  CHECK(index.first_hit("京都").snippet == "東**京都**の天気");
}

TEST_CASE("accents and case are ignored, operator words are words", "[store][A60][Q-04][Q-06]") {
  IndexFixture index;
  index.put({{"n.md", "Café crème naïve\n"}, {"o.md", "cats AND dogs near me NOT here\n"}});

  for (const auto* q : {"cafe", "CREME", "naïve", "naive"})
    CHECK(index.find(q) == PathList{"n.md"});
  for (const auto* q : {"AND", "NOT", "near", "NEAR"}) CHECK(index.find(q) == PathList{"o.md"});
}

TEST_CASE("phrases, negation, choice, groups and prefixes", "[store][A60][Q-08]") {
  IndexFixture index;
  index.put({{"a.md", "star wars work\n"}, {"b.md", "star trek wars\n"}});

  CHECK(index.find("\"star wars\"") == PathList{"a.md"});
  CHECK(index.find("star -work") == PathList{"b.md"});
  CHECK(index.find("work OR trek") == PathList{"a.md", "b.md"});
  CHECK(index.find("star (work OR file:b)") == PathList{"a.md", "b.md"});
  CHECK(index.find("-(work OR none)") == PathList{"b.md"});
  CHECK(index.find("tre*") == PathList{"b.md"});
  CHECK(index.find("wor") == PathList{});
  CHECK(index.find("-star").empty());
}

TEST_CASE("tag, path, file and property operators", "[store][A60][Q-11]") {
  IndexFixture index;
  index.put({{"a.md", "#x/y\n"},
             {"b.md", "`#x`\n"},
             {"sub/c.md", "---\nStatus: In Progress\nn: 3\nlist: [Red, blue]\ne:\n---\n#xy\n"}});

  CHECK(index.find("tag:x") == PathList{"a.md"});
  CHECK(index.find("tag:#X/Y") == PathList{"a.md"});
  CHECK(index.find("-tag:x") == PathList{"b.md", "sub/c.md"});
  CHECK(index.find("path:SUB") == PathList{"sub/c.md"});
  CHECK(index.find("file:c.") == PathList{"sub/c.md"});
  CHECK(index.find("file:sub").empty());
  for (const auto* q : {"[status]", "[Status:progress]", "[n:3]", "[list:red]", "[e:null]"})
    CHECK(index.find(q) == PathList{"sub/c.md"});
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
  CHECK(index.find("w", SearchMatch::All, filter) == PathList{"small/x.md"});
  filter.path_glob.clear();
  filter.scope.any_of = {"small/**"};
  CHECK(index.find("w", SearchMatch::AllThenAny, filter) == PathList{"small/x.md"});
  filter.scope = {};
  filter.tags = {"IN"};
  CHECK(index.find("w", SearchMatch::All, filter) == PathList{"other/y.md", "small/x.md"});
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

  PathList expected;
  auto db = Database::open(index.folder.str() + "/index.db", {.read_only = true}).value();
  auto query = db.prepare(
      "SELECT f.path FROM notes_fts JOIN files f ON f.id=notes_fts.rowid WHERE notes_fts MATCH "
      "'apple AND pear' "
      "ORDER BY bm25(notes_fts, 5.0, 3.0, 3.0, 1.0), f.path");
  while (query.step().value()) expected.push_back(query.text(0));
  PathList seen;
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
  PathList seen;
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
  CHECK(hit.matched_in == PathList{"title", "body", "tags", "frontmatter"});
  CHECK(hit.tags == PathList{"budget"});
  CHECK(hit.score > 0);
  CHECK(hit.snippet.find("**budget**") != std::string::npos);
  CHECK(index.first_hit("zelda").matched_in == PathList{"frontmatter"});
  CHECK(index.first_hit("tag:budget").matched_in == PathList{"tags"});
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
  CHECK(index.find("🎉") == PathList{"a.md"});
  CHECK(index.find("NEAR(x,") == PathList{"a.md"});
  CHECK(index.find("body:text").empty());
}

PathList in_order(PathList paths) {
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST_CASE("pieces of notes are searched: lines, blocks, sections, tasks", "[store][A60][search]") {
  IndexFixture index;
  index.put({{"a.md", "# One\nred green\n\nblue\n## Two\n- [ ] red task\n- [x] blue done\n"},
             {"b.md", "red\ngreen\n\n# H\nblue red\n- item green\n- blue #t/u\n"}});

  CHECK(index.find("line:(red green)") == PathList{"a.md"});
  CHECK(in_order(index.find("line:(blue -done)")) == PathList{"a.md", "b.md"});
  CHECK(in_order(index.find("block:(red green)")) == PathList{"a.md", "b.md"});
  CHECK(index.find("block:(item blue)").empty());
  CHECK(index.find("section:(One green)") == PathList{"a.md"});
  CHECK(index.find("section:(One task)").empty());
  CHECK(index.find("task:red") == PathList{"a.md"});
  CHECK(index.find("task-todo:blue").empty());
  CHECK(index.find("task-done:blue") == PathList{"a.md"});
  CHECK(index.find("task:\"\"") == PathList{"a.md"});
  CHECK(index.find("-task:\"\"") == PathList{"b.md"});
  CHECK(index.find("line:(blue tag:t)") == PathList{"b.md"});
  CHECK(index.find("line:(red OR none) -task:red") == PathList{"b.md"});
  CHECK(index.first_hit("task-done:blue").snippet.find("**blue**") != std::string::npos);
}

TEST_CASE("patterns and letter case are looked for in the text itself", "[store][A60][search]") {
  IndexFixture index;
  index.put({{"a.md", "Error 404 here\n"}, {"sub/b.md", "error four\n"}});

  CHECK(index.find("/[Ee]rror \\d+/") == PathList{"a.md"});
  CHECK(index.find("error -/\\d/") == PathList{"sub/b.md"});
  CHECK(index.find("match-case:Error") == PathList{"a.md"});
  CHECK(index.find("match-case:\"error four\"") == PathList{"sub/b.md"});
  CHECK(index.find("match-case:(Error OR here)") == PathList{"a.md"});
  CHECK(index.find("path:/^sub/ error") == PathList{"sub/b.md"});
  CHECK(index.find("/(/").empty());
  CHECK(index.first_hit("/4+/").snippet.find("**4**") != std::string::npos);
  const std::string bomb = "/(a*)*" + std::string(300, '?') + "$/";
  index.find(bomb);
}

TEST_CASE("properties are compared, and content leaves titles out", "[store][A60][search]") {
  IndexFixture index;
  index.put({{"a.md", "---\nn: 3\ndue: 2026-01-05\ne:\n---\nx\n"},
             {"b.md", "---\nn: 10\ndue: 2026-03-01\ne: \"\"\n---\nx\n"},
             {"zebra.md", "---\nn: text\n---\n"}});

  CHECK(index.find("[n:<5]") == PathList{"a.md"});
  CHECK(index.find("[n:>=3]") == PathList{"a.md", "b.md"});
  CHECK(index.find("[due:<2026-02-01]") == PathList{"a.md"});
  CHECK(index.find("[e:null]") == PathList{"a.md"});
  CHECK(index.find("zebra") == PathList{"zebra.md"});
  CHECK(index.find("content:zebra").empty());
}

TEST_CASE("a hit tells line and heading of its match", "[store][A61][search]") {
  IndexFixture index;
  index.put("n.md", "---\nk: v\n---\n# A\r\ntext\r\n## B\r\nmore\r\nneedle\r\n");

  const auto hit = index.first_hit("needle");
  CHECK(hit.line == 8);
  CHECK(hit.heading == "B");
  CHECK(index.first_hit("v").line == 2);
}

TEST_CASE("the parts of a score add up to it", "[store][A63][search]") {
  IndexFixture index;
  index.put({{"a.md", "# apple\npear apple\n"}, {"b.md", "pear\n"}, {"c.md", "plum\n"}});
  SearchRequest request;
  request.q = "apple pear";
  request.explain = true;

  const auto page = index.reader->search(request).value();
  REQUIRE(page.rows.size() == 2);
  for (const auto& hit : page.rows) {
    REQUIRE(hit.explain);
    double sum = 0;
    for (const auto& word : (*hit.explain)["words"]) sum += word["score"].get<double>();
    CHECK(sum == Approx(hit.score));
  }
  CHECK((*page.rows[0].explain)["words"][0]["in"] ==
        Json{{"title", 1}, {"headings", 1}, {"body", 2}});
}

TEST_CASE("typing errors get suggestions of words that the caller may see",
          "[store][A60][search]") {
  IndexFixture index;
  index.put({{"a.md", "elephant elegant\n"}, {"secret/b.md", "elephants\n"}});
  SearchRequest request;
  request.q = "elephnat";

  auto page = index.reader->search(request).value();
  CHECK(page.rows.empty());
  CHECK(page.suggestions == std::vector<std::string>{"elephant"});
  request.q = "elephantss";
  CHECK(index.reader->search(request).value().suggestions ==
        std::vector<std::string>{"elephants", "elephant"});
  request.filter.scope.none_of = {"secret/**"};
  CHECK(index.reader->search(request).value().suggestions == std::vector<std::string>{"elephant"});
}

TEST_CASE("many hits are ranked as few are, under every filter", "[store][A60][A63][search]") {
  IndexFixture index;
  std::map<std::string, std::string> notes;
  SeededRandom random(11);
  for (int i = 0; i < 6000; ++i) {
    std::string text = "common ";
    for (auto n = random.next() % 30; n > 0; --n)
      text += random.next() % 4 == 0 ? "common " : "filler ";
    notes[cat("d", i % 2, "/n", i, ".md")] = text;
  }
  index.put(notes);
  const auto db = index.reader->pool().take().value();
  auto query = db->prepare(
      "SELECT f.path FROM notes_fts JOIN files f ON f.id=notes_fts.rowid WHERE notes_fts MATCH "
      "'common' ORDER BY bm25(notes_fts, 5.0, 3.0, 3.0, 1.0), f.path LIMIT 50");
  PathList expected;
  while (query.step().value()) expected.push_back(query.text(0));

  CHECK(index.find("common") == expected);
  CHECK(index.find("common") == expected);  // from what the first search kept
  index.put("d0/best.md", "# common\n");
  CHECK(index.find("common").front() == "d0/best.md");
  NoteFilter filter;
  filter.path_glob = "d1/**";
  for (const auto& path : index.find("common", SearchMatch::All, filter))
    CHECK(path.starts_with("d1/"));
}

TEST_CASE("no query gives an error of the database, whatever is written",
          "[store][A60][search][Q-01]") {
  IndexFixture index;
  index.put({{"a.md", "# Head\nalpha beta 東京 #tag\n- [ ] task\n"},
             {"b.md", "---\nprop: 1\n---\ngamma\n"}});
  static const std::vector<std::string> kParts = {"alpha",
                                                  "\"",
                                                  "(",
                                                  ")",
                                                  "-",
                                                  "OR",
                                                  " ",
                                                  "*",
                                                  ":",
                                                  "[",
                                                  "]",
                                                  "/",
                                                  "\\",
                                                  "tag:",
                                                  "line:",
                                                  "block:",
                                                  "section:",
                                                  "task:",
                                                  "task-todo:",
                                                  "match-case:",
                                                  "content:",
                                                  "path:",
                                                  "file:",
                                                  "[prop:",
                                                  "<5",
                                                  "東",
                                                  "\xff",
                                                  "^",
                                                  "NEAR",
                                                  "{",
                                                  "}",
                                                  "+",
                                                  "'",
                                                  "ignore-case:",
                                                  "\n",
                                                  "beta",
                                                  std::string(1, '\0')};
  SeededRandom random(77);
  for (int round = 0; round < 3000; ++round) {
    SearchRequest request;
    for (auto n = 1 + random.next() % 14; n > 0; --n)
      request.q += kParts[random.next() % kParts.size()];
    request.explain = random.next() % 4 == 0;
    request.match = random.next() % 2 == 0 ? SearchMatch::AllThenAny : SearchMatch::Any;
    const auto page = index.reader->search(request);
    INFO(request.q);
    CHECK((page.has_value() || page.error().reason == Reason::ValidationFailed));
  }
}

TEST_CASE("every indexed word of every script is found", "[store][A60][Q-03][search]") {
  // One range of letters a script; words are runs of them, as the tokenizer cuts them.
  static const std::vector<std::pair<char32_t, char32_t>> kScripts = {
      {0x61, 0x7A},     {0xE0, 0xF6},     {0x3B1, 0x3C9},   {0x430, 0x44F},     {0x561, 0x586},
      {0x5D0, 0x5EA},   {0x627, 0x64A},   {0x905, 0x939},   {0x995, 0x9A8},     {0xBAE, 0xBB9},
      {0xE01, 0xE2E},   {0x10D0, 0x10F0}, {0x1200, 0x1248}, {0x1780, 0x17A2},   {0x3042, 0x3093},
      {0x30A2, 0x30F3}, {0x4E00, 0x9FA5}, {0xAC00, 0xD7A3}, {0x10400, 0x1044F}, {0x20000, 0x20100}};
  SeededRandom random(20260317);
  IndexFixture index;
  std::map<std::string, std::vector<std::string>> words;
  std::map<std::string, std::string> notes;
  for (std::size_t script = 0; script < kScripts.size(); ++script) {
    const auto [from, to] = kScripts[script];
    for (int i = 0; i < 5; ++i) {
      const auto path = cat("s", script, "-", i, ".md");
      for (int k = 0; k < 6; ++k) {
        std::string word;
        for (auto n = 1 + random.next() % 6; n > 0; --n)
          append_utf8(word, from + static_cast<char32_t>(random.next() % (to - from + 1)));
        notes[path] += word + (random.next() % 2 == 0 ? " " : ", ");
        words[path].push_back(word);
      }
    }
  }
  index.put(notes);
  for (const auto& [path, list] : words)
    for (const auto& word : list) {
      INFO(path << " " << word);
      SearchRequest request;
      request.q = word;
      request.limit = 200;
      request.match = SearchMatch::All;
      request.filter.path_glob = path;
      const auto page = index.reader->search(request).value();
      REQUIRE(page.rows.size() == 1);
      CHECK(page.rows[0].snippet.find("**") != std::string::npos);
      CHECK(is_valid_utf8(page.rows[0].snippet));
    }
}

TEST_CASE("files without text are found by their names, and by nothing else",
          "[store][A60][search]") {
  IndexFixture index;
  index.put({{"img/Fig 1.png", "bytes"},
             {"d.pdf", "bytes"},
             {"drafts/Fig.jpg", "bytes"},
             {"plan.canvas", R"({"nodes":[],"edges":[]})"},
             {"Fig notes.md", "---\nk: 1\n---\nabout the picture #t\n"},
             {"old/Fig.md", "x\n"}});
  NoteFilter filter;

  CHECK(index.find("file:fig") ==
        PathList{"Fig notes.md", "drafts/Fig.jpg", "img/Fig 1.png", "old/Fig.md"});
  CHECK(index.find("path:img") == PathList{"img/Fig 1.png"});
  CHECK(index.find("file:d.pdf") == PathList{"d.pdf"});
  CHECK(index.find("file:.png") == PathList{"img/Fig 1.png"});
  CHECK(index.find("file:.canvas") == PathList{"plan.canvas"});
  CHECK(index.find("file:/\\.(png|jpg)$/") == PathList{"drafts/Fig.jpg", "img/Fig 1.png"});
  CHECK(index.find("file:.pdf OR (path:img file:fig)") == PathList{"d.pdf", "img/Fig 1.png"});
  CHECK(index.find("file:fig -path:img -picture") == PathList{"drafts/Fig.jpg", "old/Fig.md"});
  CHECK(index.find("file:fig picture") == PathList{"Fig notes.md"});
  CHECK(index.find("file:fig tag:t") == PathList{"Fig notes.md"});
  CHECK(index.find("file:.pdf OR picture") == PathList{"Fig notes.md"});
  CHECK(index.find("-path:old") == PathList{"Fig notes.md", "plan.canvas"});
  filter.scope.none_of = {"drafts/**"};
  CHECK(index.find("file:.jpg", SearchMatch::All, filter).empty());
  filter.scope = {};
  filter.narrower.none_of = {"drafts/**"};
  CHECK(index.find("file:.jpg", SearchMatch::All, filter).empty());
  filter.narrower = {};
  filter.only = PathList{"img/Fig 1.png"};
  CHECK(index.find("file:fig", SearchMatch::All, filter) == PathList{"img/Fig 1.png"});
  filter.only.reset();
  filter.path_glob = "img/**";
  CHECK(index.find("file:fig", SearchMatch::All, filter) == PathList{"img/Fig 1.png"});
  filter.path_glob.clear();
  filter.tags = {"t"};
  CHECK(index.find("file:fig", SearchMatch::All, filter) == PathList{"Fig notes.md"});
  filter.tags.clear();
  filter.frontmatter = {{"k", 1}};
  CHECK(index.find("file:fig", SearchMatch::All, filter) == PathList{"Fig notes.md"});

  const auto hit = index.first_hit("file:.png");
  CHECK(hit.title == "Fig 1.png");
  CHECK(hit.matched_in == PathList{"title"});
  CHECK(hit.matched == "all");
  CHECK(hit.snippet.empty());
  CHECK((hit.line == 0 && hit.heading.empty() && hit.tags.empty()));
}

TEST_CASE("a regular expression that is not known is named, and looked for as text",
          "[store][A60][search]") {
  IndexFixture index;
  index.put({{"a.md", "write /(?=x)/ here\n"}, {"b.md", "x\n"}});

  for (const auto* q : {"/[unclosed/", "/(?=x)/", "path:/(/", "line:/(/", "x -/(/"})
    CHECK(search_page(index, q, 5).value().has_bad_pattern);
  for (const auto* q : {"/o+k/", "/usr/bin", "a/b", "path:/x/", "\"/(/\""})
    CHECK_FALSE(search_page(index, q, 5).value().has_bad_pattern);
  CHECK_FALSE(index.find("/(?=x)/").empty());
}

}  // namespace indx
