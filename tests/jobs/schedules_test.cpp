#include "jobs/schedules.hpp"

#include "base/text.hpp"
#include "tests/jobs/queue_fixture.hpp"

#include <catch2/catch.hpp>

#include <map>

namespace indx {
namespace {

/// Schedules whose jobs go into a queue beside them; the clock starts at Monday 2026-03-16 10:00.
struct ScheduleFixture : QueueFixture {
  Schedules schedules{db, clock};
  std::optional<Error> refusal;  ///< of every job
  Schedules::Runs runs{[this](const Schedule& schedule) -> Result<JobId> {
                         if (refusal) return *refusal;
                         auto asked = request();
                         asked.schedule = schedule.name;
                         asked.limit_key = "schedule:" + schedule.name;
                         asked.limit_running = 1;
                         return INDX_TRY(queue.enqueue(asked)).job.id;
                       },
                       [this](const JobId& id) -> Status {
                         INDX_TRY(queue.request_cancel(id));
                         return {};
                       }};

  static Schedule every(const std::string& cron, CatchUp catch_up = CatchUp::Once,
                        Overlap overlap = Overlap::Skip) {
    return {.name = "nightly",
            .kind = "tag",
            .input = {{"scope", "**"}},
            .owner = request().owner,
            .cron = cron,
            .overlap = overlap,
            .catch_up = catch_up};
  }
  Schedule set(const Schedule& schedule) { return schedules.set(schedule).value(); }
  /// What became of the slots, as `10:15 started`.
  std::vector<std::string> fire() {
    std::vector<std::string> slots;
    for (const auto& fired : schedules.fire_due(runs).value())
      for (const auto& slot : fired.slots)
        slots.push_back(cat(format_time(slot.slot).substr(11, 5), " ", slot.outcome));
    return slots;
  }
  std::vector<Job> jobs() { return queue.list({}, 1000, "").value().jobs; }
  void finish_all() {
    while (const auto job = claim()) finish(*job, success());
  }
  std::string next() {
    const auto found = schedules.get("nightly").value();
    return found->next_at ? format_time(*found->next_at).substr(0, 16) : "never";
  }
};
using SlotTexts = std::vector<std::string>;

Timestamp utc_minute(const std::string& text) { return *parse_time(text + ":00.000Z"); }

}  // namespace

TEST_CASE("a schedule that is due makes a job and moves on", "[jobs][schedules]") {
  ScheduleFixture f;
  CHECK(f.set(ScheduleFixture::every("15 * * * *")).next_at == utc_minute("2026-03-16T10:15"));

  CHECK(f.fire().empty());
  f.clock.advance(std::chrono::minutes(15));
  CHECK(f.fire() == SlotTexts{"10:15 started"});
  CHECK(f.fire().empty());

  REQUIRE(f.jobs().size() == 1);
  CHECK(f.jobs()[0].schedule == "nightly");
  CHECK(f.next() == "2026-03-16T11:15");
  const auto slots = f.schedules.slots("nightly", 10).value();
  REQUIRE(slots.size() == 1);
  CHECK(slots[0].job == f.jobs()[0].id.value);
  CHECK(f.schedules.next_due().value() == utc_minute("2026-03-16T11:15"));
}

TEST_CASE("a time that passed without a server is missed, or caught up with once or each time",
          "[jobs][schedules][jobs-53]") {
  ScheduleFixture f;
  const auto down = [&](CatchUp catch_up) {
    f.clock.set(utc_minute("2026-03-16T10:00"));
    f.set(ScheduleFixture::every("0 * * * *", catch_up));
    f.clock.set(utc_minute("2026-03-16T13:20"));
    return f.fire();
  };

  SECTION("skip records them") {
    CHECK(down(CatchUp::Skip) == SlotTexts{"11:00 missed", "12:00 missed", "13:00 missed"});
    CHECK(f.jobs().empty());
  }
  SECTION("once runs the last") {
    CHECK(down(CatchUp::Once) == SlotTexts{"11:00 missed", "12:00 missed", "13:00 started"});
    CHECK(f.jobs().size() == 1);
  }
  SECTION("all runs each, one after another") {
    CHECK(down(CatchUp::All) == SlotTexts{"11:00 started", "12:00 started", "13:00 started"});
    CHECK(f.jobs().size() == 3);
    CHECK(f.claim());
    CHECK_FALSE(f.claim());
  }
  CHECK(f.schedules.slots("nightly", 10).value().size() == 3);
  CHECK(f.next() == "2026-03-16T14:00");
}

TEST_CASE("a time of this minute is no missed one", "[jobs][schedules]") {
  ScheduleFixture f;
  f.set(ScheduleFixture::every("0 * * * *", CatchUp::Skip));

  f.clock.set(utc_minute("2026-03-16T11:01"));

  CHECK(f.fire() == SlotTexts{"11:00 started"});
}

TEST_CASE("after a long time the last 100 run and the last 200 are known", "[jobs][schedules]") {
  ScheduleFixture f;
  f.set(ScheduleFixture::every("* * * * *", CatchUp::All));
  f.clock.set(utc_minute("2028-03-16T10:00"));

  const auto slots = f.fire();

  REQUIRE(slots.size() == 200);
  CHECK(slots[99] == "08:20 missed");
  CHECK(slots[100] == "08:21 started");
  CHECK(slots[199] == "10:00 started");
  CHECK(f.jobs().size() == 100);
  CHECK(f.next() == "2028-03-16T10:01");
}

TEST_CASE("while an earlier job lives, a time is skipped, waits, or ends that job",
          "[jobs][schedules]") {
  ScheduleFixture f;
  const auto overlap = GENERATE(Overlap::Skip, Overlap::Queue, Overlap::Cancel);
  f.set(ScheduleFixture::every("0 * * * *", CatchUp::Once, overlap));
  f.clock.set(utc_minute("2026-03-16T11:00"));
  CHECK(f.fire() == SlotTexts{"11:00 started"});
  const auto first = f.claim();
  REQUIRE(first);

  f.clock.set(utc_minute("2026-03-16T12:00"));
  const auto slots = f.fire();

  CHECK(slots == SlotTexts{overlap == Overlap::Skip ? "12:00 skipped" : "12:00 started"});
  CHECK(f.get(first->id).cancel_requested == (overlap == Overlap::Cancel));
  CHECK_FALSE(f.claim());  // at most one of a schedule runs
  f.finish(*first, ScheduleFixture::success());
  CHECK(f.claim().has_value() == (overlap != Overlap::Skip));

  f.finish_all();
  f.clock.set(utc_minute("2026-03-16T13:00"));
  if (overlap == Overlap::Skip) CHECK(f.fire() == SlotTexts{"13:00 started"});
}

TEST_CASE("no time runs twice, after a restart or when the clock goes back", "[jobs][schedules]") {
  ScheduleFixture f;
  f.set(ScheduleFixture::every("*/15 * * * *"));
  std::map<Timestamp, int> started;
  const auto run_until = [&](const std::string& end) {
    for (; f.clock.now() <= utc_minute(end); f.clock.advance(std::chrono::minutes(1))) {
      for (const auto& fired : f.schedules.fire_due(f.runs).value())
        for (const auto& slot : fired.slots) started[slot.slot] += slot.job.empty() ? 0 : 1;
      f.finish_all();
    }
  };

  run_until("2026-03-16T11:30");
  f.clock.set(utc_minute("2026-03-16T10:10"));
  CHECK(f.schedules.realign());
  run_until("2026-03-16T11:30");
  f.reopen();
  CHECK(f.schedules.realign());
  run_until("2026-03-16T12:00");

  CHECK(started.size() == 8);
  for (const auto& [slot, count] : started) CHECK(count == 1);
}

TEST_CASE("a clock that was years ahead for a moment does not stop a schedule",
          "[jobs][schedules]") {
  ScheduleFixture f;
  f.set(ScheduleFixture::every("0 * * * *"));
  f.clock.set(utc_minute("2099-01-01T00:30"));
  CHECK_FALSE(f.fire().empty());
  f.finish_all();

  f.clock.set(utc_minute("2026-03-16T10:30"));
  CHECK(f.schedules.realign());

  CHECK(f.next() == "2026-03-16T11:00");
  f.clock.set(utc_minute("2026-03-16T11:00"));
  CHECK(f.fire() == SlotTexts{"11:00 started"});
  CHECK(f.schedules.slots("nightly", 1).value()[0].slot == utc_minute("2026-03-16T11:00"));
}

TEST_CASE(
    "a job at 02:30 in Berlin runs once a day over both nights, one of every 15 minutes "
    "keeps its pace",
    "[jobs][schedules][jobs-51]") {
  ScheduleFixture f;
  const auto night = GENERATE("2026-03-27T12:00", "2026-10-23T12:00");
  f.clock.set(utc_minute(night));
  auto daily = ScheduleFixture::every("30 2 * * *"), often = ScheduleFixture::every("*/15 * * * *");
  often.name = "often";
  daily.time_zone = often.time_zone = "Europe/Berlin";
  f.set(daily);
  f.set(often);

  std::vector<Timestamp> nights, quarters;
  for (int minute = 0; minute < 4 * 24 * 60; ++minute) {
    f.clock.advance(std::chrono::minutes(1));
    for (const auto& fired : f.schedules.fire_due(f.runs).value())
      for (const auto& slot : fired.slots) {
        CHECK(slot.outcome == "started");
        (fired.schedule.name == "often" ? quarters : nights).push_back(f.clock.now());
      }
    f.finish_all();
  }

  CHECK(nights.size() == 4);
  REQUIRE(quarters.size() == 4 * 24 * 4);
  for (std::size_t i = 1; i < quarters.size(); ++i)
    CHECK(quarters[i] - quarters[i - 1] == std::chrono::minutes(15));
}

TEST_CASE("a paused schedule rests, and does not catch up with its pause", "[jobs][schedules]") {
  ScheduleFixture f;
  auto schedule = ScheduleFixture::every("0 * * * *", CatchUp::All);
  schedule.is_paused = true;
  CHECK_FALSE(f.set(schedule).next_at);
  f.clock.set(utc_minute("2026-03-16T12:30"));
  CHECK(f.fire().empty());
  CHECK(f.schedules.realign());
  CHECK(f.next() == "never");

  schedule.is_paused = false;
  f.set(schedule);

  CHECK(f.fire().empty());
  CHECK(f.next() == "2026-03-16T13:00");
}

TEST_CASE("another input leaves what is due, other times do not", "[jobs][schedules]") {
  ScheduleFixture f;
  auto schedule = ScheduleFixture::every("0 * * * *");
  f.set(schedule);
  f.clock.set(utc_minute("2026-03-16T11:30"));

  schedule.input = {{"scope", "a/**"}};
  CHECK(f.set(schedule).next_at == utc_minute("2026-03-16T11:00"));
  schedule.cron = "5 * * * *";
  CHECK(f.set(schedule).next_at == utc_minute("2026-03-16T12:05"));
  CHECK(f.schedules.get("nightly").value()->input == schedule.input);
}

TEST_CASE("a schedule is checked when it is set", "[jobs][schedules]") {
  ScheduleFixture f;
  const auto path_of = [&](auto change) {
    auto schedule = ScheduleFixture::every("0 * * * *");
    change(schedule);
    const auto set = f.schedules.set(schedule);
    REQUIRE_FALSE(set);
    CHECK(set.error().reason == Reason::ValidationFailed);
    return set.error().details.value("path", "");
  };

  CHECK(path_of([](Schedule& s) { s.name = "Nightly run"; }) == "name");
  CHECK(path_of([](Schedule& s) { s.name = ""; }) == "name");
  CHECK(path_of([](Schedule& s) { s.cron = "soon"; }) == "cron");
  CHECK(path_of([](Schedule& s) { s.cron = "0 0 31 4 *"; }) == "cron");
  CHECK(path_of([](Schedule& s) { s.time_zone = "Berlin"; }) == "time_zone");
  CHECK(f.schedules.list().value().empty());
}

TEST_CASE("a schedule belongs to who made it, or to an admin", "[jobs][schedules]") {
  ScheduleFixture f;
  auto schedule = ScheduleFixture::every("0 * * * *");
  f.set(schedule);

  schedule.owner.subject = "tok_2";
  CHECK(f.schedules.set(schedule).error().reason == Reason::Forbidden);
  CHECK(f.schedules.get("nightly").value()->owner.subject == "tok_1");
  schedule.owner.scopes = {"vault:admin"};
  CHECK(f.set(schedule).owner.subject == "tok_2");
  CHECK(f.schedules.remove("nightly").value());
  CHECK_FALSE(f.schedules.remove("nightly").value());
}

TEST_CASE("a built-in schedule can be paused and timed anew, not deleted", "[jobs][schedules]") {
  ScheduleFixture f;
  auto schedule = ScheduleFixture::every("0 * * * *");
  schedule.is_builtin = true;
  f.set(schedule);

  CHECK(f.schedules.remove("nightly").error().reason == Reason::Forbidden);
  schedule.is_builtin = false;
  schedule.cron = "5 4 * * *";
  schedule.owner = {.subject = "tok_9", .surface = "api", .scopes = {"vault:admin"}};
  const auto changed = f.set(schedule);
  CHECK(changed.is_builtin);
  CHECK(changed.owner.subject == "tok_1");
  CHECK(changed.next_at == utc_minute("2026-03-17T04:05"));
  schedule.kind = "other";
  CHECK(f.schedules.set(schedule).error().reason == Reason::Forbidden);
}

TEST_CASE("times at which there is nothing to do pass without a trace", "[jobs][schedules]") {
  ScheduleFixture f;
  f.set(ScheduleFixture::every("0 * * * *"));
  bool is_wanted = false;
  f.runs.is_wanted = [&](const Schedule& schedule) {
    CHECK(schedule.name == "nightly");
    return is_wanted;
  };
  f.clock.set(utc_minute("2026-03-16T13:00"));

  CHECK(f.fire().empty());
  CHECK(f.next() == "2026-03-16T14:00");
  CHECK(f.schedules.slots("nightly", 5).value().empty());
  CHECK(f.jobs().empty());
  is_wanted = true;
  f.clock.set(utc_minute("2026-03-16T14:00"));
  CHECK(f.fire() == SlotTexts{"14:00 started"});
}

TEST_CASE("a job that is refused is recorded, and the next time comes", "[jobs][schedules]") {
  ScheduleFixture f;
  f.set(ScheduleFixture::every("0 * * * *"));
  f.clock.set(utc_minute("2026-03-16T11:00"));

  f.refusal = make_error(Reason::Conflict, "taken");
  const auto fired = f.schedules.fire_due(f.runs).value();
  REQUIRE(fired.size() == 1);
  CHECK(fired[0].why_skipped == "taken");
  CHECK(fired[0].slots[0].outcome == "skipped");
  CHECK(f.next() == "2026-03-16T12:00");

  f.clock.set(utc_minute("2026-03-16T12:00"));
  f.refusal = make_error(Reason::Unavailable, "the disk is full");
  CHECK(f.db.savepoint([&] { return f.schedules.fire_due(f.runs); }).error().reason ==
        Reason::Unavailable);
  f.refusal.reset();
  CHECK(f.fire() == SlotTexts{"12:00 started"});
}

TEST_CASE("times that this system no longer understands stop that schedule alone",
          "[jobs][schedules]") {
  ScheduleFixture f;
  f.set(ScheduleFixture::every("0 * * * *"));
  auto other = ScheduleFixture::every("0 * * * *");
  other.name = "other";
  f.set(other);
  REQUIRE(f.db.execute("UPDATE schedules SET time_zone = 'Mars/Base' WHERE name = 'nightly'"));
  f.clock.set(utc_minute("2026-03-16T11:00"));

  CHECK(f.fire() == SlotTexts{"11:00 started"});

  CHECK(f.next() == "never");
  CHECK(f.jobs()[0].schedule == "other");
}

TEST_CASE("the last 200 times of each schedule are kept", "[jobs][schedules]") {
  ScheduleFixture f;
  for (const auto* name : {"a", "nightly"}) {
    auto schedule = ScheduleFixture::every("* * * * *", CatchUp::Skip);
    schedule.name = name;
    f.set(schedule);
  }
  for (int round = 0; round < 2; ++round) {
    f.clock.advance(std::chrono::hours(4));
    f.fire();
  }

  CHECK(f.schedules.prune(150).value() == 150);
  CHECK(f.schedules.prune(1000).value() == 250);
  CHECK(f.schedules.prune(1000).value() == 0);
  const auto slots = f.schedules.slots("nightly", 1000).value();
  CHECK(slots.size() == 200);
  CHECK(slots[0].slot == utc_minute("2026-03-16T18:00"));
}

}  // namespace indx
