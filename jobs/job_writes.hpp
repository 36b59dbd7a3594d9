#pragma once
#include "base/clock.hpp"
#include "base/result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

class Database;

/// What a job did to one file.
struct JobWrite {
  std::int64_t id = 0;
  std::string path;
  std::optional<std::string> moved_from;  ///< set: the write was a move
  /// Empty: it made the file. Also empty, with `after_etag`: the move was of a folder.
  std::optional<std::string> before_sha256, before_etag;
  std::optional<std::string> after_etag;  ///< empty: it deleted the file
  Timestamp at;
};

/// The table `job_writes`: what job_revert undoes. Its rows go with their job. No transactions of
/// its own.
class JobWrites {
 public:
  explicit JobWrites(Database& db) : db_(db) {}
  Status add(const std::string& job, const JobWrite& write);
  /// In the order in which they were made: those after `after_id`, at most `limit`.
  Result<std::vector<JobWrite>> list(const std::string& job, std::int64_t after_id, int limit);
  /// Ids of the jobs that undo what this one wrote, oldest first.
  Result<std::vector<std::string>> reverted_by(const std::string& job);

 private:
  Database& db_;
};

}  // namespace indx
