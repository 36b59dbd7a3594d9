#include "actors/run_marks.hpp"

#include "tests/support/process.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace indx {

namespace {

/// What a process that is killed meanwhile leaves.
void run_and_kill(const std::function<void()>& work) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    work();
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
}

}  // namespace

TEST_CASE("after a kill the next process knows which tries handlers worked on", "[actors]") {
  const TempFolder folder;
  const auto path = folder.path() + "/runs";
  const Lease begun{{"job-1"}, 1, "a"}, stored{{"job-2"}, 7, "a"}, claimed{{"job-3"}, 1, "a"};
  run_and_kill([&] {
    auto marks = RunMarks::open(path, "boot").value();
    marks->start("a");
    marks->set(begun);
    const auto place = *marks->set(stored);
    marks->end(place, "{}");
    marks->clear(place);
  });

  const auto next = RunMarks::open(path, "boot").value();

  CHECK(next->had_begun(begun));
  CHECK_FALSE(next->had_begun(stored));
  CHECK_FALSE(next->had_begun(claimed));
  CHECK_FALSE(next->had_begun({begun.job, 2, "a"}));
  CHECK(next->had_begun({claimed.job, 1, "another"}));  // nobody knows
  CHECK(next->ends().empty());

  next->start("b");
  CHECK_FALSE(RunMarks::open(path, "boot").value()->had_begun({begun.job, 1, "b"}));
}

TEST_CASE("after a kill the next process knows the ends that were not stored", "[actors]") {
  const TempFolder folder;
  const auto path = folder.path() + "/runs";
  const Lease ended{{"job-1"}, 3, "a"}, long_result{{"job-2"}, 1, "a"};
  run_and_kill([&] {
    auto marks = RunMarks::open(path, "boot").value();
    marks->start("a");
    const auto first = *marks->set(ended), second = *marks->set(long_result);
    const bool is_kept = marks->end(first, R"({"text":"done"})");
    const bool is_long_kept = marks->end(second, std::string(5000, '1'));
    if (!is_kept || is_long_kept) marks->start("wrong");
  });

  const auto next = RunMarks::open(path, "boot").value();

  REQUIRE(next->ends().size() == 1);
  CHECK(next->ends()[0].lease.job == ended.job);
  CHECK(next->ends()[0].lease.generation == 3);
  CHECK(next->ends()[0].lease.instance == "a");
  CHECK(next->ends()[0].result == Json{{"text", "done"}});
  CHECK_FALSE(next->had_begun(ended));
  CHECK(next->had_begun(long_result));

  INFO("after a power cut what came before the ends may be lost");
  CHECK(RunMarks::open(path, "next boot").value()->ends().empty());
  CHECK(RunMarks::open(path, "").value()->ends().empty());

  next->start("b");
  CHECK(RunMarks::open(path, "boot").value()->ends().empty());
}

TEST_CASE("a new file, or one that was full, blames every try", "[actors]") {
  const TempFolder folder;
  const auto path = folder.path() + "/runs";
  const Lease lease{{"job-1"}, 1, "a"};
  const auto marks = RunMarks::open(path, "boot").value();
  CHECK(marks->had_begun(lease));
  marks->start("a");
  std::vector<std::size_t> places;
  for (int i = 0; i < 2000; ++i)
    if (const auto place = marks->set({{"job-" + std::to_string(i)}, 1, "a"}))
      places.push_back(*place);

  CHECK(places.size() < 2000);
  for (const auto place : places) marks->clear(place);
  CHECK(RunMarks::open(path, "boot").value()->had_begun(lease));
}

}  // namespace indx
