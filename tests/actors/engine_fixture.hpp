#pragma once
#include "actors/engine.hpp"
#include "tests/support/process.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace indx {

/// Whether the condition comes true within 30 s.
inline bool comes_true(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// A vault that is served inside of this process, from the moment that it starts.
class ServedVault {
 public:
  ServedVault(const TempFolder& folder, const std::function<void(Config&)>& configure,
              Registry operations = make_registry(), const EngineOptions& options = {})
      : registry(std::move(operations)), folder_(folder) {
    Config config;
    config.vault_dir = folder_.path();
    config.index_dir = folder_.path() + "/.indx";
    config.durability = Durability::Off;
    config.jobs.runners = 2;
    configure(config);
    auto started = Engine::start(config, registry, options);
    REQUIRE(started);
    engine = std::move(*started);
    dispatcher = make_dispatcher(registry, *engine);
  }
  ServedVault(const ServedVault&) = delete;
  ServedVault& operator=(const ServedVault&) = delete;
  ~ServedVault() { engine->stop(); }

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
  /// The answer; the error where there is none.
  Json ask(const std::string& operation, const Json& input) const {
    const auto answer = call(operation, input);
    return answer.result ? *answer.result : answer.result.error().to_json();
  }
  std::string state_of(const std::string& job) const {
    const Json found = ask("job_get", {{"id", job}});
    return found.contains("job") ? found["job"].value("state", "") : "";
  }
  /// Starts a job and gives its id once it has succeeded; empty when it does not.
  std::string run_job(const std::string& operation, const Json& input) const {
    const auto started = call(operation, input, true);
    if (!started.result) return {};
    const bool is_done = comes_true([&] { return state_of(started.job_id) == "succeeded"; });
    return is_done ? started.job_id : "";
  }
  bool has_file(const std::string& path) const {
    return std::filesystem::exists(folder_.path() + "/" + path);
  }

  const Registry registry;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Dispatcher> dispatcher;

 private:
  const TempFolder& folder_;
};

}  // namespace indx
