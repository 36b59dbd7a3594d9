#pragma once
#include "ops/define.hpp"
#include "ops/files.hpp"
#include "ops/notes/note_view.hpp"

namespace indx {

/// How an attachment looks in answers.
struct AttachmentView {
  std::string path, etag;
  std::uint64_t size = 0;
  std::string modified, media_type;
  static Fields<AttachmentView> fields();
};
AttachmentView view_attachment(const AttachmentRow& row);

/// The path of a file that is no note; `validation_failed` for one that is.
Result<NotePath> attachment_path(const std::string& path);
/// The same for a file that is to be written: a canvas has an operation of its own, which checks
/// it.
Result<NotePath> writable_attachment_path(const std::string& path);

/// Writes the file that came with the call; `change` says where and on what conditions.
Result<WriteView> write_upload(Context& ctx, NoteChange change);

}  // namespace indx
