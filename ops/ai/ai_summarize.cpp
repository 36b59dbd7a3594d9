#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/ai/ai_estimate.hpp"
#include "ops/ai/ai_input.hpp"
#include "ops/ai/ai_invocation.hpp"
#include "ops/ai/summary_steps.hpp"
#include "ops/operations.hpp"

#include <algorithm>
#include <set>

namespace indx {
namespace ai_summarize_op {

struct Input : AiCallInput {
  std::string style = "neutral", length = "medium", audience;
  std::vector<std::string> include;
  bool wants(const char* part) const {
    return include.empty() || std::find(include.begin(), include.end(), part) != include.end();
  }
};

struct Summary {
  std::optional<std::string> tldr;
  std::string text;
  std::optional<std::vector<std::string>> key_points, open_questions;
  std::optional<std::vector<OutlineRow>> outline;
  static Fields<Summary> fields() {
    return {field("tldr", &Summary::tldr, "One or two sentences."),
            field("text", &Summary::text, "The summary, in Markdown."),
            field("key_points", &Summary::key_points, "Claims that matter, each with a citation."),
            field("open_questions", &Summary::open_questions, "What the notes leave open."),
            field("outline", &Summary::outline, "Headings of the notes.")};
  }
};
struct Output {
  AiScopeView scope_resolved;
  Summary summary;
  std::vector<AiCitation> citations;
  AiUsageView usage;
  std::string source = "model";
  std::vector<Json> warnings;
  std::optional<AiEstimate> estimate;
  std::vector<std::string> applied_paths() const { return {}; }
  const std::string& prose() const { return summary.text; }
};

SummaryCall to_call(const Input& in) {
  SummaryCall call;
  call.options = {in.style,
                  in.length,
                  in.language,
                  in.audience,
                  in.wants("tldr"),
                  in.wants("key_points") || in.cite,
                  in.wants("open_questions")};
  call.seed = in.seed;
  call.max_tokens = in.max_tokens.value_or(0);
  call.cite = in.cite;
  call.key = in.key();
  call.key["style"] = in.style;
  call.key["length"] = in.length;
  call.key["audience"] = in.audience;
  call.key["include"] = in.include;
  return call;
}

/// Takes the points without a citation that holds away, and tells of each (row C11).
void drop_ungrounded(Context& ctx, std::vector<SummaryPoint>& points, std::vector<Json>& warnings) {
  std::vector<AiCitation> all;
  for (const auto& point : points)
    all.insert(all.end(), point.citations.begin(), point.citations.end());
  drop_drifted(ctx, all, warnings);
  std::set<std::pair<std::string, std::string>> current;
  for (const auto& citation : all) current.emplace(citation.path, citation.etag);
  std::erase_if(points, [&](SummaryPoint& point) {
    std::erase_if(point.citations, [&](const AiCitation& citation) {
      return !current.contains({citation.path, citation.etag});
    });
    if (!point.citations.empty()) return false;
    warnings.push_back(Json{{"code", "ungrounded_dropped"},
                            {"key", std::string(prefix_at_grapheme(point.text, 100))},
                            {"reason", "No text of the notes supports this point."}});
    return true;
  });
}

/// Each place once, in the order of the points.
std::vector<AiCitation> distinct_citations(const std::vector<SummaryPoint>& points) {
  std::vector<AiCitation> result;
  std::set<std::pair<std::string, std::vector<std::size_t>>> seen;
  for (const auto& point : points)
    for (const auto& citation : point.citations)
      if (seen.emplace(citation.path, citation.span).second) result.push_back(citation);
  return result;
}

void show(const Input& in, SummaryResult&& found, std::vector<OutlineRow>&& outline, Output& out) {
  out.summary.text = std::move(found.text);
  if (in.wants("tldr")) out.summary.tldr = std::move(found.tldr);
  if (in.wants("open_questions")) out.summary.open_questions = std::move(found.questions);
  if (in.wants("outline")) out.summary.outline = std::move(outline);
  if (!in.wants("key_points")) return;
  out.summary.key_points.emplace();
  for (auto& point : found.points) out.summary.key_points->push_back(std::move(point.text));
}

Result<Output> summarize(Context& ctx, const Input& in, AiInvocation& invocation) {
  const AiScoped scoped = INDX_TRY(scope_step(ctx, in.scope));
  Output out;
  out.scope_resolved = to_view(in.scope, scoped.scope);
  invocation.scope_paths = out.scope_resolved.paths;
  out.warnings = scoped.scope.warnings;
  const bool asks_model = ctx.models().can_generate();
  if (!asks_model) out.source = "extractive";

  const SummaryCall call = to_call(in);
  SummaryPlan plan = INDX_TRY(plan_summary(ctx, scoped.scope.notes, call));
  out.scope_resolved.total_tokens = plan.total_tokens;
  out.warnings.insert(out.warnings.end(), plan.warnings.begin(), plan.warnings.end());
  SummaryResult found;
  AiTotal total;
  if (!plan.parts.empty()) {
    auto summary = summarize_parts(ctx, plan, call, total, out.warnings);
    out.usage = invocation.usage = total.usage();
    if (!summary) return summary.error();
    found = std::move(*summary);
  }
  if (in.cite) {
    drop_ungrounded(ctx, found.points, out.warnings);
    out.citations = distinct_citations(found.points);
    INDX_TRY(check_grounding(out.citations.size(), out.warnings, "No key point"));
    if (asks_model && out.citations.empty() && !plan.parts.empty())
      return make_error(Reason::AiGroundingFailed,
                        "The model gave no key point with text of the notes behind it. Try again, "
                        "or with `cite: false`.",
                        Json{{"dropped", Json::array()}});
  }
  show(in, std::move(found), std::move(plan.outline), out);
  return out;
}

Result<Output> run(Context& ctx, const Input& in) {
  if (in.estimate)
    return estimated<Output>(ctx, in, [&](DryContext& dry, AiInvocation& invocation) {
      auto tried = summarize(dry, in, invocation);
      add_reductions(dry, to_call(in));
      return tried;
    });
  return run_told<Output>(ctx, "ai_summarize", false,
                          [&](AiInvocation& invocation) { return summarize(ctx, in, invocation); });
}

Result<std::size_t> size(Context& ctx, const Input& in) {
  if (in.estimate) return std::size_t{1};
  const ScopePaths found = INDX_TRY(scope_paths(ctx, in.scope));
  return found.paths.size();
}

}  // namespace ai_summarize_op

Operation ai_summarize() {
  using namespace ai_summarize_op;
  return define<Input, Output>({
      .name = "ai_summarize",
      .title = "Summarize notes",
      .summary = "Summarize notes, with a citation of their text behind each key point.",
      .guidance = "For one note or many. To read one note use note_read, for a question ai_ask. A "
                  "key point that no text supports is left out with a warning.",
      .scopes = {Scope::VaultRead},
      .route = {"POST", "/v1/ai/summarize"},
      .cli = "ai summarize",
      .example = "--scope-glob 'Projects/**' --length short",
      .execution = Execution::Sized,
      .inline_limit = 1,
      .size = size,
      .effect = Effect::Reads,
      .needs_provider = true,
      .is_ai = true,
      .input = joined<Input>(
          {ai_scope_field<Input>(),
           field("style", &Input::style,
                 "neutral prose, bullets, executive (conclusion first) or technical (exact).",
                 optional, plain, one_of({"neutral", "bullets", "executive", "technical"}),
                 by_default("neutral")),
           field("length", &Input::length, "About 50, 200 or 600 tokens of text.", optional,
                 one_of({"short", "medium", "long"})),
           field("audience", &Input::audience, "Whom it is for, such as `new colleagues`.",
                 optional, length(0, 200)),
           field("include", &Input::include, "The parts that are wanted; left out: all.", optional,
                 one_of({"tldr", "key_points", "open_questions", "outline"}), length(0, 4)),
           ai_estimate_field<Input>()},
          ai_call_fields<Input>("Language of the summary; left out: that of the notes.")),
      .output = {field("scope_resolved", &Output::scope_resolved, "The notes that were read."),
                 field("summary", &Output::summary, "The parts that were asked for."),
                 field("citations", &Output::citations, "Behind the key points, each once."),
                 field("usage", &Output::usage, "Model use of this call, all parts together."),
                 field("source", &Output::source,
                       "extractive: sentences of the notes, without a model.",
                       one_of({"model", "extractive"})),
                 field("warnings", &Output::warnings, "A code, or {code, path, key, reason}."),
                 ai_estimate_output<Output>()},
      .failures = ai_failures({}),
      .handler = run,
  });
}

}  // namespace indx
