#include "ops/dispatch.hpp"

#include "tests/support/fake_backend.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// A product of five operations that count their runs.
struct Probe {
  int runs = 0;
  std::optional<Error> fails;
  std::size_t size = 1;
};
Operation probe_operation(Probe& probe, const std::string& name, Execution execution,
                          Effect effect) {
  Operation operation;
  operation.name = name;
  operation.scopes = {effect == Effect::Reads ? Scope::VaultRead : Scope::VaultWrite};
  operation.execution = execution;
  operation.effect = effect;
  SchemaNode text;
  text.type = SchemaNode::Type::String;
  SchemaNode asked, told;
  for (const auto* field : {"word", "idempotency_key"})
    asked.properties.push_back({field, text, false});
  told.properties.push_back({"said", text, false});
  operation.input = std::move(asked);
  operation.output = std::move(told);
  operation.handler = [&probe](Context&, const Json& input) -> Result<Json> {
    ++probe.runs;
    if (probe.fails) return *probe.fails;
    return Json{{"said", input.value("word", "")}};
  };
  if (execution == Execution::Sized)
    operation.size = [&probe](Context&, const Json&) -> Result<std::size_t> { return probe.size; };
  return operation;
}

struct Fixture {
  Probe probe;
  FakeBackend backend;
  // Before the dispatcher: its end still answers the calls that wait.
  std::vector<Answer> answers;
  std::vector<std::string> events;
  std::unique_ptr<Dispatcher> dispatcher;

  Fixture() {
    std::vector<Operation> operations = {
        probe_operation(probe, "test_read", Execution::Inline, Effect::Reads),
        probe_operation(probe, "test_write", Execution::Inline, Effect::Writes),
        probe_operation(probe, "test_job", Execution::Job, Effect::Writes),
        probe_operation(probe, "test_sized", Execution::Sized, Effect::Writes),
        probe_operation(probe, "test_ai", Execution::Inline, Effect::Reads)};
    operations.back().needs_provider = true;
    operations[3].extra_scopes = [](const Json& input) {
      return input.value("word", "") == "admin" ? std::vector{Scope::VaultAdmin}
                                                : std::vector<Scope>();
    };
    dispatcher = make_dispatcher(Registry(std::move(operations)), backend);
  }
  Call make_call(const std::string& name, Json input = Json::object()) {
    Call call;
    call.operation = dispatcher->registry().find(name);
    call.input = std::move(input);
    call.principal = backend.world.principal;
    return call;
  }
  void send(Call call) {
    dispatcher->call(
        std::move(call), [this](Answer answer) { answers.push_back(std::move(answer)); },
        [this](const Event& event) { events.push_back(event.kind); });
  }
  Answer ask(const std::string& name, Json input = Json::object(), std::string key = {}) {
    Call call = make_call(name, std::move(input));
    call.idempotency_key = std::move(key);
    return dispatcher->call_and_wait(std::move(call));
  }
};

TEST_CASE("an inline call is answered at once", "[ops]") {
  Fixture f;

  const Answer answer = f.ask("test_read", Json{{"word", "hi"}});

  REQUIRE(answer.result);
  CHECK((*answer.result)["said"] == "hi");
  CHECK(answer.http_status == 200);
}

TEST_CASE("a file that the index has not come to yet is not called missing", "[ops]") {
  FakeBackend backend;
  backend.world.files["a.md"] = "a";
  Probe probe;
  auto operation = probe_operation(probe, "test_read", Execution::Inline, Effect::Reads);
  operation.reads_index = true;
  operation.handler = [](Context&, const Json& input) -> Result<Json> {
    return not_found("Nothing there.", {{"path", input["word"]}});
  };
  const auto dispatcher = make_dispatcher(Registry({operation}), backend);
  const auto reason_for = [&](const std::string& path) {
    Call call;
    call.operation = dispatcher->registry().find("test_read");
    call.input = {{"word", path}};
    call.principal = backend.world.principal;
    return dispatcher->call_and_wait(call).result.error().reason;
  };

  CHECK(reason_for("a.md") == Reason::NotFound);
  backend.world.has_whole_index = false;
  CHECK(reason_for("a.md") == Reason::InProgress);
  CHECK(reason_for("gone.md") == Reason::NotFound);
}

TEST_CASE("a stopping server refuses new calls", "[ops][E25]") {
  Fixture f;
  f.backend.draining = true;

  CHECK(f.ask("test_read").result.error().reason == Reason::Draining);
  CHECK(f.probe.runs == 0);
}

TEST_CASE("too many calls are refused with the time to wait", "[ops][A83][A84]") {
  FakeBackend backend;
  backend.world.config.rate_limit_per_minute = 2;
  Probe probe;
  const auto dispatcher = make_dispatcher(
      Registry({probe_operation(probe, "test_read", Execution::Inline, Effect::Reads)}), backend);
  Call call;
  call.operation = dispatcher->registry().find("test_read");
  call.principal = backend.world.principal;
  CHECK(dispatcher->call_and_wait(call).result);
  CHECK(dispatcher->call_and_wait(call).result);

  const Answer third = dispatcher->call_and_wait(call);

  REQUIRE_FALSE(third.result);
  CHECK(third.result.error().reason == Reason::RateLimited);
  CHECK(third.result.error().details["retry_after_s"] == 30);
  CHECK(third.http_status == 429);
}

TEST_CASE("a missing scope is forbidden and named, also one that the input asks for",
          "[ops][A80][C57]") {
  Fixture f;
  f.backend.world.principal.scopes = {Scope::VaultRead};
  CHECK(f.ask("test_write").result.error().details["required_scopes"] == Json({"vault:write"}));

  f.backend.world.principal.scopes = {Scope::VaultWrite};
  CHECK(f.ask("test_sized", Json{{"word", "admin"}}).result.error().reason == Reason::Forbidden);
  CHECK(f.ask("test_sized", Json{{"word", "x"}}).result);
  CHECK(f.probe.runs == 1);
}

TEST_CASE("without a provider an AI operation is unavailable", "[ops][B11][D1]") {
  Fixture f;
  f.backend.has_a_provider = false;

  const Answer answer = f.ask("test_ai");

  CHECK(answer.result.error().reason == Reason::AiUnavailable);
  CHECK(answer.result.error().details["required_role"] == "chat");
  CHECK(f.probe.runs == 0);
}

TEST_CASE("an invalid input never reaches a handler", "[ops][A84][A87]") {
  Fixture f;

  CHECK(f.ask("test_read", Json{{"word", 1}}).result.error().reason == Reason::ValidationFailed);
  CHECK(f.probe.runs == 0);
}

TEST_CASE("a call that needs a provider runs on a lane; no free lane is an answer", "[ops]") {
  Fixture f;
  f.backend.lanes_wait = true;
  f.send(f.make_call("test_ai"));
  CHECK(f.answers.empty());
  f.backend.run_waiting_lanes();
  CHECK(f.answers.size() == 1);

  f.backend.lanes_are_full = true;
  CHECK(f.ask("test_ai").result.error().reason == Reason::Unavailable);
}

TEST_CASE("a handler that throws is an internal error, not the end", "[ops]") {
  Fixture f;
  Operation broken = probe_operation(f.probe, "test_broken", Execution::Inline, Effect::Reads);
  broken.handler = [](Context&, const Json&) -> Result<Json> { throw std::runtime_error("bug"); };
  const auto dispatcher = make_dispatcher(Registry({broken}), f.backend);
  Call call = f.make_call("test_read");
  call.operation = dispatcher->registry().find("test_broken");

  CHECK(dispatcher->call_and_wait(call).result.error().reason == Reason::Internal);
}

TEST_CASE("the same key and body replay the answer, another body is refused", "[ops][A85]") {
  Fixture f;
  const Answer first = f.ask("test_write", Json{{"word", "a"}}, "k1");

  const Answer second = f.ask("test_write", Json{{"word", "a"}}, "k1");
  const Answer in_input = f.ask("test_write", Json{{"word", "a"}, {"idempotency_key", "k1"}});
  const Answer other = f.ask("test_write", Json{{"word", "b"}}, "k1");

  CHECK_FALSE(first.is_replay);
  CHECK(second.is_replay);
  CHECK(in_input.is_replay);
  CHECK(*second.result == *first.result);
  CHECK(other.result.error().reason == Reason::IdempotencyKeyReused);
  CHECK(f.probe.runs == 1);
}

TEST_CASE("a deterministic refusal is replayed, a passing one is tried again", "[ops][A85]") {
  Fixture f;
  f.probe.fails = make_error(Reason::EtagMismatch, "stale");
  CHECK(f.ask("test_write", {}, "k1").http_status == 412);
  CHECK(f.ask("test_write", {}, "k1").is_replay);
  CHECK(f.probe.runs == 1);

  f.probe.fails = make_error(Reason::Unavailable, "full");
  CHECK(f.ask("test_write", {}, "k2").http_status == 503);
  f.probe.fails.reset();
  CHECK(f.ask("test_write", {}, "k2").result);
  CHECK(f.probe.runs == 3);
}

/// An engine whose database may refuse to forget or to claim a key.
struct KeyFaults : FakeBackend {
  bool keeps_rows = false, claims_untold = false;
  int releases = 0;

  Status release_key(const std::string& subject, const IdempotencyKey& key) override {
    ++releases;
    if (keeps_rows) return make_error(Reason::Unavailable, "The disk is full.");
    return FakeBackend::release_key(subject, key);
  }
  Result<std::optional<Remembered>> claim_key(const std::string& subject,
                                              const IdempotencyKey& key) override {
    auto claimed = FakeBackend::claim_key(subject, key);
    if (claims_untold) return make_error(Reason::Unavailable, "The state writer did not answer.");
    return claimed;
  }
};

struct KeyFaultFixture {
  Probe probe;
  KeyFaults backend;
  std::unique_ptr<Dispatcher> dispatcher = make_dispatcher(
      Registry({probe_operation(probe, "test_write", Execution::Inline, Effect::Writes)}), backend);

  Answer ask() {
    Call call;
    call.operation = dispatcher->registry().find("test_write");
    call.input = Json{{"word", "a"}};
    call.principal = backend.world.principal;
    call.idempotency_key = "k";
    return dispatcher->call_and_wait(std::move(call));
  }
};

TEST_CASE("a key that a full disk kept is free as soon as the disk is", "[ops][A85][jobs-44]") {
  KeyFaultFixture f;
  f.probe.fails = make_error(Reason::Unavailable, "The disk is full.");
  f.backend.keeps_rows = true;
  CHECK(f.ask().result.error().reason == Reason::Unavailable);
  for (int i = 0; i < 3; ++i) {
    const Answer still = f.ask();  // ends, and says what is wrong
    REQUIRE_FALSE(still.result);
    CHECK(still.result.error().reason == Reason::Unavailable);
  }
  CHECK(f.backend.releases == 4);
  CHECK(f.probe.runs == 1);

  f.backend.keeps_rows = false;
  f.probe.fails.reset();

  CHECK(f.ask().result);
  CHECK(f.ask().is_replay);
  CHECK(f.probe.runs == 2);
}

TEST_CASE("a key whose claim was stored although nobody heard of it is free for the next call",
          "[ops][A85]") {
  KeyFaultFixture f;
  f.backend.claims_untold = true;
  CHECK(f.ask().result.error().reason == Reason::Unavailable);
  CHECK(f.backend.keys.size() == 1);
  f.backend.claims_untold = false;

  CHECK(f.ask().result);
  CHECK(f.ask().is_replay);
  CHECK(f.probe.runs == 1);
}

TEST_CASE("a key on a read means nothing", "[ops][A85]") {
  Fixture f;
  f.ask("test_read", {}, "k1");

  CHECK_FALSE(f.ask("test_read", {}, "k1").is_replay);
  CHECK(f.backend.keys.empty());
}

TEST_CASE("a second call with the key of a running one waits for it and replays", "[ops][A85]") {
  Fixture f;
  f.backend.lanes_wait = true;
  Call first = f.make_call("test_sized", Json{{"word", "a"}});
  first.idempotency_key = "k1";
  f.send(first);
  f.send(first);  // its wait is the second piece of work for a lane
  CHECK(f.answers.empty());

  f.backend.run_waiting_lanes();

  REQUIRE(f.answers.size() == 2);
  CHECK_FALSE(f.answers[0].is_replay);
  CHECK(f.answers[1].is_replay);
  CHECK(f.probe.runs == 1);
}

TEST_CASE("a caller waits for its job and is answered once, by its end", "[ops][E14]") {
  Fixture f;
  f.send(f.make_call("test_job", Json{{"word", "x"}}));
  CHECK(f.answers.empty());
  CHECK(f.backend.waiters["job1"] == 1);
  f.backend.tell("job.progress", "job1");

  f.backend.end_job("job1", JobState::Succeeded, Json{{"said", "x"}});
  f.backend.tell("job.finished", "job1");

  REQUIRE(f.answers.size() == 1);
  CHECK((*f.answers[0].result)["said"] == "x");
  CHECK(f.answers[0].job_id == "job1");
  CHECK(f.events == std::vector<std::string>{"job.progress"});
  CHECK(f.backend.waiters["job1"] == 0);
  CHECK(f.backend.enqueued[0].owner.subject == "local");
  CHECK_FALSE(f.backend.enqueued[0].keep);
}

TEST_CASE("a failed or cancelled job answers with its error", "[ops]") {
  Fixture f;
  f.send(f.make_call("test_job"));
  f.send(f.make_call("test_job"));

  f.backend.end_job("job1", JobState::Failed, {}, make_error(Reason::AiApplyConflict, "moved on"));
  f.backend.end_job("job2", JobState::Cancelled, Json{{"done", 3}});

  CHECK(f.answers[0].result.error().reason == Reason::AiApplyConflict);
  CHECK(f.answers[1].result.error().reason == Reason::Cancelled);
  CHECK(f.answers[1].result.error().details["partial"]["done"] == 3);
}

TEST_CASE("respond-async accepts the job with 202", "[ops][E14]") {
  Fixture f;
  Call call = f.make_call("test_sized");
  call.is_async = true;

  const Answer answer = f.dispatcher->call_and_wait(call);

  CHECK(answer.http_status == 202);
  CHECK(answer.is_accepted);
  CHECK((*answer.result)["job"]["id"] == "job1");
  CHECK(f.backend.enqueued[0].keep);
  CHECK(f.probe.runs == 0);
}

TEST_CASE("a sized call runs in place up to its limit, else as a job", "[ops]") {
  Fixture f;
  CHECK(f.ask("test_sized").result);
  CHECK(f.backend.enqueued.empty());

  f.probe.size = 2;
  f.send(f.make_call("test_sized"));

  CHECK(f.backend.enqueued.size() == 1);
}

TEST_CASE("the same request with the same key joins the running job", "[ops][E10][A85]") {
  Fixture f;
  Call call = f.make_call("test_job", Json{{"word", "a"}});
  call.idempotency_key = "k1";
  f.send(call);
  f.send(call);

  CHECK(f.backend.enqueued.size() == 1);
  CHECK(f.backend.waiters["job1"] == 2);
  f.backend.end_job("job1", JobState::Succeeded, Json{{"said", "a"}});

  REQUIRE(f.answers.size() == 2);
  CHECK(*f.answers[0].result == *f.answers[1].result);
  CHECK(f.ask("test_job", Json{{"word", "a"}}, "k1").is_replay);
}

TEST_CASE("a caller that goes away leaves the job to the others", "[ops]") {
  Fixture f;
  Call leaving = f.make_call("test_job", Json{{"word", "a"}});
  leaving.idempotency_key = "k1";
  Call staying = leaving;
  staying.cancel = CancelToken();
  f.send(leaving);
  f.send(staying);

  leaving.cancel.cancel(CancelReason::Requested);

  REQUIRE(f.answers.size() == 1);
  CHECK(f.answers[0].result.error().reason == Reason::Cancelled);
  CHECK(f.backend.waiters["job1"] == 1);
  f.backend.end_job("job1", JobState::Succeeded, Json::object());
  CHECK(f.answers.size() == 2);
}

TEST_CASE("a job that ended before the subscription began still answers", "[ops]") {
  struct QuickBackend : FakeBackend {
    Result<std::unique_ptr<Subscription>> subscribe(
        const EventFilter& filter, const std::optional<std::string>& last,
        std::function<bool(const Event&)> sink) override {
      jobs_by_id.at(filter.jobs.at(0)).state = JobState::Succeeded;
      jobs_by_id.at(filter.jobs.at(0)).result = Json{{"said", "quick"}};
      return FakeBackend::subscribe(filter, last, std::move(sink));
    }
  } backend;
  Probe probe;
  const auto dispatcher = make_dispatcher(
      Registry({probe_operation(probe, "test_job", Execution::Job, Effect::Writes)}), backend);
  Call call;
  call.operation = dispatcher->registry().find("test_job");
  call.principal = backend.world.principal;

  CHECK((*dispatcher->call_and_wait(call).result)["said"] == "quick");
}

TEST_CASE("calls from many threads are each answered once", "[ops]") {
  struct ThreadedBackend : FakeBackend {
    std::unique_ptr<Context> make_context(const Principal&, const CancelToken&, const std::string&,
                                          const std::optional<IdempotencyKey>&) override {
      thread_local FakeWorld own;
      return std::make_unique<FakeContext>(own);
    }
  } backend;
  std::atomic<int> runs = 0, answered = 0;
  Probe unused;
  Operation operation = probe_operation(unused, "test_read", Execution::Inline, Effect::Reads);
  operation.handler = [&](Context&, const Json&) -> Result<Json> {
    return Json{{"said", std::to_string(++runs)}};
  };
  const auto dispatcher = make_dispatcher(Registry({operation}), backend);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        Call call;
        call.operation = dispatcher->registry().find("test_read");
        call.principal = backend.world.principal;
        dispatcher->call(call, [&](Answer answer) { answered += answer.result ? 1 : 0; }, {});
      }
    });
  for (auto& thread : threads) thread.join();

  CHECK(runs == 400);
  CHECK(answered == 400);
}

}  // namespace
}  // namespace indx
