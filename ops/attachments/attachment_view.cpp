#include "ops/attachments/attachment_view.hpp"

#include "base/media_type.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

namespace indx {

Fields<AttachmentView> AttachmentView::fields() {
  return {
      field("path", &AttachmentView::path, "Where it is."),
      field("etag", &AttachmentView::etag, "Of its bytes; guards a write as `if_match`."),
      field("size", &AttachmentView::size, "Bytes."),
      field("modified", &AttachmentView::modified, "When it last changed, UTC."),
      field("media_type", &AttachmentView::media_type, "By its extension, such as `image/png`.")};
}

AttachmentView view_attachment(const AttachmentRow& row) {
  return {row.path, row.etag, row.size, format_time(row.modified),
          std::string(media_type_of(row.path))};
}

Result<NotePath> attachment_path(const std::string& text) {
  NotePath path = INDX_TRY(NotePath::parse(text));
  if (!path.is_note()) return path;
  return invalid(
      cat("`", path.str(), "` is a note; the note operations read and write notes."),
      Json{{"path", "path"}, {"expected", "a file that is no note"}, {"actual", path.str()}});
}

Result<NotePath> writable_attachment_path(const std::string& text) {
  NotePath path = INDX_TRY(attachment_path(text));
  if (to_lower(path.extension()) != "canvas") return path;
  return invalid(cat("`", path.str(), "` is a canvas; canvas_write checks and writes canvases."),
                 Json{{"path", "path"}, {"expected", "another file"}, {"actual", path.str()}});
}

Result<WriteView> write_upload(Context& ctx, NoteChange change) {
  const std::uint64_t size = ctx.upload()->bytes.size();
  const auto most = static_cast<std::uint64_t>(ctx.config().max_attachment_bytes);
  if (size > most)
    return make_error(
        Reason::TooLarge,
        cat("The file has ", size, " bytes; `attachments.max_bytes` allows ", most, "."),
        Json{{"size", size}, {"max_bytes", most}});
  change.file = std::make_shared<const FileBytes>(ctx.upload()->bytes);
  const bool is_trial = change.dry_run;
  return view_write(INDX_TRY(ctx.notes().write(change)), is_trial);
}

}  // namespace indx
