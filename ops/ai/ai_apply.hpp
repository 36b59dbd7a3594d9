#pragma once
#include "ops/ai/ai_input.hpp"
#include "ops/ai/ai_result.hpp"
#include "ops/context.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace indx {

/// Writing what an AI operation found into properties, for every operation that applies (rows C81
/// to C87, R14).

/// The properties to set in one note, at the version that the suggestion was made for.
struct PlannedWrite {
  std::string path, etag;
  std::vector<std::pair<std::string, Json>> values;  ///< by key, in the order of writing
  Json told = Json::object();  ///< what the row of the note in `applied` says besides path and etag
  bool is_change() const { return !values.empty(); }
};
/// The call of note_patch that would do the same.
AiProposedPatch to_patch(const PlannedWrite& write);

struct ApplyOptions {
  std::map<std::string, std::string> if_match;  ///< path → etag, as the caller gave it
  bool skips_mismatches = false;                ///< if_match_mode "skip"
  std::int64_t model_calls = 0;                 ///< for progress
};
/// As the caller asked; the paths of `if_match` as notes are named.
ApplyOptions apply_options(const AiApplyInput& input, std::int64_t model_calls);

struct ApplyOutcome {
  std::vector<Json> applied;  ///< `{path, etag, …told}`; the etag is that after the write
  std::vector<Json> warnings;
};

/// First checks every `if_match` (a stored step, so that a resumed job does not check against its
/// own writes): a mismatch is `ai_apply_conflict` and nothing is written. Then one guarded write a
/// note, in the given order: a mismatch of a note that the caller named ends the batch with what
/// was applied in the details; every other failure is a warning. Cancel ends it between two notes.
Result<ApplyOutcome> apply_writes(Context& ctx, const std::vector<PlannedWrite>& plan,
                                  const ApplyOptions& options);

/// The rows as an operation shows them.
template <typename Row>
std::vector<Row> decode_applied(const ApplyOutcome& outcome) {
  std::vector<Row> rows;
  for (const auto& row : outcome.applied) Codec<Row>::decode(row, rows.emplace_back());
  return rows;
}

/// Writes the plan, or proposes it when `apply` is off: fills `applied` or `proposed_patches` of
/// the output, and adds to its warnings.
template <typename Row, typename Output>
Status apply_or_propose(Context& ctx, const AiApplyInput& input,
                        const std::vector<PlannedWrite>& plan, std::int64_t model_calls,
                        Output& out) {
  if (!input.apply) {
    out.proposed_patches.emplace();
    for (const auto& write : plan)
      if (write.is_change()) out.proposed_patches->push_back(to_patch(write));
    return {};
  }
  const auto outcome = INDX_TRY(apply_writes(ctx, plan, apply_options(input, model_calls)));
  out.applied = decode_applied<Row>(outcome);
  out.warnings.insert(out.warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
  return {};
}

}  // namespace indx
