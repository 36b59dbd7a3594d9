#include "actors/engine_files.hpp"

#include "store/file_index.hpp"

namespace indx {
namespace {

/// A file that changed so shortly ago may change again within the same tick of its clock.
constexpr std::chrono::seconds kSettledAge{2};

}  // namespace

Result<Page<AttachmentRow>> EngineFiles::list(AttachmentFilter filter, int limit,
                                              const std::string& cursor) {
  INDX_TRY(core_.ensure_scanned());
  NoteFilter files;
  files.path_glob = filter.path_glob;
  files.scope = scope_;
  auto found =
      INDX_TRY(FileIndex(core_.parts.index->pool()).list(files, filter.extensions, limit, cursor));
  Page<AttachmentRow> page;
  page.next_cursor = std::move(found.next_cursor);
  for (auto& row : found.rows)
    page.rows.push_back({std::move(row.path), std::move(row.etag),
                         static_cast<std::uint64_t>(row.size), row.modified});
  return page;
}

Result<OpenedFile> EngineFiles::open(const NotePath& path) {
  const Vault::Opened file = INDX_TRY(visible_.open(path));
  const std::string etag = INDX_TRY(etag_of_opened(file));
  return OpenedFile{
      {file.info.path.str(), etag, file.info.size, from_millis(file.info.mtime_ns / 1'000'000)},
      file.bytes};
}

Result<std::string> EngineFiles::etag_of_opened(const Vault::Opened& file) {
  const auto age = core_.parts.clock.now() - from_millis(file.info.mtime_ns / 1'000'000);
  if (age > kSettledAge) {
    const auto known =
        INDX_TRY(FileIndex(core_.parts.index->pool())
                     .etag(file.info.path.str(), static_cast<std::int64_t>(file.info.size),
                           file.info.mtime_ns));
    if (known) return *known;
  }
  return etag_of_file(file.bytes);
}

}  // namespace indx
