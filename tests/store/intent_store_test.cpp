#include "store/intent_store.hpp"

#include "tests/support/fake_clock.hpp"
#include "tests/support/state_db.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("an intent survives a restart whole and is settled once", "[store]") {
  StateDb state;
  const FakeClock clock;
  const WriteIntent intent{.id = {"w1"},
                           .path = "Ünïcode/ä.md",
                           .before_sha256 = "aa",
                           .after_sha256 = "bb",
                           .temp_name = ".indx-1",
                           .permanent = true,
                           .actor = "api",
                           .subject = "tok_1",
                           .request_id = "r1",
                           .job_id = "j1",
                           .step_key = "apply/a.md",
                           .step_inputs_hash = "cc",
                           .lease = 3,
                           .idempotency_key = "note_write\nk1",
                           .outcome = {{"etag", "ff"}},
                           .at = clock.now()};
  REQUIRE(IntentStore(state.db).add(intent).has_value());

  state.reopen();
  IntentStore store(state.db);
  const auto open = store.open_intents().value();

  REQUIRE(open.size() == 1);
  CHECK(open[0].id == intent.id);
  CHECK(open[0].path == intent.path);
  CHECK(open[0].permanent);
  CHECK(open[0].lease == 3);
  CHECK(open[0].step_key == intent.step_key);
  CHECK(open[0].step_inputs_hash == intent.step_inputs_hash);
  CHECK(open[0].idempotency_key == intent.idempotency_key);
  CHECK(open[0].outcome == intent.outcome);
  CHECK(open[0].at == intent.at);
  CHECK(store.remove({"w1"}).value());
  CHECK_FALSE(store.remove({"w1"}).value());
  CHECK(store.open_intents().value().empty());
}

}  // namespace indx
