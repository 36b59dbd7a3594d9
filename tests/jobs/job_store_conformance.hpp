#pragma once
#include "jobs/job_queue.hpp"
#include "tests/support/fake_clock.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace indx {

/// What every store of jobs promises, in sentences. A fixture is one fresh store:
///
///     FakeClock& clock();
///     JobQueue& queue();
///     void restart();  ///< the process dies and another one opens the same store
///
/// `make` gives a `std::unique_ptr` to one. Each sentence gets its own.
template <typename Make>
class JobStoreConformance {
 public:
  explicit JobStoreConformance(Make make) : make_(std::move(make)) {}

  void run() {
    enqueues_and_finds();
    keeps_any_text();
    claims_in_order();
    respects_limits();
    guards_by_lease();
    ends_tries();
    cancels();
    pauses();
    keeps_unique_keys();
    rescues();
    keeps_steps();
    waits_for_time();
    joins_children();
    redrives();
    lists_and_counts();
    prunes();
  }

 private:
  using Fixture = typename std::invoke_result_t<Make>::element_type;
  using Kind = JobOutcome::Kind;

  static JobRequest request(const std::string& kind = "tag") {
    JobRequest asked;
    asked.kind = kind;
    asked.input = {{"scope", "**"}};
    asked.owner = {.subject = "tok_1",
                   .surface = "api",
                   .scopes = {"vault:read"},
                   .path_globs = {"a/**"},
                   .request_id = "r1"};
    return asked;
  }
  static std::vector<JobQueue::KnownKind> known() {
    return {{.kind = "tag"}, {.kind = "move"}, {.kind = "single", .max_running = 1}};
  }
  static Job add(Fixture& store, const JobRequest& asked = request()) {
    auto added = store.queue().enqueue(asked);
    INFO((added ? "" : added.error().message));
    REQUIRE(added);
    return added->job;
  }
  static std::vector<Job> claim(Fixture& store, int count = 1, const std::string& by = "a") {
    auto claimed = store.queue().claim(by, known(), count);
    INFO((claimed ? "" : claimed.error().message));
    REQUIRE(claimed);
    return std::move(*claimed);
  }
  static Job claim_one(Fixture& store, const std::string& by = "a") {
    auto claimed = claim(store, 1, by);
    REQUIRE(claimed.size() == 1);
    return claimed.front();
  }
  static Lease lease_of(const Job& job) { return {job.id, job.lease, job.leased_by}; }
  static Job get(Fixture& store, const JobId& id) {
    auto found = store.queue().get(id);
    REQUIRE(found);
    REQUIRE(found->has_value());
    return std::move(**found);
  }
  static Job finish(Fixture& store, const Job& job, const JobOutcome& outcome) {
    auto ended = store.queue().finish(lease_of(job), outcome, known());
    INFO((ended ? "" : ended.error().message));
    REQUIRE(ended);
    return ended->job;
  }
  static JobOutcome success(Json result = Json::object()) {
    return {.kind = Kind::Succeeded, .result = std::move(result)};
  }
  static JobOutcome failure(Reason reason, const std::string& message = "no") {
    return {.kind = Kind::Failed, .error = make_error(reason, message)};
  }
  std::unique_ptr<Fixture> fresh() { return make_(); }

  void enqueues_and_finds() {
    INFO("a job is found as it was asked for, also by the next process");
    const auto store = fresh();
    auto asked = request();
    asked.keep = true;
    asked.priority = 3;
    asked.max_attempts = 2;
    asked.limit_key = "disk";
    asked.limit_running = 4;
    asked.time_limit = milliseconds(900);
    const Job job = add(*store, asked);
    store->restart();

    const Job found = get(*store, job.id);
    CHECK(found.state == JobState::Ready);
    CHECK(found.kind == asked.kind);
    CHECK(found.input == asked.input);
    CHECK(found.owner.subject == asked.owner.subject);
    CHECK(found.owner.scopes == asked.owner.scopes);
    CHECK(found.owner.path_globs == asked.owner.path_globs);
    CHECK(found.keep);
    CHECK(found.priority == 3);
    CHECK(found.max_attempts == 2);
    CHECK(found.limit_key == "disk");
    CHECK(found.limit_running == 4);
    CHECK(found.time_limit == milliseconds(900));
    CHECK_FALSE(store->queue().get({"no such job"})->has_value());
    auto large = request();
    large.input = {{"text", std::string((std::size_t{1} << 20U) + 1, 'x')}};
    CHECK(store->queue().enqueue(large).error().reason == Reason::TooLarge);
    CHECK(store->queue().count_live().value() == 1);
  }

  void keeps_any_text() {
    INFO("text with NUL and 4-byte characters comes back unchanged, what is no text is refused");
    const std::string nul("a\0b", 3), wide = "\xF0\x9F\x8C\xB1 \xF0\x9D\x84\x9E",
                                      surrogate = "x\xED\xA0\x80y";
    for (const auto& text : {nul, wide}) {
      const auto store = fresh();
      auto asked = request();
      asked.input = {{"text", text}, {text, 1}};
      add(*store, asked);
      const Job job = claim_one(*store);
      CHECK(job.input == asked.input);
      JobProgress progress;
      progress.phase = progress.current = text;
      REQUIRE(store->queue().set_progress(lease_of(job), progress));
      CHECK(get(*store, job.id).progress.current == text);
      REQUIRE(store->queue().put_step(lease_of(job), {"step", "h", {{"t", text}}}));
      CHECK(store->queue().find_step(job.id, "step", "h").value() ==
            std::optional<Json>(Json{{"t", text}}));
      finish(*store, job, success({{"t", text}}));
      CHECK(get(*store, job.id).result == std::optional<Json>(Json{{"t", text}}));

      add(*store);
      const Job bad = claim_one(*store);
      finish(*store, bad, failure(Reason::NotFound, text));
      store->restart();
      CHECK(get(*store, bad.id).state == JobState::Failed);
      CHECK(get(*store, bad.id).error->message == text);
    }
    const auto store = fresh();
    auto asked = request();
    asked.input = {{"text", surrogate}};
    CHECK(store->queue().enqueue(asked).error().reason == Reason::ValidationFailed);
    CHECK(store->queue().count_live().value() == 0);
    add(*store);
    const Job job = claim_one(*store);
    JobProgress progress;
    progress.current = surrogate;
    REQUIRE(store->queue().set_progress(lease_of(job), progress));
    const Job failed = finish(*store, job, failure(Reason::NotFound, surrogate));
    CHECK(failed.state == JobState::Failed);
    CHECK_FALSE(get(*store, job.id).error->message.empty());
    add(*store);
    const Job odd = claim_one(*store);
    finish(*store, odd, success({{"t", surrogate}}));
    CHECK(get(*store, odd.id).is_final());
  }

  void claims_in_order() {
    INFO("the more urgent job goes first, then the older; time makes up for priority");
    const auto store = fresh();
    const Job first = add(*store), second = add(*store);
    auto urgent = request();
    urgent.priority = 1;
    const Job third = add(*store, urgent);
    const auto claimed = claim(*store, 2);
    REQUIRE(claimed.size() == 2);
    CHECK(claimed[0].id == third.id);
    CHECK(claimed[1].id == first.id);
    CHECK(claimed[0].state == JobState::Running);
    CHECK(claimed[0].leased_by == "a");
    store->clock().advance(std::chrono::minutes(5));
    add(*store, urgent);
    CHECK(claim_one(*store).id == second.id);
    CHECK(claim(*store, 5).size() == 1);
    CHECK(claim(*store).empty());

    INFO("only the named jobs are claimed when some are named");
    const Job unnamed = add(*store), named = add(*store);
    const auto only = store->queue().claim("a", known(), 5, {named.id}).value();
    REQUIRE(only.size() == 1);
    CHECK(only[0].id == named.id);
    CHECK(get(*store, unnamed.id).state == JobState::Ready);

    INFO("a kind that this program does not know is parked and comes back when it is known");
    const Job strange = add(*store, request("strange"));
    claim(*store, 5);
    CHECK(get(*store, strange.id).state == JobState::Unsupported);
    const auto later = store->queue().claim("a", {{.kind = "strange"}}, 1).value();
    REQUIRE(later.size() == 1);
    CHECK(later[0].id == strange.id);
  }

  void respects_limits() {
    INFO("limits of a kind and of a key count what runs, also after a crash");
    const auto store = fresh();
    add(*store, request("single"));
    add(*store, request("single"));
    const auto single = claim(*store, 5);
    REQUIRE(single.size() == 1);
    CHECK(claim(*store).empty());
    finish(*store, single[0], success());
    CHECK(claim(*store).size() == 1);

    auto keyed = request();
    keyed.limit_key = "provider";
    keyed.limit_running = 1;
    add(*store, keyed);
    add(*store, keyed);
    const auto held = claim(*store, 5);
    REQUIRE(held.size() == 1);
    store->restart();
    REQUIRE(store->queue().rescue("b", true));
    std::vector<Job> again = claim(*store, 5, "b");
    CHECK(std::count_if(again.begin(), again.end(),
                        [](const Job& job) { return job.limit_key == "provider"; }) == 1);
  }

  void guards_by_lease() {
    INFO("whoever lost a job can write nothing to it any more");
    const auto store = fresh();
    add(*store);
    const Job old = claim_one(*store);
    store->restart();
    REQUIRE(store->queue().rescue("b", true));
    const Job current = claim_one(*store, "b");
    REQUIRE(current.id == old.id);
    CHECK(current.lease > old.lease);
    auto& queue = store->queue();
    CHECK(queue.check_lease(lease_of(old)).error().reason == Reason::StaleLease);
    CHECK(queue.set_progress(lease_of(old), {}).error().reason == Reason::StaleLease);
    CHECK(queue.put_step(lease_of(old), {"k", "h", 1}).error().reason == Reason::StaleLease);
    CHECK(queue.finish(lease_of(old), success(), known()).error().reason == Reason::StaleLease);
    CHECK(queue.check_lease(lease_of(current)));
    CHECK(get(*store, current.id).state == JobState::Running);
    finish(*store, current, success());
    CHECK(queue.finish(lease_of(current), success(), known()).error().reason == Reason::StaleLease);
  }

  void ends_tries() {
    INFO("a retryable failure is tried again later and its error kept; used-up attempts are dead");
    const auto store = fresh();
    auto asked = request();
    asked.max_attempts = 2;
    add(*store, asked);
    Job job = finish(*store, claim_one(*store), failure(Reason::Unavailable, "first"));
    CHECK(job.state == JobState::Scheduled);
    CHECK(job.attempts == 1);
    CHECK(job.run_at > store->clock().now());
    CHECK(claim(*store).empty());
    store->clock().advance(std::chrono::hours(1));
    job = finish(*store, claim_one(*store), failure(Reason::Unavailable, "second"));
    CHECK(job.state == JobState::Dead);
    const auto faults = store->queue().faults(job.id).value();
    REQUIRE(faults.size() == 2);
    CHECK(faults[0].error.message == "first");
    CHECK(faults[1].error.message == "second");

    INFO("a server's wish to wait is a floor; a permanent error is not tried again");
    add(*store);
    auto wait = failure(Reason::Unavailable);
    wait.retry_after = std::chrono::minutes(10);
    const Job patient = finish(*store, claim_one(*store), wait);
    CHECK(patient.run_at >= store->clock().now() + std::chrono::minutes(10));
    add(*store);
    CHECK(finish(*store, claim_one(*store), failure(Reason::NotFound)).state == JobState::Failed);
    add(*store);
    const JobOutcome late{.kind = Kind::TimedOut,
                          .error = make_error(Reason::Timeout, "took too long")};
    const Job timed = finish(*store, claim_one(*store), late);
    CHECK(timed.state == JobState::Scheduled);
    CHECK(timed.attempts == 1);

    INFO("a job that is given back keeps its attempts and is next again");
    auto last = request();
    last.max_attempts = 1;
    const Job returned = add(*store, last);
    const Job waiting = finish(*store, claim_one(*store), {.kind = Kind::Returned});
    CHECK(waiting.id == returned.id);
    CHECK(waiting.state == JobState::Ready);
    CHECK(waiting.attempts == 0);
    CHECK(waiting.interruptions == 1);
    CHECK(claim_one(*store).id == returned.id);
  }

  void cancels() {
    INFO("a waiting job is cancelled at once, a running one is asked and says how far it came");
    const auto store = fresh();
    const Job waiting = add(*store);
    CHECK(store->queue().request_cancel(waiting.id)->job.state == JobState::Cancelled);
    add(*store);
    const Job running = claim_one(*store);
    const Job asked = store->queue().request_cancel(running.id)->job;
    CHECK(asked.state == JobState::Running);
    CHECK(asked.cancel_requested);
    const auto stops = store->queue().heartbeat("a").value();
    REQUIRE(stops.size() == 1);
    CHECK(stops[0].job == running.id);
    CHECK_FALSE(stops[0].is_pause);
    const JobOutcome partial{.kind = Kind::Cancelled, .result = Json{{"done", 3}}};
    CHECK(finish(*store, running, partial).state == JobState::Cancelled);
    CHECK(get(*store, running.id).result == std::optional<Json>(Json{{"done", 3}}));

    INFO("a job that has ended stays as it is, and an unknown one is not found");
    add(*store);
    const Job done = finish(*store, claim_one(*store), success());
    CHECK(store->queue().request_cancel(done.id)->job.state == JobState::Succeeded);
    CHECK(store->queue().request_cancel({"none"}).error().reason == Reason::NotFound);
  }

  void pauses() {
    INFO("a paused job, kind or queue starts nothing until it is resumed, over restarts too");
    const auto store = fresh();
    const Job one = add(*store);
    CHECK(store->queue().pause(one.id)->state == JobState::Paused);
    CHECK(claim(*store).empty());
    store->restart();
    CHECK(claim(*store).empty());
    REQUIRE(store->queue().resume(one.id));
    const Job running = claim_one(*store);
    CHECK(running.id == one.id);
    CHECK(store->queue().pause(running.id)->pause_requested);
    const auto stops = store->queue().heartbeat("a").value();
    REQUIRE(stops.size() == 1);
    CHECK(stops[0].is_pause);
    CHECK(finish(*store, running, {.kind = Kind::Returned}).state == JobState::Paused);
    CHECK(get(*store, running.id).attempts == 0);
    CHECK(store->queue().pause({"none"}).error().reason == Reason::NotFound);
    CHECK(store->queue().resume({"none"}).error().reason == Reason::NotFound);

    const Job other = add(*store, request("move"));
    REQUIRE(store->queue().pause_kind("move", "tok_1"));
    const Job free = add(*store);
    store->restart();
    const auto pauses = store->queue().pauses().value();
    REQUIRE(pauses.size() == 1);
    CHECK(pauses[0].what == "move");
    CHECK(pauses[0].subject == "tok_1");
    auto claimed = claim(*store, 5);
    REQUIRE(claimed.size() == 1);
    CHECK(claimed[0].id == free.id);
    REQUIRE(store->queue().pause_kind("*", "tok_1"));
    REQUIRE(store->queue().resume_kind("move"));
    CHECK(claim(*store, 5).empty());
    REQUIRE(store->queue().resume_kind("*"));
    claimed = claim(*store, 5);
    REQUIRE(claimed.size() == 1);
    CHECK(claimed[0].id == other.id);
    const Job done = finish(*store, claimed[0], success());
    CHECK(store->queue().pause(done.id).error().reason == Reason::Conflict);
  }

  void keeps_unique_keys() {
    INFO("of jobs with one key one lives: join, reject, replace, run again; a crash frees nothing");
    const auto store = fresh();
    auto asked = request();
    asked.unique_key = "k";
    const Job live = add(*store, asked);
    const auto joined = store->queue().enqueue(asked).value();
    CHECK(joined.job.id == live.id);
    CHECK_FALSE(joined.is_new);
    auto other_kind = asked;
    other_kind.kind = "move";
    CHECK(store->queue().enqueue(other_kind)->is_new);
    auto reject = asked;
    reject.on_duplicate = OnDuplicate::Reject;
    const auto refused = store->queue().enqueue(reject);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().reason == Reason::Conflict);
    CHECK(refused.error().details["job_id"] == live.id.value);
    auto replace = asked;
    replace.on_duplicate = OnDuplicate::Replace;
    replace.input = {{"scope", "new"}};
    CHECK(store->queue().enqueue(replace)->job.id == live.id);
    CHECK(get(*store, live.id).input == replace.input);

    const auto running = store->queue().claim("a", known(), 1, {live.id}).value();
    REQUIRE(running.size() == 1);
    store->restart();
    REQUIRE(store->queue().rescue("b", true));
    CHECK(store->queue().enqueue(asked)->job.id == live.id);
    const auto rescued = store->queue().claim("b", known(), 1, {live.id}).value();
    REQUIRE(rescued.size() == 1);
    auto again = asked;
    again.on_duplicate = OnDuplicate::RunAgain;
    again.input = {{"scope", "later"}};
    CHECK_FALSE(store->queue().enqueue(again)->is_new);
    auto ended = store->queue().finish(lease_of(rescued[0]), success(), known()).value();
    CHECK(ended.job.state == JobState::Succeeded);
    REQUIRE(ended.others.size() == 1);
    CHECK(ended.others[0].input == again.input);
    const auto once_more = store->queue().claim("b", known(), 1, {ended.others[0].id}).value();
    REQUIRE(once_more.size() == 1);
    ended = store->queue().finish(lease_of(once_more[0]), success(), known()).value();
    CHECK(ended.others.empty());
    CHECK(store->queue().enqueue(asked)->is_new);  // the key is free
  }

  void rescues() {
    INFO("jobs of a process that died come back with a crash counted, three times, then never");
    const auto store = fresh();
    const Job job = add(*store);
    std::string owner = "p0";
    for (int crash = 1; crash <= 3; ++crash) {
      CHECK(claim_one(*store, owner).id == job.id);  // claimed, and killed before it started
      store->restart();
      owner = "p" + std::to_string(crash);
      const auto rescued = store->queue().rescue(owner, true).value();
      REQUIRE(rescued.size() == 1);
      CHECK(rescued[0].crashes == crash);
      CHECK(rescued[0].attempts == 0);
      CHECK(rescued[0].state == (crash < 3 ? JobState::Ready : JobState::Dead));
      CHECK(rescued[0].leased_by.empty());
    }
    CHECK(get(*store, job.id).error->message.find("crashed its process") != std::string::npos);
    CHECK(claim(*store, 1, owner).empty());

    INFO("the living process is never rescued from, however its clock jumps");
    add(*store);
    const Job own = claim_one(*store, owner);
    store->clock().advance(std::chrono::hours(5));
    CHECK(store->queue().rescue(owner, true)->empty());
    CHECK(store->queue().rescue(owner, false)->empty());
    INFO("another's lease has to run out where both may live");
    CHECK(store->queue().heartbeat(owner));
    CHECK(store->queue().rescue("other", false)->empty());
    store->clock().advance(std::chrono::minutes(1));
    CHECK(store->queue().rescue("other", false)->size() == 1);
    CHECK(get(*store, own.id).state == JobState::Ready);
  }

  void keeps_steps() {
    INFO("a step is found by key and inputs, survives a crash, and is stored once a try");
    const auto store = fresh();
    add(*store);
    Job job = claim_one(*store);
    auto& first = store->queue();
    REQUIRE(first.put_step(lease_of(job), {"a", "h", {{"n", 1}}}));
    REQUIRE(first.put_step(lease_of(job), {"large", "h", std::string(300000, 'x')}));
    CHECK(first.put_step(lease_of(job), {"a", "h", 2}).error().reason == Reason::StepKeyReused);
    store->restart();
    REQUIRE(store->queue().rescue("b", true));
    job = claim_one(*store, "b");
    auto& queue = store->queue();
    CHECK(queue.find_step(job.id, "a", "h").value() == std::optional<Json>(Json{{"n", 1}}));
    CHECK(queue.find_step(job.id, "large", "h").value() ==
          std::optional<Json>(Json(std::string(300000, 'x'))));
    CHECK_FALSE(queue.find_step(job.id, "a", "other")->has_value());
    CHECK_FALSE(queue.find_step(job.id, "b", "h")->has_value());
    CHECK(queue.count_steps(job.id).value() == 2);
    REQUIRE(queue.put_step(lease_of(job), {"a", "other", 3}));
    CHECK(queue.find_step(job.id, "a", "other").value() == std::optional<Json>(Json(3)));
    CHECK(queue.sweep_spill().value() == 0);
    finish(*store, job, success());
    CHECK(queue.count_steps(job.id).value() == 0);
    CHECK(queue.sweep_spill().value() == 1);
  }

  void waits_for_time() {
    INFO("a job that is asked for later, or sleeps, waits for its time and costs no attempt");
    const auto store = fresh();
    CHECK_FALSE(store->queue().next_due()->has_value());
    auto asked = request();
    asked.run_at = store->clock().now() + milliseconds(5000);
    const Job job = add(*store, asked);
    CHECK(job.state == JobState::Scheduled);
    CHECK(store->queue().next_due().value() == asked.run_at);
    CHECK(claim(*store).empty());
    store->clock().advance(milliseconds(5000));
    const Job running = claim_one(*store);
    const auto wake_at = store->clock().now() + std::chrono::hours(2);
    const JobOutcome sleep{.kind = Kind::Sleeping, .wake_at = wake_at};
    CHECK(finish(*store, running, sleep).state == JobState::Sleeping);
    store->restart();
    CHECK(store->queue().next_due().value() == std::optional<Timestamp>(wake_at));
    CHECK(claim(*store).empty());
    store->clock().advance(std::chrono::hours(2));
    CHECK(claim_one(*store).attempts == 0);
  }

  void joins_children() {
    INFO("a parent holds no slot while it waits, and goes on when its last child has ended");
    const auto store = fresh();
    const Job parent = add(*store);
    const Job running = claim_one(*store);
    std::vector<JobId> ids;
    for (int i = 0; i < 2; ++i) {
      auto child = request("move");
      child.parent = parent.id.value;
      ids.push_back(add(*store, child).id);
    }
    CHECK(finish(*store, running, {.kind = Kind::Waiting}).state == JobState::Waiting);
    const auto claimed = claim(*store, 5);
    REQUIRE(claimed.size() == 2);
    auto ended = store->queue().finish(lease_of(claimed[0]), success(Json(1)), known()).value();
    CHECK(ended.others.empty());
    CHECK(get(*store, parent.id).state == JobState::Waiting);
    ended = store->queue().finish(lease_of(claimed[1]), failure(Reason::NotFound), known()).value();
    REQUIRE(ended.others.size() == 1);
    CHECK(ended.others[0].id == parent.id);
    CHECK(ended.others[0].state == JobState::Ready);
    const auto children = store->queue().children(parent.id).value();
    REQUIRE(children.size() == 2);
    CHECK(children[0].id == ids[0]);
    CHECK(children[0].result == std::optional<Json>(Json(1)));
    CHECK(children[1].state == JobState::Failed);
    CHECK(claim_one(*store).id == parent.id);

    INFO("children of a cancelled parent are cancelled with it");
    const Job second = add(*store);
    const Job holds = claim_one(*store);
    auto child = request("move");
    child.parent = second.id.value;
    const Job orphan = add(*store, child);
    finish(*store, holds, {.kind = Kind::Waiting});
    REQUIRE(store->queue().request_cancel(second.id));
    CHECK(get(*store, second.id).state == JobState::Cancelled);
    CHECK(get(*store, orphan.id).state == JobState::Cancelled);
  }

  void redrives() {
    INFO("what failed can be made live again, with its tries, its steps and its old errors kept");
    const auto store = fresh();
    add(*store);
    Job job = claim_one(*store);
    REQUIRE(store->queue().put_step(lease_of(job), {"a", "h", 1}));
    finish(*store, job, failure(Reason::NotFound, "gone"));
    CHECK_FALSE(store->queue().retry(job.id)->is_final());
    CHECK(store->queue().retry(job.id).error().reason == Reason::Conflict);  // it is live
    CHECK(store->queue().retry({"none"}).error().reason == Reason::NotFound);
    job = claim_one(*store);
    CHECK(store->queue().find_step(job.id, "a", "h").value() == std::optional<Json>(Json(1)));
    CHECK(store->queue().faults(job.id)->size() == 1);
    finish(*store, job, success());
    CHECK(store->queue().retry(job.id).error().reason == Reason::Conflict);

    for (int i = 0; i < 4; ++i) {
      add(*store);
      finish(*store, claim_one(*store), failure(Reason::NotFound));
    }
    JobFilter failed;
    failed.states = {JobState::Failed};
    const auto spread = std::chrono::minutes(1);
    const auto driven = store->queue().redrive(failed, spread, 3).value();
    CHECK(driven.size() == 3);
    for (const auto& one : driven) {
      CHECK_FALSE(one.is_final());
      CHECK(one.run_at <= store->clock().now() + spread);
    }
    CHECK(store->queue().redrive(failed, spread, 10)->size() == 1);
  }

  void lists_and_counts() {
    INFO("a list goes from new to old in pages, and counts are by kind and state");
    const auto store = fresh();
    std::vector<JobId> ids;
    for (int i = 0; i < 5; ++i) ids.push_back(add(*store, request(i == 0 ? "move" : "tag")).id);
    finish(*store, claim_one(*store), success());  // the oldest, which moves
    std::vector<JobId> listed;
    std::string cursor;
    for (int page = 0; page < 3; ++page) {
      const auto found = store->queue().list({}, 2, cursor).value();
      for (const auto& job : found.jobs) listed.push_back(job.id);
      CHECK(found.next_cursor.has_value() == (page < 2));
      cursor = found.next_cursor.value_or("");
    }
    std::reverse(ids.begin(), ids.end());
    CHECK(listed == ids);
    JobFilter moves;
    moves.kind = "move";
    CHECK(store->queue().list(moves, 10, "")->jobs.size() == 1);
    JobFilter ready;
    ready.states = {JobState::Ready};
    CHECK(store->queue().list(ready, 10, "")->jobs.size() == 4);
    JobFilter others;
    others.subject = "tok_2";
    CHECK(store->queue().list(others, 10, "")->jobs.empty());
    CHECK_FALSE(store->queue().list({}, 2, "no cursor"));
    std::int64_t succeeded = 0, waiting = 0;
    for (const auto& count : store->queue().counts().value()) {
      if (count.kind == "move" && count.state == JobState::Succeeded) succeeded += count.count;
      if (count.kind == "tag" && count.state == JobState::Ready) waiting += count.count;
    }
    CHECK(succeeded == 1);
    CHECK(waiting == 4);
    CHECK(store->queue().count_live().value() == 4);
  }

  void prunes() {
    INFO("ended jobs go when they are old, in chunks; live ones stay");
    const auto store = fresh();
    for (int i = 0; i < 5; ++i) {
      add(*store);
      finish(*store, claim_one(*store), success());
    }
    const Job live = add(*store);
    store->clock().advance(std::chrono::hours(24 * 30));
    const auto before = store->clock().now() - std::chrono::hours(24);
    CHECK(store->queue().prune(before, 3).value() == 3);
    CHECK(store->queue().prune(before, 3).value() == 2);
    CHECK(store->queue().prune(before, 3).value() == 0);
    CHECK(store->queue().list({}, 10, "")->jobs.size() == 1);
    CHECK(get(*store, live.id).state == JobState::Ready);
  }

  Make make_;
};

}  // namespace indx
