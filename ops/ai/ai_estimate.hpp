#pragma once
#include "ops/ai/ai_invocation.hpp"
#include "ops/ai/ai_scope.hpp"
#include "ops/ai/dry_context.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// What a call would take: the answer to `estimate: true`.
struct AiEstimate {
  std::string provider, model;
  std::int64_t notes = 0, calls = 0, input_tokens = 0, output_tokens = 0;
  std::optional<double> cost_usd, prompt_cost_usd;
  static Fields<AiEstimate> fields();
};
AiEstimate to_estimate(Context& ctx, const CountedCalls& counted, std::size_t notes);
/// The notes of an estimate, and those that AI may not read. A scope that was left out, without
/// kind, has none of these.
Status tell_scope(Context& ctx, const AiScope& scope, const std::vector<std::string>& paths,
                  AiScopeView& view, std::vector<Json>& warnings);

/// `estimate` of an Input that has it. The operation's `size` then gives 1 without looking at the
/// scope, so that the estimate is answered in place; its Output has the optional member `estimate`.
template <typename Input>
Field<Input> ai_estimate_field() {
  return field<Input, bool>("estimate", &Input::estimate,
                            "Only tell what the call would cost; asks no model.", optional);
}
template <typename Output>
Field<Output> ai_estimate_output() {
  return field<Output, std::optional<AiEstimate>>(
      "estimate", &Output::estimate,
      "With `estimate`: what the call would take; the other results are empty then.");
}

/// `work(dry, invocation)` is the operation itself: it runs over a DryContext up to its model
/// calls, which fail there, so that their number and prompts are those of the real call. Fails as
/// the real call would before its first model call or write. No Context but the dry one resolves
/// the scope: a search by meaning would ask an embedder.
template <typename Output, typename Input, typename Work>
Result<Output> estimated(Context& ctx, const Input& in, const Work& work) {
  DryContext dry(ctx);
  AiInvocation invocation;
  const Result<Output> tried = work(dry, invocation);
  if (!tried && (!dry.has_refused() || tried.error().reason == Reason::Cancelled))
    return tried.error();
  Output out;
  out.estimate = to_estimate(ctx, dry.counted(), invocation.scope_paths.size());
  if (!ctx.models().can_generate()) out.source = "extractive";
  if constexpr (requires { requires std::same_as<decltype(out.scope_resolved), AiScopeView>; })
    INDX_TRY(tell_scope(dry, in.scope, invocation.scope_paths, out.scope_resolved, out.warnings));
  return out;
}

}  // namespace indx
