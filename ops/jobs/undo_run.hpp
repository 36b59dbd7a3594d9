#pragma once
#include "ops/jobs/undo.hpp"
#include "ops/links/link_apply.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

struct UndoneView {
  std::string path, action;  ///< restored | made_again | trashed | moved
  std::optional<std::string> moved_from, etag, diff;
  static Fields<UndoneView> fields();
};
struct ChangedSinceView {
  std::string path;
  std::optional<std::string> expected, actual;
  std::string message;
  static Fields<ChangedSinceView> fields();
};
struct MissingVersionView {
  std::string path, message;
  static Fields<MissingVersionView> fields();
};

/// What became of each file, in the order of the undo; with `dry_run` what would.
struct UndoReport {
  std::string job;
  bool dry_run = false, partial = false;
  std::string message;
  std::vector<UndoneView> restored;
  std::vector<ChangedSinceView> changed_since;
  std::vector<MissingVersionView> missing_version;
  std::vector<NotRelinkedView> failed;
  int hidden = 0, diffs_left_out = 0;
  static Fields<UndoReport> fields();
};

/// Each act is a step of its own: on lanes where nothing was moved, else one after the other. Fails
/// with `cancelled`, whose details hold `partial: {done, total, restored}`, and with what another
/// try may get past.
Result<UndoReport> run_undo(Context& ctx, const JobId& job, const UndoPlan& plan);
/// The same without a write.
Result<UndoReport> preview_undo(Context& ctx, const JobId& job, const UndoPlan& plan);

}  // namespace indx
