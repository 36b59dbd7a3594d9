#include "actors/model_ledger.hpp"

#include "actors/core.hpp"
#include "actors/state.hpp"
#include "ai/prices.hpp"
#include "ai/rate_limit.hpp"
#include "base/text.hpp"

namespace indx {
namespace {

Error price_is_unknown(const UsageRecord& record) {
  return make_error(
      Reason::AiUnavailable,
      cat("Nobody knows what ", record.model, " of ", record.provider,
          " costs, so ai.daily_cost_usd cannot be kept: give its price in ai.prices, or take the "
          "limit away."),
      {{"limit", "daily_cost"}, {"provider", record.provider}, {"model", record.model}});
}

/// The server did nothing: it said so, or never heard of the call.
bool is_free_of_charge(const Error& error) {
  return error.reason == Reason::AiInputTooLarge || error.reason == Reason::ValidationFailed ||
         (error.reason == Reason::AiProviderError && used_tokens(error) == 0);
}

/// An answer may be on its way that nobody will read.
bool is_cut_off(const Error& error) {
  return error.reason == Reason::Cancelled || error.reason == Reason::Unavailable;
}

}  // namespace

Status begin_call(Core& core, UsageRecord& record, const CallSize& size) {
  auto& parts = core.parts;
  const auto& config = parts.config.ai;
  const auto most = cost_at(price_of(config, record.provider, record.model), size.input_tokens,
                            size.output_tokens);
  if (!most && config.daily_cost_usd) return price_is_unknown(record);
  record.id = new_ulid(parts.clock.now(), parts.random);
  record.reserved_usd = most.value_or(0);
  record.started_at = parts.clock.now();
  const auto begun =
      core.change([record, limit = config.daily_cost_usd](State& state) -> Result<Json> {
        INDX_TRY(limit ? state.usage.start_within(record, *limit) : state.usage.start(record));
        return Json();
      });
  if (begun.has_value()) return {};
  if (begun.error().reason == Reason::AiQuotaExceeded) parts.metrics.ai_calls_refused.add();
  return begun.error();
}

void end_call(Core& core, UsageRecord& record, const std::optional<AiUsage>& billed,
              const Error* error) {
  auto& parts = core.parts;
  record.finished_at = parts.clock.now();
  record.status = error == nullptr ? "succeeded" : is_cut_off(*error) ? "interrupted" : "failed";
  if (billed) {
    record.input_tokens = billed->input_tokens;
    record.output_tokens = billed->output_tokens;
    record.cost_usd = billed->cost_usd;
    record.source = billed->source;
    parts.metrics.ai_tokens.of({record.provider, "input"})
        .add(static_cast<double>(record.input_tokens));
    parts.metrics.ai_tokens.of({record.provider, "output"})
        .add(static_cast<double>(record.output_tokens));
    if (record.cost_usd) parts.metrics.ai_cost_usd.of({record.provider}).add(*record.cost_usd);
  }
  if (billed || (error != nullptr && is_free_of_charge(*error))) record.reserved_usd = 0;
}

// Past the limit of changes that wait: this one ends what another began, and whoever is refused
// here would leave money set aside until the next start.
Status commit_call(Core& core, const UsageRecord& record) {
  INDX_TRY(core.state_writer.change(StateChange{[record](State& state) -> Result<Json> {
    INDX_TRY(state.usage.finish(record));
    return Json();
  }}));
  return {};
}

}  // namespace indx
