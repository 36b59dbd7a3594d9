#pragma once
#include "actors/run_marks.hpp"
#include "base/cancel.hpp"
#include "base/ids.hpp"
#include "jobs/job.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace indx {

/// The tries that run in this process, from their claim until their end is stored: their cancel
/// tokens, so that a cancel reaches sockets at once, their time limits, and the marks that tell the
/// next start what became of them. Times are monotonic. Thread-safe.
class RunningJobs {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  /// Begins to mark, before any try is added.
  void use_marks(std::unique_ptr<RunMarks> marks) { marks_ = std::move(marks); }
  bool has_marks() const { return marks_ != nullptr; }

  /// `limit`: 0 for none.
  void add(const Lease& lease, const CancelToken& token, milliseconds limit, Nanoseconds now) {
    Try added{.lease = lease, .token = token};
    if (limit.count() > 0) added.ends_at = now + limit;
    const std::scoped_lock lock(mutex_);
    tries_.insert_or_assign(key(lease), std::move(added));
  }
  /// One that no runner is free for yet.
  void add_waiting(const Lease& lease, const CancelToken& token) {
    const std::scoped_lock lock(mutex_);
    tries_.insert_or_assign(key(lease), Try{.lease = lease, .token = token, .is_waiting = true});
  }
  /// Its handler is about to be called.
  void begin(const Lease& lease) {
    const std::scoped_lock lock(mutex_);
    const auto it = tries_.find(key(lease));
    if (it == tries_.end()) return;
    it->second.is_waiting = false;
    if (marks_) it->second.mark = marks_->set(lease);
  }
  void remove(const Lease& lease) {
    const std::scoped_lock lock(mutex_);
    const auto it = tries_.find(key(lease));
    if (it != tries_.end()) erase(it);
  }
  void cancel(const JobId& id, CancelReason why) {
    std::vector<CancelToken> tokens;
    {
      const std::scoped_lock lock(mutex_);
      for (auto it = tries_.lower_bound({id, 0}); it != tries_.end() && it->first.first == id; ++it)
        tokens.push_back(it->second.token);
    }
    for (const auto& token : tokens) token.cancel(why);
  }
  void cancel_all(CancelReason why) {
    std::vector<CancelToken> all;
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& [id, one] : tries_) all.push_back(one.token);
    }
    for (const auto& token : all) token.cancel(why);
  }
  /// Those that runners have in hand, without the abandoned ones.
  std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(tries_.begin(), tries_.end(), [](const auto& entry) {
          return !entry.second.is_abandoned && !entry.second.is_waiting &&
                 !entry.second.has_returned;
        }));
  }
  bool empty() const {
    const std::scoped_lock lock(mutex_);
    return tries_.empty();
  }
  /// Without the abandoned ones.
  std::vector<Lease> leases() const {
    const std::scoped_lock lock(mutex_);
    std::vector<Lease> leases;
    for (const auto& [id, one] : tries_)
      if (!one.is_abandoned) leases.push_back(one.lease);
    return leases;
  }

  /// Cancels the tries whose time is up. Gives those that have ignored that for `grace`.
  std::vector<Lease> check_limits(Nanoseconds now, milliseconds grace) {
    std::vector<CancelToken> late;
    std::vector<Lease> stuck;
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& [id, one] : tries_) {
        if (!one.ends_at || *one.ends_at > now) continue;
        late.push_back(one.token);
        if (*one.ends_at + grace <= now) stuck.push_back(one.lease);
      }
    }
    for (const auto& token : late) token.cancel(CancelReason::TimeLimit);
    return stuck;
  }
  /// When the next limit, or the grace after one, is over.
  std::optional<Nanoseconds> next_check(Nanoseconds now, milliseconds grace) const {
    std::optional<Nanoseconds> next;
    const std::scoped_lock lock(mutex_);
    for (const auto& [id, one] : tries_) {
      if (!one.ends_at) continue;
      const auto at = *one.ends_at > now ? *one.ends_at : *one.ends_at + grace;
      next = std::min(at, next.value_or(at));
    }
    return next;
  }
  /// Its try was ended in its place, and another runner works in place of its own. False: the
  /// handler has returned meanwhile.
  bool abandon(const Lease& lease) {
    const std::scoped_lock lock(mutex_);
    const auto it = tries_.find(key(lease));
    if (it == tries_.end() || !it->second.ends_at) return false;
    it->second.ends_at.reset();
    return it->second.is_abandoned = true;
  }
  /// The handler returned, so that no limit ends its try any more. False: it was abandoned.
  bool handler_returned(const Lease& lease) {
    const std::scoped_lock lock(mutex_);
    const auto it = tries_.find(key(lease));
    if (it == tries_.end()) return true;
    it->second.ends_at.reset();
    it->second.has_returned = true;
    if (!it->second.is_abandoned) return true;
    erase(it);
    return false;
  }
  /// After that: it succeeded. True: the next start will know, should this process be killed before
  /// the end is stored.
  bool record_end(const Lease& lease, std::string_view result) {
    const std::scoped_lock lock(mutex_);
    const auto it = tries_.find(key(lease));
    return it != tries_.end() && it->second.mark && marks_->end(*it->second.mark, result);
  }

 private:
  struct Try {
    Lease lease;
    CancelToken token;
    std::optional<Nanoseconds> ends_at = {};
    std::optional<std::size_t> mark = {};
    bool is_waiting = false, has_returned = false, is_abandoned = false;
  };
  using Key = std::pair<JobId, std::int64_t>;  // an abandoned try may run beside the next one
  using Tries = std::map<Key, Try>;
  static Key key(const Lease& lease) { return {lease.job, lease.generation}; }
  void erase(Tries::iterator it) {
    if (it->second.mark) marks_->clear(*it->second.mark);
    tries_.erase(it);
  }

  mutable std::mutex mutex_;
  Tries tries_;
  std::unique_ptr<RunMarks> marks_;  ///< null: none are made
};

}  // namespace indx
