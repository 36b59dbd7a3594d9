#include "store/base_row_reader.hpp"
#include "tests/store/index_fixture.hpp"
#include "tests/vault/base_fixture.hpp"
#include "tests/vault/base_random.hpp"

namespace indx {
namespace {

struct Asked {
  Json answer;
  std::size_t seen = 0, candidates = 0;  ///< rows that the source gave
};

Asked ask_index(IndexFixture& index, const BaseDefinition& base, const PathScope& scope,
                bool is_prefiltered) {
  BaseQuestion question;
  question.this_path = "A1.md";
  question.limit = 1000;
  question.clock = base_test_clock();
  Asked asked;
  const auto answer =
      run_base_query(base, question, [&](const BaseRowNeeds& needs, const BaseRowVisitor& visit) {
        auto wanted = needs;
        if (!is_prefiltered) {
          wanted.prefilter = nullptr;
          wanted.property_names.reset();
          wanted.others = BaseRowNeeds::Others::All;
        }
        return visit_base_rows(index.reader->pool(), wanted, scope, [&](BaseFileRow row) {
          ++asked.seen;
          asked.candidates += static_cast<std::size_t>(row.is_candidate);
          visit(std::move(row));
        });
      });
  if (!answer.has_value()) {
    asked.answer = answer.error().message;
    return asked;
  }
  for (const auto& row : answer->rows)
    asked.answer["rows"].push_back({row.path, row.cells, row.group ? *row.group : Json("-")});
  for (const auto& group : answer->groups)
    asked.answer["groups"].push_back({group.value, group.label, group.count});
  for (const auto& summary : answer->summaries)
    asked.answer["summaries"].push_back({summary.column, summary.name, summary.value});
  asked.answer["warnings"] = answer->warnings;
  asked.answer["total"] = answer->total;
  return asked;
}

TEST_CASE("random bases over random vaults answer as without a prefilter",
          "[store][base][A56][A57][A58]") {
  RandomBases random(20260112);
  std::size_t narrowed = 0, with_rows = 0, with_warnings = 0;
  for (int round = 0; round < 12; ++round) {
    IndexFixture index;
    index.put(random.vault(70));
    if (round % 3 == 0) index.remove("img.png");
    for (int i = 0; i < 120; ++i) {
      const auto yaml = random.base().dump();
      INFO(yaml);
      const auto base = parse_base_definition(yaml);
      REQUIRE(base.has_value());
      const PathScope scope = random.chance(80) ? PathScope{} : PathScope{{"**"}, {"sub/**"}};

      const auto whole = ask_index(index, *base, scope, false);
      const auto narrow = ask_index(index, *base, scope, true);

      REQUIRE(narrow.answer.dump(1) == whole.answer.dump(1));
      if (narrow.candidates == whole.candidates) continue;
      ++narrowed;
      with_rows += static_cast<std::size_t>(whole.answer["total"] > 0);
      with_warnings += static_cast<std::size_t>(whole.answer["warnings"].size() > 1);
    }
  }
  CHECK(narrowed > 400);
  CHECK(with_rows > 150);
  CHECK(with_warnings > 50);
}

TEST_CASE("a base reads only what its filters leave", "[store][base][A57]") {
  IndexFixture index;
  std::map<std::string, std::string> files;
  for (int i = 0; i < 200; ++i)
    files[cat("area-", i % 4, "/n", i, ".md")] =
        cat("---\nn: ", i, "\nstatus: ", i % 10 == 0 ? "open" : "done", "\nup: \"[[n1]]\"\n---\n",
            i % 20 == 0 ? "#book\n" : "\n");
  index.put(files);
  const auto asked = [&](const std::string& yaml) {
    return ask_index(index, parse_base_definition(yaml).value(), {}, true);
  };

  CHECK(asked("filters: 'status == \"open\"'").seen == 20);
  CHECK(asked("filters: {and: ['n > 100', 'status == \"open\"']}").seen == 9);
  CHECK(asked("filters: {or: ['n < 5', 'n >= 197']}").seen == 8);
  CHECK(asked("filters: {not: ['status == \"done\"', 'n > 50']}").seen == 6);
  CHECK(asked("filters: 'file.hasTag(\"Book\") && status == \"open\"'").seen == 10);
  CHECK(asked("filters: 'file.inFolder(\"area-3\") && file.ext == \"md\"'").seen == 50);
  CHECK(asked("filters: 'file.name == \"n7.md\"'").seen == 1);
  CHECK(asked("filters: 'missing'").seen == 0);
  CHECK(asked("filters: 'formula.even && n < 10'\nformulas: {even: 'n % 2 == 0'}\n").seen == 5);
  // What may link to it, the file itself, and the paths of the others.
  CHECK(asked("filters: 'file.hasLink(\"n1\") && n < 3'").candidates == 3);
  CHECK(asked("filters: 'file.hasLink(\"n2\")'").candidates == 1);
  CHECK(asked("filters: 'file.hasLink(this.file)'").candidates == 0);
  // An error in a condition that comes first is warned of, so its file has to be looked at.
  CHECK(asked("filters: {and: ['status.abs() > 1', 'n == 7']}").seen == 200);
  CHECK(asked("filters: {and: ['n == 7', 'status.abs() > 1']}").seen == 1);
  // A column of links shows what they reach: the paths of all files are there, but only a few rows.
  const auto links = asked("filters: 'n == 7'\nviews: [{order: [up]}]\n");
  CHECK(links.seen == 200);
  CHECK(links.candidates == 1);
  CHECK(links.answer["rows"][0][1]["up"]["path"] == "area-1/n1.md");
}

TEST_CASE("a column in which each note has its own value is read too", "[store][base][A57]") {
  IndexFixture index;
  std::map<std::string, std::string> files;
  for (int i = 0; i < 1000; ++i)
    files[cat("n", i, ".md")] =
        i % 10 == 9 ? "plain\n"
                    : cat("---\n", i % 100 == 7 ? "Rank" : "rank", ": ", i, "\nid: x", i,
                          "\nkind: k", i % 3, i % 50 == 1 ? "\nid2: \"[[n1]]\"" : "", "\n---\n");
  index.put(files);
  for (const auto* filter :
       {"rank > 900", "rank < 10 && kind == \"k1\"", "kind == \"k1\" && !rank", "rank.abs() == 20",
        "id == \"x33\" && rank == 33", "id == \"x33\" || rank == 34", "!(id < \"x5\") && rank > 3",
        "id.abs() > 1 || rank == 5", "file.size > 30 && rank % 7 == 1 && id != \"x8\""}) {
    INFO(filter);
    const auto base = parse_base_definition(Json{{"filters", filter}}.dump()).value();

    const auto narrow = ask_index(index, base, {}, true);

    CHECK(narrow.answer.dump(1) == ask_index(index, base, {}, false).answer.dump(1));
    if (std::string_view(filter) != "id.abs() > 1 || rank == 5") CHECK(narrow.seen < 600);
  }
}

}  // namespace
}  // namespace indx
