#include "ops/notes/note_row.hpp"

namespace indx {

Fields<NoteRowView> NoteRowView::fields() {
  return {field("path", &NoteRowView::path, "Vault-relative path."),
          field("title", &NoteRowView::title, "Title of the note."),
          field("etag", &NoteRowView::etag, "Version of the note."),
          field("size", &NoteRowView::size, "Bytes on disk."),
          field("modified", &NoteRowView::modified, "Time of the last change, ISO 8601."),
          field("tags", &NoteRowView::tags, "Tags without `#`.")};
}

std::vector<NoteRowView> view_rows(const std::vector<NoteRow>& rows) {
  std::vector<NoteRowView> views;
  for (const auto& row : rows)
    views.push_back({row.path, row.title, row.etag, row.size, format_time(row.modified), row.tags});
  return views;
}

}  // namespace indx
