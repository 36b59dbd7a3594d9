#pragma once
#include "actors/note_write.hpp"
#include "base/text.hpp"
#include "jobs/job_check.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/process.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace indx {

/// What one run promised to its callers.
struct Promised {
  struct OfJob {
    std::int64_t lease = 0, done = 0;
    std::map<std::string, int> steps;
    std::optional<int> result;
    bool is_cancelled = false;
    bool may_have_ended = false;  ///< an end failed, and storage did not say how far it came
    bool may_be_pruned = false, is_pruned = false;
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
    std::filesystem::copy(folder.path(), other.path(), std::filesystem::copy_options::recursive);
  }
  TempFolder folder;
};

/// The same 200 operations each time, as callers of the engine would cause them; a fault only makes
/// some of them fail.
class FaultRun {
 public:
  explicit FaultRun(const FreshVault& fresh) { fresh.copy_to(folder_); }

  Status open(const std::string& instance = "a") {
    state_ = INDX_TRY(
        State::open({.dir = folder_.path() + "/.indx", .instance = instance}, clock_, random_));
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
    check_integrity();
    REQUIRE(settle_writes(*state_, vault_).has_value());
    for (const auto& [id, promised] : promised_.jobs) check_job(id, promised);
    check_notes();
  }

  /// After that, as instance `b`: what the one before left running is taken back, everything that
  /// was accepted comes to its end, and a new job does too.
  void check_goes_on() {
    REQUIRE(enqueue().has_value());
    REQUIRE(commit([&]() -> Status {
              INDX_TRY(state_->queue.rescue("b", true));
              return {};
            }).has_value());
    for (int round = 0; state_->queue.count_live().value() > 0; ++round) {
      REQUIRE(round < 10);
      clock_.advance(std::chrono::hours(1));
      REQUIRE(commit([&] { return end_all(); }).has_value());
    }
    for (const auto& [id, promised] : promised_.jobs) {
      INFO("job " << id);
      const auto job = state_->queue.get({id}).value();
      CHECK((promised.may_be_pruned || (job && job->is_final())));
    }
    check_integrity();
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
    const auto what = dice(24);
    if (what < 6) return enqueue();
    if (what < 9) return claim();
    if (what < 12) return store_step();
    if (what < 14) return tell_progress();
    if (what < 16) return finish();
    if (what < 17) return cancel();
    if (what < 20) return write_note();
    if (what < 21) return prune();
    if (what < 22) return checkpoint();
    return heartbeat();
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
    const bool did_not_begin = dice(6) == 0;
    if (did_not_begin || dice(3) == 0)
      outcome.kind = JobOutcome::Kind::Returned;
    else
      outcome.result = Json{{"n", number}};
    Job job;
    job.id = lease.job;
    job.kind = "tag";
    job.owner = {.subject = "tok_1", .surface = "api"};
    const Status ended = commit([&]() -> Status {
      if (did_not_begin)
        INDX_TRY(state_->queue.put_back(lease));
      else
        INDX_TRY(state_->end_try(job, lease, outcome));
      return {};
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
  Status prune() {
    for (auto& [id, promised] : promised_.jobs)
      if (promised.may_have_ended) promised.may_be_pruned = true;
    INDX_TRY(commit([&]() -> Status {
      INDX_TRY(state_->queue.prune(clock_.now(), 1000));
      return {};
    }));
    for (auto& [id, promised] : promised_.jobs)
      if (promised.result || promised.is_cancelled) promised.is_pruned = true;
    return {};
  }

  /// Else nothing of the database itself would be read or written before its end.
  Status checkpoint() {
    INDX_TRY(state_->db.checkpoint(milliseconds(100)));
    return {};
  }

  Status heartbeat() {
    return commit([&]() -> Status {
      const auto stops = INDX_TRY(state_->queue.heartbeat("a"));
      CHECK(stops.empty());
      return {};
    });
  }

  /// One round over what can be claimed.
  Status end_all() {
    const auto claimed = INDX_TRY(state_->queue.claim("b", known_, 1000));
    for (const auto& job : claimed) {
      JobOutcome outcome;
      outcome.result = Json{{"n", 0}};
      INDX_TRY(state_->queue.finish({job.id, job.lease, "b"}, outcome, known_));
    }
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
    if (promised.is_pruned) CHECK_FALSE(job.has_value());
    if (promised.may_be_pruned && !job) return;
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

  void check_integrity() {
    auto& db = state_->db;
    auto integrity = db.prepare("PRAGMA integrity_check");
    REQUIRE(integrity.step().value());
    REQUIRE(integrity.text(0) == "ok");
    auto dangling = db.prepare("PRAGMA foreign_key_check");
    REQUIRE_FALSE(dangling.step().value());
    std::vector<std::string> problems;
    REQUIRE(
        check_jobs(db, folder_.path() + "/.indx/spill", Timestamp{}, [&](const JobProblem& one) {
          problems.push_back(one.message);
        }).has_value());
    CHECK(problems == std::vector<std::string>{});
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
  std::vector<JobStore::KnownKind> known_ = {{.kind = "tag"}};
  std::unique_ptr<State> state_;
  Promised promised_;
  std::vector<Lease> running_;
  std::vector<std::string> performed_;
  std::optional<std::pair<NoteWrite, std::string>> unfinished_;
  int numbers_ = 0;
};

}  // namespace indx
