#pragma once
#include "base/text.hpp"
#include "jobs/job_state.hpp"
#include "ops/define.hpp"
#include "ops/jobs.hpp"
#include "tests/actors/engine_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace indx {

struct TestAsk {
  std::string what;
  int number = 0;
};
struct TestSaid {
  std::string text;
};
using TestHandler = std::function<Result<TestSaid>(Context&, const TestAsk&)>;

inline Operation test_operation(const std::string& name, TestHandler handler,
                                JobPolicy policy = {}) {
  return define<TestAsk, TestSaid>({
      .name = name,
      .summary = "Does what the test says.",
      .guidance = "For tests.",
      .scopes = {Scope::VaultRead},
      .route = {"POST", "/v1/test/" + name},
      .execution = Execution::Job,
      .effect = Effect::Writes,
      .job = std::move(policy),
      .input = {field("what", &TestAsk::what, "Anything.", optional),
                field("number", &TestAsk::number, "Any number.", optional)},
      .output = {field("text", &TestSaid::text, "What came of it.")},
      .handler = std::move(handler),
  });
}

inline Operation quick_operation(const std::string& name) {
  return test_operation(
      name, [](Context&, const TestAsk& in) -> Result<TestSaid> { return TestSaid{in.what}; });
}

inline void wait_until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(milliseconds(1));
}

inline Status work_until_cancelled(Context& ctx) {
  wait_until([&] { return ctx.cancel().is_cancelled(); });
  return make_error(Reason::Cancelled, "stopped");
}

/// An engine with operations of the test beside those of the product. It can stop and start again.
class JobEngine {
 public:
  explicit JobEngine(std::vector<Operation> operations,
                     const std::function<void(Config&)>& configure = {},
                     std::function<void()> on_stuck_stop = {})
      : registry_(with_product(std::move(operations))) {
    options_.on_stuck_stop = std::move(on_stuck_stop);
    config_.vault_dir = folder_.path();
    config_.index_dir = folder_.path() + "/.indx";
    config_.durability = Durability::Off;
    config_.watch = false;
    config_.rate_limit_per_minute = 0;
    config_.jobs.runners = 1;
    config_.jobs.heartbeat = config_.jobs.sweep = milliseconds(100);
    if (configure) configure(config_);
    start();
  }
  JobEngine(const JobEngine&) = delete;
  JobEngine& operator=(const JobEngine&) = delete;
  ~JobEngine() { stop(); }

  void start() {
    auto started = Engine::start(config_, registry_, options_);
    REQUIRE(started);
    engine = std::move(*started);
    dispatcher = make_dispatcher(registry_, *engine);
  }
  void stop() {
    dispatcher.reset();
    engine.reset();
  }

  Answer call(const std::string& name, const Json& input, bool is_async = false,
              const std::string& key = "") const {
    Call call;
    call.operation = registry_.find(name);
    call.input = input;
    call.is_async = is_async;
    call.idempotency_key = key;
    auto principal = dispatcher->authenticate(engine->owner_token());
    if (!principal) return {principal.error(), 401, "", false, false};
    call.principal = *principal;
    return dispatcher->call_and_wait(std::move(call));
  }
  JobId begin(const std::string& name, const Json& input = Json::object()) const {
    return {call(name, input, true).job_id};
  }
  Job job(const JobId& id) const { return engine->job(id).value(); }
  bool comes_to(const JobId& id, JobState state) const {
    return comes_true([&] { return job(id).state == state; });
  }
  int stuck_handlers() const { return engine->health().value("stuck_handlers", -1); }
  std::string logged() const { return folder_.read(".indx/events.log"); }

  std::unique_ptr<Engine> engine;
  std::unique_ptr<Dispatcher> dispatcher;

 private:
  static Registry with_product(std::vector<Operation> operations) {
    const Registry product = make_registry();
    operations.insert(operations.end(), product.all().begin(), product.all().end());
    return Registry(std::move(operations));
  }
  TempFolder folder_;
  Config config_;
  EngineOptions options_;
  const Registry registry_;
};

}  // namespace indx
