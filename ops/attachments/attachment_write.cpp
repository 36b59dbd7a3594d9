#include "ops/attachments/attachment_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace attachment_write_op {

struct Input {
  std::string path, if_match, expected_sha256;
  bool if_not_exists = false, dry_run = false;
};

Result<WriteView> run(Context& ctx, const Input& in) {
  NoteChange change =
      change_of(NoteChange::Kind::FileWrite, INDX_TRY(writable_attachment_path(in.path)));
  guard(change, in);
  change.if_not_exists = in.if_not_exists;
  return write_upload(ctx, std::move(change));
}

}  // namespace attachment_write_op

Operation attachment_write() {
  using namespace attachment_write_op;
  return define<Input, WriteView>({
      .name = "attachment_write",
      .summary = "Create a file that is no note, or replace a whole one.",
      .guidance = "The bytes are the body; a base is written this way too. Notes are written by "
                  "note_write, canvases by canvas_write.",
      .scopes = {Scope::VaultWrite},
      .route = {"PUT", "/v1/files/{path}"},
      .cli = "attachment put",
      .cli_positional = {"path"},
      .example = "attachments/receipt.pdf receipt.pdf",
      .effect = Effect::Writes,
      .is_idempotent = true,
      .tool_group = "vault_manage",
      .takes_file = true,
      .input = {path_field(&Input::path), if_match_field(&Input::if_match),
                expected_sha256_field(&Input::expected_sha256),
                field("if_not_exists", &Input::if_not_exists,
                      "Create only: an existing file is a conflict.", optional),
                field("dry_run", &Input::dry_run, "Only show what would happen.", optional)},
      .output = WriteView::fields(),
      .failures = {{Reason::ValidationFailed,
                    "The path is that of a note or canvas, or its name would break links."},
                   {Reason::Conflict, "The file exists already (`if_not_exists`)."},
                   {Reason::EtagMismatch, "The file is no longer at `if_match`."},
                   {Reason::TooLarge, "The file is larger than `attachments.max_bytes`."},
                   {Reason::Forbidden, "The path is outside your globs, or hidden from indx."}},
      .handler = run,
  });
}

}  // namespace indx
