#pragma once
#include "actors/messages.hpp"
#include "actors/parts.hpp"
#include "actors/state_writer.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace caf {
class actor_system;
}

namespace indx {

class Directory;

/// Asks the actors on behalf of plain threads. Every call blocks its caller up to a deadline; a
/// full queue or an actor that is gone gives `unavailable`. Thread-safe.
class Core {
 public:
  Core(Parts& the_parts, StateWriter& the_state_writer, Directory& directory,
       caf::actor_system& system)
      : parts(the_parts), state_writer(the_state_writer), directory_(directory), system_(system) {}

  /// Opens the read connection of state.db.
  Status open();

  /// Commits one change of state.db.
  Result<Json> change(std::function<Result<Json>(State&)> apply);
  /// The same with a typed result.
  template <typename T>
  Result<T> change_for(std::function<Result<T>(State&)> apply) {
    auto out = std::make_shared<std::optional<T>>();  // shared: the change may run after the caller
                                                      // gave up
    INDX_TRY(change([apply = std::move(apply), out](State& state) -> Result<Json> {
      *out = INDX_TRY(apply(state));
      return Json();
    }));
    return std::move(**out);
  }
  /// Runs `apply` in a second, if it still makes sense then.
  void change_later(std::chrono::milliseconds delay, std::function<Result<Json>(State&)> apply);

  Result<WriteOutcome> write(WriteRequest request);
  Result<Json> check_etags(EtagCheck check);
  Result<Json> scan(ScanRequest request);
  /// Commits one change of the rows of vectors.
  Result<Json> change_vectors(std::function<Result<Json>(NoteIndexWriter&)> apply);
  Result<GenerateReply> model_call(ModelCall call);

  /// Gives the number of the subscription.
  Result<std::int64_t> join(EventFilter filter, std::optional<std::string> last_event_id,
                            std::function<bool(const Event&)> sink);
  void leave(std::int64_t subscription);
  /// The event bus started anew and knows nobody: every subscription goes on with a reset.
  void join_all_again();

  /// Reads state.db on its own connection, one caller at a time.
  template <typename Read>
  auto read_state(Read&& read) {
    const std::scoped_lock lock(reader_mutex_);
    return read(*reader_);
  }

  /// The same for what the queue reads, large results on disk included.
  template <typename Read>
  auto read_queue(Read&& read) {
    return read_state([&](Database& db) {
      JobQueue::Settings settings;
      settings.spill_dir = parts.config.index_dir + "/spill";
      JobQueue queue(db, parts.clock, parts.random, std::move(settings));
      return read(queue);
    });
  }

  Result<Job> job(const JobId& id);
  Result<std::optional<Json>> find_step(const JobId& job, const std::string& key,
                                        const std::string& inputs_hash);
  Result<Job> cancel_job(const JobId& id);
  void add_waiter(const JobId& id);
  void remove_waiter(const JobId& id);

  Result<Principal> authenticate(const std::string& token);
  void forget_tokens();
  /// Event streams that a token opened end with it.
  std::string subject_of_token(const std::string& id) const;
  void end_streams_of(const std::string& subject);

  /// Statistics over the notes inside `scope`, kept for one vault generation.
  Result<std::shared_ptr<const Corpus>> corpus(const PathScope& scope);
  /// Command mode: compares the index with the files once, before the first question to it.
  Status ensure_scanned();
  /// The same even where questions do without.
  Status scan_once();
  /// Returns when the index holds what was written before the call.
  Status catch_up();
  /// See Backend::revision.
  std::optional<std::string> revision(bool of_index, const std::vector<std::string>& paths);

  Parts& parts;
  StateWriter& state_writer;
  bool scans_on_demand = false;
  bool is_served = false;  ///< a comparison of all files begins by itself

 private:
  Directory& directory_;
  caf::actor_system& system_;

  std::mutex reader_mutex_;
  std::optional<Database> reader_;
  std::mutex waiters_mutex_;
  std::map<JobId, int> waiters_;
  std::mutex subscriptions_mutex_;
  std::map<std::int64_t, SubscribeRequest> subscriptions_;  ///< by number
  std::int64_t last_subscription_ = 0;
  std::mutex tokens_mutex_;
  std::map<std::string, std::pair<Principal, std::chrono::nanoseconds>>
      tokens_;  ///< by hash of the secret, with expiry
  std::mutex corpus_mutex_;
  std::string corpus_key_;
  std::shared_ptr<const Corpus> corpus_;  // shared: lanes use it while a newer one is built
  std::once_flag scanned_;
  Status scan_status_;
};

}  // namespace indx
