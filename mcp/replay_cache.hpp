#pragma once
#include "base/clock.hpp"
#include "ops/operation.hpp"

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace indx {

/// Answers of safe calls, for who asks the same again within a minute (row B6). An answer is only
/// given while the revision of what it was made from is the one that it was put with, so a change
/// in between is never hidden. Thread-safe, and of bounded size.
class ReplayCache {
 public:
  explicit ReplayCache(const Clock& clock) : clock_(clock) {}

  /// Two calls with the same key are the same call of the same principal with the same rights.
  static std::string key(const Principal& principal, const Operation& operation, const Json& input);

  std::optional<Json> find(const std::string& key, const std::string& revision);
  /// Large answers, and those out of an index that is not whole yet, are not kept.
  void put(const std::string& key, const std::string& revision, const Json& output);

  static constexpr std::chrono::seconds kLife{60};
  static constexpr std::size_t kMostBytes = 8U << 20U, kMostBytesOfOne = 256U << 10U;

 private:
  struct Kept {
    std::string key, revision, output;
    std::chrono::nanoseconds at{};
    std::size_t size() const { return key.size() + revision.size() + output.size(); }
  };
  using Order = std::list<Kept>;
  void drop(Order::iterator kept);  // under mutex_
  void drop_old();                  // under mutex_

  const Clock& clock_;
  std::mutex mutex_;
  Order kept_;  // oldest first
  std::map<std::string, Order::iterator> by_key_;
  std::size_t bytes_ = 0;
};

}  // namespace indx
