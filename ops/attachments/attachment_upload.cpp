#include "base/text.hpp"
#include "ops/attachments/attachment_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace attachment_upload_op {

constexpr int kMaxNumber = 1000;

struct Input {
  std::string folder, name, on_conflict = "fail";
  bool dry_run = false;
};

/// `Pasted image.png`, 2 → `Pasted image 2.png`
std::string numbered(const std::string& name, int number) {
  if (number == 0) return name;
  const auto dot = name.rfind('.');
  if (dot == name.npos || dot == 0) return cat(name, " ", number);
  return cat(name.substr(0, dot), " ", number, name.substr(dot));
}

/// The sender's name for the file, without the folders that it had there.
std::string bare_name(const std::string& name) { return name.substr(name.find_last_of("/\\") + 1); }

Result<WriteView> run(Context& ctx, const Input& in) {
  const std::string name = in.name.empty() ? bare_name(ctx.upload()->name) : in.name;
  if (name.empty())
    return invalid("The file needs a name: give `name`, or send one with the file.",
                   Json{{"path", "name"}, {"expected", "a file name"}, {"actual", "nothing"}});
  if (name.find('/') != name.npos)
    return invalid("`name` is a name only; `folder` says where.", Json{{"path", "name"}});
  for (int number = 0;; ++number) {
    const NotePath path = INDX_TRY(writable_attachment_path(
        cat(in.folder, in.folder.empty() ? "" : "/", numbered(name, number))));
    INDX_TRY(path.check_creatable());
    NoteChange change = change_of(NoteChange::Kind::FileWrite, path);
    change.if_not_exists = true;
    change.dry_run = in.dry_run;
    auto written = write_upload(ctx, std::move(change));
    const bool is_taken = !written && written.error().reason == Reason::Conflict;
    if (!is_taken || in.on_conflict == "fail" || number == kMaxNumber) return written;
  }
}

}  // namespace attachment_upload_op

Operation attachment_upload() {
  using namespace attachment_upload_op;
  return define<Input, WriteView>({
      .name = "attachment_upload",
      .summary = "Add a file that is no note under the name it comes with.",
      .guidance = "Never replaces a file; attachment_write does.",
      .scopes = {Scope::VaultWrite},
      .route = {"POST", "/v1/files"},
      .example = "receipt.pdf --folder attachments",
      .effect = Effect::Writes,
      .tool_group = "vault_manage",
      .takes_file = true,
      .input = {field("folder", &Input::folder, "Where to put it; left out: at the root.", optional,
                      vault_path, length(0, 4096)),
                field("name", &Input::name, "Its name; left out: the one it comes with.", optional,
                      length(0, 255)),
                field("on_conflict", &Input::on_conflict,
                      "When the name is taken: fail, or put a number behind it.",
                      one_of({"fail", "rename"}), optional),
                field("dry_run", &Input::dry_run, "Only show what would happen.", optional)},
      .output = WriteView::fields(),
      .failures = {{Reason::ValidationFailed, "It has no name, or one that notes cannot link to."},
                   {Reason::Conflict, "A file of that name exists."},
                   {Reason::TooLarge, "The file is larger than `attachments.max_bytes`."},
                   {Reason::Forbidden, "The path is outside your globs, or hidden from indx."}},
      .success_status = 201,
      .handler = run,
  });
}

}  // namespace indx
