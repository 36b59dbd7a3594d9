#include "base/hash.hpp"
#include "base/text.hpp"
#include "ops/links/heading_links.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"
#include "ops/step_field.hpp"

#include <algorithm>
#include <array>

namespace indx {
namespace note_patch_op {

/// One step, flat: which fields count depends on `op`.
struct Step {
  std::string op;
  std::optional<std::string> key;
  std::optional<Json> value;
  std::optional<std::string> markdown, heading;
  std::optional<std::vector<std::string>> heading_path;
  std::optional<int> occurrence;
  std::optional<bool> keep_subsections;
  std::optional<std::string> from, to, target;
  std::optional<std::vector<std::string>> target_path;
  std::optional<int> target_occurrence;
  std::optional<std::string> position, block_id;
  std::optional<int> line;
  std::optional<std::string> status;
  std::optional<std::vector<std::string>> cells;
  static Fields<Step> fields();
};
struct Input {
  std::string path;
  std::vector<Step> ops;
  std::string if_match, expected_sha256;
  bool dry_run = false;
};

/// Names of fields, separated by spaces; of `a|b` exactly one is wanted.
struct OpRow {
  std::string_view name;
  PatchKind kind;
  std::string_view required, allowed;
};
constexpr std::string_view kHeading = "heading|heading_path";
constexpr std::array kPatchOps = {
    OpRow{"set_frontmatter", PatchKind::SetFrontmatter, "key value", ""},
    OpRow{"delete_frontmatter", PatchKind::DeleteFrontmatter, "key", ""},
    OpRow{"append_body", PatchKind::AppendBody, "markdown", ""},
    OpRow{"prepend_body", PatchKind::PrependBody, "markdown", ""},
    OpRow{"insert_before_heading", PatchKind::InsertBeforeHeading, "heading|heading_path markdown",
          "occurrence"},
    OpRow{"insert_after_heading", PatchKind::InsertAfterHeading, "heading|heading_path markdown",
          "occurrence"},
    OpRow{"replace_section", PatchKind::ReplaceSection, "heading|heading_path markdown",
          "occurrence keep_subsections"},
    OpRow{"append_to_section", PatchKind::AppendToSection, "heading|heading_path markdown",
          "occurrence keep_subsections"},
    OpRow{"delete_section", PatchKind::DeleteSection, kHeading, "occurrence keep_subsections"},
    OpRow{"move_section", PatchKind::MoveSection, "heading|heading_path target|target_path",
          "occurrence target_occurrence position"},
    OpRow{"rename_heading", PatchKind::RenameHeading, "from|heading_path to", "occurrence"},
    OpRow{"replace_block", PatchKind::ReplaceBlock, "block_id markdown", ""},
    OpRow{"append_table_row", PatchKind::AppendTableRow, "block_id cells", ""},
    OpRow{"set_task", PatchKind::SetTask, "line|block_id", "status"},
    OpRow{"rename_block", PatchKind::RenameBlock, "block_id to", ""}};

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const auto& row : kPatchOps) names.emplace_back(row.name);
  return names;
}

Fields<Step> Step::fields() {
  return {
      field("op", &Step::op, "What to do.", one_of(op_names())),
      field("key", &Step::key, "Steps on frontmatter: name of the property.", length(1, 1024)),
      field("value", &Step::value, "set_frontmatter: the new value, any JSON.", nullable),
      field("markdown", &Step::markdown,
            "What the append, prepend, insert and replace steps write."),
      field("heading", &Step::heading,
            "Steps on sections: `Text` or `## Text`; repeated ones need occurrence or "
            "heading_path.",
            length(1, 4096)),
      field("heading_path", &Step::heading_path,
            "Instead of heading: those above it and itself, outermost first.", length(1, 32)),
      field("occurrence", &Step::occurrence, "Which of several equal headings, from 1.",
            at_least(1)),
      field("keep_subsections", &Step::keep_subsections,
            "Only the text before the first heading below."),
      field("from", &Step::from, "rename_heading: the heading as it is.", length(1, 4096)),
      field("to", &Step::to, "rename_heading: its new text. rename_block: the new id.",
            length(1, 4096)),
      field("target", &Step::target, "move_section: the heading to move next to.", length(1, 4096)),
      field("target_path", &Step::target_path, "Instead of target, as heading_path.",
            length(1, 32)),
      field("target_occurrence", &Step::target_occurrence, "As occurrence, for the target.",
            at_least(1)),
      field("position", &Step::position, "move_section: which side of the target; else after.",
            one_of({"before", "after"})),
      field("block_id", &Step::block_id, "Steps on blocks: id of the block, without `^`.",
            length(1, 256)),
      field("line", &Step::line, "set_task: line of the task, from 1, when this step runs.",
            at_least(1)),
      field("status", &Step::status,
            "set_task: the character in the brackets; left out: it is toggled.", length(1, 64)),
      field("cells", &Step::cells, "append_table_row: texts of the cells; missing ones are empty.",
            length(1, 256))};
}

std::vector<std::string> words_of(std::string_view names, char separator) {
  return names.empty() ? std::vector<std::string>() : split(names, separator);
}

/// `replace_section takes heading or heading_path, markdown; and may take occurrence.`
std::string what_op_takes(const OpRow& row) {
  std::string text =
      cat(row.name, " takes ", replace_all(replace_all(row.required, " ", ", "), "|", " or "));
  if (!row.allowed.empty()) text += "; and may take " + replace_all(row.allowed, " ", ", ");
  return text + '.';
}

/// Refuses a step that lacks a field of its op, or has one of another.
Status check_fields(const Step& step, const OpRow& row, std::size_t index) {
  const std::vector<std::pair<std::string, bool>> fields = {
      {"key", step.key.has_value()},
      {"value", step.value.has_value()},
      {"markdown", step.markdown.has_value()},
      {"heading", step.heading.has_value()},
      {"heading_path", step.heading_path.has_value()},
      {"occurrence", step.occurrence.has_value()},
      {"keep_subsections", step.keep_subsections.has_value()},
      {"from", step.from.has_value()},
      {"to", step.to.has_value()},
      {"target", step.target.has_value()},
      {"target_path", step.target_path.has_value()},
      {"target_occurrence", step.target_occurrence.has_value()},
      {"position", step.position.has_value()},
      {"block_id", step.block_id.has_value()},
      {"line", step.line.has_value()},
      {"status", step.status.has_value()},
      {"cells", step.cells.has_value()}};
  const auto is_given = [&](const std::string& name) {
    return std::any_of(fields.begin(), fields.end(),
                       [&](const auto& field) { return field.first == name && field.second; });
  };
  const auto refuse = [&](const std::string& name, std::string_view means, bool given) {
    return wrong_step_field(index, name, means, step.op, given);
  };
  std::vector<std::string> known = words_of(row.allowed, ' ');
  for (const std::string& wanted : words_of(row.required, ' ')) {
    int given = 0;
    for (const std::string& name : words_of(wanted, '|')) {
      known.push_back(name);
      if (is_given(name) && ++given > 1)
        return refuse(name, "stands for a field that is given too, in", true);
    }
    if (given == 0) {
      Error missing = refuse(words_of(wanted, '|').front(), "is required by", false);
      missing.message += ' ' + what_op_takes(row);
      return missing;
    }
  }
  for (const auto& [name, given] : fields)
    if (given && std::find(known.begin(), known.end(), name) == known.end()) {
      Error other = refuse(name, "means nothing to", true);
      other.message += ' ' + what_op_takes(row);
      return other;
    }
  return {};
}

Result<PatchOp> to_patch_op(const Step& step, std::size_t index) {
  const auto row = std::find_if(kPatchOps.begin(), kPatchOps.end(),
                                [&](const OpRow& r) { return r.name == step.op; });
  INDX_ASSERT(row != kPatchOps.end());  // the schema allows no other name
  INDX_TRY(check_fields(step, *row, index));
  PatchOp op{.kind = row->kind};
  op.key = step.key.value_or("");
  op.value = step.value.value_or(Json());
  op.markdown = step.markdown.value_or("");
  op.to = step.to.value_or("");
  op.heading = {step.heading.value_or(step.from.value_or("")),
                step.heading_path.value_or(std::vector<std::string>()),
                step.occurrence.value_or(0)};
  op.target = {step.target.value_or(""), step.target_path.value_or(std::vector<std::string>()),
               step.target_occurrence.value_or(0)};
  op.side = step.position == "before" ? SectionSide::Before : SectionSide::After;
  op.keep_subsections = step.keep_subsections.value_or(false);
  op.block_id = step.block_id.value_or("");
  op.line = step.line.value_or(0);
  op.status = step.status;
  op.cells = step.cells.value_or(std::vector<std::string>());
  return op;
}

struct Output {
  NoteView note;
  WriteView write;
  std::vector<RelinkedView> relinked;
  std::vector<NotRelinkedView> failed;
  bool partial = false;
};

constexpr int kMostPatchTries = 5;

/// The note after a dry run: its bytes exist nowhere, so they are made here.
Result<NoteFile> imagined(Context& ctx, const NoteChange& change) {
  NoteFile file = INDX_TRY(ctx.notes().read(change.path));
  const auto after = INDX_TRY(apply_change(change, file.bytes));
  file.bytes = after.value_or("");
  file.size = file.bytes.size();
  return file;
}

Result<NoteChange> change_of_input(const Input& in) {
  NoteChange change = change_of(NoteChange::Kind::Patch, INDX_TRY(writable_note_path(in.path)));
  for (std::size_t i = 0; i < in.ops.size(); ++i)
    change.ops.push_back(INDX_TRY(to_patch_op(in.ops[i], i)));
  guard(change, in);
  return change;
}

Result<WriteOutcome> written(Context& ctx, const std::string& key, const NoteChange& change) {
  return change.dry_run ? ctx.notes().write(change) : ctx.write_step(key, change);
}

/// The input without its conditions, which hold once only.
Json bare_input(const Input& in) {
  Json ops = Json::array();
  for (const auto& step : in.ops) {
    ops.push_back(encode_fields(Step::fields(), step));
    if (!step.value) ops.back().erase("value");  // null is a value of its own
  }
  return {{"path", in.path}, {"ops", std::move(ops)}, {"dry_run", false}};
}
/// How the journal of a patch is found again.
std::string journal_key(const Input& in) {
  return cat("patch\n", in.path, "\n", canonical_hash(bare_input(in)));
}
Json journal_of(Context& ctx, const Input& in, const AnchorPlan& plan) {
  return {{"key", journal_key(in)},
          {"kind", "note_patch"},
          {"input", bare_input(in)},
          {"path_globs", ctx.principal().path_globs},
          {"plan", to_json(plan)}};
}

Status relink(Context& ctx, const NotePath& path, const AnchorPlan& plan, Output& out) {
  out.failed = plan.failed;
  auto relinked = INDX_TRY(apply_anchors(ctx, path, plan));
  out.relinked = std::move(relinked.changed);
  std::move(relinked.failed.begin(), relinked.failed.end(), std::back_inserter(out.failed));
  if (plan.has_hidden_sources) out.note.warnings.emplace_back("links_outside_scope");
  out.partial = !out.failed.empty() || plan.has_hidden_sources;
  return {};
}

/// A patch that a crash interrupted behind its write: the note is as it shall be.
Result<WriteOutcome> resumed(Context& ctx, const NoteChange& change, const AnchorPlan& plan,
                             Output& out) {
  const auto file = INDX_TRY(ctx.notes().read(change.path));
  INDX_TRY(relink(ctx, file.path, plan, out));
  WriteOutcome outcome{.path = file.path};
  outcome.old_etag = plan.etag;
  outcome.etag = file.etag;
  outcome.sha256 = sha256_hex(file.bytes);
  outcome.size = outcome.old_size = file.size;
  outcome.changed = true;
  return outcome;
}

/// A patch whose links follow: the note's own in the same write, those of other files behind it.
Result<WriteOutcome> written_with_links(Context& ctx, NoteChange& change, const Input& in,
                                        Output& out) {
  const auto turn = INDX_TRY(ctx.links().take_turn());
  const auto key = journal_key(in);
  const auto journal = INDX_TRY(ctx.step("journal", Json{{"path", change.path.str()}},
                                         [&] { return ctx.links().journal(key); }));
  if (!journal.is_null()) {
    const auto plan = INDX_TRY(anchor_plan_from_json(journal));
    auto outcome = INDX_TRY(resumed(ctx, change, plan, out));
    INDX_TRY(ctx.links().end_journal(key));
    return outcome;
  }
  for (int attempt = 0;; ++attempt) {
    const auto stored = INDX_TRY(ctx.step(
        cat("plan/", attempt), Json{{"path", change.path.str()}},
        [&]() -> Result<Json> { return to_json(INDX_TRY(plan_anchors(ctx, change, false))); }));
    const auto plan = INDX_TRY(anchor_plan_from_json(stored));
    NoteChange planned = change;
    planned.if_match = plan.etag;  // the edits and the renames are those of these bytes
    planned.edits = plan.edits;
    const bool needs_journal = !ctx.is_job() && !plan.sources.empty();
    if (needs_journal) planned.journal = journal_of(ctx, in, plan);
    const auto outcome = written(ctx, cat("patch/", attempt), planned);
    if (!outcome.has_value()) {
      const bool may_repeat = !change.is_for_one_version() &&
                              outcome.error().reason == Reason::EtagMismatch &&
                              attempt + 1 < kMostPatchTries;
      if (may_repeat) continue;
      return outcome.error();
    }
    INDX_TRY(relink(ctx, outcome->path, plan, out));
    if (needs_journal) INDX_TRY(ctx.links().end_journal(key));
    return outcome;
  }
}

/// The same as a dry run.
Result<WriteOutcome> imagined_with_links(Context& ctx, NoteChange& change, Output& out) {
  INDX_TRY(ctx.links().wait_for_index());
  const auto plan = INDX_TRY(plan_anchors(ctx, change, true));
  change.if_match = plan.etag;
  change.edits = plan.edits;
  for (const auto& source : plan.sources) out.relinked.push_back(view_planned(source, source.path));
  out.failed = plan.failed;
  if (plan.has_hidden_sources) out.note.warnings.emplace_back("links_outside_scope");
  out.partial = !out.failed.empty() || plan.has_hidden_sources;
  return ctx.notes().write(change);
}

Result<Output> run(Context& ctx, const Input& in) {
  NoteChange change = INDX_TRY(change_of_input(in));
  Output out;
  const bool has_links = renames_anchors(change);
  const auto outcome = INDX_TRY(!has_links   ? written(ctx, "patch", change)
                                : in.dry_run ? imagined_with_links(ctx, change, out)
                                             : written_with_links(ctx, change, in, out));
  NoteFile file = INDX_TRY(in.dry_run ? imagined(ctx, change) : ctx.notes().read(outcome.path));
  if (in.dry_run) file.etag = outcome.etag;
  auto warnings = std::move(out.note.warnings);
  warnings.insert(warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
  out.note = view_note(ctx, file, kDefaultNoteParts);
  out.note.warnings.insert(out.note.warnings.end(), warnings.begin(), warnings.end());
  out.write = view_write(outcome, in.dry_run);
  return out;
}

/// Errors are those of the run.
Result<std::size_t> size(Context& ctx, const Input& in) {
  const auto change = change_of_input(in);
  if (!change.has_value() || in.dry_run) return std::size_t{0};
  if (renames_anchors(*change)) INDX_TRY(ctx.links().wait_for_index());
  const auto sources = count_anchor_sources(ctx, *change);
  return sources.has_value() ? *sources : std::size_t{0};
}

bool may_be_large(const Input& in) {
  return !in.dry_run && std::any_of(in.ops.begin(), in.ops.end(), [](const Step& step) {
    return step.op == "rename_heading" || step.op == "rename_block";
  });
}

/// The full note, and what the write did.
Fields<Output> output_fields() {
  Fields<Output> fields;
  const auto lift = [&]<typename Part>(Part Output::*part, const Fields<Part>& list) {
    for (const auto& f : list) {
      const bool is_taken = std::any_of(fields.begin(), fields.end(), [&](const auto& other) {
        return std::string_view(other.name) == f.name;
      });
      if (is_taken) continue;
      fields.push_back({f.name, f.is_list, f.property,
                        [f, part](const Json& json, Output& out) { f.decode(json, out.*part); },
                        [f, part](const Output& out) { return f.encode(out.*part); }});
    }
  };
  lift(&Output::note, NoteView::fields());
  lift(&Output::write, WriteView::fields());
  fields.push_back(field("relinked", &Output::relinked,
                         "Other files whose links followed a renamed heading or block id; its own "
                         "links follow too."));
  fields.push_back(field("failed", &Output::failed, "Files with links that could not follow."));
  fields.push_back(field("partial", &Output::partial,
                         "True: the note is written, but some links to it were left as they are."));
  return fields;
}

}  // namespace note_patch_op

Operation note_patch() {
  using namespace note_patch_op;
  return define<Input, Output>({
      .name = "note_patch",
      .title = "Edit a note with structured ops",
      .summary = "Edit a note with structured steps; everything else in it stays byte for byte.",
      .guidance = "Prefer it to note_write for any change of a note that exists. Steps run in "
                  "order, all or nothing. Give `if_match` with the etag you read. Links everywhere "
                  "follow a renamed heading or block id; over 20 files with such links it runs as "
                  "a job. The answer holds the note as it is now, so no second read is needed.",
      .scopes = {Scope::VaultWrite},
      .route = {"PATCH", "/v1/notes/{path}"},
      .cli = "note patch",
      .cli_positional = {"path"},
      .example = "Projects/Plan.md --ops "
                 "'[{\"op\":\"set_frontmatter\",\"key\":\"status\",\"value\":\"done\"}]'",
      .execution = Execution::Sized,
      .inline_limit = 20,
      .size = size,
      .may_be_large = may_be_large,
      .effect = Effect::Writes,
      .input = {path_field(&Input::path),
                field("ops", &Input::ops, "The steps, in order.", length(1, 1000)),
                if_match_field(&Input::if_match), expected_sha256_field(&Input::expected_sha256),
                field("dry_run", &Input::dry_run, "Only show what would change.", optional)},
      .output = output_fields(),
      .failures = {{Reason::ValidationFailed,
                    "The path does not end in `.md`, or a step cannot be done; details hold the "
                    "op_index."},
                   {Reason::Conflict, "Another block has the new id; details hold its line."},
                   {Reason::NotFound, "No note has that path."},
                   {Reason::EtagMismatch,
                    "The note is no longer at `if_match`; details hold expected and actual."},
                   {Reason::InProgress,
                    "rename_heading: the index is still being filled, or another change rewrites "
                    "links."},
                   {Reason::ParseFailed,
                    "The property block cannot be edited safely; details hold the op_index."},
                   {Reason::TargetNotFound,
                    "No such heading, block or task; details hold candidates and the op_index."},
                   {Reason::Ambiguous,
                    "Several headings or tasks fit; details hold candidates and the op_index."},
                   {Reason::NotUtf8, "The note is not UTF-8 text."},
                   {Reason::Forbidden, "The path is outside your globs, or hidden from indx."}},
      .handler = run,
  });
}

}  // namespace indx
