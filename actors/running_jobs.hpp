#pragma once
#include "base/cancel.hpp"
#include "base/ids.hpp"

#include <map>
#include <mutex>
#include <vector>

namespace indx {

/// The cancel tokens of the jobs that run in this process, so that a cancel reaches sockets at
/// once. Thread-safe.
class RunningJobs {
 public:
  void add(const JobId& id, const CancelToken& token) {
    const std::scoped_lock lock(mutex_);
    tokens_.insert_or_assign(id, token);
  }
  void remove(const JobId& id) {
    const std::scoped_lock lock(mutex_);
    tokens_.erase(id);
  }
  void cancel(const JobId& id, CancelReason why) {
    for (const auto& token : find(id)) token.cancel(why);
  }
  void cancel_all(CancelReason why) {
    std::vector<CancelToken> all;
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& [id, token] : tokens_) all.push_back(token);
    }
    for (const auto& token : all) token.cancel(why);
  }
  std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return tokens_.size();
  }
  bool empty() const {
    const std::scoped_lock lock(mutex_);
    return tokens_.empty();
  }

 private:
  std::vector<CancelToken> find(const JobId& id) const {
    const std::scoped_lock lock(mutex_);
    const auto it = tokens_.find(id);
    return it == tokens_.end() ? std::vector<CancelToken>() : std::vector{it->second};
  }
  mutable std::mutex mutex_;
  std::map<JobId, CancelToken> tokens_;
};

}  // namespace indx
