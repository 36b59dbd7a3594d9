#pragma once
#include "jobs/job_writes.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace indx {

/// One file as a job left it: what all its writes together did, whatever the file was called
/// meanwhile.
struct UndoFile {
  std::string path;              ///< where it was first; where the job made it
  std::string last_path;         ///< where the job left it
  std::set<std::string> places;  ///< all its paths
  /// What it held before the job; empty: the job made it.
  std::optional<std::string> before_sha256, before_etag;
  std::optional<std::string> etag;  ///< after the last write; empty: the job deleted it
  /// Between two writes of the job somebody else changed it from the first etag to the second
  /// (empty: no file): nobody can undo the one without the other.
  std::optional<std::pair<std::optional<std::string>, std::optional<std::string>>> foreign_change =
      {};
};

/// One thing to do.
struct UndoAct {
  enum class Kind : std::uint8_t {
    Contents,   ///< gives the file at `path` what it held before the job
    MoveBack,   ///< moves the file from `path` to `back_to`
    FolderBack  ///< the same for a folder
  };
  Kind kind = Kind::Contents;
  std::string path = {}, back_to = {};
  std::size_t file = 0;                  ///< place in UndoPlan::files; not for a folder
  std::vector<std::size_t> inside = {};  ///< FolderBack: files of the plan that are in it
  std::size_t number = 0;                ///< of the write that it undoes; names its step
};

struct UndoPlan {
  std::vector<UndoFile> files;
  std::vector<UndoAct> acts;  ///< in the order in which they must be done
  bool has_moves = false;     ///< false: each act stands for itself
};

/// Works out from what a job wrote, oldest first, how its net effect is undone. Moves are undone
/// last to first, and contents where the file is by then at the path of the first write of it.
UndoPlan plan_undo(const std::vector<JobWrite>& writes);

}  // namespace indx
