#include "jobs/job_writes.hpp"

#include "store/columns.hpp"

namespace indx {

Status JobWrites::add(const std::string& job, const JobWrite& write) {
  // The write stands whatever became of its job: one that is gone has nothing to undo any more.
  INDX_TRY(
      db_.prepare("INSERT INTO job_writes (job, path, moved_from, before_sha256, before_etag, "
                  "after_etag, at) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE EXISTS (SELECT 1 FROM "
                  "jobs WHERE id = ?1)")
          .bind(job, write.path, write.moved_from, write.before_sha256, write.before_etag,
                write.after_etag, to_millis(write.at))
          .run());
  return {};
}

Result<std::vector<JobWrite>> JobWrites::list(const std::string& job, std::int64_t after_id,
                                              int limit) {
  auto query = db_.prepare(
      "SELECT id, path, moved_from, before_sha256, before_etag, after_etag, at FROM job_writes "
      "WHERE job = ?1 AND id > ?2 ORDER BY id LIMIT ?3");
  query.bind(job, after_id, limit);
  std::vector<JobWrite> writes;
  while (INDX_TRY(query.step()))
    writes.push_back({.id = query.integer(0),
                      .path = query.text(1),
                      .moved_from = query.optional_text(2),
                      .before_sha256 = query.optional_text(3),
                      .before_etag = query.optional_text(4),
                      .after_etag = query.optional_text(5),
                      .at = time_at(query, 6)});
  return writes;
}

Result<std::vector<std::string>> JobWrites::reverted_by(const std::string& job) {
  auto query = db_.prepare("SELECT id FROM jobs WHERE reverts = ?1 ORDER BY seq");
  query.bind(job);
  std::vector<std::string> ids;
  while (INDX_TRY(query.step())) ids.push_back(query.text(0));
  return ids;
}

}  // namespace indx
