// One job that asks a model about 2,000 notes, in 16 lanes, where every answer takes 200 ms; then
// the same with what it found written into the notes. The model is played by a server in this
// process.
#include "bench/engine.hpp"
#include "bench/floor.hpp"
#include "tests/support/model_server.hpp"

#include <thread>

namespace {

using namespace indx;
using namespace indx::bench;

constexpr int kNotes = 2000, kLanes = 16;
constexpr milliseconds kDelay{200};

Json tag_all(bool apply) {
  return {{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}, {"apply", apply}};
}

/// Seconds of a bare call to the model, all else left out.
double bare_call_s(Provider& provider) {
  GenerateRequest request;
  request.messages = {{.role = "user", .content = "A note."}};
  const auto times = times_ms(5, [&](std::size_t) {
    if (provider.generate(request, CancelToken()).has_value()) return;
    std::fprintf(stderr, "job_provider: the model server does not answer\n");
    std::exit(1);
  });
  return percentile(times, .5) / 1000;
}

}  // namespace

int main() {
  const Folder folder("job-provider");
  generate_vault(folder.path / "vault", kNotes);
  const ModelServer model(0, kDelay);
  auto config = vault_config(folder.path);
  config.watch = false;
  config.jobs.lanes_per_job = kLanes;
  config.ai.provider = "openai";
  config.ai.model = "bench";
  config.ai.openai_base_url = model.base_url();
  config.ai.openai_api_key = "none";
  const auto provider = need(make_provider(config.ai));
  const double floor = bare_call_s(*provider) * kNotes / kLanes;
  const double slowest = 1.05 * kNotes * std::chrono::duration<double>(kDelay).count() / kLanes;

  const Registry registry = make_registry();
  const auto engine = need(Engine::start(config, registry, {}));
  const auto dispatcher = make_dispatcher(registry, *engine);
  while (ask(*dispatcher, "vault_status")["indexing"]["state"] != "idle")
    std::this_thread::sleep_for(milliseconds(5));

  double begin = now_s();
  const auto found = ask(*dispatcher, "ai_tag", tag_all(false));
  print({.name = "provider_2000_items_16_lanes",
         .value = now_s() - begin,
         .unit = "s",
         .floor = floor,
         .bar = slowest});
  const double replaces = seconds_to_replace(folder.path / "replace", kNotes);
  begin = now_s();
  const auto written = ask(*dispatcher, "ai_tag", tag_all(true));
  print({.name = "provider_2000_items_applied",
         .value = now_s() - begin,
         .unit = "s",
         .floor = floor + replaces,
         .bar = slowest + 1.3 * replaces});
  engine->stop();
  // A figure of less work would say nothing.
  const auto suggested = found["suggestions"].size(), applied = written["applied"].size();
  if (suggested == kNotes && applied >= kNotes * 95 / 100) return 0;
  std::fprintf(stderr, "job_provider: %zu notes were looked at and %zu written\n", suggested,
               applied);
  return 1;
}
