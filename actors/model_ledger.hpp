#pragma once
#include "ai/provider.hpp"
#include "store/usage_store.hpp"

#include <optional>

namespace indx {

class Core;

/// The records of calls of model providers, whoever makes them: generate, embed. Each call is one
/// row of the usage log, committed before it starts (row G43), within the limit of the day (row
/// D54).

/// What a call may use at most.
struct CallSize {
  std::int64_t input_tokens = 0, output_tokens = 0;
};

/// Commits that a call starts. `record` comes with operation, provider, model and what it is about;
/// id, start and what is set aside for it are filled in. `ai_quota_exceeded` when it could pass the
/// limit of the day, `ai_unavailable` when there is a limit and nobody knows the model's price:
/// then the call must not be made.
Status begin_call(Core& core, UsageRecord& record, const CallSize& size);

/// How the call ended: what it used and cost, or that nobody knows. `billed`: by the reply, or by
/// an error that was billed; nullopt: it is not said.
void end_call(Core& core, UsageRecord& record, const std::optional<AiUsage>& billed,
              const Error* error);

/// Commits the end. One inside of a step is committed with that instead.
Status commit_call(Core& core, const UsageRecord& record);

}  // namespace indx
