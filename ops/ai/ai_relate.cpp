#include "ai/relation.hpp"
#include "base/text.hpp"
#include "ops/ai/ai_estimate.hpp"
#include "ops/ai/ai_input.hpp"
#include "ops/ai/ai_invocation.hpp"
#include "ops/ai/relate_steps.hpp"
#include "ops/operations.hpp"
#include "ops/retrieval.hpp"
#include "ops/search/retrieval.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace indx {
namespace ai_relate_op {

constexpr int kRelatePromptVersion =
    1;  // raise it with prompt or rules: stored steps are not reused

/// Which notes are the sources (row C35). Flat: which fields count depends on `kind`.
struct SourceInput {
  std::string kind;  ///< path | paths | scope
  std::string path;
  std::vector<std::string> paths;
  std::optional<AiScope> scope;
  static Fields<SourceInput> fields() {
    return {
        field("kind", &SourceInput::kind, "How the sources are named: by the field of that name.",
              one_of({"path", "paths", "scope"})),
        field("path", &SourceInput::path, "path: this note.", optional, plain, vault_path,
              length(0, 4096)),
        field("paths", &SourceInput::paths, "paths: these notes.", optional, plain, vault_path,
              length(0, 10000)),
        field("scope", &SourceInput::scope, "scope: the notes of this one.", plain)};
  }
};
struct Input : AiCallInput {
  SourceInput source;
  std::optional<AiScope> candidates;
  int top_k = 10;
  std::string retrieve_mode = "hybrid";
  std::optional<bool> classify;
  std::vector<std::string> relations;
  std::optional<double> threshold;
  bool propose_links = false;
};

struct ScopeView {
  std::vector<std::string> sources, excluded;
  std::size_t candidates_considered = 0;
  static Fields<ScopeView> fields() {
    return {field("sources", &ScopeView::sources, "Their paths, sorted."),
            field("candidates_considered", &ScopeView::candidates_considered,
                  "Notes that the sources were compared with."),
            field("excluded", &ScopeView::excluded, "Sources that AI may not read.")};
  }
};
struct Output {
  ScopeView scope_resolved;
  std::vector<RelatedEdge> edges;
  std::optional<std::vector<RelatePatch>> proposed_patches;
  std::string mode_used = "hybrid", source = "model";
  AiUsageView usage;
  std::vector<Json> warnings;
  std::optional<AiEstimate> estimate;
  std::vector<std::string> applied_paths() const { return {}; }
};

Error missing_source(const std::string& kind, const char* name) {
  const auto path = cat("source.", name);
  return invalid(cat("`", path, "` is required when `source.kind` is `", kind, "`."),
                 Json{{"path", path}, {"expected", "a value"}, {"actual", "missing"}});
}

Result<AiScope> scope_of(const SourceInput& source) {
  AiScope scope;
  scope.kind = "paths";
  if (source.kind == "scope") {
    if (!source.scope) return missing_source(source.kind, "scope");
    return *source.scope;
  }
  if (source.kind == "path") {
    if (source.path.empty()) return missing_source(source.kind, "path");
    scope.paths = {source.path};
    return scope;
  }
  if (source.paths.empty()) return missing_source(source.kind, "paths");
  scope.paths = source.paths;
  return scope;
}

/// What the first step keeps besides the sources: the candidates, how many notes that are, and
/// whether vectors can be searched.
Result<Json> candidates_step(Context& ctx, const Input& in) {
  Json kept{{"paths", nullptr}, {"warnings", Json::array()}};
  const auto corpus = INDX_TRY(ctx.index().corpus());
  std::size_t considered = 0;
  if (in.candidates) {
    const ScopePaths found = INDX_TRY(scope_paths(ctx, *in.candidates));
    for (const auto& path : found.paths) considered += corpus->find(path) ? 1 : 0;
    kept["paths"] = found.paths;
    kept["warnings"] = found.warnings;
  } else {
    for (std::size_t i = 0; i < corpus->size(); ++i)
      considered += ai_may_read(ctx.config().ai, corpus->path(i)) ? 1 : 0;
  }
  kept["considered"] = considered;
  const bool wants_vectors = in.retrieve_mode != "lexical";
  const auto vectors = wants_vectors ? INDX_TRY(ctx.retrieval().vectors()) : Vectors::Off;
  const bool has_vectors = vectors == Vectors::Ready || vectors == Vectors::Incomplete;
  kept["mode"] = has_vectors ? in.retrieve_mode : "lexical";
  if (wants_vectors)
    for (const auto& code : warnings_of(vectors)) kept["warnings"].push_back(code);
  return kept;
}

RelateCall to_call(const Input& in, const std::string& mode) {
  RelateCall call;
  call.mode = mode == "semantic"  ? RelateMode::Semantic
              : mode == "lexical" ? RelateMode::Lexical
                                  : RelateMode::Hybrid;
  call.top_k = static_cast<std::size_t>(in.top_k);
  call.labels = in.classify.value_or(true);
  call.relations = in.relations.empty() ? relation_labels() : in.relations;
  call.threshold = in.threshold;
  call.propose_links = in.propose_links;
  call.cite = in.cite;
  call.language = in.language;
  call.seed = in.seed;
  call.max_tokens = in.max_tokens.value_or(0);
  return call;
}

/// What besides a source's version decides about its edges.
Json request_of(const Input& in, const std::string& mode) {
  Json request = in.key();
  request["relate_prompt"] = kRelatePromptVersion;
  request["mode"] = mode;
  request["candidates"] =
      in.candidates ? Json(*Codec<AiScope>::encode(*in.candidates)) : Json(nullptr);
  request["top_k"] = in.top_k;
  request["labels"] = in.classify.value_or(true);
  request["relations"] = in.relations;
  request["threshold"] = in.threshold ? Json(*in.threshold) : Json(nullptr);
  request["propose_links"] = in.propose_links;
  return request;
}

/// A note alone is not compared with itself.
std::size_t count_considered(std::size_t notes, const std::vector<ScopedNote>& sources,
                             const std::optional<std::vector<std::string>>& may) {
  const bool is_among = sources.size() == 1 && (!may || std::find(may->begin(), may->end(),
                                                                  sources[0].path) != may->end());
  return notes > 0 && is_among ? notes - 1 : notes;
}

/// Each pair once.
void order_edges(std::vector<RelatedEdge>& edges) {
  std::sort(edges.begin(), edges.end(), edge_comes_first);
  std::set<std::pair<std::string, std::string>> seen;
  std::erase_if(edges, [&](const RelatedEdge& edge) {
    return !seen.emplace(edge.src_path, edge.dst_path).second;
  });
}

Result<Output> relate(Context& ctx, const Input& in, AiInvocation& invocation) {
  const AiScope sources = INDX_TRY(scope_of(in.source));
  const AiScoped scoped =
      INDX_TRY(scope_step(ctx, sources, [&] { return candidates_step(ctx, in); }));
  Output out;
  for (const auto& note : scoped.scope.notes) out.scope_resolved.sources.push_back(note.path);
  invocation.scope_paths = out.scope_resolved.sources;
  out.scope_resolved.excluded = scoped.scope.excluded;
  out.warnings = scoped.scope.warnings;
  for (const auto& warning : scoped.extra["warnings"]) out.warnings.push_back(warning);
  std::optional<std::vector<std::string>> may;
  if (const auto& paths = scoped.extra["paths"]; paths.is_array())
    may = paths.get<std::vector<std::string>>();
  out.scope_resolved.candidates_considered =
      count_considered(scoped.extra["considered"].get<std::size_t>(), scoped.scope.notes, may);
  out.mode_used = scoped.extra["mode"].get<std::string>();

  const RelateCall call = to_call(in, out.mode_used);
  const bool asks_model = call.labels && ctx.models().can_generate();
  if (!asks_model) out.source = "extractive";
  if (call.labels && !asks_model) out.warnings.emplace_back("chat_unavailable");

  const RelateGround ground = INDX_TRY(relate_ground(ctx, in.candidates, may));
  const auto stored = INDX_TRY(map_notes(
      ctx, {"relate", request_of(in, out.mode_used)}, scoped.scope.notes,
      [&](Context& lane, const ScopedNote& note) -> Result<Json> {
        return *Codec<RelateResult>::encode(INDX_TRY(relate_note(lane, note, call, ground)));
      },
      out.warnings));

  AiTotal total;
  if (in.propose_links) out.proposed_patches.emplace();
  for (const auto& json : stored) {
    if (!json) continue;
    RelateResult result;
    Codec<RelateResult>::decode(*json, result);
    total.add(result.cost);
    out.warnings.insert(out.warnings.end(), result.warnings.begin(), result.warnings.end());
    if (result.patch) out.proposed_patches->push_back(std::move(*result.patch));
    std::move(result.edges.begin(), result.edges.end(), std::back_inserter(out.edges));
  }
  order_edges(out.edges);
  out.usage = invocation.usage = total.usage();
  return out;
}

Result<Output> run(Context& ctx, const Input& in) {
  if (in.estimate)
    return estimated<Output>(ctx, in, [&](Context& dry, AiInvocation& invocation) {
      return relate(dry, in, invocation);
    });
  return run_told<Output>(ctx, "ai_relate", false,
                          [&](AiInvocation& invocation) { return relate(ctx, in, invocation); });
}

Result<std::size_t> size(Context& ctx, const Input& in) {
  const AiScope sources = INDX_TRY(scope_of(in.source));
  if (in.estimate) return std::size_t{1};
  const ScopePaths found = INDX_TRY(scope_paths(ctx, sources));
  return found.paths.size();
}

}  // namespace ai_relate_op

Operation ai_relate() {
  using namespace ai_relate_op;
  return define<Input, Output>({
      .name = "ai_relate",
      .title = "Find related notes",
      .summary = "Find notes that are related with a note, say how, and draft the missing links.",
      .guidance = "Use it to find missing links and see how notes belong together; for the links "
                  "there are use link_backlinks. Nothing is written: give a patch of "
                  "`proposed_patches` to note_patch.",
      .scopes = {Scope::VaultRead},
      .route = {"POST", "/v1/ai/relate"},
      .cli = "ai relate",
      .example = "--source-note Projects/Plan.md --propose-links",
      .execution = Execution::Sized,
      .inline_limit = 1,
      .size = size,
      .effect = Effect::Reads,
      .needs_provider = true,
      .role = AiRole::Either,
      .is_ai = true,
      .input = joined<Input>(
          {field("source", &Input::source, "The notes whose relations are wanted."),
           field("candidates", &Input::candidates,
                 "Only these notes may be related; left out: the whole vault."),
           field("top_k", &Input::top_k, "Most related notes of each source.", plain, optional,
                 between(1, 50)),
           field("retrieve_mode", &Input::retrieve_mode,
                 "lexical: without vectors; semantic: vectors alone.", optional,
                 one_of({"semantic", "lexical", "hybrid"})),
           field("classify", &Input::classify,
                 "Say which relation it is; left out: yes. Without a chat model by rules."),
           field("relations", &Input::relations, "Only these relations; left out: all.", plain,
                 optional, one_of(relation_labels()), length(0, 8), comma_separated),
           field("threshold", &Input::threshold,
                 "Leave out edges whose confidence or similarity is below it.", between(0, 1)),
           field("propose_links", &Input::propose_links,
                 "Also draft patches with the missing links.", optional),
           ai_estimate_field<Input>()},
          ai_call_fields<Input>("Language of rationales; left out: that of the source.")),
      .output = {field("scope_resolved", &Output::scope_resolved, "What was compared."),
                 field("edges", &Output::edges, "By confidence, similarity, then path."),
                 field("proposed_patches", &Output::proposed_patches,
                       "With `propose_links`: the note_patch calls that would add the links."),
                 field("mode_used", &Output::mode_used, "lexical where there are no vectors.",
                       one_of({"semantic", "lexical", "hybrid"})),
                 field("source", &Output::source, "extractive: relations by rules, or none.",
                       one_of({"model", "extractive"})),
                 field("usage", &Output::usage, "Model use of this call."),
                 field("warnings", &Output::warnings, "A code, or {code, path, key, reason}."),
                 ai_estimate_output<Output>()},
      .failures = ai_failures(
          {{Reason::ValidationFailed, "A field that `source.kind` or a scope needs is missing."}}),
      .handler = run,
  });
}

}  // namespace indx
