#include "ai/extractive/metadata_rules.hpp"
#include "base/text.hpp"
#include "ops/ai/ai_apply.hpp"
#include "ops/ai/ai_estimate.hpp"
#include "ops/ai/ai_grounding.hpp"
#include "ops/ai/ai_invocation.hpp"
#include "ops/ai/ai_notes.hpp"
#include "ops/ai/metadata_fields.hpp"
#include "ops/ai/note_task.hpp"
#include "ops/operations.hpp"

#include <algorithm>

namespace indx {
namespace ai_metadata_op {

constexpr int kPromptVersion = 1;  // raise it with the prompt: stored steps are not reused then

struct Input : AiApplyInput {
  std::vector<MetadataFieldSpec> fields;
  std::string apply_mode = "set_missing";
};

struct FoundField {
  Json value;
  double confidence = 0;
  std::optional<std::string> rationale;
  std::optional<Json> existing;
  std::vector<AiCitation> evidence;
  static Fields<FoundField> fields() {
    return {field("value", &FoundField::value, "Of the field's type; null: the note does not say.",
                  nullable),
            field("confidence", &FoundField::confidence, "0 to 1."),
            field("rationale", &FoundField::rationale, "Why."),
            field("existing", &FoundField::existing, "What the property is now."),
            field("evidence", &FoundField::evidence, "Lines of the note that support it.")};
  }
};
struct NoteFields {
  std::string path, etag;
  std::map<std::string, FoundField> fields_by_key;
  static Fields<NoteFields> fields() {
    return {field("path", &NoteFields::path, "The note."),
            field("etag", &NoteFields::etag, "The version that was read."),
            field("fields", &NoteFields::fields_by_key, "By key.")};
  }
};
struct AppliedFields {
  std::string path, etag;
  std::vector<std::string> fields_set;
  std::vector<SkippedField> fields_skipped;
  static Fields<AppliedFields> fields() {
    return {field("path", &AppliedFields::path, "The note."),
            field("etag", &AppliedFields::etag, "Its version after the change."),
            field("fields_set", &AppliedFields::fields_set, "Properties that were written."),
            field("fields_skipped", &AppliedFields::fields_skipped, "Those that were left alone.")};
  }
};
struct Output {
  AiScopeView scope_resolved;
  std::vector<NoteFields> results;
  std::optional<std::vector<AppliedFields>> applied;
  std::optional<std::vector<AiProposedPatch>> proposed_patches;
  std::vector<AiCitation> citations;
  AiUsageView usage;
  std::string source = "model";
  std::vector<Json> warnings;
  std::optional<AiEstimate> estimate;
  std::vector<std::string> applied_paths() const { return paths_of_rows(applied); }
  std::string prose() const {
    return told_rows(results, [](const NoteFields& note) {
      std::vector<std::string> values;
      for (const auto& [key, found] : note.fields_by_key)
        if (!found.value.is_null()) values.push_back(cat(key, " = ", shown_value(found.value)));
      return join(values, ", ");
    });
  }
};

/// What the step of one note stores.
struct NoteResult {
  NoteFields found;
  std::vector<std::string> refused;  ///< keys whose value was not valid
  std::vector<Json> warnings;
  AiCost cost;
  std::int64_t tokens = 0;
  std::string source = "model";
  static Fields<NoteResult> fields() {
    return {
        field("found", &NoteResult::found, ""),       field("refused", &NoteResult::refused, ""),
        field("warnings", &NoteResult::warnings, ""), field("cost", &NoteResult::cost, ""),
        field("tokens", &NoteResult::tokens, ""),     field("source", &NoteResult::source, "")};
  }
};

Json key_warning(const char* code, const std::string& path, const std::string& key,
                 const std::string& reason) {
  return Json{{"code", code}, {"path", path}, {"key", key}, {"reason", reason}};
}

/// The answer about one note: an answer in a wrong form is a warning, not the end.
Result<MetadataReply> ask(Context& lane, const MetadataTask& task, const Input& in,
                          NoteResult& result) {
  if (!lane.models().can_generate()) return extractive_metadata(task);
  const auto request = metadata_prompt(task, lane.config().ai, in.seed, in.max_tokens.value_or(0));
  const auto answer = ask_model(lane, request, task.path, result.cost, result.warnings);
  auto reply = answer ? parse_metadata_reply(task, *answer) : Result<MetadataReply>(answer.error());
  if (reply || !is_unusable_answer(reply.error())) return reply;
  result.warnings.push_back(key_warning("metadata_invalid", task.path, "",
                                        "The model did not answer in the asked form."));
  return MetadataReply{};
}

/// The value of one field as it may be shown and written, with a warning for each thing that was
/// dropped.
FoundField judge(const MetadataRule& rule, const FieldValue& found, const AiNote& source, bool cite,
                 NoteResult& result) {
  const std::string& key = rule.field.key;
  const std::string path = source.file.path.str();
  FoundField view;
  if (const Json* existing = find_property(source.note->frontmatter.values, key))
    view.existing = *existing;
  const auto drop = [&](const char* code, const std::string& reason) {
    result.warnings.push_back(key_warning(code, path, key, reason));
    return view;
  };
  if (found.value.is_null()) {
    if (!rule.default_value) return view;
    view.value = *rule.default_value;
    view.rationale = "default";
    return view;
  }
  std::string why;
  const auto value = rule.accept(found.value, &why);
  if (!value) {
    result.refused.push_back(key);
    return drop("metadata_invalid", why);
  }
  for (const auto& evidence : found.evidence)
    if (cite && is_grounded(evidence, source.file, *source.note))
      view.evidence.push_back(to_citation(evidence, path, source.file.etag));
  if (cite && view.evidence.empty())
    return drop("ungrounded_dropped", "No quote of the note supports the value.");
  view.value = *value;
  view.confidence = found.confidence;
  if (!found.rationale.empty()) view.rationale = found.rationale;
  return view;
}

/// The fields of one note; runs in a lane.
Result<Json> fill_in(Context& lane, const ScopedNote& scoped,
                     const std::vector<MetadataRule>& rules, const Input& in) {
  const AiNote source = INDX_TRY(read_scoped(lane, scoped));
  MetadataTask task = note_task(source, in.language);
  for (const auto& rule : rules) task.fields.push_back(rule.field);
  NoteResult result;
  result.tokens = estimate_tokens(task.bytes);
  MetadataReply reply = INDX_TRY(ask(lane, task, in, result));
  result.source = lane.models().can_generate() ? "model" : "extractive";
  result.warnings.insert(result.warnings.end(), reply.warnings.begin(), reply.warnings.end());
  const bool drifted = has_drifted(lane, scoped);
  if (drifted) {
    result.warnings.push_back(drift_warning(scoped.path));
    reply.values.clear();
  }
  result.found = {scoped.path, scoped.etag, {}};
  for (const auto& rule : rules) {
    auto found = judge(rule, reply.values[rule.field.key], source, in.cite, result);
    if (rule.field.is_required && found.value.is_null())
      result.warnings.push_back(key_warning("metadata_missing", scoped.path, rule.field.key,
                                            "It is required, and the note does not say."));
    result.found.fields_by_key[rule.field.key] = std::move(found);
  }
  return *Codec<NoteResult>::encode(result);
}

PlannedWrite plan_write(const NoteResult& note, const std::vector<MetadataRule>& rules,
                        const std::string& mode) {
  PlannedWrite write{note.found.path, note.found.etag, {}, {}};
  std::vector<std::string> set;
  Json skipped = Json::array();
  const auto skip = [&](const std::string& key, const std::string& reason) {
    skipped.push_back(Json{{"key", key}, {"reason", reason}});
  };
  for (const auto& rule : rules) {
    const std::string& key = rule.field.key;
    const FoundField& found = note.found.fields_by_key.at(key);
    if (std::find(note.refused.begin(), note.refused.end(), key) != note.refused.end()) {
      skip(key, "validation_failed");
      continue;
    }
    auto plan = plan_field(rule, found.value, found.existing.value_or(Json()), mode);
    if (!plan.skipped.empty()) skip(key, plan.skipped);
    if (!plan.write) continue;
    set.push_back(key);
    write.values.emplace_back(key, std::move(*plan.write));
  }
  write.told = Json{{"fields_set", set}, {"fields_skipped", skipped}};
  return write;
}

Result<Output> fill(Context& ctx, const Input& in, AiInvocation& invocation) {
  const auto rules = INDX_TRY(metadata_rules(in.fields));
  const AiScoped scoped = INDX_TRY(scope_step(ctx, in.scope));
  Output out;
  out.scope_resolved = to_view(in.scope, scoped.scope);
  invocation.scope_paths = out.scope_resolved.paths;
  out.warnings = scoped.scope.warnings;
  if (!ctx.models().can_generate()) out.source = "extractive";

  Json request = in.key();
  request["fields"] = *Codec<std::vector<MetadataFieldSpec>>::encode(in.fields);
  request["prompt"] = kPromptVersion;
  const auto stored = INDX_TRY(map_notes(
      ctx, {"fill", request}, scoped.scope.notes,
      [&](Context& lane, const ScopedNote& note) { return fill_in(lane, note, rules, in); },
      out.warnings));

  std::vector<PlannedWrite> plan;
  AiTotal total;
  std::int64_t tokens = 0;
  for (const auto& json : stored) {
    if (!json) continue;
    NoteResult note;
    Codec<NoteResult>::decode(*json, note);
    total.add(note.cost);
    tokens += note.tokens;
    out.source = note.source;
    out.warnings.insert(out.warnings.end(), note.warnings.begin(), note.warnings.end());
    for (const auto& [key, found] : note.found.fields_by_key)
      out.citations.insert(out.citations.end(), found.evidence.begin(), found.evidence.end());
    plan.push_back(plan_write(note, rules, in.apply_mode));
    out.results.push_back(std::move(note.found));
  }
  out.scope_resolved.total_tokens = tokens;
  out.usage = invocation.usage = total.usage();
  if (in.cite) INDX_TRY(check_grounding(out.citations.size(), out.warnings, "No value"));
  INDX_TRY(apply_or_propose<AppliedFields>(ctx, in, plan, total.model_calls(), out));
  return out;
}

Result<Output> run(Context& ctx, const Input& in) {
  if (in.estimate)
    return estimated<Output>(
        ctx, in, [&](Context& dry, AiInvocation& invocation) { return fill(dry, in, invocation); });
  return run_told<Output>(ctx, "ai_metadata", in.apply,
                          [&](AiInvocation& invocation) { return fill(ctx, in, invocation); });
}

Result<std::size_t> size(Context& ctx, const Input& in) {
  INDX_TRY(metadata_rules(in.fields));
  if (in.estimate) return std::size_t{1};
  const ScopePaths found = INDX_TRY(scope_paths(ctx, in.scope));
  return found.paths.size();
}

}  // namespace ai_metadata_op

Operation ai_metadata() {
  using namespace ai_metadata_op;
  return define<Input, Output>({
      .name = "ai_metadata",
      .title = "Fill in properties",
      .summary =
          "Fill in typed properties of notes from their text, with the lines that support them.",
      .guidance =
          "Say which keys and of which type. Without `apply` nothing is written; `set_missing` "
          "keeps what people set. For tags use ai_tag, for records ai_extract.",
      .scopes = {Scope::VaultRead},
      .extra_scopes =
          [](const Input& in) {
            return in.apply ? std::vector{Scope::VaultWrite} : std::vector<Scope>();
          },
      .route = {"POST", "/v1/ai/metadata"},
      .cli = "ai metadata",
      .example =
          "--scope-glob 'inbox/**' --fields "
          "'[{\"key\":\"due\",\"type\":\"date\"},{\"key\":\"summary\",\"type\":\"string\"}]'",
      .execution = Execution::Sized,
      .inline_limit = 1,
      .size = size,
      .effect = Effect::Writes,
      .needs_provider = true,
      .is_ai = true,
      .input = joined<Input>(
          {ai_scope_field<Input>(),
           field("fields", &Input::fields, "The properties that are wanted.", length(1, 100)),
           field<Input, bool>("apply", &Input::apply, "Write the values; needs vault:write.",
                              optional, for_writing),
           field("apply_mode", &Input::apply_mode,
                 "set_missing: only what is missing or null; overwrite: always; merge: add to "
                 "lists, else as set_missing.",
                 optional, for_writing, one_of({"set_missing", "overwrite", "merge"})),
           ai_estimate_field<Input>()},
          ai_guard_fields<Input>(),
          ai_call_fields<Input>("Language of texts; left out: that of the note.")),
      .output = {field("scope_resolved", &Output::scope_resolved, "The notes that were looked at."),
                 field("results", &Output::results, "By note, in path order."),
                 field("applied", &Output::applied, "With `apply`: the notes written."),
                 field("proposed_patches", &Output::proposed_patches,
                       "Without `apply`: the note_patch calls that would do it."),
                 field("citations", &Output::citations, "All evidence."),
                 field("usage", &Output::usage, "Model use of this call."),
                 field("source", &Output::source, "extractive: made without a model.",
                       one_of({"model", "extractive"})),
                 field("warnings", &Output::warnings, "A code, or {code, path, key, reason}."),
                 ai_estimate_output<Output>()},
      .failures =
          ai_failures({{Reason::ValidationFailed, "A field makes no sense; `path` names it."},
                       {Reason::AiApplyConflict,
                        "Notes are not at `if_match`; details hold failed and applied."}}),
      .handler = run,
  });
}

}  // namespace indx
