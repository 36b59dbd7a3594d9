#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/attachments/attachment_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace attachment_list_op {

struct Input {
  std::string path_glob;
  std::vector<std::string> extensions;
  int limit = 50;
  std::string cursor;
};
struct Output {
  std::vector<AttachmentView> attachments;
  std::optional<std::string> next_cursor;
};

Result<Output> run(Context& ctx, const Input& in) {
  AttachmentFilter filter{in.path_glob, {}, {}};
  for (const auto& extension : in.extensions)
    filter.extensions.push_back(to_lower(extension.substr(extension.starts_with('.') ? 1 : 0)));
  auto page = INDX_TRY(ctx.files().list(std::move(filter), in.limit, in.cursor));
  Output output;
  for (const auto& row : page.rows) output.attachments.push_back(view_attachment(row));
  output.next_cursor = std::move(page.next_cursor);
  return output;
}

}  // namespace attachment_list_op

Operation attachment_list() {
  using namespace attachment_list_op;
  return define<Input, Output>({
      .name = "attachment_list",
      .summary = "List the files of the vault that are no notes.",
      .guidance = "Images, PDFs, recordings, canvases, bases: everything that notes can embed.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/files"},
      .is_idempotent = true,
      .reads_index = true,
      .tool_group = "vault_lists",
      .input = {field("path_glob", &Input::path_glob,
                      "Only paths that match, such as `Projects/**`.", optional, length(0, 1024)),
                field("extensions", &Input::extensions,
                      "Only files with one of these, such as `png`.", optional, length(0, 64),
                      comma_separated),
                limit_field(&Input::limit), cursor_field(&Input::cursor)},
      .output = {field("attachments", &Output::attachments, "By path."),
                 next_cursor_field(&Output::next_cursor)},
      .failures = {{Reason::ValidationFailed,
                    "The cursor is not one that this question returned."}},
      .handler = run,
  });
}

}  // namespace indx
