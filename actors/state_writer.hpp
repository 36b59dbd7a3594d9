#pragma once
#include "actors/job_handout.hpp"
#include "actors/parts.hpp"
#include "actors/state.hpp"
#include "actors/storage_trouble.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace indx {

class Directory;

/// Group commit of state.db for all threads (G1). Who comes while nobody commits leads: it runs
/// what has gathered in one transaction, gives the others their results after the one sync, and
/// goes on while more gathers; after a few milliseconds one of those who wait leads. So a caller
/// that is alone waits for no other thread. Group commit as in P. Helland et al., "Group Commit
/// Timers and High Volume Transaction Systems" (1987). Thread-safe. Nothing that runs inside may
/// call it.
class StateWriter {
 public:
  StateWriter(Parts& parts, Directory& directory, std::unique_ptr<State> state);
  StateWriter(const StateWriter&) = delete;
  StateWriter& operator=(const StateWriter&) = delete;

  /// Each change in a savepoint of its own, so that one that fails undoes nothing of the others.
  /// Blocks until the commit. `unavailable` for all when it failed, when their turn did not come
  /// in time, or after `close`: nothing of them is stored.
  std::vector<Result<Json>> change(std::vector<StateChange> changes);
  Result<Json> change(StateChange change);

  using Runner = JobHandout::Runner;
  /// Leases the next due job, in the next commit that has one.
  void ask_for_job(Runner runner);
  /// The try of a runner ended. Gives the job that comes next when the end is recorded and there is
  /// one already; else the runner hears of it, and unless the end is recorded not before it is
  /// stored. While this instance lives nobody else takes the job back, so an end that storage
  /// refuses is tried again until the engine stops.
  std::optional<Claimed> end_and_ask(JobEnd end, Runner runner);
  /// The runner ended. The job that it was given last goes back unless its end is stored, for
  /// nobody else would ever take it back.
  void forget(std::uint64_t runner);
  /// From now on nobody is given a job.
  void drain();
  /// Closes state.db.
  void close();

  // For the actor of the timers; each waits for its turn.
  /// Looks for jobs that may run now.
  void look();
  /// Stores what runners owe, and puts back what was claimed for them and they do not take.
  void settle();
  /// The same after storage failed, which has held claims back since.
  void look_again();
  /// Renews the leases of this instance.
  void heartbeat();
  /// Deletes a chunk of what is kept no longer. `true`: there is more.
  Result<bool> prune();
  void bound_wal();
  /// Ends the try of a handler that ignores its time limit. Gives the job; nullopt: its end came in
  /// between, or could not be stored.
  std::optional<Job> time_out(const Lease& lease);
  std::optional<milliseconds> next_schedule_in(milliseconds longest);

 private:
  struct Call;
  struct Round;
  class Turn;
  using Lock = std::unique_lock<std::mutex>;

  void run(Lock& lock, Call& call);
  void lead(Lock& lock);
  void commit_round(Lock& lock);
  void hand_out(std::vector<Job> jobs, std::size_t wanted);
  bool has_to_look() const;
  void ask_to_settle();
  void lead_if_free(Lock& lock);

  // Of the one who leads, without the lock.
  template <typename Body>
  Status store(std::string_view doing, const Body& body,
               const std::function<void()>& when_stored = {});
  template <typename Body>
  auto in_savepoint(const Body& body) -> decltype(body());
  Status apply(Round& round);
  Status give_back(Round& round);
  Status put_back(const std::vector<Lease>& unbegun);
  Status store_ends(Round& round);
  bool end_again(const JobEnd& end, const Error& error);
  Status recall();
  Status claim(Round& round);
  void publish(std::vector<Event> events);
  void complain(std::string_view doing, const Error& error);
  void wake_when_due();

  Parts& parts_;
  Directory& directory_;
  const Clock& clock_;  ///< that of the state

  std::mutex mutex_;
  bool is_led_ = false;
  std::deque<Call*> waiting_;
  JobHandout handout_;
  bool is_draining_ = false, is_closed_ = false;
  bool is_claim_delayed_ = false;  ///< storage failed: claims wait for `look_again`
  bool looks_for_jobs_ = false;    ///< a runner came, or a job may have become due
  bool is_settle_sent_ = false;    ///< a message is on its way that settles

  // Of the one who leads.
  std::unique_ptr<State> state_;
  Round* round_ = nullptr;             ///< the one whose changes are applied
  std::optional<Timestamp> wakes_at_;  ///< a message is on its way that looks for due jobs
  StorageTrouble trouble_, pinned_wal_;
};

}  // namespace indx
