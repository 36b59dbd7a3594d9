#include "base/text.hpp"
#include "tests/actors/engine_fixture.hpp"

#include <mutex>
#include <set>

namespace indx {
namespace {

using std::chrono::milliseconds;

/// Notes that the builtin provider finds tags for.
struct TaggableNotes {
  TaggableNotes() {
    for (int i = 0; i < 5; ++i)
      vault.write(cat("n", i, ".md"),
                  cat("# Note ", i, "\n\nCompost warms the compost heap. #garden\n"));
  }
  TempFolder vault;
};

struct RunningEngine : TaggableNotes, ServedVault {
  RunningEngine()
      : ServedVault(vault, [](Config& config) {
          config.ai.provider = "builtin";
          config.jobs.lease = milliseconds(600);
          config.jobs.heartbeat = config.jobs.sweep = milliseconds(100);
        }) {}
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
