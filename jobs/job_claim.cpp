// Which job runs next, and whose it is while it runs.
#include "base/text.hpp"
#include "jobs/job_json.hpp"
#include "jobs/job_queue.hpp"
#include "jobs/job_row.hpp"
#include "jobs/job_secrets.hpp"
#include "store/columns.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace indx {
namespace {

bool runs(const JobStore::KnownKind& kind, int version) {
  return kind.version == version || kind.resumes_other_versions;
}

std::string id_list(const std::vector<JobId>& ids) {
  Json list = Json::array();
  for (const auto& id : ids) list.push_back(id.value);
  return json_text(list);
}

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

/// What of a ready job may hold it back: its limit key, and that after one more crash it would be
/// given up.
constexpr std::string_view kNotHeldBack =
    "(limit_running = 0 OR limit_key IS NULL OR (SELECT COUNT(*) FROM jobs AS held WHERE "
    "held.state = 'running' AND held.limit_key = jobs.limit_key) < limit_running) AND "
    "(crashes = 0 OR crashes + 1 < max_crashes OR NOT EXISTS (SELECT 1 FROM jobs AS other WHERE "
    "other.state = 'running' AND other.crashes > 0 AND other.crashes + 1 >= other.max_crashes))";

Result<bool> is_held_back(Database& db, std::int64_t seq) {
  static const std::string kHeld = cat("SELECT NOT (", kNotHeldBack, ") FROM jobs WHERE seq = ?1");
  auto query = db.prepare(kHeld);
  query.bind(seq);
  INDX_TRY(query.step());
  return query.integer(0) != 0;
}

/// Parks every ready job of a kind, or of one version of it.
Status park(Database& db, const std::string& kind, std::optional<int> version, Timestamp now) {
  INDX_TRY(
      db.prepare("UPDATE jobs SET state = ?3, updated_at = ?4 WHERE state = 'ready' AND kind "
                 "= ?1 AND (?2 IS NULL OR operation_version = ?2)")
          .bind(kind, version, name(*next_state(JobState::Ready, JobEvent::Park)), to_millis(now))
          .run());
  return {};
}

void start_try(Job& job, const std::string& instance, Timestamp now) {
  apply(job, JobEvent::Claim, now);
  ++job.lease;
  job.leased_by = instance;
  job.leased_at = job.heartbeat_at = now;
  if (!job.started_at) job.started_at = now;
}

Status save_claim(Database& db, std::int64_t seq, const Job& job) {
  INDX_TRY(
      db.prepare("UPDATE OR FAIL jobs SET state = ?2, lease = ?3, leased_by = ?4, leased_at = ?5, "
                 "heartbeat_at = ?5, updated_at = ?5, started_at = ?6 WHERE seq = ?1")
          .bind(seq, name(job.state), job.lease, job.leased_by, to_millis(job.updated_at),
                optional_millis(job.started_at))
          .run());
  return {};
}

}  // namespace

Status JobQueue::promote_due() {
  INDX_TRY(db_.prepare("UPDATE jobs SET state = ?2, updated_at = ?1 WHERE state IN ('scheduled', "
                       "'sleeping') AND run_at <= ?1")
               .bind(to_millis(clock_.now()), name(*next_state(JobState::Scheduled, JobEvent::Due)))
               .run());
  return {};
}

Status JobQueue::support(const std::vector<KnownKind>& known) {
  static const std::string kParked =
      select_jobs("WHERE state = 'unsupported' GROUP BY kind, operation_version");
  for (auto& job : INDX_TRY(read_jobs(db_, kParked, {}))) {
    const bool can_run = std::any_of(known.begin(), known.end(), [&](const KnownKind& kind) {
      return kind.kind == job.kind && runs(kind, job.operation_version);
    });
    if (!can_run) continue;
    apply(job, JobEvent::Support, clock_.now());
    INDX_TRY(db_.prepare("UPDATE jobs SET state = ?3, updated_at = ?4 WHERE state = 'unsupported' "
                         "AND kind = ?1 AND operation_version = ?2")
                 .bind(job.kind, job.operation_version, name(job.state), to_millis(job.updated_at))
                 .run());
  }
  return {};
}

/// Ready and running jobs by kind, after those whose time came and those that are known by now
/// became ready. Nearly always there are none, which the counters tell.
Result<std::map<std::string, JobQueue::KindCounts>> JobQueue::count_kinds(
    const std::vector<KnownKind>& known) {
  while (true) {
    std::map<std::string, KindCounts> kinds;
    bool may_be_due = false, is_any_parked = false;
    auto query = db_.prepare("SELECT kind, state, count FROM job_counts WHERE count > 0");
    while (INDX_TRY(query.step())) {
      const auto state = parse_job_state(query.text_view(1));
      if (state == JobState::Ready) kinds[query.text(0)].ready = query.integer(2);
      if (state == JobState::Running) kinds[query.text(0)].running = query.integer(2);
      may_be_due |= state == JobState::Scheduled || state == JobState::Sleeping;
      is_any_parked |= state == JobState::Unsupported;
    }
    const auto before = db_.total_changes();
    if (may_be_due) INDX_TRY(promote_due());
    if (is_any_parked) INDX_TRY(support(known));
    if (db_.total_changes() == before) return kinds;
  }
}

/// Kinds with ready jobs that nobody holds back, and how many more of each may run; those that are
/// not known are parked.
Result<std::vector<JobQueue::OpenKind>> JobQueue::open_kinds(const std::vector<KnownKind>& known) {
  auto kinds = INDX_TRY(count_kinds(known));
  std::erase_if(kinds, [](const auto& one) { return one.second.ready == 0; });
  if (kinds.empty()) return std::vector<OpenKind>();
  std::set<std::string> paused;
  for (auto& pause : INDX_TRY(pauses())) paused.insert(std::move(pause.what));
  std::vector<OpenKind> open;
  for (const auto& one_kind : kinds) {  // no bindings: Clang 14 does not let lambdas capture them
    const auto& kind = one_kind.first;
    const auto& counts = one_kind.second;
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const KnownKind& one) { return one.kind == kind; });
    if (found == known.end())
      INDX_TRY(park(db_, kind, std::nullopt, clock_.now()));
    else if (!paused.contains("*") && !paused.contains(kind))
      open.push_back(
          {*found, found->max_running > 0 ? found->max_running - counts.running : kNoLimit, {}});
  }
  return open;
}

/// Looks for the next jobs of a kind when those that it knows of were taken, at most `count`.
Status JobQueue::look_ahead(OpenKind& open, int count, const std::string& only) {
  static const std::string kHeads = cat(
      "SELECT run_at - priority * 60000, seq, operation_version, limit_running > 0 OR crashes > 0, "
      "crashes = 0 AND time_limit = 0 FROM jobs WHERE state = 'ready' AND kind = ?1 AND (?2 = '[]' "
      "OR id IN (SELECT value FROM json_each(?2))) AND ",
      kNotHeldBack, " ORDER BY run_at - priority * 60000, seq LIMIT ?3");
  while (open.places > 0 && open.heads.empty()) {
    auto query = db_.prepare(kHeads);
    query.bind(open.kind.kind, only, std::min<std::int64_t>(count, open.places));
    std::set<int> strange;
    while (INDX_TRY(query.step())) {
      const auto version = static_cast<int>(query.integer(2));
      if (runs(open.kind, version))
        open.heads.push_back(
            {query.integer(0), query.integer(1), query.integer(3) != 0, query.integer(4) != 0});
      else
        strange.insert(version);
    }
    for (const int version : strange) INDX_TRY(park(db_, open.kind.kind, version, clock_.now()));
    if (open.heads.empty() && strange.empty()) open.places = 0;
  }
  return {};
}

/// The job that runs next, which then counts as running. `count`: how many are still wanted.
Result<std::optional<JobQueue::Head>> JobQueue::most_urgent(std::vector<OpenKind>& open, int count,
                                                            const std::string& only) {
  const auto rank = [](const Head& job) { return std::pair(job.urgency, job.seq); };
  while (true) {
    OpenKind* first = nullptr;
    for (auto& one : open) {
      INDX_TRY(look_ahead(one, count, only));
      if (one.heads.empty()) continue;
      if (first == nullptr || rank(one.heads.front()) < rank(first->heads.front())) first = &one;
    }
    if (first == nullptr) return std::optional<Head>();
    Head head = first->heads.front();
    first->heads.pop_front();
    // Those that were taken since it was found may hold it back.
    if (head.can_be_held && INDX_TRY(is_held_back(db_, head.seq))) continue;
    --first->places;
    head.may_wait = head.may_wait && first->kind.is_short;
    return std::optional(head);
  }
}

Result<std::vector<Job>> JobQueue::claim(const std::string& instance,
                                         const std::vector<KnownKind>& known, int count,
                                         const std::vector<JobId>& only, int ahead) {
  static const std::string kBySeq = select_jobs("WHERE seq = ?1", true);
  if (instance.empty()) return invalid("A claim needs the name of an instance.");
  return db_.savepoint([&]() -> Result<std::vector<Job>> {
    auto open = INDX_TRY(open_kinds(known));
    const auto ids = id_list(only);
    std::vector<Job> jobs, others;
    for (int wanted = std::max(0, count) + ahead; wanted > 0; --wanted) {
      const auto head = INDX_TRY(most_urgent(open, wanted, ids));
      if (!head || (wanted <= ahead && !head->may_wait)) break;
      auto row = INDX_TRY(read_job_row(db_, kBySeq, head->seq));
      INDX_ASSERT(row.has_value());
      Job& job = row->job;
      start_try(job, instance, clock_.now());
      INDX_TRY(save_claim(db_, head->seq, job));
      auto secrets = row->secrets.empty() ? Result<Json>(Json())
                                          : open_secrets(settings_.secret_key, row->secrets);
      if (secrets.has_value()) {
        job.secrets = std::move(*secrets);
      } else {
        job.error = secrets.error();
        apply(job, JobEvent::FailForGood, clock_.now());
        INDX_TRY(save_ended(job, others));
      }
      jobs.push_back(std::move(job));
    }
    std::move(others.begin(), others.end(), std::back_inserter(jobs));
    return jobs;
  });
}

Result<bool> JobQueue::put_back(const Lease& lease) {
  const auto changed = INDX_TRY(
      db_.prepare("UPDATE OR FAIL jobs SET state = ?4, leased_by = NULL, leased_at = NULL, "
                  "heartbeat_at = "
                  "NULL, updated_at = ?5, started_at = IIF(lease = 1, NULL, started_at) WHERE id = "
                  "?1 AND state = 'running' AND lease = ?2 AND leased_by = ?3 AND cancel_requested "
                  "= 0 AND pause_requested = 0")
          .bind(lease.job.value, lease.generation, lease.instance,
                name(*next_state(JobState::Running, JobEvent::Return)), to_millis(clock_.now()))
          .run());
  return changed > 0;
}

Result<std::vector<JobStore::StopAsked>> JobQueue::heartbeat(const std::string& instance) {
  INDX_TRY(
      db_.prepare("UPDATE jobs SET heartbeat_at = ?2 WHERE state = 'running' AND leased_by = ?1")
          .bind(instance, to_millis(clock_.now()))
          .run());
  auto query = db_.prepare(
      "SELECT id, cancel_requested FROM jobs WHERE state = 'running' AND leased_by = ?1 AND "
      "(cancel_requested = 1 OR pause_requested = 1) ORDER BY seq");
  query.bind(instance);
  std::vector<StopAsked> asked;
  while (INDX_TRY(query.step())) asked.push_back({{query.text(0)}, query.integer(1) == 0});
  return asked;
}

Status JobQueue::check_lease(const Lease& lease) {
  auto query = db_.prepare(
      "SELECT 1 FROM jobs WHERE id = ?1 AND state = 'running' AND lease = ?2 AND leased_by = ?3");
  query.bind(lease.job.value, lease.generation, lease.instance);
  if (INDX_TRY(query.step())) return {};
  return stale_lease(lease);
}

Status JobQueue::set_progress(const Lease& lease, const JobProgress& progress) {
  INDX_TRY(check_lease(lease));
  INDX_TRY(
      db_.prepare("UPDATE jobs SET progress = ?2, updated_at = ?3, heartbeat_at = ?3 WHERE id = ?1")
          .bind(lease.job.value, progress_text(progress), to_millis(clock_.now()))
          .run());
  return {};
}

Result<std::vector<Job>> JobQueue::rescue(const std::string& live_instance, bool all_foreign,
                                          const HasBegun& has_begun) {
  return db_.savepoint([&]() -> Result<std::vector<Job>> {
    const Timestamp now = clock_.now();
    auto query = db_.prepare(
        "SELECT id FROM jobs WHERE state = 'running' AND leased_by <> ?1 AND (?2 OR heartbeat_at < "
        "?3) ORDER BY seq");
    query.bind(live_instance, all_foreign, to_millis(now - settings_.lease));
    std::vector<JobId> orphans;
    while (INDX_TRY(query.step())) orphans.push_back({query.text(0)});
    std::vector<Job> jobs, others;
    for (const auto& id : orphans) {
      auto row = INDX_TRY(find_job_row(db_, id));  // now: the end of its parent may have changed it
      INDX_ASSERT(row.has_value());
      Job& job = row->job;
      if (!has_begun || has_begun({job.id, job.lease, job.leased_by})) {
        ++job.crashes;
        const auto fault = internal_error("The process died while the job ran.");
        INDX_TRY(keep_fault(job, {"crashed", job.lease, fault, now}));
      }
      if (job.cancel_requested) {
        end_cancelled(job, now);
      } else if (job.crashes >= job.max_crashes) {
        apply(job, JobEvent::CrashedTooOften, now);
        job.error = internal_error(cat("The job crashed its process ", job.crashes, " times."));
      } else {
        const bool pauses_now = job.pause_requested;
        apply(job, JobEvent::OwnerDied, now);
        if (pauses_now) apply(job, JobEvent::Pause, now);
      }
      INDX_TRY(save_ended(job, others));
      jobs.push_back(std::move(job));
    }
    std::move(others.begin(), others.end(), std::back_inserter(jobs));
    return jobs;
  });
}

}  // namespace indx
