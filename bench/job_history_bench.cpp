// A million finished jobs: what a claim and the counts cost beside them, against the same queue
// without them. Rounds of both alternate, so that a busy machine touches both. Then they are
// removed in chunks, as the engine does it, while others enqueue in between.
#include "bench/support.hpp"
#include "jobs/job_queue.hpp"
#include "store/state_schema.hpp"

#include <numeric>

namespace {

using namespace indx;
using namespace indx::bench;

constexpr int kFinished = 1000000, kChunk = 100000, kRounds = 10, kClaims = 200;
constexpr int kPruneRows = 1000;  // of one commit, as State::prune has it
constexpr const char* kKind = "bench_noop";

class Queue {
 public:
  explicit Queue(const std::filesystem::path& folder)
      : folder_((std::filesystem::create_directories(folder), folder)),
        db_(need(open_state_db(folder.string(), Durability::Normal))),
        queue_(db_, clock_, random_, settings()) {}

  void add_finished(int jobs) {
    need(db_.execute("PRAGMA synchronous = OFF"));
    for (int first = 0; first < jobs; first += kChunk) {
      auto insert = db_.prepare(
          "WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) INSERT "
          "INTO jobs (id, kind, operation_version, state, input, owner, subject, keep, priority, "
          "max_attempts, max_crashes, progress, result, lease, run_at, created_at, updated_at, "
          "started_at, finished_at) SELECT printf('00%024d', i), ?3, 1, 'succeeded', '{}', '{}', "
          "'local', 1, 0, 5, 3, '{}', '{}', 1, i, i, i, i, i FROM n");
      insert.bind(first, first + kChunk - 1, kKind);
      need(insert.run());
    }
    need(db_.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous = NORMAL"));
  }

  /// Makes jobs, claims them one by one and ends them; only the claims are measured.
  void claim_some(std::vector<double>& times) {
    commit([&] {
      for (int i = 0; i < kClaims; ++i) need(queue_.enqueue(request()));
    });
    for (int i = 0; i < kClaims; ++i) {
      const double begin = now_s();
      std::vector<Job> jobs;
      commit([&] { jobs = need(queue_.claim("bench", known_, 1)); });
      times.push_back((now_s() - begin) * 1000);
      if (jobs.size() != 1) std::exit(1);
      commit([&] {
        JobOutcome outcome;
        outcome.result = Json::object();
        need(queue_.finish({jobs[0].id, jobs[0].lease, "bench"}, outcome, known_));
      });
    }
  }
  void count_some(std::vector<double>& times) {
    for (double time : times_ms(kClaims, [&](std::size_t) { need(queue_.counts()); }))
      times.push_back(time);
  }
  /// One chunk of old rows in a commit of its own; gives how many went.
  int prune_chunk(std::vector<double>& times) {
    int deleted = 0;
    times.push_back(commit_ms(
        [&] { deleted = static_cast<int>(need(queue_.prune(clock_.now() - kKept, kPruneRows))); }));
    return deleted;
  }
  /// The same rows by one statement, and nothing of what the queue knows.
  void delete_chunk(std::vector<double>& times) {
    times.push_back(commit_ms([&] {
      auto statement = db_.prepare(
          "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE state = 'succeeded' AND "
          "finished_at < ?1 ORDER BY finished_at LIMIT ?2)");
      statement.bind(to_millis(clock_.now() - kKept), kPruneRows);
      need(statement.run());
    }));
  }
  void enqueue_one(std::vector<double>& times) {
    times.push_back(commit_ms([&] { need(queue_.enqueue(request())); }));
  }

 private:
  static constexpr std::chrono::hours kKept{24 * 7};
  JobQueue::Settings settings() const {
    JobQueue::Settings all;
    all.spill_dir = (folder_ / "spill").string();
    return all;
  }
  static JobRequest request() {
    JobRequest one;
    one.kind = kKind;
    one.input = Json::object();
    one.owner = {.subject = "local", .surface = "cli"};
    return one;
  }
  template <typename Fn>
  void commit(Fn fn) {
    auto transaction = need(Database::Transaction::begin(db_));
    fn();
    need(transaction.commit());
  }
  template <typename Fn>
  double commit_ms(Fn fn) {
    const double begin = now_s();
    commit(fn);
    return (now_s() - begin) * 1000;
  }

  // The order matters: the queue refers to the connection.
  std::filesystem::path folder_;
  SystemClock clock_;
  SystemRandom random_;
  Database db_;
  JobQueue queue_;
  const std::vector<JobStore::KnownKind> known_ = {{.kind = kKind}};
};

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Removes a million rows here as the queue does it and there by SQL alone, chunk by chunk in turn.
void measure_prune(Queue& full, Queue& raw, Queue& empty) {
  std::vector<double> chunks, deletes, enqueues, calm_enqueues;
  for (int left = kFinished; left > 0;) {
    const int pruned = full.prune_chunk(chunks);
    full.enqueue_one(enqueues);
    if (pruned == 0) std::exit(1);
    raw.delete_chunk(deletes);
    empty.enqueue_one(calm_enqueues);
    left -= pruned;
  }
  print({.name = "prune_1m_finished",
         .value = sum_of(chunks) / 1000,
         .unit = "s",
         .floor = sum_of(deletes) / 1000,
         .bar = {}});
  print({.name = "prune_longest_commit",
         .value = percentile(chunks, 1),
         .unit = "ms",
         .floor = percentile(deletes, 1),
         .bar = 50});
  print({.name = "enqueue_while_pruning_p99",
         .value = percentile(enqueues, .99),
         .unit = "ms",
         .floor = percentile(calm_enqueues, .99),
         .bar = 50});
}

}  // namespace

int main() {
  const Folder folder("job-history");
  Queue empty(folder.path / "empty"), full(folder.path / "full"), raw(folder.path / "raw");
  full.add_finished(kFinished);
  raw.add_finished(kFinished);
  std::vector<double> claims, claims_beside, counts, counts_beside;
  for (int round = 0; round < kRounds; ++round) {
    empty.claim_some(claims);
    full.claim_some(claims_beside);
    empty.count_some(counts);
    full.count_some(counts_beside);
  }
  const auto tell = [](const char* name, const std::vector<double>& with,
                       const std::vector<double>& without) {
    const double floor = percentile(without, .5);
    print({.name = name,
           .value = percentile(with, .5),
           .unit = "ms",
           .floor = floor,
           .bar = 1.2 * floor});
  };
  tell("claim_beside_1m_finished", claims_beside, claims);
  tell("counts_beside_1m_finished", counts_beside, counts);
  measure_prune(full, raw, empty);
}
