#include "store/note_index.hpp"

#include "base/unicode.hpp"
#include "tests/store/index_fixture.hpp"

#include <atomic>
#include <fstream>
#include <set>
#include <thread>

namespace indx {
namespace {

std::vector<std::string> rows_of(const std::string& folder, const std::string& sql) {
  auto db = Database::open(folder + "/index.db", {.read_only = true}).value();
  auto query = db.prepare(sql);
  std::vector<std::string> rows;
  while (query.step().value()) rows.push_back(query.text(0));
  return rows;
}

/// What FTS5 and SQLite find wrong with the file: nothing.
void check_integrity(IndexFixture& index) {
  auto db =
      Database::open(index.folder.str() + "/index.db", {.durability = Durability::Off}).value();
  CHECK(db.execute("INSERT INTO notes_fts(notes_fts, rank) VALUES ('integrity-check', 1)")
            .has_value());
  CHECK(rows_of(index.folder.str(), "PRAGMA integrity_check") == PathList{"ok"});
}

PathList walk(const NoteIndexReader& /*reader*/,
              const std::function<Result<Page<NoteRow>>(const std::string&)>& page_after) {
  PathList paths;
  std::string cursor;
  do {
    const auto page = page_after(cursor).value();
    for (const auto& row : page.rows) paths.push_back(row.path);
    cursor = page.next_cursor.value_or("");
  } while (!cursor.empty());
  return paths;
}

}  // namespace

TEST_CASE("a file row tells path, times, size and hashes", "[store][A65]") {
  IndexFixture index;
  index.put({{"a/x.md", "# Title\nhello #t\n"}, {"p.png", ""}});

  const auto row = index.reader->find("a/x.md").value();

  REQUIRE(row.has_value());
  CHECK(row->title == "Title");
  CHECK(row->tags == PathList{"t"});
  CHECK(row->size == 17);
  CHECK(to_millis(row->modified) == 1'700'000'000'123);
  const auto files = index.writer.files().value();
  REQUIRE(files.size() == 2);
  CHECK(files.at("a/x.md").etag == row->etag);
  auto db = Database::open(index.folder.str() + "/index.db", {.read_only = true}).value();
  auto stored = db.prepare("SELECT sha256 FROM files WHERE path='a/x.md'");
  REQUIRE(stored.step().value());
  CHECK(stored.text(0) == sha256_hex("# Title\nhello #t\n"));
  CHECK_FALSE(index.reader->find("missing.md").value().has_value());
}

TEST_CASE("chunk rows hold ids, headings, text and offsets", "[store][A66]") {
  IndexFixture index;
  const std::string intro = "intro é", section = "## Two\n\nbeta";
  const std::string text = cat("---\nk: v\n---\n", intro, "\n\n# One\n\nalpha\n\n", section, "\n");
  index.put("a.md", text);
  const auto rows = [&](const std::string& columns) {
    return rows_of(index.folder.str(), cat("SELECT ", columns, " FROM chunks ORDER BY position"));
  };
  const auto spans = rows("char_start||'-'||char_end");
  const auto contents = rows("content");

  CHECK(rows("path") == PathList{"a.md", "a.md", "a.md"});
  CHECK(rows("heading") == PathList{"", "One", "Two"});
  CHECK(rows("heading_path_json") == PathList{"[]", "[\"One\"]", "[\"One\",\"Two\"]"});
  REQUIRE(contents.size() == 3);
  CHECK(contents[0].find("intro é") != std::string::npos);
  CHECK(contents[1].find("alpha") != std::string::npos);
  CHECK(contents[2].find("beta") != std::string::npos);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const auto dash = spans[i].find('-');
    const auto begin = std::stoul(spans[i].substr(0, dash)),
               end = std::stoul(spans[i].substr(dash + 1));
    CHECK(text.substr(begin, end - begin) == contents[i]);
    CHECK(rows("content_sha256")[i] == sha256_hex(contents[i]));
    CHECK(rows("chunk_id")[i].size() == 32);
  }
}

TEST_CASE("edges tell source, target, relation and place", "[store][A67]") {
  IndexFixture index;
  index.put({{"n.md", ""}, {"s.md", "---\nrel: \"[[n]]\"\n---\nx [[n]]\n"}});

  CHECK(rows_of(index.folder.str(),
                "SELECT source||'>'||target||':'||rel||':'||line FROM edges ORDER BY begin, rel") ==
        PathList{"s.md>n.md:rel:2", "s.md>n.md::4"});
}

TEST_CASE("a changed note replaces its rows, a removed one leaves nothing", "[store][A68]") {
  IndexFixture index;
  index.put({{"a.md", "old words #x [[b]]\n# H\n"}, {"b.md", "other\n"}});
  index.put("a.md", "new text\n");

  CHECK(index.find("old").empty());
  CHECK(index.find("new") == PathList{"a.md"});
  CHECK(index.reader->tags({}).value().empty());
  CHECK(index.reached("a.md").empty());
  index.remove("a.md");
  index.remove("a.md");
  CHECK(index.find("new").empty());
  for (const auto* table : {"notes", "links", "tags", "aliases", "chunk_rows", "files"})
    CHECK(rows_of(index.folder.str(), cat("SELECT count(*) FROM ", table)).front() <= "1");
  check_integrity(index);
  index.writer.clear().value();
  CHECK(index.writer.files().value().empty());
  CHECK(index.find("other").empty());
  check_integrity(index);
}

TEST_CASE("touch updates time and size only", "[store][A68]") {
  IndexFixture index;
  index.put("a.md", "text\n");
  index.writer.begin().value();
  index.writer.touch({NotePath::parse("a.md").value(), 9, 2'000'000'000, 0}).value();
  index.writer.commit().value();

  CHECK(index.reader->find("a.md").value()->size == 9);
  CHECK(index.find("text") == PathList{"a.md"});
}

TEST_CASE("the generation moves with every change and not without", "[store]") {
  IndexFixture index;
  const auto first = index.writer.generation().value();
  index.put({});
  CHECK(index.writer.generation().value() == first);

  index.put("a.md", "x\n");

  CHECK(index.writer.generation().value() != first);
  CHECK(index.reader->generation().value() == index.writer.generation().value());
}

TEST_CASE("a list of 1,000 notes is walked by 7 without gap or duplicate under inserts",
          "[store][A26][A17]") {
  IndexFixture index;
  std::map<std::string, std::string> notes;
  PathList expected;
  for (int i = 0; i < 1000; ++i) {
    expected.push_back(cat("d", i % 7, "/n", 1000 + i, ".md"));
    notes[expected.back()] = "x\n";
  }
  std::sort(expected.begin(), expected.end());
  index.put(notes);
  int page = 0;

  const auto seen = walk(*index.reader, [&](const std::string& cursor) {
    if (++page % 10 == 0) index.put(cat("0new/n", page, ".md"), "before every cursor\n");
    return index.reader->list({}, 7, cursor);
  });

  CHECK(seen == expected);
}

TEST_CASE("list filters work alone and together, and hidden rows never shorten a page",
          "[store][A17]") {
  IndexFixture index;
  std::map<std::string, std::string> notes;
  for (int i = 0; i < 40; ++i)
    notes[cat(i % 2 == 0 ? "open" : "secret", "/n", 10 + i, ".md")] =
        i % 4 == 0 ? "---\nStatus: [draft, x]\nn: 3\n---\n#a/b\n" : "#ab\n";
  index.put(notes);
  NoteFilter filter;

  filter.tags = {"A"};
  CHECK(index.reader->list(filter, 100, "").value().rows.size() == 10);
  filter.frontmatter = {{"status", "draft"}, {"n", 3}};
  CHECK(index.reader->list(filter, 100, "").value().rows.size() == 10);
  filter.path_glob = "open/n1*.md";
  CHECK(index.reader->list(filter, 100, "").value().rows.size() == 3);
  filter.frontmatter = {{"status", "dra"}};
  CHECK(index.reader->list(filter, 100, "").value().rows.empty());
  NoteFilter scoped;
  scoped.scope.none_of = {"secret/**"};
  const auto page = index.reader->list(scoped, 20, "").value();
  CHECK(page.rows.size() == 20);
  CHECK_FALSE(page.next_cursor.has_value());
  CHECK(index.reader->counts(scoped.scope).value().notes == 20);
  CHECK(index.reader->paths_with_tag("ab", scoped.scope).value().size() == 10);
  CHECK(index.reader->tags(scoped.scope).value().size() == 2);
}

TEST_CASE("a cursor that is damaged or of another question is refused", "[store][A26]") {
  IndexFixture index;
  index.put({{"a.md", ""}, {"b.md", ""}, {"c.md", ""}});
  const auto cursor = index.reader->list({}, 1, "").value().next_cursor.value();
  NoteFilter other;
  other.path_glob = "x/**";

  for (const auto& bad :
       {std::string("x"), std::string("eyJwIjoxfQ"), cursor.substr(1), cursor + "AAAA"}) {
    const auto page = index.reader->list({}, 1, bad);
    REQUIRE_FALSE(page.has_value());
    CHECK(page.error().reason == Reason::ValidationFailed);
  }
  CHECK_FALSE(index.reader->list(other, 1, cursor).has_value());
  CHECK_FALSE(index.reader->list({}, 0, "").has_value());
}

TEST_CASE("tags count notes, keep the first spelling and know their children",
          "[store][A49][T-09][T-12]") {
  IndexFixture index;
  index.put({{"a.md", "#Tag\n"},
             {"b.md", "#TAG #tag\n"},
             {"c.md", "---\ntags: [x/y]\n---\n#x\n"},
             {"d.md", "#x/z #xy\n"}});

  std::map<std::string, std::pair<int, int>> counts;
  const auto tags = index.reader->tags({}).value();
  for (const auto& tag : tags) counts[tag.tag] = {tag.count, tag.count_nested};

  CHECK(counts ==
        std::map<std::string, std::pair<int, int>>{
            {"Tag", {2, 2}}, {"x", {1, 2}}, {"x/y", {1, 1}}, {"x/z", {1, 1}}, {"xy", {1, 1}}});
  CHECK(index.reader->paths_with_tag("#X", {}).value() == PathList{"c.md", "d.md"});
}

TEST_CASE("counts equal what was put", "[store][A76]") {
  IndexFixture index;
  index.put({{"a.md", "# H\n## I\n[[b]] [[none]] #t\n"},
             {"b.md", "---\ntags: \"a, b\"\n---\n"},
             {"p.png", ""}});

  const auto counts = index.reader->counts({}).value();

  CHECK(counts.notes == 2);
  CHECK(counts.files == 3);
  CHECK(counts.headings == 2);
  CHECK(counts.links == 2);
  CHECK(counts.unresolved_links == 1);
  CHECK(counts.tags == 1);
  CHECK(counts.chunks > 0);
  CHECK(counts.warnings == PathList{"b.md: tag_invalid"});
}

TEST_CASE("texts are visited in path order without their properties", "[store]") {
  IndexFixture index;
  index.put({{"b.md", "---\nk: v\n---\nbody #t\n"}, {"a.md", "bad \xFF bytes\n"}});
  std::vector<std::string> seen;

  index.reader
      ->visit_texts([&](const NoteIndexReader::NoteText& note) {
        seen.push_back(cat(note.path, "|", note.title, "|", note.text, "|", join(note.tags, ",")));
      })
      .value();

  CHECK(seen == PathList{"a.md|a|bad \xEF\xBF\xBD bytes\n|", "b.md|b|body #t\n|t"});
}

TEST_CASE("readers see the last commit while a transaction is open", "[store][A72]") {
  IndexFixture index;
  index.put("a.md", "first\n");
  index.writer.begin().value();
  index.put_open("a.md", "second\n");

  std::thread reader([&] {
    CHECK(index.find("first") == PathList{"a.md"});
    CHECK(index.find("second").empty());
  });
  reader.join();
  index.writer.commit().value();

  CHECK(index.find("second") == PathList{"a.md"});
}

TEST_CASE("many threads read while one writes", "[store][A72][slow]") {
  IndexFixture index;
  index.put("a.md", "word [[b]]\n");
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        if (index.find("word").empty()) ++wrong;
        if (!index.reader->list({}, 10, "").has_value()) ++wrong;
        if (index.reached("a.md").size() != 1) ++wrong;
      }
    });
  for (int i = 0; i < 50; ++i) index.put("a.md", cat("word ", i, " [[b]]\n"));
  for (auto& thread : threads) thread.join();

  CHECK(wrong == 0);
}

TEST_CASE("a transaction that was not committed is gone after opening again", "[store][A68]") {
  IndexFolder folder;
  SeededRandom random(1);
  const std::string text = "kept\n", lost = "lost\n";
  const auto note = parse_note(text);
  {
    auto writer = NoteIndexWriter::open(folder.str(), Durability::Normal, random).value();
    writer.begin().value();
    writer.put({NotePath::parse("a.md").value(), text.size(), 0, 0}, "e", "s", &text, &note)
        .value();
    writer.commit().value();
    writer.begin().value();
    writer.put({NotePath::parse("b.md").value(), lost.size(), 0, 0}, "e", "s", &lost, &note)
        .value();
  }

  auto writer = NoteIndexWriter::open(folder.str(), Durability::Normal, random).value();

  CHECK(writer.files().value().size() == 1);
}

TEST_CASE("a damaged, foreign or newer index is moved aside and made anew", "[store]") {
  IndexFolder folder;
  SeededRandom random(1);
  const auto path = folder.str() + "/index.db";
  std::set<std::string> generations;
  const auto open = [&] {
    auto writer = NoteIndexWriter::open(folder.str(), Durability::Off, random).value();
    CHECK(writer.files().value().empty());
    generations.insert(writer.generation().value());
  };

  std::ofstream(path) << std::string(8192, 'x');
  open();
  Database::open(path, {.durability = Durability::Off})
      .value()
      .execute("PRAGMA user_version=99")
      .value();
  open();
  std::filesystem::remove(path);
  Database::open(path, {.durability = Durability::Off})
      .value()
      .execute("CREATE TABLE files(x); PRAGMA user_version=1")
      .value();
  open();
  Database::open(path, {.durability = Durability::Off})
      .value()
      .execute(
          "INSERT INTO files VALUES (1,'a.md','a',1,'','',0,0,0,0,'',0,0,0,NULL);"
          "UPDATE meta SET value='1' WHERE key='content'")
      .value();
  open();

  CHECK(std::filesystem::exists(path + ".damaged"));
  CHECK(generations.size() == 4);
}

TEST_CASE("a tag lists the notes of the tags below it, whatever their case, and of no longer one",
          "[store][A50]") {
  IndexFixture index;
  const PathList tags = {"a", "A/b", "a/b/c", "ab", "a-b", "b/a", "É/x", "é"};
  std::map<std::string, std::string> notes;
  std::map<std::string, std::set<std::string>> wanted;
  SeededRandom random(3);
  for (int i = 0; i < 60; ++i) {
    const auto path = cat("n", 10 + i, ".md");
    const auto& tag = tags[random.next() % tags.size()];
    notes[path] = random.next() % 2 == 0 ? cat("#", tag, " `#a`\n")
                                         : cat("---\ntags: [\"", tag, "\"]\n---\n");
    const auto key = fold_case(tag);
    for (auto end = key.find('/'); end != key.npos; end = key.find('/', end + 1))
      wanted[key.substr(0, end)].insert(path);
    wanted[key].insert(path);
  }
  index.put(notes);

  for (const auto& [tag, paths] : wanted) {
    INFO(tag);
    NoteFilter filter;
    filter.tags = {tag};
    std::set<std::string> found;
    std::string cursor;
    do {
      const auto page = index.reader->list(filter, 7, cursor).value();
      for (const auto& row : page.rows) CHECK(found.insert(row.path).second);
      cursor = page.next_cursor.value_or("");
    } while (!cursor.empty());
    CHECK(found == paths);
    CHECK(index.reader->paths_with_tag(tag, {}).value() == PathList(paths.begin(), paths.end()));
  }
}

}  // namespace indx
