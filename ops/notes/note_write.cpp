#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace note_write_op {

struct Input {
  std::string path, body;
  std::optional<Json> frontmatter;
  std::string if_match, expected_sha256;
  bool if_not_exists = false, dry_run = false;
};

Result<WriteView> run(Context& ctx, const Input& in) {
  NoteChange change = change_of(NoteChange::Kind::Write, INDX_TRY(writable_note_path(in.path)));
  change.body = in.body;
  if (in.frontmatter) {
    change.frontmatter_mode =
        in.frontmatter->is_null() ? FrontmatterMode::Remove : FrontmatterMode::Replace;
    if (in.frontmatter->is_object()) change.frontmatter = *in.frontmatter;
  }
  guard(change, in);
  change.if_not_exists = in.if_not_exists;
  const WriteOutcome outcome = INDX_TRY(ctx.notes().write(change));
  return view_write(outcome, in.dry_run);
}

}  // namespace note_write_op

Operation note_write() {
  using namespace note_write_op;
  return define<Input, WriteView>({
      .name = "note_write",
      .title = "Write a whole note",
      .summary = "Create a note, or replace its body.",
      .guidance = "For small edits of an existing note use note_patch. Give `if_match` with the "
                  "etag you read, or "
                  "`if_not_exists` to create only.",
      .scopes = {Scope::VaultWrite},
      .route = {"PUT", "/v1/notes/{path}"},
      .cli = "note update",
      .cli_positional = {"path"},
      .example = "Projects/Plan.md --body @plan.md",
      .effect = Effect::Writes,
      .is_idempotent = true,
      .input = {path_field(&Input::path),
                field("body", &Input::body,
                      "Markdown after the property block. May itself begin with a block, which "
                      "then replaces the old one."),
                field("frontmatter", &Input::frontmatter,
                      "Properties that replace the block. Left out: the block stays. Empty: it is "
                      "removed.",
                      json_object, nullable),
                if_match_field(&Input::if_match), expected_sha256_field(&Input::expected_sha256),
                field("if_not_exists", &Input::if_not_exists,
                      "Create only; `conflict` when the note exists.", optional),
                field("dry_run", &Input::dry_run, "Only show what would change.", optional)},
      .output = WriteView::fields(),
      .failures = {{Reason::ValidationFailed,
                    "The path does not end in `.md`, or its name would break links."},
                   {Reason::EtagMismatch,
                    "The note is no longer at `if_match`; details hold expected and actual."},
                   {Reason::Conflict, "`if_not_exists` was given and the note exists."},
                   {Reason::Forbidden, "The path is outside your globs, or hidden from indx."},
                   {Reason::ParseFailed, "The properties cannot be written safely."}},
      .handler = run,
  });
}

}  // namespace indx
