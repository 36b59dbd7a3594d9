#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"
#include "tests/support/indexed_lists.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

TEST_CASE("tag_list sorts, filters by prefix and pages", "[ops][lists][A49][A26]") {
  FakeWorld world;
  world.files = {{"1.md", "#beta #alpha\n"}, {"2.md", "#beta #Alto\n"}, {"3.md", "#beta\n"}};
  const auto names = [&](const Json& input) {
    std::vector<std::string> all;
    const Json answer = run_operation(world, tag_list(), input).value();
    for (const auto& row : answer["tags"]) all.push_back(row["tag"]);
    return all;
  };

  CHECK(names({}) == std::vector<std::string>{"beta", "Alto", "alpha"});
  CHECK(names({{"sort", "name"}}) == std::vector<std::string>{"alpha", "Alto", "beta"});
  CHECK(names({{"prefix", "#AL"}}).size() == 2);
  const Json first = run_operation(world, tag_list(), {{"sort", "name"}, {"limit", 1}}).value();
  CHECK(names({{"sort", "name"}, {"cursor", first["next_cursor"]}}) ==
        std::vector<std::string>{"Alto", "beta"});
}

TEST_CASE("tasks, properties and changes are answered in their shapes", "[ops][lists]") {
  FakeWorld world;
  const std::map<std::string, std::string> files{
      {"a.md", "---\nstatus: open\n---\n# H\n- [/] half\n"}};
  IndexedLists lists(files);
  world.lists = &lists;

  const Json tasks = run_operation(world, task_list(), Json::object()).value();
  CHECK(tasks["tasks"][0] == Json{{"path", "a.md"},
                                  {"line", 5},
                                  {"status", "/"},
                                  {"text", "half"},
                                  {"is_done", true},
                                  {"heading", "H"}});
  CHECK(tasks["next_cursor"].is_null());
  CHECK(run_operation(world, task_list(), {{"mark", "ab"}}).error().reason ==
        Reason::ValidationFailed);
  const Json properties = run_operation(world, property_list(), Json::object()).value();
  CHECK(properties["properties"][0] ==
        Json{{"name", "status"}, {"count", 1}, {"types", {{"text", 1}}}});
  const Json values = run_operation(world, property_values(), {{"name", "Status"}}).value();
  CHECK(values["values"][0] == Json{{"value", "open"}, {"type", "text"}, {"count", 1}});
  CHECK(run_operation(world, recent_changes(), {{"since", "2020-01-01"}}).value()["notes"].size() ==
        1);
  CHECK(run_operation(world, recent_changes(), {{"until", "1969-12-31"}}).value()["notes"].empty());
  CHECK(run_operation(world, recent_changes(), {{"until", "9999-01-01"}}).value()["notes"].size() ==
        1);
  CHECK(run_operation(world, recent_changes(), {{"until", "soon"}}).error().details["path"] ==
        "until");
  CHECK(run_operation(world, recent_changes(), {{"since", "soon"}}).error().reason ==
        Reason::ValidationFailed);
}

TEST_CASE("tag_notes lists the notes of a tag and of those below it", "[ops][lists][A50][T-12]") {
  FakeWorld world;
  world.files = {{"1.md", "#a\n"}};
  CHECK(run_operation(world, tag_notes(), {{"tag", "#a"}}).value()["notes"][0]["path"] == "1.md");
  CHECK(run_operation(world, tag_notes(), {{"tag", "#"}}).error().reason ==
        Reason::ValidationFailed);
}

TEST_CASE("the daily note is found, made from its template once, and added to",
          "[ops][lists][daily]") {
  FakeWorld world;
  world.config.time_zone = "UTC";
  world.config.daily = {"Journal", "YYYY-MM-DD", "T/Day"};
  world.files["T/Day.md"] = "# {{title}}\n";
  const Json day{{"date", "2026-03-05"}};

  Json path = run_operation(world, daily_path(), day).value();
  CHECK(path == Json{{"path", "Journal/2026-03-05.md"}, {"date", "2026-03-05"}, {"exists", false}});
  CHECK(run_operation(world, daily_read(), day).error().reason == Reason::NotFound);
  Json input = day;
  input["markdown"] = "- one";
  input["dry_run"] = true;
  CHECK(run_operation(world, daily_append(), input).value()["created"] == true);
  CHECK(world.writes.empty());
  input.erase("dry_run");
  CHECK(run_operation(world, daily_append(), input).value()["created"] == true);
  input["markdown"] = "- two";
  CHECK(run_operation(world, daily_append(), input).value()["created"] == false);

  CHECK(world.files["Journal/2026-03-05.md"] == "# 2026-03-05\n- one\n- two\n");
  CHECK(run_operation(world, daily_read(), day).value()["title"] == "2026-03-05");
  CHECK(run_operation(world, daily_path(), {{"date", "next week"}}).error().reason ==
        Reason::ValidationFailed);
  world.config.time_zone = "Nowhere/Land";
  CHECK(run_operation(world, daily_path(), Json::object()).error().reason ==
        Reason::ValidationFailed);
}

TEST_CASE("today is that of the configured time zone", "[ops][lists][daily]") {
  FakeWorld world;
  world.config.time_zone = "UTC";
  const auto today = [&] {
    return run_operation(world, daily_path(), Json::object()).value()["date"].get<std::string>();
  };
  const auto in_utc = today();
  CHECK(in_utc == format_time(world.clock.now()).substr(0, 10));
  world.config.time_zone = "Pacific/Kiritimati";  // 14 hours before UTC
  CHECK(today() == format_time(world.clock.now() + std::chrono::hours(14)).substr(0, 10));
}

}  // namespace
}  // namespace indx
