#include "ai/extractive/tagger.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/ai/ai_apply.hpp"
#include "ops/ai/ai_scope.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

#include <algorithm>
#include <atomic>
#include <set>

namespace indx {
namespace ai_tag_op {

constexpr int kPromptVersion =
    1;  // raise it with the prompt: stored steps of another one are not reused
constexpr std::size_t kNeighbours = 15;
constexpr std::size_t kMaxEventPaths = 50;
constexpr std::size_t kMaxSnippetBytes = 300;

struct Vocabulary {
  bool use_existing = true, allow_new = true;
  std::vector<std::string> candidates, forbid;
  std::string name_space;
  int max_per_note = 5;
  double min_confidence = 0.6;
  static Fields<Vocabulary> fields() {
    return {
        field("use_existing", &Vocabulary::use_existing, "Prefer tags that the vault has.",
              optional),
        field("allow_new", &Vocabulary::allow_new, "Also suggest tags that it has not.", optional),
        field("candidates", &Vocabulary::candidates, "Only these tags.", optional, length(0, 1000)),
        field("forbid", &Vocabulary::forbid, "Never these tags.", optional, length(0, 1000)),
        field("namespace", &Vocabulary::name_space, "New tags become `<namespace>/<tag>`.",
              optional, length(0, 128)),
        field("max_per_note", &Vocabulary::max_per_note, "Most tags for one note.", optional,
              between(1, 50)),
        field("min_confidence", &Vocabulary::min_confidence, "Drop suggestions below it.", optional,
              between(0, 1))};
  }
};
struct Input {
  AiScope scope;
  Vocabulary vocabulary;
  bool apply = false;
  std::string apply_mode = "merge";
  std::map<std::string, std::string> if_match;
  std::string if_match_mode = "stop";
  std::string language;
  std::optional<int> max_tokens;
  bool cite = true;
  std::int64_t seed = 0;
  bool cache = true;
};

struct Citation {
  std::string path, etag;
  std::optional<std::string> anchor;
  std::optional<int> line;
  std::vector<std::size_t> span;
  std::string snippet;
  static Fields<Citation> fields() {
    return {field("path", &Citation::path, "The note."),
            field("etag", &Citation::etag, "The version that was read."),
            field("anchor", &Citation::anchor, "Slug of the heading above."),
            field("line", &Citation::line, "1-based line."),
            field("span", &Citation::span, "First byte and byte after the last one, in the file."),
            field("snippet", &Citation::snippet, "The text, verbatim.")};
  }
};
struct Suggestion {
  std::string tag;
  double confidence = 0;
  bool is_new = false;
  std::optional<std::string> rationale;
  std::vector<Citation> evidence;
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
struct ProposedPatch {
  std::string path, if_match;
  std::vector<JsonObject> ops;
  static Fields<ProposedPatch> fields() {
    return {field("path", &ProposedPatch::path, "The note."),
            field("if_match", &ProposedPatch::if_match, "Etag to guard it with."),
            field("ops", &ProposedPatch::ops, "Steps for note_patch.")};
  }
};
struct ScopeView {
  std::string kind;
  std::size_t count = 0;
  std::vector<std::string> paths, excluded;
  static Fields<ScopeView> fields() {
    return {field("kind", &ScopeView::kind, "As asked."),
            field("count", &ScopeView::count, "Notes."),
            field("paths", &ScopeView::paths, "Their paths, sorted."),
            field("excluded", &ScopeView::excluded, "Notes that AI may not read.")};
  }
};
struct VocabularyView {
  std::vector<std::string> existing, fresh;
  static Fields<VocabularyView> fields() {
    return {field("existing", &VocabularyView::existing, "Suggested tags that the vault has."),
            field("new", &VocabularyView::fresh, "Suggested tags that it has not.")};
  }
};
struct Usage {
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::optional<double> cost_usd;
  std::string source = "estimated";
  static Fields<Usage> fields() {
    return {field("input_tokens", &Usage::input_tokens, "Tokens sent."),
            field("output_tokens", &Usage::output_tokens, "Tokens received."),
            field("cost_usd", &Usage::cost_usd, "Known cost; null: unknown.", nullable),
            field("source", &Usage::source, "Who counted.", one_of({"reported", "estimated"}))};
  }
};
struct Output {
  ScopeView scope_resolved;
  std::vector<NoteSuggestions> suggestions;
  std::optional<std::vector<AppliedWrite>> applied;
  std::optional<std::vector<ProposedPatch>> proposed_patches;
  VocabularyView vocabulary;
  std::vector<Citation> citations;
  Usage usage;
  std::string source = "model";
  std::vector<Json> warnings;
};

/// What the suggest step of one note stores.
struct NoteResult {
  NoteSuggestions suggestions;
  JsonObject properties;  ///< {tags: the property as it is in the file}
  std::vector<Json> warnings;
  Usage usage;
  std::string source = "model";
  int model_calls = 0;
  static Fields<NoteResult> fields() {
    return {field("suggestions", &NoteResult::suggestions, ""),
            field("properties", &NoteResult::properties, ""),
            field("warnings", &NoteResult::warnings, ""),
            field("usage", &NoteResult::usage, ""),
            field("source", &NoteResult::source, ""),
            field("model_calls", &NoteResult::model_calls, "")};
  }
};

/// Everything of one call that the event at its end tells, also when it fails.
struct Invocation {
  std::vector<std::string> scope_paths, applied_paths;
  Usage usage;
};

Json warning(std::string_view code, const std::string& path, const std::string& reason) {
  return Json{{"code", std::string(code)}, {"path", path}, {"reason", reason}};
}

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

/// The first step: which notes at which versions, and the vault's own words.
struct Scoped {
  ResolvedScope scope;
  std::vector<VocabularyTag> vocabulary;
};
Result<Scoped> scope_step(Context& ctx, const Input& in) {
  const Json inputs{{"scope", *Codec<AiScope>::encode(in.scope)}};
  const Json stored = INDX_TRY(ctx.step("scope", inputs, [&]() -> Result<Json> {
    Json json = to_json(INDX_TRY(resolve_scope(ctx, in.scope)));
    json["vocabulary"] = Json::array();
    const auto tags = INDX_TRY(ctx.index().tags());
    for (const auto& tag : tags) json["vocabulary"].push_back(Json::array({tag.tag, tag.count}));
    return json;
  }));
  Scoped scoped{resolved_scope_from_json(stored), {}};
  for (const auto& row : stored["vocabulary"])
    scoped.vocabulary.push_back({row[0].get<std::string>(), row[1].get<int>()});
  return scoped;
}

Citation to_citation(const TagEvidence& evidence, const std::string& path,
                     const std::string& etag) {
  Citation citation{
      path,         etag, std::nullopt,
      std::nullopt, {},   std::string(prefix_at_grapheme(evidence.quote, kMaxSnippetBytes))};
  if (!evidence.anchor.empty()) citation.anchor = evidence.anchor;
  if (evidence.line > 0) {
    citation.line = evidence.line;
    citation.span = {evidence.begin, evidence.end};
  }
  return citation;
}

/// Row D40: line, span, anchor and quote must be what the note holds.
bool is_grounded(const TagEvidence& evidence, const NoteFile& file, const ParsedNote& note) {
  if (evidence.line == 0) return true;  // the title that the file name gives
  if (evidence.begin > evidence.end || evidence.end > file.bytes.size()) return false;
  if (file.bytes.compare(evidence.begin, evidence.end - evidence.begin, evidence.quote) != 0)
    return false;
  const auto before = file.bytes.begin() + static_cast<std::ptrdiff_t>(evidence.begin);
  if (std::count(file.bytes.begin(), before, '\n') + 1 != evidence.line) return false;
  return evidence.anchor.empty() ||
         std::any_of(note.headings.begin(), note.headings.end(),
                     [&](const Heading& heading) { return heading.slug == evidence.anchor; });
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
        warnings.push_back(warning("citation_invalid", file.path.str(),
                                   cat("evidence of `", tag.tag, "` is not in the note")));
    }
    result.tags.push_back(std::move(suggestion));
  }
  return result;
}

Result<TagReply> ask(Context& lane, const TagTask& task, const Corpus& corpus, const Input& in,
                     NoteResult& result) {
  if (!lane.models().can_generate()) return extractive_tags(task, corpus);
  GenerateRequest request = tagging_prompt(task, lane.config().ai, in.seed);
  if (in.max_tokens) request.max_output_tokens = *in.max_tokens;
  const GenerateReply reply = INDX_TRY(lane.models().generate(request, task.path));
  ++result.model_calls;
  result.usage = {reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cost_usd,
                  reply.usage.source};
  if (reply.finish_reason == FinishReason::Length)
    result.warnings.push_back(
        warning("truncated", task.path, "the model reached its output limit"));
  return parse_tagging_reply(task, reply);
}

/// The suggestions for one note; runs in a lane.
Result<Json> suggest(Context& lane, const ScopedNote& scoped,
                     const std::vector<VocabularyTag>& vocabulary, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(scoped.path));
  const NoteFile file = INDX_TRY(lane.notes().read(path));
  const auto changed = [&] {
    return make_error(Reason::EtagMismatch,
                      cat("`", scoped.path, "` changed while its tags were looked for."),
                      Json{{"path", scoped.path}});
  };
  if (file.etag != scoped.etag) return changed();
  ParseOptions parse_options;
  parse_options.legacy_properties = lane.config().legacy_properties;
  const ParsedNote note = parse_note(file.bytes, parse_options);
  const auto corpus = INDX_TRY(lane.index().corpus());
  TagTask task;
  task.path = scoped.path;
  task.title = title_of(note, path);
  task.bytes = file.bytes;
  for (const auto& use : note.tags) task.current_tags.push_back(use.tag);
  task.vocabulary = vocabulary;
  task.neighbours = corpus->nearest(
      std::string_view(file.bytes).substr(note.frontmatter.body_begin), kNeighbours, scoped.path);
  task.options = to_options(in);

  NoteResult result;
  const TagReply reply = INDX_TRY(ask(lane, task, *corpus, in, result));
  result.source = reply.source;
  for (const auto& entry : reply.warnings) result.warnings.push_back(entry);
  result.suggestions = to_suggestions(reply, file, note, in.cite, result.warnings);
  if (const Json* tags = find_property(note.frontmatter.values, "tags"))
    result.properties.value["tags"] = *tags;
  const auto now = lane.notes().read(path);  // row D40: a citation pins the version that was read
  if (!now || now->etag != scoped.etag) {
    result.warnings.push_back(
        warning("citation_drift", scoped.path, "the note changed during the call"));
    result.suggestions.tags.clear();
  }
  return *Codec<NoteResult>::encode(result);
}

/// The map step over all notes, in path order; nullopt where a note failed, which then is a
/// warning.
Result<std::vector<std::optional<NoteResult>>> suggest_all(Context& ctx, const Input& in,
                                                           const Scoped& scoped,
                                                           std::vector<Json>& warnings) {
  Json request = *Codec<Vocabulary>::encode(in.vocabulary);
  Json shared{{"vocabulary", request},
              {"language", in.language},
              {"max_tokens", in.max_tokens.value_or(0)},
              {"cite", in.cite},
              {"seed", in.seed},
              {"provider", ctx.models().provider()},
              {"model", ctx.models().model()},
              {"prompt", kPromptVersion}};
  const std::string shared_hash = canonical_hash(shared);
  std::vector<MapItem> items;
  for (const auto& note : scoped.scope.notes)
    items.push_back(
        {note.path, Json{{"path", note.path}, {"etag", note.etag}, {"request", shared_hash}}});

  JobProgress progress;
  progress.phase = "suggest";
  progress.total = static_cast<std::int64_t>(items.size());
  ctx.progress(progress);
  std::atomic<std::int64_t> done = 0;  // the one thing that lanes share: a count for people
  const bool calls_model = ctx.models().can_generate();
  auto results = ctx.map("suggest", items, [&](Context& lane, const MapItem& item) {
    auto result =
        suggest(lane, {item.id, item.inputs["etag"].get<std::string>()}, scoped.vocabulary, in);
    JobProgress step = progress;
    step.done = ++done;
    step.current = item.id;
    step.model_calls = calls_model ? step.done : 0;
    lane.progress(step);
    return result;
  });
  if (!results) {
    Error error = results.error();
    if (error.reason == Reason::Cancelled)
      error.details["partial"] =
          Json{{"done", done.load()}, {"total", items.size()}, {"applied", Json::array()}};
    return error;
  }
  std::vector<std::optional<NoteResult>> notes;
  std::optional<Error> first_error;
  for (std::size_t i = 0; i < results->size(); ++i) {
    auto& result = (*results)[i];
    if (result) {
      Codec<NoteResult>::decode(*result, notes.emplace_back().emplace());
      continue;
    }
    if (!first_error) first_error = result.error();
    warnings.push_back(warning(result.error().name(), items[i].id, result.error().message));
    notes.emplace_back();
  }
  const bool all_failed =
      !notes.empty() &&
      std::none_of(notes.begin(), notes.end(), [](const auto& note) { return note.has_value(); });
  if (all_failed) return *first_error;
  return notes;
}

/// The property `tags` after the change: existing items keep their place and spelling, tags of ours
/// or not.
PlannedWrite plan_write(const NoteResult& note, const std::string& mode) {
  PlannedWrite write{note.suggestions.path, note.suggestions.etag, "tags", Json::array(), {}, {}};
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
        write.removed.push_back(item.is_string() ? plain_tag(item.get<std::string>())
                                                 : item.dump());
  } else {
    write.value = old;
  }
  for (const auto& suggestion : note.suggestions.tags) {
    const bool is_new_here = had.insert(fold_case(suggestion.tag)).second;
    if (is_new_here) write.added.push_back(suggestion.tag);
    if (is_new_here || replaces) write.value.push_back(suggestion.tag);
  }
  return write;
}

ProposedPatch to_patch(const PlannedWrite& write) {
  return {
      write.path,
      write.etag,
      {JsonObject{Json{{"op", "set_frontmatter"}, {"key", write.key}, {"value", write.value}}}}};
}

void add_usage(Usage& total, const Usage& usage, bool is_first) {
  total.input_tokens += usage.input_tokens;
  total.output_tokens += usage.output_tokens;
  if (usage.cost_usd) total.cost_usd = total.cost_usd.value_or(0) + *usage.cost_usd;
  if (is_first || usage.source == "estimated") total.source = usage.source;
}

/// Puts the notes' results together: suggestions, citations, vocabulary, usage.
void collect(Output& out, const std::vector<std::optional<NoteResult>>& notes) {
  std::set<std::string> existing, fresh;
  bool is_first = true;
  for (const auto& note : notes) {
    if (!note) continue;
    out.source = note->source;
    add_usage(out.usage, note->usage, std::exchange(is_first, false));
    out.warnings.insert(out.warnings.end(), note->warnings.begin(), note->warnings.end());
    out.suggestions.push_back(note->suggestions);
    for (const auto& tag : note->suggestions.tags) {
      (tag.is_new ? fresh : existing).insert(tag.tag);
      out.citations.insert(out.citations.end(), tag.evidence.begin(), tag.evidence.end());
    }
  }
  out.vocabulary = {{existing.begin(), existing.end()}, {fresh.begin(), fresh.end()}};
}

/// Row D41: citations were offered and none of them holds.
Status check_grounding(const Output& out) {
  if (!out.citations.empty()) return {};
  static const std::set<std::string> kDropCodes = {"citation_drift", "citation_invalid",
                                                   "ungrounded_dropped"};
  Json dropped = Json::array();
  for (const auto& entry : out.warnings)
    if (entry.is_object() && kDropCodes.contains(entry.value("code", ""))) dropped.push_back(entry);
  if (dropped.empty()) return {};
  return make_error(Reason::AiGroundingFailed,
                    "No suggestion could be tied to text of the notes; nothing was written. Try "
                    "again, or with `cite: false`.",
                    Json{{"dropped", dropped}});
}

std::map<std::string, std::string> normalized_if_match(const Input& in) {
  std::map<std::string, std::string> result;
  for (const auto& [text, etag] : in.if_match) {
    const auto path = NotePath::parse(text);
    result[path ? path->str() : text] = etag;
  }
  return result;
}

Result<Output> tag(Context& ctx, const Input& in, Invocation& invocation) {
  const Scoped scoped = INDX_TRY(scope_step(ctx, in));
  Output out;
  out.scope_resolved = {in.scope.kind, scoped.scope.notes.size(), {}, scoped.scope.excluded};
  for (const auto& note : scoped.scope.notes) out.scope_resolved.paths.push_back(note.path);
  invocation.scope_paths = out.scope_resolved.paths;
  out.warnings = scoped.scope.warnings;
  if (!ctx.models().can_generate()) out.source = "extractive";

  const auto notes = INDX_TRY(suggest_all(ctx, in, scoped, out.warnings));
  collect(out, notes);
  invocation.usage = out.usage;
  if (in.cite) INDX_TRY(check_grounding(out));

  std::vector<PlannedWrite> plan;
  std::int64_t model_calls = 0;
  for (const auto& note : notes) {
    if (!note) continue;
    plan.push_back(plan_write(*note, in.apply_mode));
    model_calls += note->model_calls;
  }
  if (!in.apply) {
    out.proposed_patches.emplace();
    for (const auto& write : plan)
      if (write.is_change()) out.proposed_patches->push_back(to_patch(write));
    return out;
  }
  const ApplyOutcome applied = INDX_TRY(
      apply_writes(ctx, plan, {normalized_if_match(in), in.if_match_mode == "skip", model_calls}));
  out.applied = applied.applied;
  out.warnings.insert(out.warnings.end(), applied.warnings.begin(), applied.warnings.end());
  return out;
}

std::vector<std::string> first_paths(std::vector<std::string> paths) {
  if (paths.size() > kMaxEventPaths) paths.resize(kMaxEventPaths);
  return paths;
}

/// Row D68. A job that goes back to the queue tells nothing yet: its next run does.
void tell(Context& ctx, const Input& in, const Invocation& invocation, const Result<Output>& result,
          std::int64_t duration_ms) {
  const CancelReason why = ctx.cancel().reason();
  const bool goes_on =
      why == CancelReason::Shutdown || why == CancelReason::Pause || why == CancelReason::LeaseLost;
  if (!result && goes_on) return;
  std::vector<std::string> applied;
  if (result && result->applied)
    for (const auto& write : *result->applied) applied.push_back(write.path);
  if (!result && result.error().details.contains("applied"))
    for (const auto& write : result.error().details["applied"])
      applied.push_back(write.value("path", ""));
  Json data{{"type", "ai.invocation"},
            {"op", "ai_tag"},
            {"scope_paths", first_paths(invocation.scope_paths)},
            {"scope_count", invocation.scope_paths.size()},
            {"provider", ctx.models().provider()},
            {"model", ctx.models().model()},
            {"usage", *Codec<Usage>::encode(invocation.usage)},
            {"cache_hit", false},
            {"duration_ms", duration_ms},
            {"ok", result.has_value()}};
  if (!result) data["error_code"] = std::string(result.error().name());
  if (in.apply) data["applied_paths"] = first_paths(applied);
  if (!ctx.is_job() || !result) return ctx.emit("ai.invocation", data);
  const auto told = ctx.step("invocation", Json::object(),
                             [&]() -> Result<Json> {  // a resumed job does not tell it again
                               ctx.emit("ai.invocation", data);
                               return Json::object();
                             });
  static_cast<void>(told);  // the work is done: a lost row of the log must not fail it
}

Result<Output> run(Context& ctx, const Input& in) {
  const auto begin = ctx.clock().monotonic();
  Invocation invocation;
  auto result = tag(ctx, in, invocation);
  const auto took =
      std::chrono::duration_cast<milliseconds>(ctx.clock().monotonic() - begin).count();
  tell(ctx, in, invocation, result, took);
  return result;
}

Result<std::size_t> size(Context& ctx, const Input& in) {
  const ScopePaths found = INDX_TRY(scope_paths(ctx, in.scope));
  return found.paths.size();
}

}  // namespace ai_tag_op

Operation ai_tag() {
  using namespace ai_tag_op;
  return define<Input, Output>({
      .name = "ai_tag",
      .summary =
          "Suggest tags for notes, with the lines that support them, and write them when asked.",
      .guidance = "Without `apply` nothing is written: show the suggestions first. Prefers tags "
                  "that the vault has. More than one note "
                  "runs as a job; notes that AI may not read are left out and reported.",
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
      .input = {field("scope", &Input::scope, "Which notes."),
                field("vocabulary", &Input::vocabulary, "Which tags may be suggested.", optional),
                field("apply", &Input::apply,
                      "Write the tags into the property `tags`; needs vault:write.", optional),
                field("apply_mode", &Input::apply_mode,
                      "merge: add to what is there; replace: overwrite it.", optional,
                      one_of({"merge", "replace"})),
                field("if_match", &Input::if_match,
                      "Path to etag: the versions that may be written.", optional,
                      length(0, 10000)),
                field("if_match_mode", &Input::if_match_mode,
                      "On a mismatch: write nothing, or skip that note.", optional,
                      one_of({"stop", "skip"})),
                field("language", &Input::language,
                      "Language of new tags; left out: that of the note.", optional, length(0, 35)),
                field("max_tokens", &Input::max_tokens, "Most tokens of one model answer.",
                      between(1, 100000)),
                field("cite", &Input::cite, "Give the lines that support each tag.", optional),
                field("seed", &Input::seed,
                      "Same input and seed: same output, as far as the model can.", optional),
                field("cache", &Input::cache, "Whether an earlier answer may be used.", optional)},
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
                 field("warnings", &Output::warnings, "A code, or {code, path, reason}.")},
      .failures = {{Reason::AiUnavailable, "No provider is configured."},
                   {Reason::AiProviderError, "The provider failed for every note."},
                   {Reason::AiQuotaExceeded, "The provider's or our own limit is used up."},
                   {Reason::AiInputTooLarge, "The note does not fit the model."},
                   {Reason::AiSchemaInvalid, "The model did not answer in the asked form."},
                   {Reason::AiGroundingFailed, "No evidence holds; details.dropped lists it."},
                   {Reason::AiApplyConflict,
                    "Notes are not at `if_match`; details hold failed and applied."},
                   {Reason::NotFound, "A note named alone does not exist."},
                   {Reason::Forbidden, "A named path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
