#include "actors/note_write.hpp"
#include "base/text.hpp"
#include "jobs/job_check.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fault_vfs.hpp"
#include "tests/support/process.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace indx {
namespace {

namespace fs = std::filesystem;

constexpr int kOperations = 200;
/// How many operations a lasting fault meets before the disk is well again.
constexpr int kOperationsOnBadDisk = 20;

/// What one run promised to its callers.
struct Promised {
  struct OfJob {
    std::int64_t lease = 0, done = 0;
    std::map<std::string, int> steps;
    std::optional<int> result;
    bool is_cancelled = false;
    bool may_have_ended = false;  ///< an end failed, and storage did not say how far it came
  };
  std::map<std::string, OfJob> jobs;
  std::vector<std::string> words;  ///< that notes were given
};

/// A vault of one note with a state.db that is migrated and closed; each run starts from a copy.
struct FreshVault {
  FreshVault() {
    folder.write("a.md", "# A\n");
    REQUIRE(open_state_db(folder.path() + "/.indx", Durability::Off).has_value());
  }
  void copy_to(const TempFolder& other) const {
    fs::copy(folder.path(), other.path(), fs::copy_options::recursive);
  }
  TempFolder folder;
};

/// The same 200 operations each time, as callers of the engine would cause them; a fault only makes
/// some of them fail.
class FaultRun {
 public:
  explicit FaultRun(const FreshVault& fresh) { fresh.copy_to(folder_); }

  Status open() {
    state_ =
        INDX_TRY(State::open({.dir = folder_.path() + "/.indx", .instance = "a"}, clock_, random_));
    return {};
  }
  void close() { state_.reset(); }

  /// Gives the errors.
  std::vector<Error> run(int operations) {
    std::vector<Error> errors;
    for (int i = 0; i < operations; ++i) {
      clock_.advance(milliseconds(10));
      if (const Status done = one(); !done.has_value()) errors.push_back(done.error());
    }
    return errors;
  }

  /// After a start with a healthy disk: everything that was promised is there, once.
  void check_promises() {
    auto& db = state_->db;
    {
      auto integrity = db.prepare("PRAGMA integrity_check");
      REQUIRE(integrity.step().value());
      REQUIRE(integrity.text(0) == "ok");
      auto dangling = db.prepare("PRAGMA foreign_key_check");
      REQUIRE_FALSE(dangling.step().value());
    }
    REQUIRE(settle_writes(*state_, vault_).has_value());
    for (const auto& [id, promised] : promised_.jobs) check_job(id, promised);
    std::vector<std::string> problems;
    REQUIRE(
        check_jobs(db, folder_.path() + "/.indx/spill", Timestamp{}, [&](const JobProblem& one) {
          problems.push_back(one.message);
        }).has_value());
    CHECK(problems == std::vector<std::string>{});
    check_notes();
  }

 private:
  std::size_t dice(std::size_t sides) { return dice_.next() % sides; }

  /// As the state actor does it.
  Status commit(const std::function<Status()>& body) {
    auto transaction = INDX_TRY(Database::Transaction::begin(state_->db));
    INDX_TRY(state_->db.savepoint(body));
    return transaction.commit();
  }

  Status one() {
    const auto what = dice(20);
    if (what < 6) return enqueue();
    if (what < 9) return claim();
    if (what < 12) return store_step();
    if (what < 14) return tell_progress();
    if (what < 16) return finish();
    if (what < 17) return cancel();
    return write_note();
  }

  Status enqueue() {
    JobRequest request;
    request.kind = "tag";
    request.input = {{"number", ++numbers_}};
    request.owner = {.subject = "tok_1", .surface = "api"};
    std::string id;
    INDX_TRY(commit([&]() -> Status {
      const Job job = INDX_TRY(state_->queue.enqueue(request)).job;
      id = job.id.value;
      return state_->tell({.kind = "job.created", .actor = "api", .job_id = id});
    }));
    promised_.jobs[id];
    return {};
  }

  Status claim() {
    std::vector<Job> claimed;
    INDX_TRY(commit([&]() -> Status {
      claimed = INDX_TRY(state_->queue.claim("a", known_, 1));
      return {};
    }));
    for (const auto& job : claimed) {
      const bool was_promised = promised_.jobs.contains(job.id.value);
      CHECK(was_promised);  // an enqueue that failed left nothing
      auto& promised = promised_.jobs[job.id.value];
      CHECK(job.lease == promised.lease + 1);
      promised.lease = job.lease;
      running_.push_back({job.id, job.lease, "a"});
    }
    return {};
  }

  Status store_step() {
    if (running_.empty()) return claim();
    const Lease& lease = running_[dice(running_.size())];
    const int number = ++numbers_;
    const auto key = cat("item/", number);
    INDX_TRY(commit([&]() -> Status {
      return state_->queue.put_step(lease, {key, "h", {{"n", number}}});
    }));
    promised_.jobs[lease.job.value].steps[key] = number;
    return {};
  }

  Status tell_progress() {
    if (running_.empty()) return claim();
    const Lease& lease = running_[dice(running_.size())];
    JobProgress progress;
    progress.done = ++numbers_;
    INDX_TRY(commit([&]() -> Status { return state_->queue.set_progress(lease, progress); }));
    promised_.jobs[lease.job.value].done = progress.done;
    return {};
  }

  Status finish() {
    if (running_.empty()) return claim();
    const auto chosen = running_.begin() + static_cast<std::ptrdiff_t>(dice(running_.size()));
    const Lease lease = *chosen;
    auto& promised = promised_.jobs[lease.job.value];
    const int number = ++numbers_;
    JobOutcome outcome;
    if (dice(3) == 0)
      outcome.kind = JobOutcome::Kind::Returned;
    else
      outcome.result = Json{{"n", number}};
    const Status ended = commit([&]() -> Status {
      INDX_TRY(state_->queue.finish(lease, outcome, known_));
      return state_->tell({.kind = "job.finished", .actor = "api", .job_id = lease.job.value});
    });
    promised.may_have_ended = promised.may_have_ended || outcome.result.has_value();
    INDX_TRY(Status(ended));
    if (outcome.result) promised.result = number;
    running_.erase(chosen);
    return {};
  }

  Status cancel() {
    std::vector<std::string> waiting;
    for (const auto& [id, promised] : promised_.jobs)
      if (!promised.result && !promised.is_cancelled && !is_running(id)) waiting.push_back(id);
    if (waiting.empty()) return enqueue();
    auto& id = waiting[dice(waiting.size())];
    auto& promised = promised_.jobs[id];
    promised.may_have_ended = true;
    INDX_TRY(commit([&]() -> Status {
      const auto ended = INDX_TRY(state_->queue.request_cancel({id}));
      CHECK(ended.job.state == JobState::Cancelled);
      return {};
    }));
    promised.is_cancelled = true;
    return {};
  }
  bool is_running(const std::string& id) const {
    return std::any_of(running_.begin(), running_.end(),
                       [&](const Lease& lease) { return lease.job.value == id; });
  }

  /// The steps of the vault writer; past its promise a write goes on until its end is stored.
  Status write_note() {
    if (unfinished_) return finish_note();
    const auto word = cat("word", ++numbers_, ".");
    NoteChange change{.kind = NoteChange::Kind::Patch, .path = NotePath::parse("a.md").value()};
    change.ops = {{.kind = PatchKind::AppendBody, .markdown = word}};
    auto write = INDX_TRY(plan_write(vault_, {.change = change, .actor = "api", .subject = "tok_1"},
                                     clock_, random_));
    INDX_TRY(commit([&]() -> Status { return begin_write(*state_, write); }));
    std::string displaced;
    CHECK(INDX_TRY(perform_write(vault_, write, &displaced)));
    performed_.push_back(word);
    unfinished_ = {std::move(write), word};
    return finish_note();
  }
  Status finish_note() {
    INDX_TRY(commit([&]() -> Status {
      return finish_write(*state_, unfinished_->first.intent, unfinished_->first.outcome);
    }));
    promised_.words.push_back(unfinished_->second);
    unfinished_.reset();
    return {};
  }

  void check_job(const std::string& id, const Promised::OfJob& promised) {
    const auto job = state_->queue.get({id}).value();
    INFO("job " << id);
    REQUIRE(job.has_value());
    CHECK(job->lease >= promised.lease);
    CHECK(job->progress.done >= promised.done);
    if (promised.result) {
      CHECK(job->state == JobState::Succeeded);
      CHECK(job->result == std::optional<Json>(Json{{"n", *promised.result}}));
    }
    if (promised.is_cancelled) CHECK(job->state == JobState::Cancelled);
    if (!promised.may_have_ended) CHECK_FALSE(job->is_final());
    const auto created = state_->events.after(0, {"job.created"}, id, 10).value();
    CHECK(created.size() == 1);
    if (job->is_final()) return;
    for (const auto& [key, number] : promised.steps) {
      INFO(key);
      const auto step = state_->queue.find_step({id}, key, "h").value();
      CHECK(step == std::optional<Json>(Json{{"n", number}}));
    }
  }

  void check_notes() {
    const auto text = folder_.read("a.md");
    for (const auto& word : performed_) {
      INFO(word);
      const auto at = text.find(word);
      REQUIRE(at != std::string::npos);
      CHECK(text.find(word, at + 1) == std::string::npos);
    }
    const auto told = state_->events.after(0, {"note.updated"}, "", 1000).value();
    CHECK(told.size() == performed_.size());
    CHECK(promised_.words.size() <= performed_.size());
    CHECK(state_->intents.open_intents().value().empty());
  }

  TempFolder folder_;
  FakeClock clock_;
  SeededRandom random_{7}, dice_{11};
  Vault vault_ = Vault::open(folder_.path(), Durability::Off).value();
  std::vector<JobQueue::KnownKind> known_ = {{.kind = "tag"}};
  std::unique_ptr<State> state_;
  Promised promised_;
  std::vector<Lease> running_;
  std::vector<std::string> performed_;
  std::optional<std::pair<NoteWrite, std::string>> unfinished_;
  int numbers_ = 0;
};

void check_clear(const std::vector<Error>& errors) {
  for (const auto& error : errors) {
    INFO(error.message);
    CHECK(error.reason == Reason::Unavailable);
    CHECK(error.message.size() > 20);
  }
}

/// How many calls of SQLite a run without faults makes that this fault can hit.
std::int64_t chances_of(const FreshVault& fresh, FaultVfs::Fault fault) {
  FaultVfs disk;
  FaultRun run(fresh);
  REQUIRE(run.open().has_value());
  REQUIRE(run.run(kOperations).empty());
  return disk.chances(fault);
}

/// One run with one fault. Gives whether the fault came.
bool try_fault(const FreshVault& fresh, const FaultVfs::Plan& plan) {
  INFO("fault " << static_cast<int>(plan.fault) << " at call " << plan.at
                << (plan.is_lasting ? ", lasting" : ", once"));
  FaultVfs disk;
  FaultRun run(fresh);
  disk.plan(plan);
  std::vector<Error> errors;
  if (const Status opened = run.open(); !opened.has_value()) {
    errors.push_back(opened.error());
    if (plan.is_lasting) disk.heal();
    REQUIRE(run.open().has_value());
  }
  int left = kOperations;
  while (left > 0 && disk.hits() == 0) {
    for (auto& error : run.run(1)) errors.push_back(std::move(error));
    --left;
  }
  const bool came = disk.hits() > 0;
  if (plan.is_lasting) {
    const int on_bad_disk = std::min(left, kOperationsOnBadDisk);
    for (auto& error : run.run(on_bad_disk)) errors.push_back(std::move(error));
    left -= on_bad_disk;
    if (left > 0) disk.heal();
  } else {
    CHECK(errors.size() <= 1);
  }
  // The same connection goes on once the disk is well.
  CHECK(run.run(left).empty());
  check_clear(errors);
  run.close();
  disk.heal();
  REQUIRE(run.open().has_value());
  run.check_promises();
  return came;
}

constexpr FaultVfs::Fault kFaults[] = {FaultVfs::Fault::IoError, FaultVfs::Fault::DiskFull,
                                       FaultVfs::Fault::ShortWrite, FaultVfs::Fault::SyncFails};

}  // namespace

TEST_CASE("whichever call of the disk fails, nothing that was promised is lost",
          "[actors][jobs-44]") {
  constexpr int kSampled = 8;
  const FreshVault fresh;
  SeededRandom random(2026);
  for (const auto fault : kFaults) {
    const auto chances = chances_of(fresh, fault);
    REQUIRE(chances > 50);
    int came = 0;
    for (int i = 0; i < 2 * kSampled; ++i) {
      const auto at =
          static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(chances));
      came += try_fault(fresh, {fault, at + 1, i >= kSampled}) ? 1 : 0;
    }
    // Until the fault each run makes the calls of the one that was measured.
    CHECK(came == 2 * kSampled);
  }
}

// Half an hour: every call of the run by every fault.
TEST_CASE("each single call of the disk may fail", "[actors][.soak]") {
  const FreshVault fresh;
  for (const auto fault : kFaults) {
    const auto chances = chances_of(fresh, fault);
    for (std::int64_t at = 1; at <= chances; ++at) CHECK(try_fault(fresh, {fault, at, false}));
    for (std::int64_t at = 1; at <= chances; at += 10) CHECK(try_fault(fresh, {fault, at, true}));
  }
}

TEST_CASE("a database that cannot be made on a failing disk is made when the disk is well",
          "[actors]") {
  std::int64_t chances = 0;
  {
    FaultVfs disk;
    const TempFolder folder;
    REQUIRE(open_state_db(folder.path(), Durability::Full).has_value());
    chances = disk.chances(FaultVfs::Fault::IoError);
  }
  REQUIRE(chances > 20);
  int refused = 0;
  for (std::int64_t at = 1; at <= chances; at += chances / 20) {
    INFO("call " << at);
    FaultVfs disk;
    const TempFolder folder;
    disk.plan({FaultVfs::Fault::IoError, at, true});
    {
      const auto failed = open_state_db(folder.path(), Durability::Full);
      if (!failed.has_value()) {
        ++refused;
        check_clear({failed.error()});
      }
    }
    disk.heal();
    auto db = open_state_db(folder.path(), Durability::Full);
    INFO((db.has_value() ? "" : db.error().message));
    REQUIRE(db.has_value());
    auto jobs = db->prepare("SELECT count(*) FROM jobs");
    CHECK(jobs.step().value());
  }
  CHECK(refused > 0);
}

}  // namespace indx
