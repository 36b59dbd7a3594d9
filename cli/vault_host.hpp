#pragma once
#include "actors/engine.hpp"
#include "base/cancel.hpp"
#include "base/config.hpp"
#include "http/router.hpp"
#include "http/server.hpp"
#include "mcp/http_transport.hpp"
#include "ops/dispatch.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

namespace indx {

/// The vault, held by a process that serves one host over stdio: longer than one command, so others
/// must be able to call, and the local socket listens (G10).
class VaultHost {
 public:
  /// `vault_locked`: somebody holds the vault. `registry` must outlive it.
  static Result<std::unique_ptr<VaultHost>> start(const Config& config, const Registry& registry);
  VaultHost(const VaultHost&) = delete;
  VaultHost& operator=(const VaultHost&) = delete;
  ~VaultHost();

  Dispatcher& dispatcher() { return *dispatcher_; }

 private:
  VaultHost(std::unique_ptr<Engine> engine, const Registry& registry);
  void listen();

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Dispatcher> dispatcher_;
  Router router_;
  std::unique_ptr<McpHttp> mcp_;
  std::unique_ptr<HttpServer> server_;
};

/// Takes the vault over when the process that holds it is gone, so that its socket answers again:
/// hosts come and go in any order. Thread-safe.
class VaultKeeper {
 public:
  /// `registry` must outlive it.
  VaultKeeper(Config config, const Registry& registry);

  /// Whether somebody holds the vault and takes calls, this process if nobody else. One that is
  /// just starting or stopping is waited for, up to 5 s.
  bool ensure(const CancelToken& cancel);

 private:
  enum class Found : std::uint8_t { Holder, Nobody, Trouble };
  /// Waits for nobody.
  Found look();
  bool is_holder_gone() const;

  const Config config_;
  const Registry& registry_;
  std::mutex mutex_;
  std::unique_ptr<VaultHost> host_;  // under the mutex
  std::jthread watch_;               // ends first
};

}  // namespace indx
