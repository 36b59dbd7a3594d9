#pragma once
#include "ops/define.hpp"
#include "ops/versions.hpp"

namespace indx {

/// How a kept version looks in answers.
struct VersionView {
  std::int64_t version = 0;
  std::string etag, sha256;
  std::size_t size = 0;
  std::string replaced_at;
  std::optional<std::string> job_id;
  static Fields<VersionView> fields() {
    return {field("version", &VersionView::version, "Number of the version, for note_restore."),
            field("etag", &VersionView::etag, "Etag the note had."),
            field("sha256", &VersionView::sha256, "SHA-256 of its bytes."),
            field("size", &VersionView::size, "Bytes."),
            field("replaced_at", &VersionView::replaced_at,
                  "When another one, or the deletion, replaced it; ISO 8601."),
            field("job_id", &VersionView::job_id, "The job that replaced it.")};
  }
};
inline VersionView view_version(const VersionRow& row) {
  return {row.id,
          row.etag,
          row.sha256,
          row.size,
          format_time(row.at),
          row.job_id.empty() ? std::nullopt : std::optional(row.job_id)};
}

}  // namespace indx
