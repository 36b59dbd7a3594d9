#include "ops/job_record.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("a final record answers with its result, or its error and the job's id", "[ops]") {
  const auto done =
      outcome_of({{"id", "j1"}, {"state", "succeeded"}, {"result", {{"changed", Json::array()}}}});
  REQUIRE(done);
  CHECK(*done == Json{{"changed", Json::array()}});

  const auto failed =
      outcome_of({{"id", "j1"},
                  {"state", "failed"},
                  {"error", make_error(Reason::Conflict, "It is taken.").to_json()}});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().reason == Reason::Conflict);
  CHECK(failed.error().details["job_id"] == "j1");
}

TEST_CASE("what a cancelled job had done is told once, whatever its operation calls it", "[ops]") {
  const Json so_far{{"done", 3}, {"total", 9}};
  for (const Json& result : {so_far, Json{{"partial", so_far}}}) {
    const auto cancelled = outcome_of({{"id", "j1"}, {"state", "cancelled"}, {"result", result}});

    REQUIRE_FALSE(cancelled);
    CHECK(cancelled.error().reason == Reason::Cancelled);
    CHECK(cancelled.error().details["partial"] == so_far);
  }
  const auto early = outcome_of({{"id", "j1"}, {"state", "cancelled"}, {"result", nullptr}});
  REQUIRE_FALSE(early);
  CHECK_FALSE(early.error().details.contains("partial"));
}

}  // namespace indx
