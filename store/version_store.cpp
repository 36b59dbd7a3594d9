#include "store/version_store.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "store/columns.hpp"

#include <zstd.h>

namespace indx {
namespace {

constexpr std::size_t kMaxInlineBytes = std::size_t{1} << 20U;
constexpr int kCompressionLevel = 3;
/// A job's versions stay this long, so that the job can be reverted.
constexpr std::chrono::days kRevertible{7};

Result<std::string> compress(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kCompressionLevel);
  if (ZSTD_isError(size) != 0)
    return internal_error(cat("A version cannot be compressed: ", ZSTD_getErrorName(size)));
  out.resize(size);
  return out;
}

/// Empty when the bytes are damaged; the caller compares the hash anyway.
std::string decompress(std::string_view bytes, std::size_t size) {
  if (ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != size) return {};
  std::string out(size, '\0');
  return ZSTD_decompress(out.data(), size, bytes.data(), bytes.size()) == size ? out
                                                                               : std::string();
}

Result<std::vector<std::int64_t>> version_ids(Database::Statement query) {
  std::vector<std::int64_t> ids;
  while (INDX_TRY(query.step())) ids.push_back(query.integer(0));
  return ids;
}

/// Gives the bytes that were freed: nothing while another version has the same content.
Result<std::int64_t> delete_version(Database& db, std::int64_t id) {
  std::string sha256;
  {
    auto deleted = db.prepare("DELETE FROM versions WHERE id = ?1 RETURNING sha256");
    deleted.bind(id);
    if (!INDX_TRY(deleted.step())) return std::int64_t{0};
    sha256 = deleted.text(0);
    INDX_TRY(deleted.run());
  }
  auto blob = db.prepare(
      "DELETE FROM version_blobs WHERE sha256 = ?1 AND NOT EXISTS "
      "(SELECT 1 FROM versions WHERE versions.sha256 = ?1) RETURNING stored_bytes");
  blob.bind(sha256);
  if (!INDX_TRY(blob.step())) return std::int64_t{0};
  const std::int64_t freed = blob.integer(0);
  INDX_TRY(blob.run());
  return freed;
}

constexpr std::string_view kVersionColumns = "id, path, sha256, etag, job_id, size, at";

Version version_at(Database::Statement& query) {
  return {.id = query.integer(0),
          .path = query.text(1),
          .sha256 = query.text(2),
          .etag = query.text(3),
          .job_id = query.text(4),
          .size = static_cast<std::size_t>(query.integer(5)),
          .at = time_at(query, 6)};
}

// The condition for all victims; ?1 is the time after which a job's versions are kept. A job that
// still runs, ended after it, or is being reverted needs those of its first day too.
constexpr std::string_view kPrunable =
    "NOT (job_id <> '' AND (at >= ?1 OR EXISTS (SELECT 1 FROM jobs AS j WHERE j.id = "
    "versions.job_id AND (j.finished_at IS NULL OR j.finished_at >= ?1)) OR EXISTS (SELECT 1 FROM "
    "jobs AS j WHERE j.reverts = versions.job_id AND j.finished_at IS NULL)))";

Result<std::vector<std::int64_t>> expired_versions(Database& db, const VersionLimits& limits,
                                                   Timestamp now, int batch) {
  auto query =
      db.prepare(cat("SELECT id FROM versions WHERE ", kPrunable,
                     " AND (at < ?2 OR id IN (SELECT id FROM (SELECT id, ROW_NUMBER() OVER "
                     "(PARTITION BY path ORDER BY id DESC) AS place FROM versions) WHERE place > "
                     "?3)) ORDER BY id LIMIT ?4"));
  query.bind(to_millis(now - kRevertible), to_millis(now - std::chrono::days(limits.days)),
             limits.per_note, batch);
  return version_ids(std::move(query));
}

}  // namespace

Result<std::int64_t> VersionStore::keep(const std::string& path, const std::string& bytes,
                                        const std::string& job_id, Timestamp now) {
  return db_.savepoint([&]() -> Result<std::int64_t> {
    const std::string sha256 = sha256_hex(bytes);
    {
      // A write that a crash dropped is made again from the same bytes: one image serves both.
      auto newest = db_.prepare(
          "SELECT id, sha256, job_id FROM versions WHERE path = ?1 ORDER BY id DESC LIMIT 1");
      newest.bind(path);
      if (INDX_TRY(newest.step()) && newest.text(1) == sha256 && newest.text(2) == job_id)
        return newest.integer(0);
    }
    auto known = db_.prepare("SELECT 1 FROM version_blobs WHERE sha256 = ?1");
    known.bind(sha256);
    if (!INDX_TRY(known.step())) {
      const std::string stored = INDX_TRY(compress(bytes));
      const bool is_file = bytes.size() > kMaxInlineBytes;
      if (is_file) INDX_TRY(files_.write(sha256, stored));
      auto insert = db_.prepare(
          "INSERT INTO version_blobs (sha256, size, stored_bytes, data) VALUES (?1, ?2, ?3, ?4)");
      insert.bind(sha256, bytes.size(), stored.size());
      if (!is_file) insert.bind_blob(4, stored);
      INDX_TRY(insert.run());
    }
    INDX_TRY(db_.prepare("INSERT INTO versions (path, sha256, etag, job_id, size, at) VALUES (?1, "
                         "?2, ?3, ?4, ?5, ?6)")
                 .bind(path, sha256, etag_of(bytes), job_id, bytes.size(), to_millis(now))
                 .run());
    return db_.last_insert_id();
  });
}

Status VersionStore::move(const std::string& from, const std::string& to) {
  auto update = db_.prepare(
      "UPDATE versions SET path = ?2 || substr(path, length(?1) + 1) WHERE path = ?1 OR (path > ?1 "
      "|| '/' AND path < ?1 || '0')");  // `0` follows `/`
  INDX_TRY(update.bind(from, to).run());
  return {};
}

Result<std::vector<Version>> VersionStore::list(const std::string& path, std::int64_t before_id,
                                                int limit) {
  auto query = db_.prepare(cat("SELECT ", kVersionColumns,
                               " FROM versions WHERE path = ?1 AND id < ?2 ORDER BY id DESC "
                               "LIMIT ?3"));
  query.bind(path, before_id, limit);
  std::vector<Version> versions;
  while (INDX_TRY(query.step())) versions.push_back(version_at(query));
  return versions;
}

Result<std::optional<Version>> VersionStore::find(const std::string& path, std::int64_t id) {
  auto query =
      db_.prepare(cat("SELECT ", kVersionColumns, " FROM versions WHERE id = ?1 AND path = ?2"));
  query.bind(id, path);
  if (!INDX_TRY(query.step())) return std::optional<Version>();
  return std::optional(version_at(query));
}

Result<std::optional<Version>> VersionStore::find_of_job(const std::string& job_id,
                                                         const std::string& sha256) {
  auto query = db_.prepare(
      cat("SELECT ", kVersionColumns, " FROM versions WHERE sha256 = ?1 AND job_id = ?2 LIMIT 1"));
  query.bind(sha256, job_id);
  if (!INDX_TRY(query.step())) return std::optional<Version>();
  return std::optional(version_at(query));
}

Result<std::string> VersionStore::read(std::int64_t id) {
  auto query = db_.prepare(
      "SELECT b.sha256, b.size, b.data FROM versions AS v JOIN version_blobs AS b ON b.sha256 = "
      "v.sha256 WHERE v.id = ?1");
  query.bind(id);
  if (!INDX_TRY(query.step())) return not_found(cat("No version ", id, " is kept."));
  const std::string sha256 = query.text(0);
  const std::string stored = query.is_null(2) ? INDX_TRY(files_.read(sha256)) : query.text(2);
  std::string bytes = decompress(stored, static_cast<std::size_t>(query.integer(1)));
  if (sha256_hex(bytes) != sha256)
    return internal_error(cat("Version ", id, " is damaged on disk and cannot be restored."));
  return bytes;
}

Result<std::int64_t> VersionStore::prune(const VersionLimits& limits, Timestamp now, int batch) {
  return db_.savepoint([&]() -> Result<std::int64_t> {
    auto deleted = std::int64_t{0};
    for (const auto id : INDX_TRY(expired_versions(db_, limits, now, batch))) {
      INDX_TRY(delete_version(db_, id));
      ++deleted;
    }
    auto sum = db_.prepare("SELECT IFNULL(SUM(stored_bytes), 0) FROM version_blobs");
    INDX_TRY(sum.step());
    std::int64_t excess = sum.integer(0) - limits.max_bytes;
    if (excess <= 0) return deleted;
    auto oldest =
        db_.prepare(cat("SELECT id FROM versions WHERE ", kPrunable, " ORDER BY id LIMIT ?2"));
    oldest.bind(to_millis(now - kRevertible), batch - static_cast<int>(deleted));
    for (const auto id : INDX_TRY(version_ids(std::move(oldest)))) {
      if (excess <= 0) break;
      excess -= INDX_TRY(delete_version(db_, id));
      ++deleted;
    }
    return deleted;
  });
}

Result<int> VersionStore::sweep_files() {
  return files_.sweep([&](const std::string& name) -> Result<bool> {
    auto query = db_.prepare("SELECT 1 FROM version_blobs WHERE sha256 = ?1 AND data IS NULL");
    query.bind(name);
    return query.step();
  });
}

}  // namespace indx
