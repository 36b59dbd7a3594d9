#include "ops/attachments/attachment_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace attachment_read_op {

struct Input {
  std::string path;
};

Result<AttachmentView> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(attachment_path(in.path));
  OpenedFile file = INDX_TRY(ctx.files().open(path));
  ctx.answer_with(std::move(file.bytes));
  return view_attachment(file.row);
}

}  // namespace attachment_read_op

Operation attachment_read() {
  using namespace attachment_read_op;
  return define<Input, AttachmentView>({
      .name = "attachment_read",
      .summary = "Read the bytes of a file that is no note.",
      .guidance = "Parts of it by Range. Notes are read by note_read.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/files/{path}"},
      .cli = "attachment get",
      .cli_positional = {"path"},
      .example = "attachments/receipt.pdf --output receipt.pdf",
      .needs = Needs::Files,
      .is_idempotent = true,
      .tool_group = "vault_lists",
      .gives_file = true,
      .input = {path_field(&Input::path)},
      .output = AttachmentView::fields(),
      .failures = {{Reason::NotFound, "No file has that path."},
                   {Reason::ValidationFailed, "The path is that of a note."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
