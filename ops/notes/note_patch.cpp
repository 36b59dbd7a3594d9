#include "base/text.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

#include <algorithm>
#include <array>

namespace indx {
namespace note_patch_op {

/// One step, flat: which fields count depends on `op`.
struct Step {
  std::string op;
  std::optional<std::string> key;
  std::optional<Json> value;
  std::optional<std::string> markdown;
  static Fields<Step> fields();
};
struct Input {
  std::string path;
  std::vector<Step> ops;
  std::string if_match, expected_sha256;
  bool dry_run = false;
};

struct OpRow {
  std::string_view name;
  PatchKind kind;
  bool takes_key, takes_value, takes_markdown;
};
constexpr std::array kPatchOps = {
    OpRow{"set_frontmatter", PatchKind::SetFrontmatter, true, true, false},
    OpRow{"delete_frontmatter", PatchKind::DeleteFrontmatter, true, false, false},
    OpRow{"append_body", PatchKind::AppendBody, false, false, true},
    OpRow{"prepend_body", PatchKind::PrependBody, false, false, true}};

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const auto& row : kPatchOps) names.emplace_back(row.name);
  return names;
}

Fields<Step> Step::fields() {
  return {field("op", &Step::op, "What to do.", one_of(op_names())),
          field("key", &Step::key, "set_frontmatter, delete_frontmatter: name of the property.",
                length(1, 1024)),
          field("value", &Step::value, "set_frontmatter: the new value, any JSON.", nullable),
          field("markdown", &Step::markdown, "append_body, prepend_body: the text to add.")};
}

/// Refuses a step that lacks a field of its op, or has one of another.
Result<PatchOp> to_patch_op(const Step& step, std::size_t index) {
  const auto row = std::find_if(kPatchOps.begin(), kPatchOps.end(),
                                [&](const OpRow& r) { return r.name == step.op; });
  INDX_ASSERT(row != kPatchOps.end());  // the schema allows no other name
  const auto check = [&](const char* name, bool given, bool wanted) -> Status {
    if (given == wanted) return {};
    const std::string at = cat("ops[", index, "].", name);
    return invalid(
        cat("`", at, "` ", wanted ? "is required by" : "means nothing to", " `", step.op, "`."),
        Json{{"path", at},
             {"expected", wanted ? "a value" : "nothing"},
             {"actual", given ? "a value" : "missing"},
             {"op_index", index}});
  };
  INDX_TRY(check("key", step.key.has_value(), row->takes_key));
  INDX_TRY(check("value", step.value.has_value(), row->takes_value));
  INDX_TRY(check("markdown", step.markdown.has_value(), row->takes_markdown));
  return PatchOp{
      row->kind, step.key.value_or(""), step.value.value_or(Json()), step.markdown.value_or(""), "",
      ""};
}

struct Output {
  NoteView note;
  WriteView write;
};

/// The note after a dry run: its bytes exist nowhere, so they are made here.
Result<NoteFile> imagined(Context& ctx, const NoteChange& change) {
  NoteFile file = INDX_TRY(ctx.notes().read(change.path));
  const auto after = INDX_TRY(apply_change(change, file.bytes));
  file.bytes = after.value_or("");
  file.size = file.bytes.size();
  return file;
}

Result<Output> run(Context& ctx, const Input& in) {
  NoteChange change = change_of(NoteChange::Kind::Patch, INDX_TRY(NotePath::parse(in.path)));
  for (std::size_t i = 0; i < in.ops.size(); ++i)
    change.ops.push_back(INDX_TRY(to_patch_op(in.ops[i], i)));
  change.if_match = plain_etag(in.if_match);
  change.expected_sha256 = in.expected_sha256;
  change.dry_run = in.dry_run;
  const WriteOutcome outcome = INDX_TRY(ctx.notes().write(change));
  NoteFile file = INDX_TRY(in.dry_run ? imagined(ctx, change) : ctx.notes().read(outcome.path));
  if (in.dry_run) file.etag = outcome.etag;
  Output out{view_note(file, kDefaultNoteParts, ctx.config()), view_write(outcome, in.dry_run)};
  out.note.warnings.insert(out.note.warnings.end(), outcome.warnings.begin(),
                           outcome.warnings.end());
  return out;
}

/// The full note, and what the write did.
Fields<Output> output_fields() {
  Fields<Output> fields;
  const auto lift = [&]<typename Part>(Part Output::*part, const Fields<Part>& list) {
    for (const auto& f : list) {
      const bool is_taken = std::any_of(fields.begin(), fields.end(), [&](const auto& other) {
        return other.property.name == f.property.name;
      });
      if (is_taken) continue;
      fields.push_back({f.property,
                        [f, part](const Json& json, Output& out) { f.decode(json, out.*part); },
                        [f, part](const Output& out) { return f.encode(out.*part); }});
    }
  };
  lift(&Output::note, NoteView::fields());
  lift(&Output::write, WriteView::fields());
  return fields;
}

}  // namespace note_patch_op

Operation note_patch() {
  using namespace note_patch_op;
  return define<Input, Output>({
      .name = "note_patch",
      .summary = "Edit a note with structured steps; everything else in it stays byte for byte.",
      .guidance = "Steps run in order, all or nothing, in one write. Give `if_match` with the etag "
                  "you read. The answer holds "
                  "the whole note as it is now, so no second read is needed.",
      .scopes = {Scope::VaultWrite},
      .route = {"PATCH", "/v1/notes/{path}"},
      .cli = "note patch",
      .cli_positional = {"path"},
      .effect = Effect::Writes,
      .input = {path_field(&Input::path),
                field("ops", &Input::ops, "The steps, in order.", length(1, 1000)),
                if_match_field(&Input::if_match),
                field("expected_sha256", &Input::expected_sha256,
                      "SHA-256 that the file must still have.", optional, length(0, 64)),
                field("dry_run", &Input::dry_run, "Only show what would change.", optional)},
      .output = output_fields(),
      .failures = {{Reason::NotFound, "No note has that path."},
                   {Reason::EtagMismatch,
                    "The note is no longer at `if_match`; details hold expected and actual."},
                   {Reason::ParseFailed,
                    "The property block cannot be edited safely; details hold the op_index."},
                   {Reason::NotUtf8, "The note is not UTF-8 text."},
                   {Reason::Forbidden, "The path is outside your globs, or hidden from indx."}},
      .handler = run,
  });
}

}  // namespace indx
