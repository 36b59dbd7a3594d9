#pragma once
#include "actors/messages.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// A kind whose tries last no longer may be claimed ahead, and so long a try may have lasted whose
/// end is recorded.
inline constexpr std::chrono::microseconds kShortTry{500};

/// Hears of one job for each time it waited, or of none because the engine stops. `give` is called
/// by whoever commits.
struct WaitingRunner {
  std::uint64_t id = 0;  ///< never used again
  std::function<void(Claimed)> give;
};

/// What a handler leaves to be done when it has returned.
struct JobEnd {
  Lease lease;
  /// Stores how the try ended; empty: it was ended by somebody else, or is another's by now.
  std::function<Result<Json>(State&)> store = {};
  bool was_abandoned = false;  ///< another runner works in place of this one
  std::string kind = {};
  std::chrono::nanoseconds took{};
  bool is_recorded = false;  ///< the next start stores it, should the process be killed before
  /// Goes on when the end is stored; empty: it did already.
  std::optional<WaitingRunner> runner = {};
};

/// Runners that wait for a job, jobs that were claimed before a runner is free, and what the next
/// commit has to store of both. A runner whose last end is recorded goes on before it is stored, so
/// that a commit carries many; what it owes is bounded in number and time. Any other waits for the
/// commit: a kill repeats at most one job a runner. Times are monotonic. Not thread-safe.
class JobHandout {
 public:
  using Nanoseconds = std::chrono::nanoseconds;
  using Runner = WaitingRunner;

  /// A try that began though its claim said nothing of it yet.
  struct Begun {
    std::shared_ptr<const Job> job;  // shared: with its runner
    Timestamp at;
  };
  /// What a commit has to store beside the changes of callers.
  struct Owed {
    std::vector<Lease> given_back;  ///< of runners that ended
    std::vector<Lease> unbegun;     ///< claimed, and not wanted any more
    std::vector<Begun> begun;
    std::vector<JobEnd> ends;
    bool is_awaited = false;  ///< by the runner of an end
    bool empty() const;
  };

  // ---- runners
  void wait(Runner runner);
  bool has_waiting() const { return !waiting_.empty(); }
  std::size_t waiting() const { return waiting_.size(); }
  /// All who wait hear that there is nothing to come, as do those who come later, and what has not
  /// begun goes back. From then on no runner is held: one that is cannot end.
  void drain();
  /// The runner ended: the job that it had last goes back unless that has come to its end, for
  /// nobody else would ever take it back.
  void forget(std::uint64_t runner);

  // ---- jobs
  /// Gives a claimed job to the runner that has waited longest; false: there is none.
  bool give(const Claimed& claimed, const Lease& lease);
  void give_back(Lease lease) { owed_.given_back.push_back(std::move(lease)); }
  /// Keeps a job until somebody takes it.
  void keep(Claimed claimed, Lease lease, Nanoseconds now);
  /// The next job for a runner whose try has just ended.
  std::optional<Claimed> take(std::uint64_t runner, Timestamp at, Nanoseconds now);
  /// The same for those who wait.
  void give_kept(Timestamp at, Nanoseconds now);
  /// How many jobs of short kinds may be claimed beyond those that runners wait for.
  int room_ahead() const;
  bool is_short(const std::string& kind) const;
  /// What waits for a runner goes back: all, or what has waited for too long.
  std::vector<Lease> recall();
  void recall_late(Nanoseconds now);

  // ---- commits
  void end(JobEnd end, std::uint64_t runner, Nanoseconds now);
  /// The end is stored, or never will be: its runner waits for the next job.
  void go_on(JobEnd& end);
  /// Whether a commit should not wait for more to come.
  bool is_due(Nanoseconds now) const;
  bool owes() const { return !owed_.empty(); }
  /// Whether somebody has to look in a few milliseconds.
  bool needs_look() const { return !kept_.empty() || !owed_.empty(); }
  Owed take_owed();
  /// A commit failed.
  void owe_again(Owed owed, Nanoseconds now);

 private:
  struct Kept {
    Claimed claimed;
    Lease lease;
  };
  Claimed begin(std::uint64_t runner, Timestamp at, Nanoseconds now);
  void owe(Nanoseconds now);

  bool is_drained_ = false;
  std::deque<Runner> waiting_;
  std::map<std::uint64_t, std::optional<Lease>> runners_;  ///< and what each was given last
  std::deque<Kept> kept_;
  Nanoseconds kept_since_{};
  Owed owed_;
  Nanoseconds owed_since_{};
  std::map<std::string, Nanoseconds> times_;  ///< by kind: how long a try lasts
  Nanoseconds short_time_{};                  ///< the same for all of the short kinds
};

}  // namespace indx
