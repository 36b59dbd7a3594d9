#include "cli/job_table.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

Json live_record(const std::string& id, const std::string& state) {
  return {{"id", "01JQ3V0F8Y4T2XK8M6" + id},
          {"kind", "ai_tag"},
          {"state", state},
          {"progress",
           {{"done", 30},
            {"total", 120},
            {"unit", "notes"},
            {"current", "Projects/Plan.md"},
            {"rate_per_second", 4.5},
            {"eta_seconds", 75},
            {"cost_usd", 0.0123}}}};
}

std::vector<std::string> lines_of_table(const std::vector<Json>& records, TableSize size,
                                        bool has_color = false) {
  auto lines = split(job_table_text(records, size, has_color), '\n');
  CHECK(lines.back().empty());
  lines.pop_back();
  return lines;
}

}  // namespace

TEST_CASE("the table of jobs shows how far each is, those that run first", "[cli]") {
  const auto lines = lines_of_table(
      {live_record("AAAAAAAA", "ready"), live_record("BBBBBBBB", "running")}, {130, 24});

  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("job "));
  CHECK(lines[1].find("01JQ3V0F8Y4T2XK8M6BBBBBBBB  ai_tag  running  30/120  4.5 notes/s  1:15  "
                      "$0.0123  Projects/Plan.md") == 0);
  CHECK(lines[2].find("01JQ3V0F8Y4T2XK8M6AAAAAAAA  ai_tag  ready    30/120") == 0);
  CHECK(lines[2].find("notes/s") == std::string::npos);
}

TEST_CASE("a job that was asked to stop says so, and colours are for those who want them",
          "[cli]") {
  Json record = live_record("AAAAAAAA", "running");
  record["pause_requested"] = true;
  CHECK(lines_of_table({record}, {130, 24})[1].find(" pausing ") != std::string::npos);
  record["cancel_requested"] = true;
  CHECK(lines_of_table({record}, {130, 24})[1].find(" cancelling ") != std::string::npos);
  CHECK(job_table_text({record}, {130, 24}, false).find('\x1b') == std::string::npos);
  CHECK(job_table_text({record}, {130, 24}, true).find("\x1b[32m") != std::string::npos);
}

TEST_CASE("a job whose model calls wait for their turn says what for", "[cli]") {
  Json record = live_record("AAAAAAAA", "sleeping");
  record["progress"]["waits_for"] = "requests_per_minute";
  const auto line = lines_of_table({record}, {130, 24})[1];
  CHECK(line.find("  waits for requests_per_minute") != std::string::npos);
  CHECK(line.find("Projects/Plan.md") == std::string::npos);
}

TEST_CASE("the table of jobs never takes more lines or columns than the terminal has", "[cli]") {
  std::vector<Json> records;
  for (int i = 0; i < 9; ++i) {
    records.push_back(live_record(cat("AAAAAAA", i), "ready"));
    records.back()["progress"]["current"] = "Ein sehr langer Name ä\n\x1b[2J/noch einer.md";
  }
  for (std::size_t rows = 0; rows < 14; ++rows)
    for (std::size_t columns = 1; columns < 140; columns += 3) {
      INFO(rows << " x " << columns);
      const auto text = job_table_text(records, {columns, rows}, false);
      CHECK(text.find('\x1b') == std::string::npos);
      const auto lines = split(text, '\n');
      CHECK(lines.size() - 1 <= rows);
      for (const auto& line : lines) CHECK(count_code_points(line) <= columns);
    }
  CHECK(lines_of_table(records, {80, 5}).back() == "and 6 more");
  CHECK(lines_of_table({}, {80, 5}) == std::vector<std::string>{"No job runs or waits."});
}

TEST_CASE("a job that ended is one line with its error", "[cli]") {
  const Json failed{{"job", "01JQ"},
                    {"operation", "ai_tag"},
                    {"state", "dead"},
                    {"error", {{"code", "unavailable"}, {"message", "No answer\nin time."}}}};
  CHECK(ended_job_text(failed, 80, false) == "01JQ ai_tag dead: No answer in time.\n");
  CHECK(ended_job_text(failed, 80, true).find("\x1b[31mdead\x1b[0m") != std::string::npos);
  for (std::size_t columns = 1; columns < 60; ++columns)
    CHECK(count_code_points(ended_job_text(failed, columns, false)) <= std::max(columns, 6UL) + 1);
}

}  // namespace indx
