#include "store/list_index.hpp"

#include "base/unicode.hpp"
#include "tests/store/index_fixture.hpp"

namespace indx {
namespace {

TEST_CASE("tasks are listed with their place, by state, text, tag and path", "[store][lists]") {
  IndexFixture index;
  index.put({{"a.md", "- [ ] top\n# One\n- [x] Käse\n## Two #work\n- [/] half\n"},
             {"b/c.md", "# B\n1. [ ] other\n\ttext\n"},
             {"none.md", "no tasks\n"}});
  ListIndex lists(index.reader->pool());
  const auto found = [&](const TaskFilter& filter) {
    std::vector<std::string> rows;
    for (const auto& row : lists.tasks(filter, 50, "").value().rows)
      rows.push_back(cat(row.path, ":", row.line, ":", row.mark, ":", row.heading));
    return rows;
  };

  CHECK(found({}) == std::vector<std::string>{"a.md:1: :", "a.md:3:x:One", "a.md:5:/:Two #work",
                                              "b/c.md:2: :B"});
  TaskFilter filter;
  filter.state = TaskState::Todo;
  CHECK(found(filter).size() == 2);
  filter.state = TaskState::Done;
  CHECK(found(filter).size() == 2);
  filter = {};
  filter.mark = "/";
  CHECK(found(filter).size() == 1);
  filter = {};
  filter.text = "KASE";
  CHECK(found(filter) == std::vector<std::string>{"a.md:3:x:One"});
  filter = {};
  filter.notes.tags = {"work"};
  CHECK(found(filter).size() == 3);
  filter = {};
  filter.notes.path_glob = "b/**";
  CHECK(found(filter).size() == 1);
  filter = {};
  filter.notes.scope.none_of = {"a.md"};
  CHECK(found(filter) == std::vector<std::string>{"b/c.md:2: :B"});

  index.put("a.md", "- [x] top\n");
  CHECK(found({}).size() == 2);
  index.remove("a.md");
  CHECK(found({}).size() == 1);
}

TEST_CASE("property names come with spelling, types and counts, and follow changes",
          "[store][lists]") {
  IndexFixture index;
  index.put({{"a.md", "---\nStatus: done\ndue: 2026-01-01\n---\n"},
             {"b.md", "---\nstatus: open\ndue:\n---\n"},
             {"c.md", "---\nstatus: [open, done, open]\n---\n"},
             {"s/d.md", "---\nstatus: open\nsecret: 1\n---\n"}});
  ListIndex lists(index.reader->pool());

  auto rows = lists.properties({}, "", 50, "").value().rows;
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].name == "status");
  CHECK(rows[0].count == 4);
  CHECK(rows[0].types == std::map<std::string, std::int64_t>{{"text", 3}, {"list", 1}});
  CHECK(rows[1].name == "due");
  CHECK(rows[1].types == std::map<std::string, std::int64_t>{{"date", 1}, {"empty", 1}});
  CHECK(lists.properties({}, "ST", 50, "").value().rows.size() == 1);

  const PathScope scope{{}, {"s/**"}};
  rows = lists.properties(scope, "", 50, "").value().rows;
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].count == 3);

  NoteFilter filter;
  auto values = lists.values("STATUS", filter, 50, "").value().rows;
  REQUIRE(values.size() == 2);
  CHECK(values[0].value == "open");
  CHECK(values[0].count == 3);
  CHECK(values[1].value == "done");
  CHECK(values[1].count == 2);
  filter.scope = scope;
  CHECK(lists.values("status", filter, 50, "").value().rows[0].count == 2);
  CHECK(lists.values("nothing", {}, 50, "").value().rows.empty());

  index.put("a.md", "none\n");
  index.remove("s/d.md");
  rows = lists.properties({}, "", 50, "").value().rows;
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].count == 2);
}

TEST_CASE("changes come newest first and a walk has no gap when notes are added behind it",
          "[store][lists][A26]") {
  IndexFixture index;
  const auto put_at = [&](const std::string& path, std::int64_t second) {
    const std::string text = "x\n";
    const FileInfo file{NotePath::parse(path).value(), 2, second * 1'000'000'000, 0};
    const auto note = parse_note(text);
    index.writer.begin().value();
    index.writer.put(file, etag_of(text), sha256_hex(text), &text, &note).value();
    index.writer.commit().value();
  };
  for (int i = 0; i < 20; ++i) put_at(cat("n", i % 10, i, ".md"), 1000 + i / 2);
  ListIndex lists(index.reader->pool());

  std::vector<std::string> seen;
  std::string cursor;
  do {
    const auto page = lists.recent({}, {}, 3, cursor).value();
    for (const auto& row : page.rows) seen.push_back(row.path);
    cursor = page.next_cursor.value_or("");
    put_at(cat("new", seen.size(), ".md"), 5000);
  } while (!cursor.empty());

  CHECK(seen.size() == 20);
  CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == 20);
  CHECK(lists.recent({}, {from_millis(1'005'000)}, 50, "").value().rows.size() == 10 + 7);
  CHECK(lists.recent({}, {from_millis(1'005'000), from_millis(1'007'000)}, 50, "")
            .value()
            .rows.size() == 4);
  CHECK(lists.recent({}, {}, 50, "bad").error().reason == Reason::ValidationFailed);
}

TEST_CASE("random vaults: lists equal what the notes say, page by page",
          "[store][lists][A26][A49][T-09]") {
  SeededRandom random(20260316);
  for (int round = 0; round < 12; ++round) {
    IndexFixture index;
    std::map<std::string, std::string> files;
    std::map<std::string, std::set<std::string>> notes_of_tag;
    std::map<std::string, int> notes_of_property;
    std::size_t tasks = 0;
    for (int i = 0; i < 30; ++i) {
      const auto path = cat("f", random.next() % 3, "/n", i, ".md");
      std::string properties, body;
      for (const auto* name : {"alpha", "Beta", "gamma"})
        if (random.next() % 2 == 0) {
          properties += cat(name, ": ", random.next() % 4, "\n");
          ++notes_of_property[fold_case(name)];
        }
      for (int k = 0; k < 4; ++k)
        if (random.next() % 2 == 0) {
          const auto tag = cat("t", random.next() % 5);
          body += cat(random.next() % 2 == 0 ? "#" : "#T", tag.substr(random.next() % 1), "\n");
        }
      for (auto count = random.next() % 3; count > 0; --count, ++tasks)
        body += random.next() % 2 == 0 ? "- [ ] do\n" : "- [x] did\n";
      files[path] = cat("---\n", properties, "---\n", body);
      for (const auto& use : parse_note(files[path]).tags)
        notes_of_tag[fold_case(use.tag)].insert(path);
    }
    index.put(files);
    ListIndex lists(index.reader->pool());

    const auto limit = 1 + static_cast<int>(random.next() % 7);
    std::set<std::pair<std::string, int>> places;
    std::string cursor;
    do {
      const auto page = lists.tasks({}, limit, cursor).value();
      for (const auto& row : page.rows) CHECK(places.emplace(row.path, row.line).second);
      cursor = page.next_cursor.value_or("");
    } while (!cursor.empty());
    CHECK(places.size() == tasks);

    std::map<std::string, int> counted;
    do {
      const auto page = lists.properties({}, "", 1, cursor).value();
      for (const auto& row : page.rows)
        CHECK(counted.emplace(fold_case(row.name), row.count).second);
      cursor = page.next_cursor.value_or("");
    } while (!cursor.empty());
    CHECK(counted == notes_of_property);

    for (const auto& row : index.reader->tags({}).value())
      CHECK(static_cast<std::size_t>(row.count) == notes_of_tag[fold_case(row.tag)].size());
    for (const auto& [tag, paths] : notes_of_tag) {
      NoteFilter filter;
      filter.tags = {tag};
      std::set<std::string> listed;
      do {
        const auto page = index.reader->list(filter, limit, cursor).value();
        for (const auto& row : page.rows) CHECK(listed.insert(row.path).second);
        cursor = page.next_cursor.value_or("");
      } while (!cursor.empty());
      CHECK(listed == paths);
    }
  }
}

TEST_CASE("tag counts follow every change of the index", "[store][lists][A49]") {
  IndexFixture index;
  index.put("a.md", "#x\n");
  CHECK(index.reader->tags({}).value().at(0).count == 1);
  index.put("b.md", "#x\n");
  CHECK(index.reader->tags({}).value().at(0).count == 2);
  CHECK(index.reader->tags({{"a.md"}, {}}).value().at(0).count == 1);
  CHECK(index.reader->tags({}).value().at(0).count == 2);
  index.remove("a.md");
  CHECK(index.reader->tags({}).value().at(0).count == 1);
}

TEST_CASE("conflict copies are in the warnings of the vault", "[store][W-13]") {
  IndexFixture index;
  index.put({{"a.md", "x\n"}, {"a (conflict 2026-01-01).md", "x\n"}});
  const auto warnings = index.reader->counts({}).value().warnings;
  CHECK(warnings == std::vector<std::string>{"a (conflict 2026-01-01).md: conflict_copy of a.md"});
}

}  // namespace
}  // namespace indx
