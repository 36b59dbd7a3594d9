#pragma once
#include "ops/ai/ai_notes.hpp"
#include "ops/ai/ai_result.hpp"
#include "ops/ai/ask_context.hpp"

#include <string>
#include <vector>

namespace indx {

/// What the second step of a question stores.
struct AskResult {
  bool is_supported = false;  ///< false: the notes do not say
  std::string answer, confidence = "unknown";
  std::vector<AiCitation> citations;  ///< those that hold
  std::vector<std::string> followups;
  std::vector<Json> warnings;
  AiCost cost;
  static Fields<AskResult> fields();
};

/// The stored step `answer`: one model call over the context, cut to what a prompt holds; or, where
/// no model is, the sentences that answer. Without a context nobody is asked. A citation holds when
/// its snippet stands in a piece that was shown. `ai_input_too_large` {tokens} when not even a part
/// of one piece fits.
Result<AskResult> answer_from(Context& ctx, const AskContext& context, const AskCall& call);

}  // namespace indx
