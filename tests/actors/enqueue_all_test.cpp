#include "tests/actors/engine_fixture.hpp"

#include <mutex>

namespace indx {
namespace {

JobRequest prune_request() {
  JobRequest request;
  request.kind = "vault_prune";
  request.input = Json::object();
  request.owner = {.subject = "local", .surface = "cli", .scopes = {"vault:admin"}};
  request.keep = true;
  return request;
}

}  // namespace

TEST_CASE("jobs asked for at once all run, and one event tells of them", "[actors][jobs]") {
  const TempFolder folder;
  const ServedVault vault(folder, [](Config&) {});
  std::mutex mutex;
  std::vector<Event> told;
  const auto subscription = vault.engine->subscribe({.kinds = {"job.created", "job.created_many"}},
                                                    std::nullopt, [&](const Event& event) {
                                                      const std::scoped_lock lock(mutex);
                                                      told.push_back(event);
                                                      return true;
                                                    });
  REQUIRE(subscription);

  const auto ids = vault.engine->enqueue_all({3, prune_request()});

  REQUIRE(ids);
  REQUIRE(ids->size() == 3);
  for (const JobId& id : *ids)
    CHECK(comes_true([&] { return vault.state_of(id.value) == "succeeded"; }));
  CHECK(comes_true([&] {
    const std::scoped_lock lock(mutex);
    return !told.empty();
  }));
  const std::scoped_lock lock(mutex);
  REQUIRE(told.size() == 1);
  CHECK(told[0].kind == "job.created_many");
  CHECK(told[0].data == Json{{"operations", {{"vault_prune", 3}}}});
}

TEST_CASE("one job that is refused refuses all that were asked for with it", "[actors][jobs]") {
  const TempFolder folder;
  const ServedVault vault(folder, [](Config&) {});
  std::vector<JobRequest> requests(3, prune_request());
  requests[1].input["note"] = "\xff";

  const auto ids = vault.engine->enqueue_all(std::move(requests));

  REQUIRE_FALSE(ids);
  CHECK(ids.error().reason == Reason::ValidationFailed);
  CHECK(vault.ask("job_list", {{"kind", "vault_prune"}})["jobs"].empty());
}

}  // namespace indx
