#pragma once
#include "ai/embedder.hpp"
#include "base/config.hpp"
#include "ops/dispatch.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace indx {

struct EngineOptions {
  /// Serve: watcher, all jobs, orphans rescued. Command: one CLI call: a stat scan instead of a
  /// watcher, only jobs that this process enqueues (G11).
  enum class Mode : std::uint8_t { Serve, Command };
  Mode mode = Mode::Serve;
  bool scan_on_start = true;       ///< Command: bring the index up to date before the first search
                                   ///< (`--no-scan` clears it)
  std::vector<JobId> resume_jobs;  ///< Command: also run these
  /// In place of the configured model for embeddings. Shared: a test looks at what it was asked.
  std::shared_ptr<Embedder> embedder = nullptr;
  /// A handler ignored the stop for longer than the grace. Its job is given back and all else is
  /// stored by then; who cannot wait for the handler ends the process here. Empty: waits for it.
  std::function<void()> on_stuck_stop = {};
};

/// The running product of one vault: owns the lock, the actors, the lanes and the read connections.
/// Blocks its callers, so only http, mcp, cli threads and detached workers use it.
class Engine : public Backend {
 public:
  /// Opens everything and settles what a crash left behind (G2). Fails with `vault_locked`,
  /// `unsupported_version`…
  static Result<std::unique_ptr<Engine>> start(const Config& config, const Registry& registry,
                                               const EngineOptions& options);

  /// The owner token of this vault (`.indx/token`), made at the first start.
  virtual std::string owner_token() const = 0;
  virtual std::string owner_token_path() const = 0;
  /// Writes `server.json`, so that other processes find this one. Empty url: only the local socket.
  virtual Status announce(const std::string& url, const std::string& socket_path) = 0;
  /// The same for a command that holds the vault to index it and takes no calls.
  virtual Status announce_indexing() = 0;
  /// Commits many jobs of one caller at once, told as one event `job.created_many`. Gives their ids
  /// in the order of the requests; one that is refused refuses all.
  virtual Result<std::vector<JobId>> enqueue_all(std::vector<JobRequest> requests) = 0;
  /// Ends one actor as a crash would; for tests of recovery.
  virtual void crash_actor(const std::string& name) = 0;
  /// Stops claims and new calls (`draining`), cancels with reason shutdown, waits the grace, closes
  /// (G18). Idempotent.
  virtual void stop() = 0;
};

}  // namespace indx
