#pragma once
#include "base/result.hpp"
#include "jobs/job.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace indx {

/// Which tries handlers work on right now, in memory that is shared with a file: it outlives a
/// process that is killed, without a commit at each start. So the next start tells the jobs that
/// the process died with from those that were claimed and had not begun, or had ended and were not
/// stored. After a power cut the file may be older than the claims, and nobody is blamed; a file of
/// another process knows nothing, and everybody is. Not thread-safe.
class RunMarks {
 public:
  /// Reads what the process before left.
  static Result<std::unique_ptr<RunMarks>> open(const std::string& path);
  RunMarks(const RunMarks&) = delete;
  RunMarks& operator=(const RunMarks&) = delete;
  ~RunMarks();

  /// Whether a try of an earlier process may have begun and not ended.
  bool had_begun(const Lease& lease) const;
  /// Forgets the earlier process; from now on the marks are those of `instance`.
  void start(const std::string& instance);

  /// Before the handler is called. Gives the place of the mark; nullopt: there is none left, and
  /// the next start blames everybody.
  std::optional<std::size_t> set(const Lease& lease);
  void clear(std::size_t place);

 private:
  struct File;
  explicit RunMarks(File* file) : file_(file) {}

  File* file_;  ///< mapped
  std::string earlier_instance_;
  std::set<std::pair<std::string, std::int64_t>> earlier_;
};

}  // namespace indx
