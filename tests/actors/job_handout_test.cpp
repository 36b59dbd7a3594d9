#include "actors/job_handout.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

using std::chrono::microseconds;

/// Runners that remember what they were given.
struct Desk {
  JobHandout::Runner runner(std::uint64_t id) {
    return {id, [this, id](const Claimed& claimed) {
              given.emplace_back(id, claimed.job ? claimed.job->id.value : "none");
            }};
  }
  static Claimed claimed(const std::string& id) {
    Job job;
    job.id = {id};
    return {std::make_shared<const Job>(std::move(job)), {}};
  }
  static Lease lease(const std::string& id) { return {{id}, 1, "a"}; }
  void keep(const std::string& id) { handout.keep(claimed(id), lease(id), now); }
  void end(const std::string& id, std::chrono::nanoseconds took) {
    handout.end({.lease = lease(id), .kind = "tag", .took = took, .is_recorded = true}, 0, now);
  }

  JobHandout handout;
  std::vector<std::pair<std::uint64_t, std::string>> given;
  std::chrono::nanoseconds now{milliseconds(1000)};
};
using Given = std::vector<std::pair<std::uint64_t, std::string>>;

}  // namespace

TEST_CASE("only kinds whose tries are short are claimed ahead, as much as runners do in moments",
          "[actors]") {
  Desk desk;
  for (std::uint64_t id = 1; id <= 4; ++id) desk.handout.wait(desk.runner(id));
  CHECK(desk.handout.room_ahead() == 0);  // nobody knows how long they take
  CHECK_FALSE(desk.handout.is_short("tag"));

  desk.end("long", milliseconds(50));
  CHECK_FALSE(desk.handout.is_short("tag"));
  CHECK(desk.handout.room_ahead() == 0);

  Desk quick;
  for (std::uint64_t id = 1; id <= 4; ++id) quick.handout.wait(quick.runner(id));
  quick.end("short", microseconds(200));
  CHECK(quick.handout.is_short("tag"));
  CHECK(quick.handout.room_ahead() == 40);
  quick.keep("a");
  CHECK(quick.handout.room_ahead() == 39);
}

TEST_CASE("a job that waits goes to whoever is free first, and its start is owed", "[actors]") {
  Desk desk;
  desk.keep("a");
  desk.keep("b");
  desk.keep("c");
  const auto taken = desk.handout.take(7, {}, desk.now);
  REQUIRE(taken);
  CHECK(taken->job->id.value == "a");
  desk.handout.wait(desk.runner(8));
  desk.handout.give_kept({}, desk.now);
  CHECK(desk.given == Given{{8, "b"}});

  const auto owed = desk.handout.take_owed();
  REQUIRE(owed.begun.size() == 2);
  CHECK(owed.begun[0].job->id.value == "a");
  CHECK(desk.handout.recall().size() == 1);
}

TEST_CASE("what runners owe is stored soon, and again when a commit failed", "[actors]") {
  Desk desk;
  desk.end("a", microseconds(10));
  CHECK_FALSE(desk.handout.is_due(desk.now));
  CHECK(desk.handout.is_due(desk.now + milliseconds(2)));
  for (int i = 0; i < 63; ++i) desk.end("b", microseconds(10));
  CHECK(desk.handout.is_due(desk.now));

  auto owed = desk.handout.take_owed();
  CHECK(owed.ends.size() == 64);
  CHECK_FALSE(desk.handout.owes());
  desk.end("c", microseconds(10));
  desk.handout.owe_again(std::move(owed), desk.now);
  owed = desk.handout.take_owed();
  REQUIRE(owed.ends.size() == 65);
  CHECK(owed.ends.front().lease.job.value == "a");
  CHECK(owed.ends.back().lease.job.value == "c");
}

TEST_CASE("a job that nobody takes goes back, and so do all when the engine stops", "[actors]") {
  Desk desk;
  desk.keep("a");
  desk.handout.recall_late(desk.now + milliseconds(9));
  CHECK_FALSE(desk.handout.owes());
  desk.handout.recall_late(desk.now + milliseconds(10));
  CHECK(desk.handout.take_owed().unbegun.size() == 1);

  desk.keep("b");
  desk.handout.wait(desk.runner(1));
  desk.handout.drain();
  CHECK(desk.given == Given{{1, "none"}});
  CHECK(desk.handout.take_owed().unbegun.size() == 1);
}

TEST_CASE("a runner whose end is not recorded waits until it is stored", "[actors]") {
  Desk desk;
  desk.handout.wait(desk.runner(1));
  REQUIRE(desk.handout.give(Desk::claimed("a"), Desk::lease("a")));
  desk.keep("b");

  desk.handout.end({.lease = Desk::lease("a"), .kind = "tag", .runner = desk.runner(1)}, 1,
                   desk.now);
  desk.handout.give_kept({}, desk.now);

  CHECK(desk.handout.is_due(desk.now));
  CHECK_FALSE(desk.handout.has_waiting());
  auto owed = desk.handout.take_owed();
  CHECK(owed.is_awaited);
  REQUIRE(owed.ends.size() == 1);

  SECTION("it goes on then") {
    desk.handout.go_on(owed.ends[0]);
    desk.handout.give_kept({}, desk.now);
    CHECK(desk.given.back() == std::pair<std::uint64_t, std::string>(1, "b"));
  }
  SECTION("not when it ended meanwhile") {
    desk.handout.forget(1);
    desk.handout.go_on(owed.ends[0]);
    CHECK_FALSE(desk.handout.has_waiting());
    CHECK_FALSE(desk.handout.owes());
  }
  SECTION("nor when the commit failed") {
    desk.handout.owe_again(std::move(owed), desk.now);
    CHECK(desk.handout.is_due(desk.now));
    CHECK_FALSE(desk.handout.has_waiting());
  }
  SECTION("when the engine stops it is let go, and its end is stored all the same") {
    desk.handout.drain();
    SECTION("after the commit") {
      desk.handout.go_on(owed.ends[0]);
      CHECK(desk.given == Given{{1, "a"}, {1, "none"}});
    }
    SECTION("also when that fails") {
      desk.handout.owe_again(std::move(owed), desk.now);
      owed = desk.handout.take_owed();
      REQUIRE(owed.ends.size() == 1);
      CHECK_FALSE(owed.ends[0].runner);
    }
    CHECK_FALSE(desk.handout.has_waiting());
  }
}

TEST_CASE(
    "a runner that ended leaves its last job to be given back, unless that has come to its "
    "end",
    "[actors]") {
  Desk desk;
  for (const std::uint64_t id : {1, 2}) desk.handout.wait(desk.runner(id));
  REQUIRE(desk.handout.give(Desk::claimed("a"), Desk::lease("a")));
  REQUIRE(desk.handout.give(Desk::claimed("b"), Desk::lease("b")));
  CHECK_FALSE(desk.handout.give(Desk::claimed("c"), Desk::lease("c")));
  desk.handout.end({.lease = Desk::lease("b"), .kind = "tag", .is_recorded = true}, 2, desk.now);
  desk.handout.forget(1);
  desk.handout.forget(2);
  const auto owed = desk.handout.take_owed();
  REQUIRE(owed.given_back.size() == 1);
  CHECK(owed.given_back[0].job.value == "a");
  CHECK(owed.ends.size() == 1);
}

}  // namespace indx
