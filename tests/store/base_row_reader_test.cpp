#include "store/base_row_reader.hpp"

#include "tests/store/index_fixture.hpp"
#include "vault/base_prefilter.hpp"
#include "vault/frontmatter.hpp"

namespace indx {
namespace {

std::map<std::string, BaseFileRow> rows_of_base(IndexFixture& index, const BaseRowNeeds& needs,
                                                const PathScope& scope = {}) {
  std::map<std::string, BaseFileRow> rows;
  std::string last;
  visit_base_rows(index.reader->pool(), needs, scope, [&](BaseFileRow row) {
    CHECK(last < row.path);
    last = row.path;
    rows[row.path] = std::move(row);
  }).value();
  return rows;
}

TEST_CASE("a base sees every file with the parts it asks for", "[base][A56]") {
  IndexFixture index;
  index.put({{"A.md", "---\nprice: 10\ntags: [z, Book]\n---\n#late [[sub/C]] [[#h]] [[gone]]\n"},
             {"sub/C.md", "#book/sub\n"},
             {"img.png", ""}});
  BaseRowNeeds all;
  all.properties = all.tags = all.links = all.size_and_time = true;

  auto rows = rows_of_base(index, all);

  REQUIRE(rows.size() == 3);
  CHECK(Json::parse(rows["A.md"].properties)["price"] == 10);
  CHECK(rows["A.md"].tags == std::vector<std::string>{"z", "Book", "late"});
  REQUIRE(rows["A.md"].links.size() == 3);
  CHECK(rows["A.md"].links[0].path == "sub/C.md");
  CHECK(rows["A.md"].links[1].path == "A.md");
  CHECK_FALSE(rows["A.md"].links[2].path);
  CHECK(rows["A.md"].modified_ms == 1'700'000'000'123);
  CHECK(rows["img.png"].properties.empty());

  const auto base =
      parse_base_definition("filters: 'file.hasTag(\"book\") && file.inFolder(\"sub\")'").value();
  const BasePrefilter prefilter(base, base.views[0], {}, "");
  all.others = BaseRowNeeds::Others::Paths;
  all.prefilter = &prefilter;
  rows = rows_of_base(index, all);
  CHECK(rows.size() == 3);
  CHECK(rows["sub/C.md"].is_candidate);
  CHECK(rows["sub/C.md"].tags == std::vector<std::string>{"book/sub"});
  CHECK_FALSE(rows["A.md"].is_candidate);
}

TEST_CASE("a name that a note writes in two ways is read as each asks for it", "[base][A56]") {
  IndexFixture index;
  index.put({{"A.md", "---\nPrice: 1\nprice: 2\n---\n"}, {"B.md", "---\nprice: 3\nx: 4\n---\n"}});
  BaseRowNeeds needs;
  needs.properties = true;
  needs.property_names = {"price"};

  auto rows = rows_of_base(index, needs);

  CHECK(*find_property(Json::parse(rows["A.md"].properties), "price") == 2);
  CHECK(rows["B.md"].properties == "{\"price\":3}");
}

TEST_CASE("hidden files are no rows and no targets of a base", "[base][A56][A81]") {
  IndexFixture index;
  index.put({{"open/A.md", "[[B]]\n"}, {"shut/B.md", "x\n"}});
  BaseRowNeeds needs;
  needs.links = true;

  auto rows = rows_of_base(index, needs, {{"open/**"}, {}});

  REQUIRE(rows.size() == 1);
  REQUIRE(rows["open/A.md"].links.size() == 1);
  CHECK_FALSE(rows["open/A.md"].links[0].path);
}

}  // namespace
}  // namespace indx
