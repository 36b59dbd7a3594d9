#pragma once
#include "vault/note_edit.hpp"

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

namespace indx {

/// What our own writes left at which path, so that a look at the files does not tell them as
/// changes of others: each is told by whoever wrote it. Safe from any thread.
class OwnWrites {
 public:
  /// To be called before the files change.
  void expect(const WriteOutcome& outcome);
  /// After a write that did not come about.
  void forget(const WriteOutcome& outcome);
  /// Whether the bytes with that etag (empty: no file) are ours. What is not ours ends our claim.
  bool are_ours(const std::string& path, const std::string& etag);

 private:
  void put(const std::string& path, const std::string& etag);

  std::mutex mutex_;
  std::unordered_map<std::string, std::string> etags_;  ///< by path; `*`: whatever comes first
  std::deque<std::string> order_;                       ///< the oldest claims go first
};

}  // namespace indx
