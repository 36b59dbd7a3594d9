#include "actors/engine.hpp"

#include "base/text.hpp"
#include "tests/support/process.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <mutex>
#include <thread>

namespace indx {
namespace {

using std::chrono::milliseconds;

bool comes_true(const std::function<bool()>& condition,
                milliseconds longest = std::chrono::seconds(20)) {
  const auto deadline = std::chrono::steady_clock::now() + longest;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

/// A served vault inside of this process.
struct RunningEngine {
  RunningEngine() {
    for (int i = 0; i < 5; ++i)
      vault.write(cat("n", i, ".md"),
                  cat("# Note ", i, "\n\nCompost warms the compost heap. #garden\n"));
    Config config;
    config.vault_dir = vault.path();
    config.index_dir = vault.path() + "/.indx";
    config.durability = Durability::Off;
    config.ai.provider = "builtin";
    config.jobs.lease = milliseconds(600);
    config.jobs.heartbeat = milliseconds(100);
    config.jobs.sweep = milliseconds(100);
    config.jobs.runners = 2;
    auto started = Engine::start(config, registry, {});
    REQUIRE(started);
    engine = std::move(*started);
    dispatcher = make_dispatcher(registry, *engine);
  }
  ~RunningEngine() { engine->stop(); }

  Answer call(const std::string& operation, const Json& input, bool is_async = false) const {
    Call call;
    call.operation = registry.find(operation);
    call.input = input;
    call.is_async = call.keep = is_async;
    auto principal = dispatcher->authenticate(engine->owner_token());
    if (!principal) return {principal.error(), 401, "", false, false};
    call.principal = *principal;
    return dispatcher->call_and_wait(std::move(call));
  }
  bool works(const std::string& operation, const Json& input) const {
    return call(operation, input).result.has_value();
  }
  std::string state_of(const std::string& job) const {
    const auto answer = call("job_get", {{"id", job}});
    return answer.result ? (*answer.result)["job"].value("state", "") : "";
  }

  TempFolder vault;
  const Registry registry = make_registry();
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Dispatcher> dispatcher;
};

}  // namespace

TEST_CASE("the service recovers when an actor crashes, and loses no job", "[actors][E22]") {
  const RunningEngine running;
  int number = 0;
  std::vector<std::string> written;
  for (const std::string actor :
       {"state", "vault_writer", "indexer", "event_bus", "audit", "job_runner_0", "job_runner_1"}) {
    INFO(actor);
    std::vector<std::string> jobs;
    for (int i = 0; i < 6; ++i) {
      const auto started =
          running.call("ai_tag", {{"scope", {{"kind", "glob"}, {"path_glob", "n*.md"}}}}, true);
      REQUIRE(started.result);
      jobs.push_back(started.job_id);
    }

    running.engine->crash_actor(actor);

    const std::string path = cat("after-", ++number, ".md"), word = cat("recovered", number);
    std::string refusal;
    const bool writes = comes_true([&] {
      const auto answer =
          running.call("note_write", {{"path", path}, {"body", "The word " + word + ".\n"}});
      refusal = answer.result ? "" : answer.result.error().to_json().dump();
      return answer.result.has_value();
    });
    INFO(refusal);
    REQUIRE(writes);
    written.push_back(path);
    CHECK(comes_true([&] {
      const auto found = running.call("vault_search", {{"q", word}, {"match", "all"}});
      return found.result && (*found.result)["results"].size() == 1;
    }));
    for (const auto& job : jobs)
      CHECK(comes_true([&] { return running.state_of(job) == "succeeded"; }));
    CHECK(running.works("vault_reindex", {{"rebuild", false}}));

    std::mutex mutex;
    std::set<std::string> heard;
    const auto subscription =
        running.dispatcher->subscribe({}, std::nullopt, [&](const Event& event) {
          const std::scoped_lock lock(mutex);
          heard.insert(event.data.value("path", ""));
          return true;
        });
    REQUIRE(subscription);
    const std::string by_hand = cat("by-hand-", number, ".md");
    running.vault.write(by_hand, "by hand\n");
    CHECK(comes_true([&] {
      const std::scoped_lock lock(mutex);
      return heard.contains(by_hand);
    }));
    written.push_back(by_hand);
  }
  running.engine->stop();

  std::multiset<std::string> logged;
  for (const auto& line : split(running.vault.read(".indx/events.log"), '\n')) {
    const Json event = Json::parse(line, nullptr, false);
    if (event.is_object() && event.value("kind", "") == "note.created")
      logged.insert(event.value("path", ""));
  }
  for (const auto& path : written) {
    INFO(path);
    CHECK(logged.count(path) == 1);
  }
}

}  // namespace indx
