#include "cli/vault_host.hpp"

#include "base/log.hpp"
#include "cli/mcp_serve.hpp"
#include "cli/place.hpp"
#include "http/rest.hpp"

#include <chrono>
#include <unistd.h>
#include <utility>

namespace indx {
namespace {

/// How long one that is just starting, or just stopping, is waited for.
constexpr std::chrono::seconds kTakeoverPatience{5};
constexpr std::chrono::milliseconds kPause{50};
constexpr int kPausesToLook = 10;

/// The client is gone, so nobody waits for what does not stop in time: the next start settles it.
void drop_stuck_work() {
  log_warn("work that did not stop in time was cut off; the next start goes on with it");
  ::_exit(0);
}

}  // namespace

Result<std::unique_ptr<VaultHost>> VaultHost::start(const Config& config,
                                                    const Registry& registry) {
  EngineOptions options;
  options.on_stuck_stop = drop_stuck_work;
  auto engine = INDX_TRY(Engine::start(config, registry, options));
  std::unique_ptr<VaultHost> host(new VaultHost(std::move(engine), registry));
  host->listen();
  return host;
}

VaultHost::VaultHost(std::unique_ptr<Engine> engine, const Registry& registry)
    : engine_(std::move(engine)),
      dispatcher_(make_dispatcher(registry, *engine_)),
      mcp_(make_mcp_http(*dispatcher_, mcp_options(engine_->config()))) {
  add_rest_routes(router_, *dispatcher_);
  mcp_->add_routes(router_);
}

VaultHost::~VaultHost() {
  if (server_) server_->drain();
  engine_->stop();
  mcp_->stop();
  if (server_) server_->stop();
}

void VaultHost::listen() {
  ServerConfig listener;
  listener.host.clear();
  listener.unix_socket = engine_->config().index_dir + "/socket";
  listener.workers = 2;
  if (listener.unix_socket.size() > kMaxSocketPath)
    return log_warn(
        "other commands cannot reach this process: the path of its socket would be too long");
  auto started =
      HttpServer::start(listener, [this](const HttpRequest& request, Responder responder) {
        router_.handle(request, std::move(responder));
      });
  if (!started)
    return log_warn("other commands cannot reach this process",
                    Json{{"reason", started.error().message}});
  server_ = std::move(*started);
  if (const auto announced = engine_->announce("", listener.unix_socket); !announced)
    log_error("other processes will not find this one");
}

VaultKeeper::VaultKeeper(Config config, const Registry& registry)
    : config_(std::move(config)), registry_(registry) {
  watch_ = std::jthread([this](const std::stop_token& ended) {
    for (int tick = 1; !ended.stop_requested(); ++tick) {
      std::this_thread::sleep_for(kPause);
      if (tick % kPausesToLook == 0 && is_holder_gone()) look();
    }
  });
}

/// Takes no lock, which would be in the way of one who starts.
bool VaultKeeper::is_holder_gone() const {
  const auto server = announced_server(config_);
  return !server || is_gone(*server);
}

VaultKeeper::Found VaultKeeper::look() {
  const std::scoped_lock lock(mutex_);
  if (host_) return Found::Holder;
  auto started = VaultHost::start(config_, registry_);
  if (started) {
    host_ = std::move(*started);
    log_info("the process that held the vault is gone; this one holds it now");
    return Found::Holder;
  }
  if (started.error().reason != Reason::VaultLocked) {
    log_error("the vault cannot be taken over", Json{{"reason", started.error().message}});
    return Found::Trouble;
  }
  const auto server = announced_server(config_);
  return server && is_reachable(*server) ? Found::Holder : Found::Nobody;
}

bool VaultKeeper::ensure(const CancelToken& cancel) {
  const auto until = std::chrono::steady_clock::now() + kTakeoverPatience;
  while (true) {
    const Found found = look();
    if (found != Found::Nobody) return found == Found::Holder;
    if (cancel.is_cancelled() || std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace indx
