#pragma once
#include "ops/dispatch.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace indx {

/// Follows jobs by their events, without a thread. What nobody wants to hear any more ends by
/// itself. Thread-safe; the dispatcher outlives it.
class JobFollower {
 public:
  explicit JobFollower(Dispatcher& dispatcher) : dispatcher_(dispatcher) {}
  ~JobFollower() { stop(); }
  JobFollower(const JobFollower&) = delete;
  JobFollower& operator=(const JobFollower&) = delete;

  /// Called on any thread, one at a time; must not block.
  struct Listener {
    /// The record as job_get gives it: now, after each change of state, and at last when it is
    /// final. Or why it cannot be read, which is the last call too. False: heard enough.
    std::function<bool(const Result<Json>& record)> on_record;
    std::function<void(const Event&)> on_event = {};  ///< each event as it comes; empty: none
    std::function<bool()> is_wanted;                  ///< false: nobody waits any more
  };
  void follow(const Principal& principal, const std::string& job_id, Listener listener);
  /// Nobody hears of anything any more. Before the dispatcher ends, for calls that share this
  /// object may outlast it.
  void stop();

 private:
  class Follow;
  void sweep();

  Dispatcher& dispatcher_;
  std::mutex mutex_;
  bool is_stopped_ = false;
  std::vector<std::shared_ptr<Follow>> follows_;  // shared: with readings under way
};

}  // namespace indx
