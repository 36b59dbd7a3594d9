#include "actors/run_marks.hpp"

#include "tests/support/process.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace indx {

TEST_CASE("after a kill the next process knows which tries handlers worked on", "[actors]") {
  const TempFolder folder;
  const auto path = folder.path() + "/runs";
  const Lease begun{{"job-1"}, 1, "a"}, ended{{"job-2"}, 7, "a"}, claimed{{"job-3"}, 1, "a"};
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    auto marks = RunMarks::open(path).value();
    marks->start("a");
    marks->set(begun);
    marks->clear(*marks->set(ended));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));

  const auto next = RunMarks::open(path).value();

  CHECK(next->had_begun(begun));
  CHECK_FALSE(next->had_begun(ended));
  CHECK_FALSE(next->had_begun(claimed));
  CHECK_FALSE(next->had_begun({begun.job, 2, "a"}));
  CHECK(next->had_begun({claimed.job, 1, "another"}));  // nobody knows

  next->start("b");
  CHECK_FALSE(RunMarks::open(path).value()->had_begun({begun.job, 1, "b"}));
}

TEST_CASE("a new file, or one that was full, blames every try", "[actors]") {
  const TempFolder folder;
  const auto path = folder.path() + "/runs";
  const Lease lease{{"job-1"}, 1, "a"};
  const auto marks = RunMarks::open(path).value();
  CHECK(marks->had_begun(lease));
  marks->start("a");
  std::vector<std::size_t> places;
  for (int i = 0; i < 2000; ++i)
    if (const auto place = marks->set({{"job-" + std::to_string(i)}, 1, "a"}))
      places.push_back(*place);

  CHECK(places.size() < 2000);
  for (const auto place : places) marks->clear(place);
  CHECK(RunMarks::open(path).value()->had_begun(lease));
}

}  // namespace indx
