#pragma once
#include "base/result.hpp"
#include "jobs/job.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace indx {

/// Which tries handlers work on right now, and the results of those that have ended and are not
/// stored yet, in memory that is shared with a file: it outlives a process that is killed, without
/// a commit at each start and end. So the next start tells the jobs that the process died with from
/// those that were claimed and had not begun, and stores the ends that the process could not. After
/// a power cut the file may be older than the claims, and nobody is blamed; nor are its results
/// used then, for what came before them may be lost. A file of another process knows nothing, and
/// everybody is blamed. Not thread-safe.
class RunMarks {
 public:
  /// Reads what the process before left. `boot` names the time since the machine was switched on.
  static Result<std::unique_ptr<RunMarks>> open(const std::string& path, const std::string& boot);
  RunMarks(const RunMarks&) = delete;
  RunMarks& operator=(const RunMarks&) = delete;
  ~RunMarks();

  // ---- the earlier process
  /// Whether a try may have begun and not ended.
  bool had_begun(const Lease& lease) const;
  /// The tries that ended and may not be stored.
  struct End {
    Lease lease;
    Json result;
  };
  const std::vector<End>& ends() const { return ends_; }

  // ---- this one
  /// Forgets the earlier process; from now on the marks are those of `instance`.
  void start(const std::string& instance);
  /// Before the handler is called. Gives the place of the mark; nullopt: there is none left, and
  /// the next start blames everybody.
  std::optional<std::size_t> set(const Lease& lease);
  /// The try of the mark succeeded. False: its result is too long to be kept.
  bool end(std::size_t place, std::string_view result);
  /// Its end is stored.
  void clear(std::size_t place);

 private:
  struct File;
  RunMarks(File* file, std::string boot) : file_(file), boot_(std::move(boot)) {}
  void read_earlier();

  File* file_;  ///< mapped
  std::string boot_;
  std::size_t next_ = 0;  ///< where the next free place is looked for
  std::string earlier_instance_;
  std::set<std::pair<std::string, std::int64_t>> begun_;
  bool blames_all_ = false;
  std::vector<End> ends_;
};

/// Of this machine since it was switched on; empty when that cannot be told.
std::string boot_id();

}  // namespace indx
