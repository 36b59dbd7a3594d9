#include "bench/quality/quality_vault.hpp"

#include "bench/quality/packs.hpp"

#include <chrono>
#include <thread>

namespace indx::quality {

QualityVault::QualityVault(const std::filesystem::path& folder, Embeds embeds)
    : vault_(folder / "vault"), registry_(make_registry()) {
  auto config = bench::vault_config(folder);
  config.watch = false;
  config.durability = Durability::Off;
  config.ai.provider = "builtin";
  config.ai.embeddings_provider = embeds == Embeds::Yes ? "builtin" : "";
  engine_ = bench::need(Engine::start(config, registry_, {}));
  dispatcher_ = make_dispatcher(registry_, *engine_);
  while (bench::need(call("vault_status", Json::object()))["indexing"]["state"] != "idle")
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  if (embeds == Embeds::Yes) embed();
}

QualityVault::~QualityVault() { engine_->stop(); }

void QualityVault::embed() const {
  const auto state = [&] {
    return bench::need(call("vault_status", Json::object()))["embeddings"]["state"]
        .get<std::string>();
  };
  if (state() == "off") {
    std::fprintf(stderr, "quality_bench: no embedding model; scripts/setup fetches it\n");
    std::exit(1);
  }
  bench::need(call("vault_embed", Json::object()));
  // The server embeds by itself too: its job may be the one that does the rest.
  const double deadline = bench::now_s() + 1800;
  while (state() != "ready") {
    if (bench::now_s() > deadline) {
      std::fprintf(stderr, "quality_bench: the notes do not get their vectors\n");
      std::exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

bool QualityVault::has(const std::string& operation) const {
  return registry_.find(operation) != nullptr;
}

Result<Json> QualityVault::call(const std::string& operation, const Json& input) const {
  Call call;
  call.operation = registry_.find(operation);
  if (call.operation == nullptr)
    return make_error(Reason::NotFound, cat("there is no operation ", operation));
  call.input = input;
  call.principal = {.subject = "local", .surface = Surface::Cli, .scopes = {Scope::VaultAdmin}};
  call.keep = true;
  return std::move(dispatcher_->call_and_wait(call).result);
}

std::string QualityVault::bytes(const std::string& path) const { return read_text(vault_ / path); }

}  // namespace indx::quality
