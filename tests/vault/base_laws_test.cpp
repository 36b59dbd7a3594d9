#include "tests/vault/base_fixture.hpp"
#include "tests/vault/base_random.hpp"

#include <catch2/catch.hpp>

#include <set>

namespace indx {
namespace {

/// What holds for every base over every vault (vault-rules 8.3, 8.10 and 8.11).

BaseAnswer answer_of(const std::map<std::string, std::string>& files, const Json& base,
                     BaseQuestion question = {}) {
  if (question.limit == BaseQuestion().limit) question.limit = 10'000;
  auto answer = ask_base(base.dump(), question, files);
  INFO(base.dump(1));
  REQUIRE(answer.has_value());
  return std::move(answer).value();
}

std::vector<std::string> paths_of(const BaseAnswer& answer) {
  std::vector<std::string> paths;
  for (const auto& row : answer.rows) paths.push_back(row.path);
  return paths;
}

/// The paths that pass a filter; nullopt: it errs on some, which are neither in nor out.
std::optional<std::set<std::string>> passing(const std::map<std::string, std::string>& files,
                                             const Json& filter) {
  const auto answer = answer_of(files, {{"filters", filter}});
  if (!answer.warnings.empty()) return std::nullopt;
  const auto paths = paths_of(answer);
  return std::set(paths.begin(), paths.end());
}

TEST_CASE("and, or and not of filters are intersection, union and complement", "[base][A57]") {
  RandomBases random(57);
  int compared = 0, split = 0;
  for (int round = 0; round < 15; ++round) {
    const auto files = random.vault(40);
    for (int i = 0; i < 40; ++i) {
      const Json a = random.filter(1), b = random.filter(1);
      const auto pass_a = passing(files, a), pass_b = passing(files, b);
      if (!pass_a || !pass_b) continue;
      INFO(a << "\n" << b);
      std::set<std::string> both, either, neither;
      for (const auto& [path, bytes] : files) {
        if (pass_a->contains(path) && pass_b->contains(path)) both.insert(path);
        if (pass_a->contains(path) || pass_b->contains(path))
          either.insert(path);
        else
          neither.insert(path);
      }

      CHECK(passing(files, {{"and", {a, b}}}) == both);
      CHECK(passing(files, {{"or", {a, b}}}) == either);
      CHECK(passing(files, {{"not", {a, b}}}) == neither);
      CHECK(passing(files, {{"and", {b, a, b}}}) == both);
      if (a.is_string() && b.is_string()) {
        const auto x = "(" + a.get<std::string>() + ")", y = "(" + b.get<std::string>() + ")";
        CHECK(passing(files, x + " && " + y) == both);
        CHECK(passing(files, x + " || " + y) == either);
        CHECK(passing(files, "!(" + x + " || " + y + ")") == neither);
        CHECK(passing(files, "!" + x + " && !" + y) == neither);
      }
      const auto in_view = answer_of(files, {{"filters", a}, {"views", {{{"filters", b}}}}});
      const auto paths = paths_of(in_view);
      CHECK(std::set(paths.begin(), paths.end()) == both);
      ++compared;
      if (!both.empty() && !neither.empty()) ++split;
    }
  }
  CHECK(compared > 100);
  CHECK(split > 10);
}

TEST_CASE("a sort moves rows only, a limit takes the first, pages join to the whole",
          "[base][A56][A57]") {
  RandomBases random(58);
  for (int round = 0; round < 60; ++round) {
    const auto files = random.vault(40);
    const Json sort = {{{"property", random.one_of({"price", "due", "kinds", "author", "done"})},
                        {"direction", random.one_of({"ASC", "DESC"})}}};
    const Json view = {{"order", {"file.name", "price", "kinds"}}};
    auto sorted_view = view, limited_view = view;
    sorted_view["sort"] = limited_view["sort"] = sort;
    const auto limit = random.pick(files.size() + 5);
    limited_view["limit"] = limit;
    INFO(sort);

    const auto plain = answer_of(files, {{"views", {view}}});
    const auto sorted = answer_of(files, {{"views", {sorted_view}}});
    const auto limited = answer_of(files, {{"views", {limited_view}}});

    std::map<std::string, Json> cells;
    for (const auto& row : plain.rows) cells[row.path] = row.cells;
    REQUIRE(plain.rows.size() == files.size());
    REQUIRE(sorted.rows.size() == files.size());
    std::set<std::string> seen;
    for (const auto& row : sorted.rows) {
      CHECK(seen.insert(row.path).second);
      CHECK(row.cells == cells[row.path]);
    }

    auto expected = paths_of(sorted);
    expected.resize(std::min(expected.size(), limit));
    CHECK(paths_of(limited) == expected);
    CHECK(limited.total == expected.size());

    std::vector<std::string> joined;
    BaseQuestion question;
    question.limit = 1 + random.pick(9);
    do {
      const auto page = answer_of(files, {{"views", {sorted_view}}}, question);
      for (const auto& row : page.rows) joined.push_back(row.path);
      question.after = page.next;
    } while (!question.after.is_null());
    CHECK(joined == paths_of(sorted));
  }
}

TEST_CASE("groups part the rows, each in one piece, lists into one for each item", "[base][A57]") {
  RandomBases random(59);
  for (int round = 0; round < 60; ++round) {
    const auto files = random.vault(40);
    const auto property = random.one_of({"price", "due", "kinds", "author", "done"});
    const Json base = {{"views", {{{"order", {property}}, {"groupBy", {{"property", property}}}}}}};
    INFO(property);

    const auto answer = answer_of(files, base);

    std::size_t at = 0;
    for (const auto& group : answer.groups)
      for (std::size_t i = 0; i < group.count; ++i, ++at) {
        REQUIRE(at < answer.rows.size());
        CHECK(*answer.rows[at].group == group.value);
      }
    CHECK(at == answer.rows.size());
    std::map<std::string, std::size_t> times;
    for (const auto& row : answer.rows) {
      ++times[row.path];
      const auto& cell = row.cells[property];
      if (!row.group->is_primitive() || row.group->is_null() || !cell.is_array()) continue;
      CHECK(std::count(cell.begin(), cell.end(), *row.group) > 0);
    }
    CHECK(times.size() == files.size());
    for (const auto& row : answer.rows)
      if (!row.cells[property].is_array()) CHECK(times[row.path] == 1);
  }
}

TEST_CASE("a formula gives what its expression gives, and summaries do not see the limit",
          "[base][A57][A58]") {
  RandomBases random(60);
  int held = 0;
  for (int round = 0; round < 40; ++round) {
    const auto files = random.vault(30);
    for (int i = 0; i < 10; ++i) {
      const auto source = random.expression(1);
      if (source.find("formula.") != std::string::npos) continue;
      INFO(source);
      const Json named = {{"formulas", {{"f", source}}}, {"filters", "formula.f"}};
      const auto direct = answer_of(files, {{"filters", source}});
      CHECK(paths_of(answer_of(files, named)) == paths_of(direct));
      held += direct.rows.empty() ? 0 : 1;
    }
    Json view = {{"summaries", {{"price", "Filled"}, {"file.name", "Unique"}}}};
    const auto whole = answer_of(files, {{"views", {view}}});
    view["limit"] = 1;
    const auto limited = answer_of(files, {{"views", {view}}});
    REQUIRE(whole.summaries.size() == limited.summaries.size());
    for (std::size_t i = 0; i < whole.summaries.size(); ++i)
      CHECK(whole.summaries[i].value == limited.summaries[i].value);
  }
  CHECK(held > 50);
}

}  // namespace
}  // namespace indx
