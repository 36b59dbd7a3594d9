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
  std::optional<std::string> moved_from;                  ///< set: the write was a move
  std::optional<std::string> before_sha256, before_etag;  ///< empty: it made the file
  std::optional<std::string> after_etag;                  ///< empty: it deleted the file
  Timestamp at;
};

/// The table `job_writes`: what job_revert undoes. No transactions of its own.
class JobWrites {
 public:
  explicit JobWrites(Database& db) : db_(db) {}
  Status add(const std::string& job, const JobWrite& write);
  /// In the order in which they were made: those after `after_id`, at most `limit`.
  Result<std::vector<JobWrite>> list(const std::string& job, std::int64_t after_id, int limit);

 private:
  Database& db_;
};

}  // namespace indx
