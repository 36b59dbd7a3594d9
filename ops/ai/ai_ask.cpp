#include "ai/answer.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/ai/ai_estimate.hpp"
#include "ops/ai/ai_grounding.hpp"
#include "ops/ai/ai_input.hpp"
#include "ops/ai/ai_invocation.hpp"
#include "ops/ai/ask_answer.hpp"
#include "ops/operations.hpp"

#include <algorithm>
#include <set>

namespace indx {
namespace ai_ask_op {

struct Turn {
  std::string role, content;
  static Fields<Turn> fields() {
    return {field("role", &Turn::role, "Who said it.", plain, one_of({"user", "assistant"})),
            field("content", &Turn::content, "What was said.", plain, length(1, 20000))};
  }
};
struct Retrieve {
  std::string mode = "hybrid";
  int top_k = 8;
  JsonObject filters;
  static Fields<Retrieve> fields() {
    return {field("mode", &Retrieve::mode,
                  "By words, by meaning, or both; without embeddings it is lexical, with a "
                  "warning.",
                  plain, optional, one_of({"lexical", "semantic", "hybrid"})),
            field("top_k", &Retrieve::top_k, "Most notes that the answer may come from.", plain,
                  optional, between(1, 50)),
            field("filters", &Retrieve::filters,
                  "{path_glob, tag, frontmatter} that a note must match.", plain, optional)};
  }
};
struct Input : AiCallInput {  // its scope is optional here: without a kind it is the whole vault
  std::string question;
  Retrieve retrieve;
  std::string style = "neutral", conversation_id;
  std::vector<Turn> history;
};
struct Output {
  std::string answer, confidence;
  std::vector<AiCitation> citations;
  std::vector<AskHit> retrieved;
  std::string mode_used;
  std::optional<std::vector<std::string>> followups;
  AiUsageView usage;
  std::string source = "model";
  std::vector<Json> warnings;
  std::optional<AiEstimate> estimate;
  std::vector<std::string> applied_paths() const { return {}; }
  const std::string& prose() const { return answer; }
};

AskCall to_call(const Input& in) {
  AskCall call;
  call.question = in.question;
  for (const auto& turn : in.history) call.history.push_back({turn.role, turn.content});
  call.style = in.style;
  call.language = in.language;
  call.seed = in.seed;
  call.max_tokens = in.max_tokens.value_or(0);
  call.cite = in.cite;
  call.scope = in.scope;
  call.mode = in.retrieve.mode;
  call.top_k = static_cast<std::size_t>(in.retrieve.top_k);
  call.filters = in.retrieve.filters.value;
  call.key = in.key();
  call.key["question"] = in.question;
  call.key["style"] = in.style;
  call.key["conversation_id"] = in.conversation_id;  // opaque: it parts answers, nothing more
  call.key["history"] = *Codec<std::vector<Turn>>::encode(in.history);
  return call;
}

/// Row C23.
void show_unsupported(Output& out) {
  out.answer = kNoAnswer;
  out.confidence = "low";
  out.citations.clear();
  out.followups.reset();
  out.warnings.push_back("unsupported_question");
}

Result<Output> ask(Context& ctx, const Input& in, AiInvocation& invocation) {
  const AskCall call = to_call(in);
  AskContext context = INDX_TRY(find_context(ctx, call));
  std::set<std::string> paths;
  for (const auto& hit : context.hits) paths.insert(hit.path);
  invocation.scope_paths.assign(paths.begin(), paths.end());

  const auto result = INDX_TRY(answer_from(ctx, context, call));
  Output out;
  if (!ctx.models().can_generate()) out.source = "extractive";
  AiTotal total;
  total.add(result.cost);
  out.usage = invocation.usage = total.usage();
  out.retrieved = std::move(context.hits);
  out.mode_used = context.mode_used;
  out.warnings = std::move(context.warnings);
  out.warnings.insert(out.warnings.end(), result.warnings.begin(), result.warnings.end());
  out.answer = result.answer;
  out.confidence = result.confidence;
  out.citations = result.citations;
  if (!result.followups.empty()) out.followups = result.followups;
  if (result.is_supported && in.cite) {
    drop_drifted(ctx, out.citations, out.warnings);
    INDX_TRY(check_grounding(out.citations.size(), out.warnings, "No part of the answer"));
  }
  const bool is_bare = in.cite && out.citations.empty();  // a claim without a source is none
  if (!result.is_supported || is_bare) show_unsupported(out);
  return out;
}

Result<Output> run(Context& ctx, const Input& in) {
  if (in.estimate)
    return estimated<Output>(
        ctx, in, [&](Context& dry, AiInvocation& invocation) { return ask(dry, in, invocation); });
  return run_told<Output>(ctx, "ai_ask", false,
                          [&](AiInvocation& invocation) { return ask(ctx, in, invocation); });
}

/// `Answer from 2 citations (confidence high): Frost comes late.` The rest of a long one is in the
/// result.
std::string told(const Json&, const Json& output) {
  constexpr std::size_t kMostShown = 300;
  const auto warnings = output.value("warnings", Json::array());
  const Json unsupported = "unsupported_question";
  if (std::find(warnings.begin(), warnings.end(), unsupported) != warnings.end())
    return "The notes do not answer this question, so there is no answer and no citation.";
  const std::string answer = output.value("answer", "");
  const auto shown = prefix_at_grapheme(answer, kMostShown);
  const std::size_t citations = output.value("citations", Json::array()).size();
  return cat("Answer from ", citations, citations == 1 ? " citation" : " citations",
             " (confidence ", output.value("confidence", "unknown"), "): ", shown,
             shown.size() < answer.size() ? "…" : "");
}

/// One question, however large the vault is.
Result<std::size_t> size(Context&, const Input&) { return std::size_t{1}; }

}  // namespace ai_ask_op

Operation ai_ask() {
  using namespace ai_ask_op;
  return define<Input, Output>({
      .name = "ai_ask",
      .title = "Answer from the notes",
      .summary = "Answer a question from the notes, with citations of their text.",
      .guidance = "Use it for questions; to find notes use vault_search. When the notes do not "
                  "say, it says so, with the warning unsupported_question. Nothing is remembered: "
                  "pass earlier turns as `history`.",
      .scopes = {Scope::VaultRead},
      .route = {"POST", "/v1/ai/ask"},
      .cli = "ai ask",
      .cli_positional = {"question"},
      .example = "'What did we decide about pricing?'",
      .execution = Execution::Sized,
      .inline_limit = 1,
      .size = size,
      .effect = Effect::Reads,
      .needs_provider = true,
      .is_ai = true,
      .input = joined<Input>(
          {field("question", &Input::question, "In words, as one asks a person.", length(1, 4096)),
           field<Input, AiScope>("scope", &Input::scope,
                                 "Which notes may answer; left out: the whole vault.", optional),
           field("retrieve", &Input::retrieve, "How the notes are found.", optional),
           field("style", &Input::style,
                 "neutral prose, bullets, executive (conclusion first) or technical (exact).",
                 optional, plain, one_of({"neutral", "bullets", "executive", "technical"}),
                 by_default("neutral")),
           field("conversation_id", &Input::conversation_id,
                 "Keeps answers of one conversation apart from those of others; opaque, nothing is "
                 "stored under it.",
                 for_programs, optional, length(0, 200)),
           field("history", &Input::history, "Earlier turns, oldest first.", optional,
                 length(0, 100)),
           ai_estimate_field<Input>()},
          ai_call_fields<Input>("Language of the answer; left out: that of the question.")),
      .output = {field("answer", &Output::answer, "In Markdown."),
                 field("confidence", &Output::confidence,
                       "How well the notes support it; low with the warning unsupported_question: "
                       "they do not.",
                       one_of({"high", "medium", "low", "unknown"})),
                 field("citations", &Output::citations, "What the answer rests on."),
                 field("retrieved", &Output::retrieved, "The notes it may come from, best first."),
                 field("mode_used", &Output::mode_used, "How the search was done.",
                       one_of({"lexical", "semantic", "hybrid"})),
                 field("followups", &Output::followups, "Questions that the notes answer next."),
                 field("usage", &Output::usage, "Model use of this call."),
                 field("source", &Output::source,
                       "extractive: passages of the notes, without a model.",
                       one_of({"model", "extractive"})),
                 field("warnings", &Output::warnings, "A code, or {code, path, key, reason}."),
                 ai_estimate_output<Output>()},
      .told = told,
      .failures = ai_failures({}),
      .handler = run,
  });
}

}  // namespace indx
