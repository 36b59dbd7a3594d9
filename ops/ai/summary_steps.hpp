#pragma once
#include "ai/summary.hpp"
#include "ops/ai/ai_grounding.hpp"
#include "ops/ai/ai_notes.hpp"
#include "ops/ai/ai_result.hpp"
#include "ops/ai/dry_context.hpp"

#include <string>
#include <vector>

namespace indx {

/// The steps of a summary: a stored plan that cuts the notes into parts which fit a prompt, one
/// checkpointed model call a part, then reductions in a tree until one prompt holds what is left
/// (row C10).

struct OutlineRow {
  std::string heading;
  int line = 0;
  std::string path;
  static Fields<OutlineRow> fields();
};
/// Bytes [begin, end) of a note at a version.
struct SummaryPiece {
  std::string path, etag;
  std::size_t begin = 0, end = 0;
  static Fields<SummaryPiece> fields();
};
struct SummaryPart {
  std::vector<SummaryPiece> pieces;
  static Fields<SummaryPart> fields();
};
struct SummaryPlan {
  std::vector<SummaryPart> parts;
  std::vector<OutlineRow> outline;  ///< of all notes, at most 1,000
  std::int64_t total_tokens = 0;    ///< of the notes
  std::vector<Json> warnings;       ///< notes that changed or went since the scope was made
  static Fields<SummaryPlan> fields();
};

/// A point with the citations that hold.
struct SummaryPoint {
  std::string text;
  std::vector<AiCitation> citations;
  static Fields<SummaryPoint> fields();
};
/// What a step makes of a part, or of the results of others.
struct SummaryResult {
  std::string tldr, text;
  std::vector<SummaryPoint> points;
  std::vector<std::string> questions;
  std::vector<Json> warnings;
  AiCost cost;
  static Fields<SummaryResult> fields();
};

struct SummaryCall {
  SummaryOptions options;
  std::int64_t seed = 0;
  int max_tokens = 0;
  bool cite = true;
  Json key;  ///< what decides about the answers besides the notes
};

Result<SummaryPlan> plan_summary(Context& ctx, const std::vector<ScopedNote>& notes,
                                 const SummaryCall& call);

/// The whole summary of a plan that has parts; costs and warnings of all steps are rolled up into
/// `total` and `warnings`. `ai_input_too_large` when even a reduction cannot make it small enough.
Result<SummaryResult> summarize_parts(Context& ctx, const SummaryPlan& plan,
                                      const SummaryCall& call, AiTotal& total,
                                      std::vector<Json>& warnings);

/// After `summarize_parts` over `dry`, which counted the parts: counts the reductions too, each
/// over results that are as long as an answer may be.
void add_reductions(DryContext& dry, const SummaryCall& call);

}  // namespace indx
