// What comes into the queue and what is read from it. Claims, ends and an operator's acts are in
// job_claim.cpp, job_end.cpp and job_control.cpp, steps in job_steps.cpp.
#include "jobs/job_queue.hpp"

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "jobs/job_json.hpp"
#include "jobs/job_row.hpp"
#include "jobs/job_secrets.hpp"
#include "store/blob_dir.hpp"
#include "store/columns.hpp"

#include <algorithm>
#include <charconv>

namespace indx {
namespace {

constexpr std::size_t kMaxNameBytes = 100, kMaxKeyBytes = 1000;
constexpr int kMaxPageSize = 2000;

std::string cursor_after(std::int64_t seq) { return base64_encode(cat("jobs:", seq)); }

Result<std::int64_t> parse_job_cursor(const std::string& cursor) {
  const auto decoded = base64_decode(cursor);
  std::string_view text = decoded.bytes;
  std::int64_t seq = 0;
  if (decoded.ok && text.starts_with("jobs:")) {
    text.remove_prefix(5);
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seq);
    if (failed == std::errc() && end == text.data() + text.size() && seq > 0) return seq;
  }
  return invalid("The cursor is not one that a list of jobs gave; start again without it.");
}

Status check_request(const JobRequest& request) {
  if (request.kind.empty() || request.kind.size() > kMaxNameBytes || !is_valid_utf8(request.kind))
    return invalid("The kind of a job must be the name of an operation.");
  if (request.max_attempts < 1 || request.max_crashes < 1)
    return invalid("A job needs at least one attempt and one crash before it is given up.");
  if (request.limit_running < 0 || request.time_limit.count() < 0)
    return invalid("Limits of a job are 0 for none, or more.");
  for (const auto* key : {&request.unique_key, &request.limit_key})
    if (key->size() > kMaxKeyBytes || !is_valid_utf8(*key))
      return invalid(cat("A key of a job is UTF-8 of at most ", kMaxKeyBytes, " bytes."));
  return {};
}

}  // namespace

JobQueue::JobQueue(Database& db, const Clock& clock, Random& random, Settings settings)
    : db_(db), clock_(clock), random_(random), settings_(std::move(settings)) {}

Result<std::optional<Job>> JobQueue::live_twin(const std::string& kind,
                                               const std::string& unique_key) {
  static const std::string kTwin =
      select_jobs("WHERE kind = ?1 AND unique_key = ?2 AND finished_at IS NULL");
  if (unique_key.empty()) return std::optional<Job>();
  auto jobs = INDX_TRY(read_jobs(db_, kTwin, {kind, unique_key}));
  if (jobs.empty()) return std::optional<Job>();
  return std::optional(std::move(jobs.front()));
}

Result<JobStore::Enqueued> JobQueue::join(Job live, const JobRequest& request) {
  const bool has_secrets = !request.secrets.empty();  // those of the live job are not to be changed
  if (request.on_duplicate == OnDuplicate::Reject ||
      (has_secrets && request.on_duplicate != OnDuplicate::Join))
    return make_error(Reason::Conflict,
                      cat("The job ", live.id.value, " does the same already; wait for its end."),
                      {{"job_id", live.id.value}});
  const bool has_begun = live.lease > 0;
  const bool is_same = live.input == request.input;
  const bool waits = request.on_duplicate == OnDuplicate::Join || (!has_begun && is_same);
  if (!waits) {
    const auto input = INDX_TRY(checked_input_text(request.input));
    const bool takes_place =
        request.on_duplicate == OnDuplicate::Replace && live.state != JobState::Running;
    live.updated_at = clock_.now();
    (takes_place ? live.input : live.again_input.emplace()) = request.input;
    INDX_TRY(db_.prepare(takes_place
                             ? "UPDATE jobs SET input = ?2, updated_at = ?3 WHERE id = ?1"
                             : "UPDATE jobs SET again_input = ?2, updated_at = ?3 WHERE id = ?1")
                 .bind(live.id.value, input, to_millis(live.updated_at))
                 .run());
  }
  if (request.keep && !live.keep) {
    live.keep = true;
    INDX_TRY(db_.prepare("UPDATE jobs SET keep = 1 WHERE id = ?1").bind(live.id.value).run());
  }
  return Enqueued{std::move(live), false};
}

Result<Job> JobQueue::add(const JobRequest& request) {
  const Timestamp now = clock_.now();
  const Timestamp run_at = request.run_at.value_or(now);
  Job job;
  job.id = {new_ulid(now, random_)};
  job.kind = request.kind;
  job.operation_version = request.operation_version;
  job.state = run_at > now ? JobState::Scheduled : JobState::Ready;
  job.input = request.input;
  job.owner = request.owner;
  job.keep = request.keep;
  job.priority = request.priority;
  job.max_attempts = request.max_attempts;
  job.max_crashes = request.max_crashes;
  job.unique_key = request.unique_key;
  job.limit_key = request.limit_key;
  job.limit_running = request.limit_running;
  job.time_limit = request.time_limit;
  job.parent = request.parent;
  job.schedule = request.schedule;
  job.reverts = request.reverts;
  job.run_at = run_at;
  job.created_at = job.updated_at = now;
  std::string sealed;
  if (!request.secrets.empty())
    sealed = INDX_TRY(seal_secrets(settings_.secret_key, request.secrets));
  INDX_TRY(insert_job(db_, job, sealed));
  return job;
}

Result<JobStore::Enqueued> JobQueue::enqueue(const JobRequest& request) {
  INDX_TRY(check_request(request));
  if (request.unique_key.empty()) return Enqueued{INDX_TRY(add(request))};
  return db_.savepoint([&]() -> Result<Enqueued> {
    if (auto live = INDX_TRY(live_twin(request.kind, request.unique_key)))
      return join(std::move(*live), request);
    return Enqueued{INDX_TRY(add(request))};
  });
}

Result<std::optional<Job>> JobQueue::get(const JobId& id) {
  auto row = INDX_TRY(find_job_row(db_, id));
  if (!row) return std::optional<Job>();
  if (!row->result_file.empty()) {
    const auto text = BlobDir(settings_.spill_dir).read(row->result_file);
    if (text.has_value() && sha256_hex(*text) == row->result_file)
      row->job.result = json_value(*text);
    else if (!row->job.error)
      row->job.error = internal_error(
          cat("The result of the job ", id.value, " is missing or damaged on disk."));
  }
  return std::optional(std::move(row->job));
}

Result<std::optional<Job>> JobQueue::find(const JobId& id) {
  static const std::string kById = select_jobs("WHERE id = ?1");
  auto jobs = INDX_TRY(read_jobs(db_, kById, {id.value}));
  if (jobs.empty()) return std::optional<Job>();
  return std::optional(std::move(jobs.front()));
}

Result<JobStore::JobPage> JobQueue::list(const JobFilter& filter, int limit,
                                         const std::string& cursor) {
  static const std::string kPage = select_jobs(
      "WHERE (?1 IS NULL OR seq < ?1) AND (?2 = '[]' OR state IN (SELECT value FROM "
      "json_each(?2))) AND (?3 = '' OR kind = ?3) AND (?4 = '' OR subject = ?4) AND (?5 = '' OR "
      "parent = ?5) ORDER BY seq DESC LIMIT ?6");
  JobValue before = nullptr;
  if (!cursor.empty()) before = INDX_TRY(parse_job_cursor(cursor));
  Json states = Json::array();
  for (const auto state : filter.states) states.push_back(name(state));
  const int size = std::clamp(limit, 1, kMaxPageSize);
  JobPage page{.jobs = INDX_TRY(read_jobs(db_, kPage,
                                          {before, json_text(states), filter.kind, filter.subject,
                                           filter.parent, std::int64_t{size} + 1})),
               .next_cursor = std::nullopt};
  if (page.jobs.size() <= static_cast<std::size_t>(size)) return page;
  page.jobs.pop_back();
  auto last = db_.prepare("SELECT seq FROM jobs WHERE id = ?1");
  last.bind(page.jobs.back().id.value);
  INDX_TRY(last.step());
  page.next_cursor = cursor_after(last.integer(0));
  return page;
}

Result<std::vector<Job>> JobQueue::children(const JobId& parent) {
  auto query = db_.prepare("SELECT id FROM jobs WHERE parent = ?1 ORDER BY seq");
  query.bind(parent.value);
  std::vector<Job> jobs;
  while (INDX_TRY(query.step()))
    if (auto job = INDX_TRY(get({query.text(0)}))) jobs.push_back(std::move(*job));
  return jobs;
}

Result<std::optional<Timestamp>> JobQueue::next_due() {
  auto query = db_.prepare("SELECT MIN(run_at) FROM jobs WHERE state IN ('scheduled', 'sleeping')");
  INDX_TRY(query.step());
  return optional_time_at(query, 0);
}

Result<std::optional<Timestamp>> JobQueue::oldest_ready() {
  auto query = db_.prepare(
      "SELECT MIN((SELECT run_at FROM jobs WHERE state = 'ready' AND jobs.kind = job_counts.kind "
      "ORDER BY run_at - priority * 60000, seq LIMIT 1)) FROM job_counts WHERE state = 'ready' AND "
      "count > 0");
  INDX_TRY(query.step());
  return optional_time_at(query, 0);
}

Result<std::vector<JobCount>> JobQueue::counts() {
  auto query =
      db_.prepare("SELECT kind, state, count FROM job_counts WHERE count > 0 ORDER BY kind, state");
  std::vector<JobCount> counts;
  while (INDX_TRY(query.step()))
    if (const auto state = parse_job_state(query.text(1)))
      counts.push_back({query.text(0), *state, query.integer(2)});
  return counts;
}

Result<int> JobQueue::count_live() {
  std::int64_t live = 0;
  for (const auto& count : INDX_TRY(counts()))
    if (!is_final(count.state)) live += count.count;
  return static_cast<int>(live);
}

}  // namespace indx
