#pragma once
#include "actors/engine.hpp"
#include "bench/support.hpp"
#include "http/rest.hpp"
#include "http/server.hpp"

#include <functional>
#include <memory>

// Engines over the vault of a folder, and calls of them.
namespace indx::bench {

inline Config vault_config(const std::filesystem::path& folder) {
  Config config;
  config.vault_dir = (folder / "vault").string();
  config.index_dir = (folder / "index").string();
  config.rate_limit_per_minute = 0;
  return config;
}

/// The result of a call of the owner, which is kept; ends the program when it fails.
inline Json ask(Dispatcher& dispatcher, const char* operation, const Json& input = Json::object()) {
  Call call;
  call.operation = dispatcher.registry().find(operation);
  call.input = input;
  call.principal = {.subject = "local", .surface = Surface::Cli, .scopes = {Scope::VaultAdmin}};
  call.keep = true;
  return need(std::move(dispatcher.call_and_wait(call).result));
}

/// An engine behind HTTP, at a port of its own.
class ServedEngine {
 public:
  /// `add_routes`: of what is measured beside it.
  explicit ServedEngine(const std::filesystem::path& folder,
                        const std::function<void(Router&)>& add_routes = {})
      : registry_(make_registry()) {
    auto config = vault_config(folder);
    config.durability = Durability::Normal;
    engine_ = need(Engine::start(config, registry_, {}));
    dispatcher_ = make_dispatcher(registry_, *engine_);
    add_rest_routes(router_, *dispatcher_);
    if (add_routes) add_routes(router_);
    server_ = need(HttpServer::start({}, [this](const HttpRequest& request, Responder responder) {
      router_.handle(request, responder);
    }));
  }
  ServedEngine(const ServedEngine&) = delete;
  ServedEngine& operator=(const ServedEngine&) = delete;
  ~ServedEngine() {
    engine_->stop();
    server_->stop();
  }

  Engine& engine() { return *engine_; }
  int port() const { return server_->port(); }
  /// A request of the owner, as it goes over the wire.
  std::string get(const std::string& target, const std::string& more_headers = {}) const {
    return cat("GET ", target, " HTTP/1.1\r\nHost: 127.0.0.1:", port(),
               "\r\nAuthorization: Bearer ", engine_->owner_token(), "\r\n", more_headers, "\r\n");
  }

 private:
  Registry registry_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Dispatcher> dispatcher_;
  Router router_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace indx::bench
