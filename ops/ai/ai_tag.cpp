#include "ai/extractive/tagger.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/ai/ai_apply.hpp"
#include "ops/ai/ai_estimate.hpp"
#include "ops/ai/ai_grounding.hpp"
#include "ops/ai/ai_invocation.hpp"
#include "ops/ai/ai_notes.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace indx {
namespace ai_tag_op {

constexpr int kPromptVersion =
    1;  // raise it with the prompt: stored steps of another one are not reused
constexpr std::size_t kNeighbours = 15;

struct Vocabulary {
  bool use_existing = true, allow_new = true;
  std::vector<std::string> candidates, forbid;
  std::string name_space;
  int max_per_note = 5;
  double min_confidence = 0.6;
  static Fields<Vocabulary> fields() {
    return {
        field("use_existing", &Vocabulary::use_existing, "Prefer tags that the vault has.",
              optional, plain),
        field("allow_new", &Vocabulary::allow_new, "Also suggest tags that it has not.", optional,
              plain),
        field("candidates", &Vocabulary::candidates, "Only these tags.", optional, plain,
              length(0, 1000)),
        field("forbid", &Vocabulary::forbid, "Never these tags.", optional, plain, length(0, 1000)),
        field("namespace", &Vocabulary::name_space, "New tags become `<namespace>/<tag>`.",
              optional, plain, length(0, 128)),
        field("max_per_note", &Vocabulary::max_per_note, "Most tags for one note.", optional, plain,
              between(1, 50)),
        field("min_confidence", &Vocabulary::min_confidence, "Drop suggestions below it.", optional,
              plain, between(0, 1))};
  }
};
struct Input : AiApplyInput {
  Vocabulary vocabulary;
  std::string apply_mode = "merge";
};

struct Suggestion {
  std::string tag;
  double confidence = 0;
  bool is_new = false;
  std::optional<std::string> rationale;
  std::vector<AiCitation> evidence;
  static Fields<Suggestion> fields() {
    return {field("tag", &Suggestion::tag, "Without `#`."),
            field("confidence", &Suggestion::confidence, "0 to 1."),
            field("is_new", &Suggestion::is_new, "Not used in the vault yet."),
            field("rationale", &Suggestion::rationale, "Why."),
            field("evidence", &Suggestion::evidence, "Lines of the note that support it.")};
  }
};
struct NoteSuggestions {
  std::string path, etag;
  std::vector<Suggestion> tags;
  static Fields<NoteSuggestions> fields() {
    return {field("path", &NoteSuggestions::path, "The note."),
            field("etag", &NoteSuggestions::etag, "The version that was read."),
            field("tags", &NoteSuggestions::tags, "Best first.")};
  }
};
struct VocabularyView {
  std::vector<std::string> existing, fresh;
  static Fields<VocabularyView> fields() {
    return {field("existing", &VocabularyView::existing, "Suggested tags that the vault has."),
            field("new", &VocabularyView::fresh, "Suggested tags that it has not.")};
  }
};
struct AppliedTags {
  std::string path, etag;
  std::vector<std::string> tags_added, tags_removed;
  static Fields<AppliedTags> fields() {
    return {field("path", &AppliedTags::path, "The note."),
            field("etag", &AppliedTags::etag, "Its version after the change."),
            field("tags_added", &AppliedTags::tags_added, "Tags that it had not."),
            field("tags_removed", &AppliedTags::tags_removed, "Tags that it lost.")};
  }
};
struct Output {
  AiScopeView scope_resolved;
  std::vector<NoteSuggestions> suggestions;
  std::optional<std::vector<AppliedTags>> applied;
  std::optional<std::vector<AiProposedPatch>> proposed_patches;
  VocabularyView vocabulary;
  std::vector<AiCitation> citations;
  AiUsageView usage;
  std::string source = "model";
  std::vector<Json> warnings;
  std::optional<AiEstimate> estimate;
  std::vector<std::string> applied_paths() const { return paths_of_rows(applied); }
  std::string prose() const {
    return told_rows(suggestions, [](const NoteSuggestions& note) {
      std::vector<std::string> names;
      for (const auto& one : note.tags) names.push_back(one.tag);
      return join(names, ", ");
    });
  }
};

/// What the suggest step of one note stores.
struct NoteResult {
  NoteSuggestions suggestions;
  JsonObject properties;  ///< {tags: the property as it is in the file}
  std::vector<Json> warnings;
  AiCost cost;
  std::int64_t tokens = 0;
  std::string source = "model";
  static Fields<NoteResult> fields() {
    return {field("suggestions", &NoteResult::suggestions, ""),
            field("properties", &NoteResult::properties, ""),
            field("warnings", &NoteResult::warnings, ""),
            field("cost", &NoteResult::cost, ""),
            field("tokens", &NoteResult::tokens, ""),
            field("source", &NoteResult::source, "")};
  }
};

TagOptions to_options(const Input& in) {
  const Vocabulary& v = in.vocabulary;
  TagOptions options;
  options.use_existing = v.use_existing;
  options.allow_new = v.allow_new;
  options.candidates = v.candidates;
  options.forbid = v.forbid;
  options.namespace_prefix = v.name_space;
  options.max_per_note = v.max_per_note;
  options.min_confidence = v.min_confidence;
  options.language = in.language;
  return options;
}

/// Notes with each folded tag, of those that AI may read: a tag is text of its notes.
Result<std::map<std::string, int>> readable_tags(Context& ctx) {
  const auto corpus = INDX_TRY(ctx.index().corpus());
  std::map<std::string, int> counts;
  for (std::size_t i = 0; i < corpus->size(); ++i) {
    if (!ai_may_read(ctx.config().ai, corpus->path(i))) continue;
    std::set<std::string> own;
    for (const auto& tag : corpus->tags(i)) own.insert(fold_case(tag));
    for (const auto& tag : own) ++counts[tag];
  }
  return counts;
}

/// The vault's own words, as the first step keeps them.
Result<Json> vocabulary_rows(Context& ctx) {
  const auto& ai = ctx.config().ai;
  const bool has_globs = !ai.allow_globs.empty() || !ai.deny_globs.empty();
  const auto readable = has_globs ? INDX_TRY(readable_tags(ctx)) : std::map<std::string, int>();
  Json rows = Json::array();
  const auto tags = INDX_TRY(ctx.index().tags());
  for (const auto& tag : tags) {
    const auto found = readable.find(fold_case(tag.tag));
    if (has_globs && found == readable.end()) continue;
    const auto count = has_globs ? std::min(tag.count, found->second) : tag.count;
    rows.push_back(Json::array({tag.tag, count}));
  }
  return rows;
}
std::vector<VocabularyTag> to_vocabulary(const Json& rows) {
  std::vector<VocabularyTag> vocabulary;
  for (const auto& row : rows) vocabulary.push_back({row[0].get<std::string>(), row[1].get<int>()});
  return vocabulary;
}

NoteSuggestions to_suggestions(const TagReply& reply, const NoteFile& file, const ParsedNote& note,
                               bool cite, std::vector<Json>& warnings) {
  NoteSuggestions result{file.path.str(), file.etag, {}};
  for (const auto& tag : reply.tags) {
    Suggestion suggestion{tag.tag, tag.confidence, tag.is_new, std::nullopt, {}};
    if (!tag.rationale.empty()) suggestion.rationale = tag.rationale;
    for (const auto& evidence : tag.evidence) {
      if (!cite) break;
      if (is_grounded(evidence, file, note))
        suggestion.evidence.push_back(to_citation(evidence, file.path.str(), file.etag));
      else
        warnings.push_back(ai_warning("citation_invalid", file.path.str(),
                                      cat("evidence of `", tag.tag, "` is not in the note")));
    }
    result.tags.push_back(std::move(suggestion));
  }
  return result;
}

Result<TagReply> ask(Context& lane, const TagTask& task, const Corpus& corpus, const Input& in,
                     NoteResult& result) {
  if (!lane.models().can_generate()) return extractive_tags(task, corpus);
  const GenerateRequest request =
      tagging_prompt(task, lane.config().ai, in.seed, in.max_tokens.value_or(0));
  const GenerateReply reply =
      INDX_TRY(ask_model(lane, request, task.path, result.cost, result.warnings));
  return parse_tagging_reply(task, reply);
}

/// The suggestions for one note; runs in a lane.
Result<Json> suggest(Context& lane, const ScopedNote& scoped,
                     const std::vector<VocabularyTag>& vocabulary, const Input& in) {
  const AiNote source = INDX_TRY(read_scoped(lane, scoped));
  const ParsedNote& note = *source.note;
  const auto corpus = INDX_TRY(lane.index().corpus());
  TagTask task;
  task.path = scoped.path;
  task.title = title_of(note, source.file.path);
  task.bytes = source.file.bytes;
  for (const auto& use : note.tags) task.current_tags.push_back(use.tag);
  task.vocabulary = vocabulary;
  task.neighbours =
      corpus->nearest(std::string_view(source.file.bytes).substr(note.frontmatter.body_begin),
                      kNeighbours, [&](const std::string& path) {
                        return path != scoped.path && ai_may_read(lane.config().ai, path);
                      });
  task.options = to_options(in);

  NoteResult result;
  result.tokens = estimate_tokens(task.bytes);
  const TagReply reply = INDX_TRY(ask(lane, task, *corpus, in, result));
  result.source = reply.source;
  for (const auto& entry : reply.warnings) result.warnings.push_back(entry);
  result.suggestions = to_suggestions(reply, source.file, note, in.cite, result.warnings);
  if (const Json* tags = find_property(note.frontmatter.values, "tags"))
    result.properties.value["tags"] = *tags;
  if (has_drifted(lane, scoped)) {
    result.warnings.push_back(drift_warning(scoped.path));
    result.suggestions.tags.clear();
  }
  return *Codec<NoteResult>::encode(result);
}

/// The property `tags` after the change: existing items keep their place and spelling, tags of ours
/// or not.
PlannedWrite plan_write(const NoteResult& note, const std::string& mode) {
  Json value = Json::array();
  std::vector<std::string> added, removed;
  const auto it = note.properties.value.find("tags");
  Json old = it == note.properties.value.end() || it->is_null() ? Json::array()
             : it->is_array()                                   ? *it
                                                                : Json::array({*it});
  const auto folded = [](const Json& item) {
    return item.is_string() ? fold_case(plain_tag(item.get<std::string>())) : item.dump();
  };
  std::set<std::string> had, wanted;
  for (const auto& item : old) had.insert(folded(item));
  for (const auto& suggestion : note.suggestions.tags) wanted.insert(fold_case(suggestion.tag));
  const bool replaces =
      mode == "replace" && !wanted.empty();  // finding nothing is no reason to lose a person's tags
  if (replaces) {
    for (const auto& item : old)
      if (!wanted.contains(folded(item)))
        removed.push_back(item.is_string() ? plain_tag(item.get<std::string>()) : item.dump());
  } else {
    value = old;
  }
  for (const auto& suggestion : note.suggestions.tags) {
    const bool is_new_here = had.insert(fold_case(suggestion.tag)).second;
    if (is_new_here) added.push_back(suggestion.tag);
    if (is_new_here || replaces) value.push_back(suggestion.tag);
  }
  PlannedWrite write{note.suggestions.path, note.suggestions.etag, {}, {}};
  if (!added.empty() || !removed.empty()) write.values = {{"tags", std::move(value)}};
  write.told = Json{{"tags_added", added}, {"tags_removed", removed}};
  return write;
}

/// Puts the notes' results together: suggestions, citations, vocabulary.
void collect(Output& out, const NoteResult& note, std::set<std::string>& existing,
             std::set<std::string>& fresh) {
  out.source = note.source;
  out.warnings.insert(out.warnings.end(), note.warnings.begin(), note.warnings.end());
  out.suggestions.push_back(note.suggestions);
  for (const auto& tag : note.suggestions.tags) {
    (tag.is_new ? fresh : existing).insert(tag.tag);
    out.citations.insert(out.citations.end(), tag.evidence.begin(), tag.evidence.end());
  }
}

Result<Output> tag(Context& ctx, const Input& in, AiInvocation& invocation) {
  const AiScoped scoped = INDX_TRY(scope_step(ctx, in.scope, [&] { return vocabulary_rows(ctx); }));
  Output out;
  out.scope_resolved = to_view(in.scope, scoped.scope);
  invocation.scope_paths = out.scope_resolved.paths;
  out.warnings = scoped.scope.warnings;
  if (!ctx.models().can_generate()) out.source = "extractive";

  Json request = in.key();
  request["vocabulary"] = *Codec<Vocabulary>::encode(in.vocabulary);
  request["prompt"] = kPromptVersion;
  const auto vocabulary = to_vocabulary(scoped.extra);
  const auto stored = INDX_TRY(map_notes(
      ctx, {"suggest", request}, scoped.scope.notes,
      [&](Context& lane, const ScopedNote& note) { return suggest(lane, note, vocabulary, in); },
      out.warnings));

  std::vector<PlannedWrite> plan;
  std::set<std::string> existing, fresh;
  AiTotal total;
  std::int64_t tokens = 0;
  for (const auto& json : stored) {
    if (!json) continue;
    NoteResult note;
    Codec<NoteResult>::decode(*json, note);
    total.add(note.cost);
    tokens += note.tokens;
    collect(out, note, existing, fresh);
    plan.push_back(plan_write(note, in.apply_mode));
  }
  out.scope_resolved.total_tokens = tokens;
  out.vocabulary = {{existing.begin(), existing.end()}, {fresh.begin(), fresh.end()}};
  out.usage = invocation.usage = total.usage();
  if (in.cite) INDX_TRY(check_grounding(out.citations.size(), out.warnings, "No suggestion"));
  INDX_TRY(apply_or_propose<AppliedTags>(ctx, in, plan, total.model_calls(), out));
  return out;
}

Result<Output> run(Context& ctx, const Input& in) {
  if (in.estimate)
    return estimated<Output>(
        ctx, in, [&](Context& dry, AiInvocation& invocation) { return tag(dry, in, invocation); });
  return run_told<Output>(ctx, "ai_tag", in.apply,
                          [&](AiInvocation& invocation) { return tag(ctx, in, invocation); });
}

/// `ai_tag: found tags for 13 of 52 notes, and wrote 13.`
std::string told(const Json&, const Json& output) {
  const auto suggestions = output.value("suggestions", Json::array());
  const auto with_tags = std::count_if(suggestions.begin(), suggestions.end(), [](const Json& one) {
    return !one.value("tags", Json::array()).empty();
  });
  const auto notes =
      output.value("scope_resolved", Json::object()).value("count", suggestions.size());
  const auto applied = output.find("applied");
  return cat("ai_tag: found tags for ", with_tags, " of ", notes, notes == 1 ? " note" : " notes",
             applied == output.end() ? "; nothing was written, that takes `apply`."
                                     : cat(", and wrote ", applied->size(), '.'));
}

Result<std::size_t> size(Context& ctx, const Input& in) {
  if (in.estimate) return std::size_t{1};
  const ScopePaths found = INDX_TRY(scope_paths(ctx, in.scope));
  return found.paths.size();
}

}  // namespace ai_tag_op

Operation ai_tag() {
  using namespace ai_tag_op;
  return define<Input, Output>({
      .name = "ai_tag",
      .title = "Suggest or apply tags",
      .summary =
          "Suggest tags for notes, with the lines that support them, and write them when asked.",
      .guidance = "Without `apply` nothing is written: show the suggestions first. Prefers tags "
                  "that the vault has. To rename a tag use tag_rename.",
      .scopes = {Scope::VaultRead},
      .extra_scopes =
          [](const Input& in) {
            return in.apply ? std::vector{Scope::VaultWrite} : std::vector<Scope>();
          },
      .route = {"POST", "/v1/ai/tag"},
      .cli = "ai tag",
      .example = "--scope-glob 'inbox/**'",
      .execution = Execution::Sized,
      .inline_limit = 1,
      .size = size,
      .effect = Effect::Writes,
      .needs_provider = true,
      .is_ai = true,
      .version = 2,
      .input = joined<Input>(
          {ai_scope_field<Input>(),
           field("vocabulary", &Input::vocabulary, "Which tags may be suggested.", optional),
           field<Input, bool>("apply", &Input::apply,
                              "Write the tags into the property `tags`; needs vault:write.",
                              optional, for_writing),
           field("apply_mode", &Input::apply_mode,
                 "merge: add to what is there; replace: overwrite it.", optional, for_writing,
                 one_of({"merge", "replace"})),
           ai_estimate_field<Input>()},
          ai_guard_fields<Input>(),
          ai_call_fields<Input>("Language of new tags; left out: that of the note.")),
      .output = {field("scope_resolved", &Output::scope_resolved, "The notes that were looked at."),
                 field("suggestions", &Output::suggestions, "By note, in path order."),
                 field("applied", &Output::applied, "With `apply`: the notes written."),
                 field("proposed_patches", &Output::proposed_patches,
                       "Without `apply`: the note_patch calls that would do it."),
                 field("vocabulary", &Output::vocabulary,
                       "The tags suggested, by whether the vault has them."),
                 field("citations", &Output::citations, "All evidence."),
                 field("usage", &Output::usage, "Model use of this call."),
                 field("source", &Output::source, "extractive: made without a model.",
                       one_of({"model", "extractive"})),
                 field("warnings", &Output::warnings, "A code, or {code, path, reason}."),
                 ai_estimate_output<Output>()},
      .told = told,
      .failures =
          ai_failures({{Reason::AiSchemaInvalid, "The model did not answer in the asked form."},
                       {Reason::AiApplyConflict,
                        "Notes are not at `if_match`; details hold failed and applied."}}),
      .handler = run,
  });
}

}  // namespace indx
