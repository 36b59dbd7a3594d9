#include "actors/audit_log.hpp"

#include "base/event.hpp"
#include "tests/support/process.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <sstream>

namespace indx {
namespace {

Event numbered_event(std::int64_t id) {
  Event event;
  event.id = id;
  event.kind = "note.updated";
  event.actor = "cli";
  event.subject = "local";
  event.data = {{"path", "n" + std::to_string(id) + ".md"}};
  return event;
}

/// The ids of the lines of `events.log` and what was rolled off it, oldest file first.
std::vector<std::string> logged_ids(const TempFolder& folder, int oldest) {
  std::vector<std::string> ids;
  for (int i = oldest; i >= 0; --i) {
    std::istringstream lines(
        folder.read(i == 0 ? "events.log" : "events.log." + std::to_string(i)));
    for (std::string line; std::getline(lines, line);) {
      const auto json = Json::parse(line, nullptr, false);
      REQUIRE(json.is_object());
      ids.push_back(json.value("id", ""));
    }
  }
  return ids;
}

std::vector<std::string> expected_ids(std::int64_t first, std::int64_t last) {
  std::vector<std::string> ids;
  for (auto id = first; id <= last; ++id) ids.push_back("e-" + std::to_string(id));
  return ids;
}

std::string line_of(const Event& event) { return event.to_json("e").dump(); }

std::size_t size_of_one_line() { return numbered_event(1).to_json("e").dump().size() + 1; }

}  // namespace

TEST_CASE("a log that rolls keeps every line once and in order", "[actors][A90]") {
  const TempFolder folder;
  AuditLog log(folder.path(), "e", 5 * size_of_one_line());
  REQUIRE(log.last_id().value() == 0);

  for (int id = 1; id <= 8; ++id) REQUIRE(log.append(line_of(numbered_event(id))));
  REQUIRE(log.flush());

  CHECK(folder.read("events.log.1").find("e-1\"") != std::string::npos);
  CHECK(folder.read("events.log").find("e-1\"") == std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/events.log.2"));
  CHECK(logged_ids(folder, 1) == expected_ids(1, 8));
}

TEST_CASE("a log that rolls often keeps its newest files, without a gap", "[actors][A90]") {
  const TempFolder folder;
  AuditLog log(folder.path(), "e", 2 * size_of_one_line());
  REQUIRE(log.last_id().value() == 0);

  for (int id = 1; id <= 99; ++id) REQUIRE(log.append(line_of(numbered_event(id))));
  REQUIRE(log.flush());

  CHECK_FALSE(std::filesystem::exists(folder.path() + "/events.log.6"));
  const auto ids = logged_ids(folder, 5);
  REQUIRE(ids.size() > 5);
  const auto first = std::stoll(ids.front().substr(2));
  CHECK(ids == expected_ids(first, 99));
}

TEST_CASE("a log that was rolled is gone on with behind its last line", "[actors][A90]") {
  const TempFolder folder;
  const auto write = [&](int first, int last) {
    AuditLog log(folder.path(), "e", 5 * size_of_one_line());
    const auto known = log.last_id();
    REQUIRE(known);
    for (int id = first; id <= last; ++id) REQUIRE(log.append(line_of(numbered_event(id))));
    REQUIRE(log.flush());
    return known.value();
  };

  CHECK(write(1, 7) == 0);
  std::filesystem::resize_file(folder.path() + "/events.log",
                               folder.read("events.log").size() - 3);  // a crash in line 7
  CHECK(write(7, 9) == 6);

  CHECK(logged_ids(folder, 1) == expected_ids(1, 9));
}

}  // namespace indx
