#include "store/index_check.hpp"

#include "tests/store/index_fixture.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace indx {
namespace {

Database open_index_of(const IndexFixture& index) {
  return Database::open(index.folder.str() + "/index.db", {.durability = Durability::Off}).value();
}

std::vector<IndexDifference> differences(const IndexFixture& is, const IndexFixture& must) {
  std::vector<IndexDifference> all;
  auto actual = open_index_of(is), expected = open_index_of(must);
  compare_indexes(actual, expected, CancelToken(), [&](IndexDifference difference) {
    all.push_back(std::move(difference));
  }).value();
  return all;
}

const std::map<std::string, std::string> kNotes = {
    {"a.md",
     "---\ntags: [x]\naliases: [One]\nn: 1\nup: \"[[b]]\"\n---\n# A\n\n- [ ] task #t\n\n[[b]] "
     "^p\n"},
    {"b.md", "# B\n\n[[c|see]] [a](a.md) [[missing]]\n"},
    {"d/c.md", "words\n"},
    {"pic.png", "bytes"}};

}  // namespace

TEST_CASE("an index made step by step equals one made at once", "[store][index_check]") {
  std::mt19937 random(3);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::vector<std::string> paths = {"a.md", "b.md",    "d/a.md",    "d/e/b.md", "A.md",
                                          "c.md", "pic.png", "d/pic.png", "ä.md",     "e.f.md"};
  const std::vector<std::string> pieces = {
      "[[a]] ",        "[[d/a]] ",     "[[b|x]] ",     "![[pic.png]] ", "[[./a]] ",
      "[x](../a.md) ", "[[A]] ",       "[[nowhere]] ", "#tag ",         "#Tag/sub ",
      "\n# Head\n",    "\n- [ ] do\n", "word ",        "\n\nx ^id\n\n"};
  for (int run = 0; run < 6; ++run) {
    IndexFixture grown;
    std::map<std::string, std::string> files;
    for (int step = 0; step < 40; ++step) {
      const auto& path = paths[pick(paths.size())];
      if (pick(4) == 0) {
        grown.remove(path);
        files.erase(path);
        continue;
      }
      std::string text = pick(3) == 0 ? "---\naliases: [Al]\nk: [[1]]\nl: \"[[b]]\"\n---\n" : "";
      for (std::size_t i = 0; i < pick(8); ++i) text += pieces[pick(pieces.size())];
      files[path] = text;
      grown.put(path, text);
    }
    IndexFixture fresh;
    fresh.put(files);
    for (const auto& difference : differences(grown, fresh)) {
      INFO("run " << run << ": " << difference.table << " " << difference.path << " "
                  << difference.detail);
      CHECK(false);
    }
  }
}

TEST_CASE("a changed value in any column of any table is found", "[store][index_check]") {
  IndexFixture good;
  good.put(kNotes);
  std::vector<std::pair<std::string, std::string>> columns;
  {
    auto db = open_index_of(good);
    auto query = db.prepare(
        "SELECT t.name, c.name FROM pragma_table_list t, pragma_table_info(t.name) c WHERE "
        "t.schema='main' AND t.type='table' AND t.name NOT LIKE 'sqlite_%' AND t.name<>'meta'");
    while (query.step().value()) columns.emplace_back(query.text(0), query.text(1));
  }
  REQUIRE(columns.size() > 50);
  std::map<std::string, std::int64_t> row_counts;
  for (const auto& [table, column] : columns) {
    auto db = open_index_of(good);
    auto count = db.prepare(cat("SELECT count(*) FROM ", table));
    REQUIRE(count.step().value());
    row_counts[table] = count.integer(0);
  }
  for (const auto& [table, column] : columns) {
    IndexFixture bad;
    bad.put(kNotes);
    {
      auto db = open_index_of(bad);
      const bool is_blob = column == "chunk_id" || column == "content_sha256";
      const auto change = is_blob ? std::string("x'00'") : cat("coalesce(max(", column, "),0)+77");
      const auto value = is_blob ? change : cat("(SELECT ", change, " FROM ", table, ")");
      const auto row =
          cat(" WHERE (", column, ") IS (SELECT ", column, " FROM ", table, " LIMIT 1)");
      db.execute(cat("UPDATE ", table, " SET ", column, "=", value, row)).value();
    }
    INFO(table << "." << column);
    if (row_counts[table] > 0) CHECK_FALSE(differences(bad, good).empty());
  }
}

TEST_CASE("rows that are missing, left over or of no file are found", "[store][index_check]") {
  using Kind = IndexDifference::Kind;
  IndexFixture good, fewer, more;
  good.put(kNotes);
  more.put(kNotes);
  auto less = kNotes;
  less.erase("d/c.md");
  fewer.put(less);

  const auto missing = differences(fewer, good);
  REQUIRE_FALSE(missing.empty());
  CHECK(missing[0].kind == Kind::Missing);
  CHECK(missing[0].path == "d/c.md");
  const auto extra = differences(good, fewer);
  REQUIRE_FALSE(extra.empty());
  CHECK(extra[0].kind == Kind::Extra);

  {
    auto db = open_index_of(more);
    db.execute("INSERT INTO tags VALUES (9999, 'x', 'x', 0, 0)").value();
  }
  const auto loose = differences(more, good);
  REQUIRE(loose.size() == 1);
  CHECK(loose[0].kind == Kind::Loose);
  CHECK(loose[0].table == "tags");
}

TEST_CASE("a full text that is not that of the notes is found in a copy", "[store][index_check]") {
  IndexFixture index;
  index.put(kNotes);
  const auto problems_of = [&](const std::string& name) {
    copy_index(index.folder.str(), index.folder.str() + name).value();
    auto copy = Database::open(index.folder.str() + name, {.durability = Durability::Off}).value();
    return full_text_problems(copy).value();
  };
  CHECK(problems_of("/good.db").empty());
  open_index_of(index).execute("UPDATE notes SET body='other words' WHERE id=1").value();
  CHECK(problems_of("/bad.db").size() == 1);
  auto db = open_index_of(index);
  CHECK(database_problems(db).value().empty());
}

}  // namespace indx
