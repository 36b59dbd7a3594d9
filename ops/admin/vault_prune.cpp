#include "base/text.hpp"
#include "ops/define.hpp"
#include "ops/doctor.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace vault_prune_op {

struct Input {};
struct Output {
  std::int64_t versions = 0, events = 0, idempotency_keys = 0, jobs = 0, slots = 0, model_calls = 0;
};

Fields<Output> counts() {
  return {field("versions", &Output::versions, "Kept texts of notes beyond the limits."),
          field("events", &Output::events, "Events of the log."),
          field("idempotency_keys", &Output::idempotency_keys, "Remembered calls."),
          field("jobs", &Output::jobs, "Finished jobs and their steps."),
          field("slots", &Output::slots, "Old times of schedules."),
          field("model_calls", &Output::model_calls, "Records of single calls of models.")};
}

Result<Json> prune_some(Context& ctx) { return to_json(INDX_TRY(ctx.doctor().prune())); }

Result<Output> run(Context& ctx, const Input&) {
  Output out;
  JobProgress progress{.unit = "rows", .phase = "delete"};
  for (int number = 1;; ++number) {
    const Json some =
        INDX_TRY(ctx.step(cat("delete/", number), Json::object(), [&] { return prune_some(ctx); }));
    for (const auto& [name, count] :
         {std::pair("versions", &out.versions), std::pair("events", &out.events),
          std::pair("idempotency_keys", &out.idempotency_keys), std::pair("jobs", &out.jobs),
          std::pair("slots", &out.slots), std::pair("model_calls", &out.model_calls)}) {
      const auto deleted = some.value(name, std::int64_t{0});
      *count += deleted;
      progress.done += deleted;
    }
    ctx.progress(progress);
    if (some.value("is_done", true)) return out;
    if (ctx.cancel().is_cancelled())
      return make_error(Reason::Cancelled, "Clearing up was cancelled.",
                        encode_fields(counts(), out));
  }
}

}  // namespace vault_prune_op

Json to_json(const Pruned& pruned) {
  return {{"versions", pruned.versions},
          {"events", pruned.events},
          {"idempotency_keys", pruned.idempotency_keys},
          {"jobs", pruned.jobs},
          {"slots", pruned.slots},
          {"model_calls", pruned.model_calls},
          {"is_done", pruned.is_done}};
}

Operation vault_prune() {
  using namespace vault_prune_op;
  return define<Input, Output>({
      .name = "vault_prune",
      .summary = "Delete what is kept no longer: old versions, events, finished jobs.",
      .guidance = "Seldom needed: a server does it every night. Keeps versions as configured, "
                  "events for 30 days, jobs for 7 days or 30 when they failed, records of model "
                  "calls for 90. Notes stay untouched.",
      .scopes = {Scope::VaultAdmin},
      .route = {"POST", "/v1/vault/prune"},
      .cli = "vault prune",
      .execution = Execution::Job,
      .effect = Effect::Writes,
      .is_idempotent = true,
      .tool_group = "vault_manage",
      .output = counts(),
      .handler = run,
  });
}

}  // namespace indx
