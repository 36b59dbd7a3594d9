#include "ai/extraction.hpp"
#include "ai/extractive/record_rules.hpp"
#include "base/text.hpp"
#include "ops/ai/ai_apply.hpp"
#include "ops/ai/ai_estimate.hpp"
#include "ops/ai/ai_grounding.hpp"
#include "ops/ai/ai_invocation.hpp"
#include "ops/ai/ai_notes.hpp"
#include "ops/ai/metadata_fields.hpp"
#include "ops/ai/note_task.hpp"
#include "ops/operations.hpp"
#include "ops/schema_subset.hpp"

namespace indx {
namespace ai_extract_op {

constexpr int kPromptVersion = 1;  // raise it with the prompt: stored steps are not reused then
constexpr std::size_t kMaxToldErrors = 3;

struct Input : AiApplyInput {
  JsonObject schema;
  std::string schema_id;
  std::string destination = "json";
  std::string destination_key;
  std::string apply_mode = "set_missing";
  bool writes() const { return apply && destination == "frontmatter"; }
};

struct RecordCitation {
  std::string field_path;
  AiCitation citation;
  static Fields<RecordCitation> fields() {
    return {field("field", &RecordCitation::field_path,
                  "Place of the value in `data`, as a JSON pointer."),
            field("citation", &RecordCitation::citation, "The text that supports it.")};
  }
};
struct Record {
  std::string path, etag;
  Json data;
  double confidence = 0;
  std::vector<RecordCitation> citations;
  static Fields<Record> fields() {
    return {field("path", &Record::path, "The note."),
            field("etag", &Record::etag, "The version that was read."),
            field("data", &Record::data, "The record; it fits the schema."),
            field("confidence", &Record::confidence, "0 to 1."),
            field("citations", &Record::citations, "By value, where one can be told.")};
  }
};
struct AppliedRecord {
  std::string path, etag, key;
  static Fields<AppliedRecord> fields() {
    return {field("path", &AppliedRecord::path, "The note."),
            field("etag", &AppliedRecord::etag, "Its version after the change."),
            field("key", &AppliedRecord::key, "The property that was written.")};
  }
};
struct Output {
  AiScopeView scope_resolved;
  std::vector<Record> results;
  std::optional<std::vector<AppliedRecord>> applied;
  std::optional<std::vector<AiProposedPatch>> proposed_patches;
  AiUsageView usage;
  std::string source = "model";
  std::vector<Json> warnings;
  std::optional<AiEstimate> estimate;
  std::vector<std::string> applied_paths() const { return paths_of_rows(applied); }
  std::string prose() const {
    return told_rows(results, [](const Record& record) { return shown_value(record.data); });
  }
  std::vector<AiCitation> all_citations() const {
    std::vector<AiCitation> all;
    for (const auto& record : results)
      for (const auto& cited : record.citations) all.push_back(cited.citation);
    return all;
  }
};

/// What the step of one note stores.
struct NoteResult {
  std::optional<Record> record;
  Json existing;  ///< of the destination key
  std::vector<Json> warnings;
  AiCost cost;
  std::int64_t tokens = 0;
  static Fields<NoteResult> fields() {
    return {field("record", &NoteResult::record, ""), field("existing", &NoteResult::existing, ""),
            field("warnings", &NoteResult::warnings, ""), field("cost", &NoteResult::cost, ""),
            field("tokens", &NoteResult::tokens, "")};
  }
};

Json invalid_record(const std::string& path, const std::string& reason) {
  return ai_warning("extract_invalid", path, reason);
}

Status check_destination(const Input& in) {
  if (in.destination != "frontmatter") return {};
  const auto refuse = [](const std::string& why) {
    return invalid(cat("`destination_key`: ", why),
                   Json{{"path", "destination_key"}, {"expected", "a property name"}});
  };
  if (trim(in.destination_key).empty())
    return refuse("It is required when `destination` is `frontmatter`.");
  if (auto known = check_frontmatter(Json{{in.destination_key, ""}}); !known)
    return refuse(known.error().message);
  return {};
}

/// The answer about one note; an answer in a wrong form is a warning, not the end.
Result<Extraction> ask(Context& lane, const ExtractionTask& task, const Input& in,
                       NoteResult& result) {
  if (!lane.models().can_generate()) return extractive_record(task);
  const auto request =
      extraction_prompt(task, lane.config().ai, in.seed, in.max_tokens.value_or(0));
  const auto answer = ask_model(lane, request, task.note.path, result.cost, result.warnings);
  auto found = answer ? parse_extraction_reply(task, *answer) : Result<Extraction>(answer.error());
  if (found || !is_unusable_answer(found.error())) return found;
  result.warnings.push_back(
      invalid_record(task.note.path, "The model did not answer in the asked form."));
  return Extraction{};
}

/// The record as it may be returned and written; nullopt with a warning where it may not.
std::optional<Record> judge(const RecordSchema& schema, const Extraction& found,
                            const AiNote& source, bool cite, std::vector<Json>& warnings) {
  const std::string path = source.file.path.str();
  if (found.data.is_null()) return std::nullopt;
  auto errors = schema.errors(found.data);
  if (!errors.empty()) {
    if (errors.size() > kMaxToldErrors) errors.resize(kMaxToldErrors);
    warnings.push_back(invalid_record(path, join(errors, "; ")));
    return std::nullopt;
  }
  Record record{path, source.file.etag, found.data, found.confidence, {}};
  for (const auto& [place, evidence] : found.evidence)
    if (cite && is_grounded(evidence, source.file, *source.note))
      record.citations.push_back({place, to_citation(evidence, path, source.file.etag)});
  if (cite && record.citations.empty()) {
    warnings.push_back(
        ai_warning("ungrounded_dropped", path, "No quote of the note supports the record."));
    return std::nullopt;
  }
  return record;
}

/// The record of one note; runs in a lane.
Result<Json> extract_one(Context& lane, const ScopedNote& scoped, const RecordSchema& schema,
                         const Input& in) {
  const AiNote source = INDX_TRY(read_scoped(lane, scoped));
  const ExtractionTask task{note_task(source, in.language), schema.for_model()};
  NoteResult result;
  result.tokens = estimate_tokens(task.note.bytes);
  const Extraction found = INDX_TRY(ask(lane, task, in, result));
  result.warnings.insert(result.warnings.end(), found.warnings.begin(), found.warnings.end());
  result.record = judge(schema, found, source, in.cite, result.warnings);
  if (const Json* existing = find_property(source.note->frontmatter.values, in.destination_key))
    result.existing = *existing;
  if (has_drifted(lane, scoped)) {
    result.warnings.push_back(drift_warning(scoped.path));
    result.record.reset();
  }
  return *Codec<NoteResult>::encode(result);
}

/// What the property becomes; nullopt: it stays.
std::optional<Json> next_value(const Json& data, const Json& existing, const std::string& mode) {
  Json next = data;
  if (mode == "merge" && data.is_array() && !existing.is_null()) {
    next = union_of(existing, data);
  } else if (mode == "merge" && data.is_object() && existing.is_object()) {
    next = existing;
    for (const auto& [key, value] : data.items())
      if (const auto it = next.find(key); it == next.end() || it->is_null()) next[key] = value;
  } else if (mode != "overwrite" && !existing.is_null()) {
    return std::nullopt;
  }
  if (next == existing) return std::nullopt;
  return next;
}

PlannedWrite plan_write(const Record& record, const Json& existing, const Input& in) {
  PlannedWrite write{record.path, record.etag, {}, Json{{"key", in.destination_key}}};
  if (auto next = next_value(record.data, existing, in.apply_mode))
    write.values.emplace_back(in.destination_key, std::move(*next));
  return write;
}

Result<Output> extract(Context& ctx, const Input& in, AiInvocation& invocation) {
  INDX_TRY(check_destination(in));
  const auto schema = INDX_TRY(RecordSchema::compile(in.schema.value));
  const AiScoped scoped = INDX_TRY(scope_step(ctx, in.scope));
  Output out;
  out.scope_resolved = to_view(in.scope, scoped.scope);
  invocation.scope_paths = out.scope_resolved.paths;
  out.warnings = scoped.scope.warnings;
  if (!ctx.models().can_generate()) out.source = "extractive";

  Json request = in.key();
  request["schema"] = in.schema.value;
  request["schema_id"] = in.schema_id;
  request["destination_key"] = in.destination_key;
  request["prompt"] = kPromptVersion;
  const auto stored = INDX_TRY(map_notes(
      ctx, {"extract", request}, scoped.scope.notes,
      [&](Context& lane, const ScopedNote& note) { return extract_one(lane, note, schema, in); },
      out.warnings));

  std::vector<PlannedWrite> plan;
  AiTotal total;
  std::int64_t tokens = 0;
  std::size_t citations = 0;
  for (const auto& json : stored) {
    if (!json) continue;
    NoteResult note;
    Codec<NoteResult>::decode(*json, note);
    total.add(note.cost);
    tokens += note.tokens;
    out.warnings.insert(out.warnings.end(), note.warnings.begin(), note.warnings.end());
    if (!note.record) continue;
    citations += note.record->citations.size();
    plan.push_back(plan_write(*note.record, note.existing, in));
    out.results.push_back(std::move(*note.record));
  }
  out.scope_resolved.total_tokens = tokens;
  out.usage = invocation.usage = total.usage();
  if (in.cite) INDX_TRY(check_grounding(citations, out.warnings, "No record"));
  if (in.destination == "frontmatter")
    INDX_TRY(apply_or_propose<AppliedRecord>(ctx, in, plan, total.model_calls(), out));
  return out;
}

Result<Output> run(Context& ctx, const Input& in) {
  if (in.estimate)
    return estimated<Output>(ctx, in, [&](Context& dry, AiInvocation& invocation) {
      return extract(dry, in, invocation);
    });
  return run_told<Output>(ctx, "ai_extract", in.writes(),
                          [&](AiInvocation& invocation) { return extract(ctx, in, invocation); });
}

/// Refuses a bad call at once, not in the job that it would become.
Result<std::size_t> size(Context& ctx, const Input& in) {
  INDX_TRY(check_destination(in));
  INDX_TRY(RecordSchema::compile(in.schema.value));
  if (in.estimate) return std::size_t{1};
  const ScopePaths found = INDX_TRY(scope_paths(ctx, in.scope));
  return found.paths.size();
}

}  // namespace ai_extract_op

Operation ai_extract() {
  using namespace ai_extract_op;
  return define<Input, Output>({
      .name = "ai_extract",
      .title = "Extract records",
      .summary = "Extract one record a note in the form of your JSON Schema, with the text behind "
                 "each value.",
      .guidance = "For action items, decisions, contacts and the like; for a few properties "
                  "ai_metadata is simpler. A note that holds no such record gives none.",
      .scopes = {Scope::VaultRead},
      .extra_scopes =
          [](const Input& in) {
            return in.writes() ? std::vector{Scope::VaultWrite} : std::vector<Scope>();
          },
      .route = {"POST", "/v1/ai/extract"},
      .cli = "ai extract",
      .example = "--scope-tag meeting --schema "
                 "'{\"properties\":{\"decision\":{\"type\":\"string\"}}}'",
      .execution = Execution::Sized,
      .inline_limit = 1,
      .size = size,
      .effect = Effect::Writes,
      .needs_provider = true,
      .is_ai = true,
      .input = joined<Input>(
          {ai_scope_field<Input>(),
           field("schema", &Input::schema,
                 "Form of a record: a subset of JSON Schema 2020-12, references within it only."),
           field("schema_id", &Input::schema_id, "A name for the schema, for people.", plain,
                 optional, length(0, 200)),
           field("destination", &Input::destination,
                 "json: only give the records back; frontmatter: a property of each note.",
                 optional, one_of({"json", "frontmatter"})),
           field("destination_key", &Input::destination_key, "frontmatter: the property.", optional,
                 length(0, 128)),
           field<Input, bool>("apply", &Input::apply,
                              "Write the property; needs vault:write. With destination json "
                              "nothing is written.",
                              optional, for_writing),
           field(
               "apply_mode", &Input::apply_mode,
               "set_missing: only where it is missing or null; overwrite: always; merge: add to a "
               "list or object, else as set_missing.",
               optional, for_writing, one_of({"set_missing", "overwrite", "merge"})),
           ai_estimate_field<Input>()},
          ai_guard_fields<Input>(),
          ai_call_fields<Input>("Language of texts; left out: that of the note.")),
      .output = {field("scope_resolved", &Output::scope_resolved, "The notes that were looked at."),
                 field("results", &Output::results, "By note, in path order."),
                 field("applied", &Output::applied, "With `apply`: the notes written."),
                 field("proposed_patches", &Output::proposed_patches,
                       "frontmatter without `apply`: the note_patch calls that would do it."),
                 field("usage", &Output::usage, "Model use of this call."),
                 field("source", &Output::source, "extractive: made without a model.",
                       one_of({"model", "extractive"})),
                 field("warnings", &Output::warnings, "A code, or {code, path, reason}."),
                 ai_estimate_output<Output>()},
      .failures = ai_failures({{Reason::ValidationFailed, "A destination without its key."},
                               {Reason::AiSchemaInvalid,
                                "The schema has what is not supported; details.errors names it."},
                               {Reason::AiApplyConflict,
                                "Notes are not at `if_match`; details hold failed and applied."}}),
      .handler = run,
  });
}

}  // namespace indx
