#pragma once
#include "actors/engine.hpp"
#include "actors/file_backend.hpp"
#include "actors/live_server.hpp"
#include "base/config.hpp"
#include "cli/global_flags.hpp"
#include "ops/dispatch.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace indx {

/// Where a command runs (G10): in this process, or at the server that holds the vault or was named.
struct Place {
  std::unique_ptr<Engine> engine;          ///< null: somewhere else, or none is needed
  std::unique_ptr<Backend> files;          ///< of a call that needs no engine; else null
  std::unique_ptr<Dispatcher> dispatcher;  ///< after what it uses, so that it ends first
  Principal principal;                     ///< the owner of the files, on surface cli

  Place() = default;
  Place(Place&&) = default;
  Place& operator=(Place&&) = default;
  ~Place() { close(); }
  /// Ends the calls, then the engine.
  void close();
};

struct PlaceOptions {
  std::vector<JobId>
      resume_jobs;  ///< runs them here; fails with `vault_locked` when a server holds the vault
  Needs needs = Needs::Engine;  ///< Files: where no server answers, the vault is read, not opened
  bool indexes = false;  ///< the call indexes: does not wait for another command that does so
};

/// `--remote`, `INDX_URL`, the live holder of the vault, or the vault itself. `registry` must
/// outlive the place.
Result<Place> open_place(const GlobalFlags& global, const Environment& env,
                         const Registry& registry, const PlaceOptions& options);

/// The folder of the vault that a command works on; empty: a server was named, and it knows.
std::string named_vault(const GlobalFlags& global, const Environment& env);

/// The configuration of the vault that the flags or the environment name; warnings go to the log.
/// `missing_vault`: what to serve when neither does.
Result<Config> load_vault_config(const GlobalFlags& global, const Environment& env,
                                 const std::string& missing_vault);

/// The holder of the vault, when there is one. One that is just starting is waited for, up to 5 s;
/// then `vault_locked`. With `indexes` one that indexes and takes no calls is not waited for.
Result<std::optional<LiveServer>> wait_for_live_server(const Config& config, bool indexes = false);

/// Calls to the live holder, with the owner's token unless `token` is given. `revive`: see
/// RemoteTarget.
Result<std::unique_ptr<Dispatcher>> connect_to(const LiveServer& server, const Config& config,
                                               const std::string& token, const Registry& registry,
                                               std::function<bool(const CancelToken&)> revive = {});
/// A killed server leaves its address behind, and a short command may hold the lock now.
bool is_gone(const LiveServer& server);
bool is_reachable(const LiveServer& server);
/// `vault_locked`, naming the process and where it listens.
Error locked_error(const LiveServer& server, const std::string& advice);
/// Whether calls to it go over its socket, where a caller's narrowed rights are honoured.
bool has_usable_socket(const LiveServer& server);

/// The longest path that a local socket can have.
inline constexpr std::size_t kMaxSocketPath = 107;

Principal owner_principal(Surface surface);

}  // namespace indx
