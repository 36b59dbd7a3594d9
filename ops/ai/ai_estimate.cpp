#include "ops/ai/ai_estimate.hpp"

#include "ai/prices.hpp"

namespace indx {

Fields<AiEstimate> AiEstimate::fields() {
  return {field("provider", &AiEstimate::provider, "Who would be asked."),
          field("model", &AiEstimate::model, "Which model."),
          field("notes", &AiEstimate::notes, "Notes that would be worked on."),
          field("calls", &AiEstimate::calls, "Model calls, without retries; 0: no model is asked."),
          field("input_tokens", &AiEstimate::input_tokens, "Tokens of all prompts, rounded up."),
          field("output_tokens", &AiEstimate::output_tokens,
                "Tokens of all answers, if each is as long as it may be."),
          field("cost_usd", &AiEstimate::cost_usd,
                "Most that it can cost; null: the model's price is unknown.", nullable),
          field("prompt_cost_usd", &AiEstimate::prompt_cost_usd,
                "Of that, what the prompts cost; null: unknown.", nullable)};
}

AiEstimate to_estimate(Context& ctx, const CountedCalls& counted, std::size_t notes) {
  const bool asks_model = ctx.models().can_generate();
  const CountedCalls calls = asks_model ? counted : CountedCalls{};
  AiEstimate estimate;
  estimate.provider = ctx.models().provider();
  estimate.model = ctx.models().model();
  estimate.notes = static_cast<std::int64_t>(notes);
  estimate.calls = calls.calls;
  estimate.input_tokens = calls.input_tokens;
  estimate.output_tokens = calls.output_tokens;
  if (calls.calls == 0) {
    estimate.cost_usd = estimate.prompt_cost_usd = 0;
    return estimate;
  }
  const auto price = price_of(ctx.config().ai, estimate.provider, estimate.model);
  estimate.cost_usd = cost_at(price, calls.input_tokens, calls.output_tokens);
  estimate.prompt_cost_usd = cost_at(price, calls.input_tokens, 0);
  return estimate;
}

Status tell_scope(Context& ctx, const AiScope& scope, const std::vector<std::string>& paths,
                  AiScopeView& view, std::vector<Json>& warnings) {
  view.kind = scope.kind;
  view.count = paths.size();
  view.paths = paths;
  if (scope.kind.empty()) return {};
  const ScopePaths found = INDX_TRY(scope_paths(ctx, scope));
  view.excluded = found.excluded;
  warnings = found.warnings;
  return {};
}

}  // namespace indx
