#include "actors/engine_versions.hpp"

#include "actors/id_cursor.hpp"
#include "base/text.hpp"
#include "jobs/job_writes.hpp"
#include "store/version_store.hpp"

#include <limits>

namespace indx {
namespace {

VersionRow version_row(const Version& version) {
  return {version.id, version.etag, version.sha256, version.size, version.at, version.job_id};
}

}  // namespace

Status EngineVersions::check_in_scope(const NotePath& path) const {
  if (scope_.allows(path.str())) return {};
  return make_error(Reason::Forbidden, cat("This token may not use ", path.str(), "."),
                    {{"path", path.str()}});
}

Result<Page<VersionRow>> EngineVersions::list(const NotePath& path, int limit,
                                              const std::string& cursor) {
  INDX_TRY(check_in_scope(path));
  const std::int64_t before = INDX_TRY(id_cursor(cursor, std::numeric_limits<std::int64_t>::max()));
  const auto versions = INDX_TRY(core_.read_state([&](Database& db) {
    return VersionStore(db, core_.parts.config.index_dir).list(path.str(), before, limit + 1);
  }));
  Page<VersionRow> page;
  for (const Version& version : versions) {
    if (page.rows.size() == static_cast<std::size_t>(limit)) {
      page.next_cursor = std::to_string(page.rows.back().id);
      break;
    }
    page.rows.push_back(version_row(version));
  }
  return page;
}

Result<KeptVersion> EngineVersions::read(const NotePath& path, std::int64_t id) {
  INDX_TRY(check_in_scope(path));
  return core_.read_state([&](Database& db) -> Result<KeptVersion> {
    VersionStore store(db, core_.parts.config.index_dir);
    const auto version = INDX_TRY(store.find(path.str(), id));
    if (!version)
      return not_found(cat("`", path.str(), "` has no version ", id, "; note_history lists them."),
                       Json{{"path", path.str()}, {"version", id}});
    std::string bytes = INDX_TRY(store.read(id));
    return KeptVersion{version_row(*version), std::move(bytes)};
  });
}

Result<std::string> EngineVersions::before_image(const NotePath& path, const JobId& job,
                                                 const std::string& sha256) {
  INDX_TRY(check_in_scope(path));
  return core_.read_state([&](Database& db) -> Result<std::string> {
    VersionStore store(db, core_.parts.config.index_dir);
    const auto version = INDX_TRY(store.find_of_job(job.value, sha256));
    if (!version)
      return not_found(cat("What `", path.str(), "` held before the job is kept no longer."),
                       Json{{"path", path.str()}, {"sha256", sha256}});
    return store.read(version->id);
  });
}

Result<std::vector<std::string>> EngineVersions::reverted_by(const JobId& job) {
  return core_.read_state([&](Database& db) { return JobWrites(db).reverted_by(job.value); });
}

}  // namespace indx
