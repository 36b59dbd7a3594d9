#include "ops/define.hpp"
#include "ops/operations.hpp"
#include "ops/retrieval.hpp"

namespace indx {
namespace ai_status_op {

struct Input {};
struct Role {
  std::string provider, model;
  std::int64_t dim = 0;
  static Fields<Role> fields() {
    return {field("provider", &Role::provider, "Empty: none."),
            field("model", &Role::model, "Empty: none."),
            field("dim", &Role::dim, "Size of a vector; 0: none.")};
  }
};
struct Cache {
  bool enabled = false;
  std::int64_t hits_24h = 0, size_bytes = 0;
  static Fields<Cache> fields() {
    return {field("enabled", &Cache::enabled, "Whether answers are kept."),
            field("hits_24h", &Cache::hits_24h, "Hits in 24 hours."),
            field("size_bytes", &Cache::size_bytes, "Bytes on disk.")};
  }
};
struct Usage {
  std::int64_t calls = 0, input_tokens = 0, output_tokens = 0;
  static Fields<Usage> fields() {
    return {field("calls", &Usage::calls, "Model calls."),
            field("input_tokens", &Usage::input_tokens, "Tokens sent."),
            field("output_tokens", &Usage::output_tokens, "Tokens received.")};
  }
};
struct Output {
  bool enabled = false, can_generate = false;
  std::string provider, model;
  Role embeddings;
  Cache cache;
  Usage usage_today;
  double spend_today_usd = 0;
  std::optional<double> daily_limit_usd;
};

Result<Role> embeddings_role(Context& ctx) {
  auto& retrieval = ctx.retrieval();
  if (INDX_TRY(retrieval.vectors()) == Vectors::Off) return Role();
  const auto counts = INDX_TRY(retrieval.counts());
  return Role{ctx.config().ai.embeddings_provider, retrieval.model(),
              static_cast<std::int64_t>(counts.dim)};
}

Result<Output> run(Context& ctx, const Input&) {
  Output out;
  out.embeddings = INDX_TRY(embeddings_role(ctx));
  const Json usage = INDX_TRY(ctx.models().usage_today());
  out.usage_today = {usage.value("calls", std::int64_t{0}),
                     usage.value("input_tokens", std::int64_t{0}),
                     usage.value("output_tokens", std::int64_t{0})};
  out.spend_today_usd = usage.value("cost_usd", 0.0);
  out.daily_limit_usd = ctx.config().ai.daily_cost_usd;
  const auto kept = ctx.models().kept_answers();
  out.cache = {kept.is_enabled, kept.hits_24h, kept.size_bytes};
  out.enabled = ctx.models().is_configured();
  if (!out.enabled) return out;
  out.provider = ctx.models().provider();
  out.model = ctx.models().model();
  out.can_generate = ctx.models().can_generate();
  return out;
}

}  // namespace ai_status_op

Operation ai_status() {
  using namespace ai_status_op;
  return define<Input, Output>({
      .name = "ai_status",
      .title = "Show the state of AI",
      .summary = "Say which AI provider is set, and what it has used today.",
      .guidance = "Calls no provider. `can_generate: false` means answers are extracted from the "
                  "notes, without a model.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/ai/status"},
      .is_idempotent = true,
      .is_ai = true,
      .output = {field("enabled", &Output::enabled, "Whether a provider is configured."),
                 field("can_generate", &Output::can_generate, "Whether it is a language model."),
                 field("provider", &Output::provider, "Empty: none."),
                 field("model", &Output::model, "Empty: none."),
                 field("embeddings", &Output::embeddings, "Where vectors come from."),
                 field("cache", &Output::cache, "Kept answers."),
                 field("usage_today", &Output::usage_today, "Since midnight UTC."),
                 field("spend_today_usd", &Output::spend_today_usd,
                       "Known cost since midnight UTC."),
                 field("daily_limit_usd", &Output::daily_limit_usd,
                       "What may be spent from one midnight UTC to the next; left out: no limit.")},
      .handler = run,
  });
}

}  // namespace indx
