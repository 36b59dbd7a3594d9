#include "actors/engine_files.hpp"

#include "base/text.hpp"
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

Result<OpenedFile> EngineFiles::open(const NotePath& asked) {
  const auto check = [this](const NotePath& path) -> Status {
    if (scope_.allows(path.str())) return {};
    return make_error(Reason::Forbidden, cat("This token may not use ", path.str(), "."),
                      {{"path", path.str()}});
  };
  INDX_TRY(check(asked));
  const Vault& vault = core_.parts.vault;
  auto opened = vault.open_file(asked);
  if (!opened && opened.error().reason == Reason::NotFound &&
      core_.parts.config.case_insensitive_match)
    if (const auto spelled = vault.find_ignoring_case(asked)) {
      INDX_TRY(check(*spelled));
      opened = vault.open_file(*spelled);
    }
  const Vault::Opened file = INDX_TRY(std::move(opened));
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
