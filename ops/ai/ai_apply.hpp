#pragma once
#include "ops/context.hpp"
#include "ops/define.hpp"

#include <map>

namespace indx {

/// Writing what an AI operation found into properties, for every operation that applies (rows C81
/// to C87, R14).

/// One property to set in one note, at the version that the suggestion was made for.
struct PlannedWrite {
  std::string path, etag, key;
  Json value;
  std::vector<std::string> added, removed;
  bool is_change() const { return !added.empty() || !removed.empty(); }
};
struct AppliedWrite {
  std::string path, etag;
  std::vector<std::string> tags_added, tags_removed;
  static Fields<AppliedWrite> fields();
};
struct ApplyOptions {
  std::map<std::string, std::string> if_match;  ///< path → etag, as the caller gave it
  bool skips_mismatches = false;                ///< if_match_mode "skip"
  std::int64_t model_calls = 0;                 ///< for progress
};
struct ApplyOutcome {
  std::vector<AppliedWrite> applied;
  std::vector<Json> warnings;
};

/// First checks every `if_match` (a stored step, so that a resumed job does not check against its
/// own writes): a mismatch is `ai_apply_conflict` and nothing is written. Then one guarded write a
/// note, in the given order: a mismatch of a note that the caller named ends the batch with what
/// was applied in the details; every other failure is a warning. Cancel ends it between two notes.
Result<ApplyOutcome> apply_writes(Context& ctx, const std::vector<PlannedWrite>& plan,
                                  const ApplyOptions& options);

}  // namespace indx
