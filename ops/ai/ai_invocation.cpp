#include "ops/ai/ai_invocation.hpp"

#include "ops/ai/ai_notes.hpp"

namespace indx {
namespace {

constexpr std::size_t kMaxEventPaths = 50;

std::vector<std::string> first_paths(std::vector<std::string> paths) {
  if (paths.size() > kMaxEventPaths) paths.resize(kMaxEventPaths);
  return paths;
}

bool goes_on(CancelReason why) {
  return why == CancelReason::Shutdown || why == CancelReason::Pause ||
         why == CancelReason::LeaseLost;
}

/// No model was called, for every answer was there.
bool is_whole_hit(const AiUsageView& usage) {
  return usage.cache_hits > 0 && usage.model_calls == 0;
}

}  // namespace

void warn_of_kept_answers(const AiUsageView& usage, std::vector<Json>& warnings) {
  if (is_whole_hit(usage)) return warnings.push_back("ai_cache_hit");
  if (usage.cache_hits > 0)
    warnings.push_back(Json{{"code", "ai_cache_hit"},
                            {"reason", "Some of the answers were kept from earlier calls."},
                            {"hits", usage.cache_hits},
                            {"model_calls", usage.model_calls}});
}

void keep_answers(Context& ctx, const Error* error) {
  const bool is_useless = error != nullptr && (error->reason == Reason::AiGroundingFailed ||
                                               is_unusable_answer(*error));
  if (!is_useless) ctx.models().keep_answers();
}

void tell_citations(AiStream& stream, const std::vector<AiCitation>& citations) {
  for (const auto& citation : citations) stream.tell_citation(*Codec<AiCitation>::encode(citation));
}

void tell_invocation(Context& ctx, const AiInvocation& invocation, const Error* error,
                     const std::vector<std::string>& applied, std::int64_t duration_ms) {
  if (error != nullptr && goes_on(ctx.cancel().reason())) return;
  std::vector<std::string> written = applied;
  if (error != nullptr && error->details.contains("applied"))
    for (const auto& row : error->details["applied"]) written.push_back(row.value("path", ""));
  Json data{{"type", "ai.invocation"},
            {"op", invocation.op},
            {"scope_paths", first_paths(invocation.scope_paths)},
            {"scope_count", invocation.scope_paths.size()},
            {"provider", ctx.models().provider()},
            {"model", ctx.models().model()},
            {"usage", *Codec<AiUsageView>::encode(invocation.usage)},
            {"cache_hit", is_whole_hit(invocation.usage)},
            {"duration_ms", duration_ms},
            {"ok", error == nullptr}};
  if (error != nullptr) data["error_code"] = std::string(error->name());
  if (invocation.applies) data["applied_paths"] = first_paths(written);
  if (!ctx.is_job() || error != nullptr) return ctx.emit("ai.invocation", data);
  const auto told = ctx.step("invocation", Json::object(),
                             [&]() -> Result<Json> {  // a resumed job does not tell it again
                               ctx.emit("ai.invocation", data);
                               return Json::object();
                             });
  static_cast<void>(told);  // the work is done: a lost row of the log must not fail it
}

}  // namespace indx
