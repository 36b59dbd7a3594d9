#pragma once
#include "base/cancel.hpp"
#include "base/ids.hpp"
#include "jobs/job.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace indx {

/// The tries that run in this process, from their claim until their end is stored: their cancel
/// tokens, so that a cancel reaches sockets at once, and their time limits. Times are monotonic.
/// Thread-safe.
class RunningJobs {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  /// `limit`: 0 for none.
  void add(const Lease& lease, const CancelToken& token, milliseconds limit, Nanoseconds now) {
    const std::scoped_lock lock(mutex_);
    Try added{lease, token, {}};
    if (limit.count() > 0) added.ends_at = now + limit;
    tries_.insert_or_assign(key(lease), std::move(added));
  }
  void remove(const Lease& lease) {
    const std::scoped_lock lock(mutex_);
    tries_.erase(key(lease));
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
  /// Without the abandoned ones.
  std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(tries_.begin(), tries_.end(),
                      [](const auto& entry) { return !entry.second.is_abandoned; }));
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
    if (!it->second.is_abandoned) return true;
    tries_.erase(it);
    return false;
  }

 private:
  struct Try {
    Lease lease;
    CancelToken token;
    std::optional<Nanoseconds> ends_at;
    bool is_abandoned = false;
  };
  using Key = std::pair<JobId, std::int64_t>;  // an abandoned try may run beside the next one
  static Key key(const Lease& lease) { return {lease.job, lease.generation}; }

  mutable std::mutex mutex_;
  std::map<Key, Try> tries_;
};

}  // namespace indx
