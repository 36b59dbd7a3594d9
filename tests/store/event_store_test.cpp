#include "store/event_store.hpp"

#include "tests/support/fake_clock.hpp"
#include "tests/support/state_db.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

struct EventStoreFixture : StateDb {
  FakeClock clock;
  EventStore events{db};

  std::int64_t append(const std::string& kind, const std::string& job_id = "") {
    return events
        .append(
            {.kind = kind, .at = clock.now(), .actor = "api", .subject = "tok_1", .job_id = job_id})
        .value();
  }
  std::vector<std::string> kinds_after(std::int64_t id, const std::vector<std::string>& patterns,
                                       const std::string& job_id = "") {
    std::vector<std::string> kinds;
    const auto found = events.after(id, patterns, job_id, 100).value();
    for (const auto& event : found) kinds.push_back(event.kind);
    return kinds;
  }
};
using Kinds = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(EventStoreFixture,
                 "a reader goes on after the last event it saw and sees the kinds it asked for",
                 "[store][A89]") {
  const auto first = append("note.created");
  append("note.updated");
  append("job.started", "j1");
  append("jobs");

  CHECK(kinds_after(0, {}) == Kinds{"note.created", "note.updated", "job.started", "jobs"});
  CHECK(kinds_after(first, {"note.*"}) == Kinds{"note.updated"});
  CHECK(kinds_after(0, {"job.*", "note.created"}) == Kinds{"note.created", "job.started"});
  CHECK(kinds_after(0, {"note"}).empty());
  CHECK(kinds_after(0, {}, "j1") == Kinds{"job.started"});
  CHECK(kinds_after(0, {"note.*"}, "j1").empty());
}

TEST_CASE_METHOD(EventStoreFixture, "the SQL and the function agree on which kinds match",
                 "[store]") {
  const Kinds kinds = {"note.created", "note", "note.", "notes.created", "note.a.b", "%", "job.x"};
  const Kinds patterns = {"note.*", "note", ".*", "*", "%", "n_te.*", "note.a.*", "NOTE.*", ""};
  for (const auto& kind : kinds) append(kind);

  for (const auto& pattern : patterns) {
    Kinds expected;
    for (const auto& kind : kinds)
      if (kind_matches(kind, {pattern})) expected.push_back(kind);
    INFO(pattern);
    CHECK(kinds_after(0, {pattern}) == expected);
  }
}

TEST_CASE_METHOD(EventStoreFixture,
                 "an event comes back as it was and shows who acted, when and on what",
                 "[store][A91][A92]") {
  const Event event{.kind = "note.updated",
                    .at = clock.now(),
                    .actor = "mcp",
                    .subject = "tok_9",
                    .job_id = "j1",
                    .data = {{"path", std::string("a\0b\xF0\x9F\x8C\xB1", 7)}, {"etag", "00ff"}}};

  const auto id = events.append(event).value();

  const auto stored = events.after(0, {}, "", 10).value().at(0);
  CHECK(stored.data == event.data);
  const Json body = stored.to_json("e1");
  CHECK(body["id"] == "e1-" + std::to_string(id));
  CHECK(body["actor"] == "mcp");
  CHECK(body["at"] == "2026-03-16T10:00:00.000Z");
  CHECK(body["etag"] == "00ff");
  CHECK(body["job_id"] == "j1");
  CHECK_FALSE(Event{.kind = "job.progress", .at = clock.now()}.to_json("e1").contains("id"));
}

TEST_CASE_METHOD(EventStoreFixture, "an actor that is not on the list is refused", "[store][A91]") {
  CHECK_FALSE(
      events.append({.kind = "note.updated", .at = clock.now(), .actor = "robot"}).has_value());
}

TEST_CASE_METHOD(EventStoreFixture,
                 "pruning takes the oldest events, leaves no hole and never gives an id again",
                 "[store]") {
  CHECK(events.oldest_id().value() == 1);
  CHECK(events.newest_id().value() == 0);
  append("a.1");
  append("a.2");
  clock.advance(std::chrono::hours(48));
  append("a.3");
  clock.set(clock.now() -
            std::chrono::hours(48));  // the clock is set back: an old time after a new one
  append("a.4");

  CHECK(events.prune(clock.now() + std::chrono::hours(1), 1).value() == 1);
  CHECK(events.prune(clock.now() + std::chrono::hours(1), 100).value() == 1);
  CHECK(events.prune(clock.now() + std::chrono::hours(1), 100).value() == 0);
  CHECK(events.oldest_id().value() == 3);
  CHECK(events.prune(clock.now() + std::chrono::hours(99), 100).value() == 1);
  CHECK(events.oldest_id().value() == 4);
  CHECK(events.newest_id().value() == 4);
  CHECK(append("a.5") == 5);
}

TEST_CASE_METHOD(EventStoreFixture,
                 "the epoch belongs to the file: same after a restart, other in a new one",
                 "[store][A89]") {
  const auto epoch = events.epoch().value();
  reopen();

  CHECK(epoch.size() == 12);
  CHECK(events.epoch().value() == epoch);
  StateDb other;
  CHECK(EventStore(other.db).epoch().value() != epoch);
}

}  // namespace indx
