#pragma once
#include "base/clock.hpp"
#include "store/blob_dir.hpp"
#include "store/database.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// Before-images of notes (G15): zstd, shared by SHA-256, over 1 MiB as files in `<dir>/versions/`.
struct Version {
  std::int64_t id = 0;
  std::string path, sha256, etag, job_id;
  std::size_t size = 0;
  Timestamp at;
};

struct VersionLimits {
  int per_note = 50;
  int days = 30;
  std::int64_t max_bytes = std::int64_t{1} << 30U;
};

class VersionStore {
 public:
  /// `dir`: the index folder.
  VersionStore(Database& db, const std::string& dir) : db_(db), files_(dir + "/versions") {}
  /// Keeps `bytes`; a large file is durable before the row. Fails with `unavailable` when there is
  /// no space.
  Result<std::int64_t> keep(const std::string& path, const std::string& bytes,
                            const std::string& job_id, Timestamp now);
  /// The history of a file, or of every file below a folder, goes with it to a new path.
  Status move(const std::string& from, const std::string& to);
  /// Newest first: those older than the version `before_id`, at most `limit` (-1: all).
  Result<std::vector<Version>> list(
      const std::string& path, std::int64_t before_id = std::numeric_limits<std::int64_t>::max(),
      int limit = -1);
  /// nullopt when the path has no such version.
  Result<std::optional<Version>> find(const std::string& path, std::int64_t id);
  /// One with these bytes that a write of the job left, whatever its path is by now.
  Result<std::optional<Version>> find_of_job(const std::string& job_id, const std::string& sha256);
  /// `not_found`; `internal` when the bytes on disk no longer have their hash.
  Result<std::string> read(std::int64_t id);
  /// Oldest first beyond the limits, never those of a job that can still be reverted: it is live,
  /// ended less than 7 days ago, or is being reverted; at most `batch` rows. Gives how many.
  Result<std::int64_t> prune(const VersionLimits& limits, Timestamp now, int batch);
  /// Deletes files that prune left without a row. Call it after that commit, outside a transaction.
  Result<int> sweep_files();

 private:
  Database& db_;
  BlobDir files_;
};

}  // namespace indx
