#include "store/idempotency_store.hpp"

#include "store/intent_store.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/state_db.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

struct IdempotencyFixture : StateDb {
  FakeClock clock;
  IdempotencyStore store{db};

  IdempotencyRecord call(const std::string& key, const std::string& hash = "h1",
                         const std::string& job_id = "") const {
    return {.subject = "tok_1",
            .operation = "note_write",
            .key = key,
            .body_hash = hash,
            .job_id = job_id};
  }
  bool is_remembered(const std::string& key) {
    return store.find("tok_1", "note_write", key, clock.now()).value().has_value();
  }
};

}  // namespace

TEST_CASE_METHOD(IdempotencyFixture,
                 "the second call with a key gets the first one's record and reply",
                 "[store][A85]") {
  CHECK_FALSE(store.claim(call("k"), clock.now()).value().has_value());
  const auto running = store.claim(call("k", "h2"), clock.now()).value();
  REQUIRE(store.complete("tok_1", "note_write", "k", 201, {{"ok", true}}).has_value());
  const auto done = store.claim(call("k"), clock.now()).value();

  REQUIRE(running.has_value());
  CHECK_FALSE(running->is_done);
  CHECK(running->body_hash == "h1");
  REQUIRE(done.has_value());
  CHECK(done->is_done);
  CHECK(done->http_status == 201);
  CHECK(done->reply == Json{{"ok", true}});
}

TEST_CASE_METHOD(IdempotencyFixture,
                 "a key is forgotten after a day, also when the call never ended", "[store][A85]") {
  REQUIRE(store.claim(call("k"), clock.now()).has_value());
  clock.advance(std::chrono::hours(24) - milliseconds(1));
  CHECK(is_remembered("k"));
  clock.advance(milliseconds(1));
  CHECK_FALSE(is_remembered("k"));
  CHECK_FALSE(store.claim(call("k", "h2"), clock.now()).value().has_value());
  CHECK(store.claim(call("k"), clock.now()).value()->body_hash == "h2");
}

TEST_CASE_METHOD(IdempotencyFixture, "keys of other callers and other operations are other keys",
                 "[store][A85]") {
  REQUIRE(store.claim(call("k"), clock.now()).has_value());
  auto other_subject = call("k"), other_operation = call("k");
  other_subject.subject = "tok_2";
  other_operation.operation = "note_move";

  CHECK_FALSE(store.claim(other_subject, clock.now()).value().has_value());
  CHECK_FALSE(store.claim(other_operation, clock.now()).value().has_value());
}

TEST_CASE_METHOD(IdempotencyFixture,
                 "a released call can be made again and a done one cannot be released",
                 "[store][A85]") {
  REQUIRE(store.claim(call("a"), clock.now()).has_value());
  REQUIRE(store.claim(call("b"), clock.now()).has_value());
  REQUIRE(store.complete("tok_1", "note_write", "b", 200, Json::object()).has_value());

  REQUIRE(store.release("tok_1", "note_write", "a").has_value());
  REQUIRE(store.release("tok_1", "note_write", "b").has_value());

  CHECK_FALSE(is_remembered("a"));
  CHECK(is_remembered("b"));
}

TEST_CASE_METHOD(IdempotencyFixture,
                 "after a crash only calls that a write or a job will answer stay",
                 "[store][A85]") {
  REQUIRE(store.claim(call("orphan"), clock.now()).has_value());
  REQUIRE(store.claim(call("write"), clock.now()).has_value());
  REQUIRE(store.claim(call("gone-job", "h", "no-such-job"), clock.now()).has_value());
  REQUIRE(IntentStore(db)
              .add({.id = {"w1"},
                    .path = "a.md",
                    .after_sha256 = "ff",
                    .subject = "tok_1",
                    .idempotency_key = "note_write\nwrite",
                    .at = clock.now()})
              .has_value());

  REQUIRE(store.release_orphans().has_value());

  CHECK_FALSE(is_remembered("orphan"));
  CHECK_FALSE(is_remembered("gone-job"));
  CHECK(is_remembered("write"));
}

TEST_CASE_METHOD(IdempotencyFixture,
                 "a reply that is too large is refused and a forgotten call stays forgotten",
                 "[store][A85]") {
  REQUIRE(store.claim(call("k"), clock.now()).has_value());

  const auto too_large = store.complete("tok_1", "note_write", "k", 200, std::string(300000, 'x'));
  CHECK(too_large.error().reason == Reason::TooLarge);
  CHECK_FALSE(store.find("tok_1", "note_write", "k", clock.now()).value()->is_done);
  CHECK(store.complete("tok_1", "note_write", "other", 200, Json()).has_value());
  CHECK_FALSE(is_remembered("other"));
  CHECK(store.claim(call(""), clock.now()).error().reason == Reason::ValidationFailed);
}

TEST_CASE_METHOD(IdempotencyFixture, "a running record names the job that will answer it",
                 "[store][E10]") {
  REQUIRE(store.claim(call("k"), clock.now()).has_value());

  REQUIRE(store.attach_job("tok_1", "note_write", "k", "j1").has_value());

  CHECK(store.claim(call("k"), clock.now()).value()->job_id == "j1");
}

TEST_CASE_METHOD(IdempotencyFixture, "old records are pruned a batch at a time", "[store]") {
  for (const auto* key : {"a", "b", "c"}) REQUIRE(store.claim(call(key), clock.now()).has_value());
  clock.advance(milliseconds(1));

  CHECK(store.prune(clock.now(), 2).value() == 2);
  CHECK(store.prune(clock.now(), 2).value() == 1);
}

}  // namespace indx
