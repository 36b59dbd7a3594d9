#pragma once
#include "ops/ai/ai_notes.hpp"
#include "ops/ai/toc_plan.hpp"

namespace indx {

struct TocWordsCall {
  bool with_descriptions = false;
  std::string language;
  std::int64_t seed = 0;
  int max_tokens = 0;  ///< of the answer; 0: as configured
  Json key;            ///< what decides about the answer besides the plan
};

/// Gives groups their titles and entries their descriptions: by a model in one checkpointed call,
/// from nothing but the plan; where there is none, or for entries that it says nothing true of,
/// descriptions are the sentences of the notes. What cites a note that changed meanwhile is taken
/// away with a warning. Costs go to `total`.
Status word_toc(Context& ctx, const TocWordsCall& call, TocPlan& plan, AiTotal& total);

}  // namespace indx
