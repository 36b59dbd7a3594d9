#pragma once
#include "ops/ai/ai_result.hpp"
#include "ops/ai_stream.hpp"
#include "ops/context.hpp"

#include <string>
#include <vector>

namespace indx {

/// Everything of one call that the event at its end tells, also when it fails (row D68).
struct AiInvocation {
  std::string op;
  std::vector<std::string> scope_paths;
  AiUsageView usage;
  bool applies = false;
};

/// Tells the event: paths, counts, durations, costs and codes, no content (row D70). `applied`: the
/// rows of the notes that were written, when the call succeeded; those of a failed one stand in the
/// error's details. A job that goes back to the queue tells nothing yet: its next run does.
void tell_invocation(Context& ctx, const AiInvocation& invocation, const Error* error,
                     const std::vector<std::string>& applied, std::int64_t duration_ms);

/// Tells who asked that answers were kept ones: `ai_cache_hit` where all were, with counts where
/// some were (row D51, R15).
void warn_of_kept_answers(const AiUsageView& usage, std::vector<Json>& warnings);

/// What the model said may be used again, unless it was of no use. `error`: how the call failed, or
/// null.
void keep_answers(Context& ctx, const Error* error);

void tell_citations(AiStream& stream, const std::vector<AiCitation>& citations);

/// What an Output's streamed call tells besides its end: `all_citations()` where there is one, else
/// its `citations`; the text of `prose()`, where there is one. Equal for a call that is not
/// streamed, but for the warning `stream_unsupported` (row D45).
template <typename Output>
void tell_stream(Context& ctx, Output& out) {
  const auto& stream = ctx.stream();
  if (!stream) return;
  if (stream->is_unsupported()) out.warnings.emplace_back("stream_unsupported");
  if constexpr (requires { out.prose(); }) stream->settle_prose(out.prose());
  if constexpr (requires { out.all_citations(); })
    tell_citations(*stream, out.all_citations());
  else if constexpr (requires { out.citations; })
    tell_citations(*stream, out.citations);
  stream->tell_usage(*Codec<AiUsageView>::encode(out.usage));
}

/// Runs `work(invocation)`, tells of it, and tells its answer to who listens. Output has
/// `applied_paths()`, `usage` and `warnings`.
template <typename Output, typename Work>
Result<Output> run_told(Context& ctx, std::string op, bool applies, Work work) {
  const auto begin = ctx.clock().monotonic();
  AiInvocation invocation;
  invocation.op = std::move(op);
  invocation.applies = applies;
  Result<Output> result = work(invocation);
  const auto took =
      std::chrono::duration_cast<milliseconds>(ctx.clock().monotonic() - begin).count();
  keep_answers(ctx, result ? nullptr : &result.error());
  if (result) warn_of_kept_answers(invocation.usage, result->warnings);
  tell_invocation(ctx, invocation, result ? nullptr : &result.error(),
                  result ? result->applied_paths() : std::vector<std::string>(), took);
  if (result) tell_stream(ctx, *result);
  return result;
}

/// The paths of `applied` rows.
template <typename Row>
std::vector<std::string> paths_of_rows(const std::optional<std::vector<Row>>& rows) {
  std::vector<std::string> paths;
  if (rows)
    for (const auto& row : *rows) paths.push_back(row.path);
  return paths;
}

}  // namespace indx
