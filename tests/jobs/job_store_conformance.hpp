#pragma once
#include "tests/jobs/job_store_life.hpp"

namespace indx {
namespace job_store {

template <typename Make>
void keeps_unique_keys(const Make& make) {
  INFO("of jobs with one key one lives: join, reject, replace, run again; a crash frees nothing");
  const auto store = make();
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

template <typename Make>
void rescues(const Make& make) {
  INFO("jobs of a process that died come back with a crash counted, three times, then never");
  const auto store = make();
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

template <typename Make>
void claims_ahead(const Make& make) {
  INFO("jobs of short kinds are claimed before a runner is free, and as long as they come next");
  const auto store = make();
  auto& queue = store->queue();
  auto kinds = known();
  kinds[0].is_short = true;
  std::vector<JobId> ids;
  for (const char* kind : {"tag", "tag", "tag", "tag", "move", "tag"}) {
    store->clock().advance(milliseconds(1));
    ids.push_back(add(*store, request(kind)).id);
  }
  const auto claimed = queue.claim("a", kinds, 1, {}, 10).value();
  REQUIRE(claimed.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(claimed[i].id == ids[i]);

  INFO("one that did not begin goes back as if it had not been claimed, to its place in the order");
  CHECK(queue.put_back(lease_of(claimed[1])).value());
  CHECK_FALSE(queue.put_back(lease_of(claimed[1])).value());
  const Job back = get(*store, ids[1]);
  CHECK(back.state == JobState::Ready);
  CHECK(back.attempts + back.crashes + back.interruptions == 0);
  CHECK_FALSE(back.started_at);
  CHECK(claim_one(*store).id == ids[1]);

  INFO("an act of somebody while it waited is kept");
  REQUIRE(queue.request_cancel(ids[2]));
  CHECK_FALSE(queue.put_back(lease_of(claimed[2])).value());
  finish(*store, claimed[2], {.kind = Kind::Returned});
  CHECK(get(*store, ids[2]).state == JobState::Cancelled);

  INFO("when the process dies only those have crashed that began");
  store->restart();
  const auto has_begun = [&](const Lease& lease) { return lease.job == ids[0]; };
  REQUIRE(store->queue().rescue("b", true, has_begun));
  CHECK(get(*store, ids[0]).crashes == 1);
  CHECK(get(*store, ids[1]).crashes == 0);
  CHECK(get(*store, ids[3]).crashes == 0);
  CHECK(store->queue().faults(ids[3])->empty());
  CHECK(claim(*store, 10, "b").size() == 5);

  INFO("one with a time limit, or that a process died with, waits for its runner");
  for (const auto& job : claim(*store, 10, "b")) finish(*store, job, success());
  for (const auto& id : ids) REQUIRE(store->queue().request_cancel(id));
  auto limited = request();
  limited.time_limit = milliseconds(1000);
  add(*store, limited);
  CHECK(store->queue().claim("b", kinds, 0, {}, 10)->empty());
  CHECK(store->queue().claim("b", kinds, 1, {}, 10)->size() == 1);
}

template <typename Make>
void succeeds(const Make& make) {
  INFO("the end of most jobs is stored at once, under the same conditions as any other");
  const auto store = make();
  auto& queue = store->queue();
  const Job job = add(*store);
  const Job running = claim_one(*store);
  Lease stale = lease_of(running);
  ++stale.generation;
  CHECK(queue.succeed(stale, Json(1)).value() == false);
  CHECK(queue.succeed(lease_of(running), Json{{"n", 1}}).value());
  const Job ended = get(*store, job.id);
  CHECK(ended.state == JobState::Succeeded);
  CHECK(ended.result == std::optional<Json>(Json{{"n", 1}}));
  CHECK(ended.finished_at == store->clock().now());
  CHECK(ended.leased_by.empty());
  CHECK(queue.succeed(lease_of(running), Json(1)).value() == false);

  INFO("but not where more has to be done than that");
  add(*store);
  const Job with_step = claim_one(*store);
  REQUIRE(queue.put_step(lease_of(with_step), {"a", "h", 1}));
  CHECK(queue.succeed(lease_of(with_step), Json(1)).value() == false);
  finish(*store, with_step, success());
  const Job parent = add(*store);
  const Job waits = claim_one(*store);
  auto asked = request("move");
  asked.parent = parent.id.value;
  add(*store, asked);
  CHECK(queue.succeed(lease_of(waits), Json(1)).value() == false);
  CHECK(queue.succeed(lease_of(claim_one(*store)), Json(1)).value() == false);  // its child
  auto unique = request();
  unique.unique_key = "k";
  unique.on_duplicate = OnDuplicate::RunAgain;
  const Job once = add(*store, unique);
  const auto again = claim(*store, 1);
  unique.input = {{"scope", "later"}};
  REQUIRE(queue.enqueue(unique)->job.id == once.id);
  CHECK(queue.succeed(lease_of(again.at(0)), Json(1)).value() == false);
  add(*store);
  CHECK(queue.succeed(lease_of(claim_one(*store)), Json(std::string(300000, 'x'))).value() ==
        false);
}

template <typename Make>
void keeps_steps(const Make& make) {
  INFO("a step is found by key and inputs, survives a crash, and is stored once a try");
  const auto store = make();
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

template <typename Make>
void waits_for_time(const Make& make) {
  INFO("a job that is asked for later, or sleeps, waits for its time and costs no attempt");
  const auto store = make();
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

template <typename Make>
void snoozes(const Make& make) {
  INFO("a job that is snoozed waits for its time and costs no attempt, but not for ever");
  const auto store = make();
  const Job job = add(*store);
  const JobOutcome snooze{.kind = Kind::Snoozed,
                          .error = make_error(Reason::AiProviderError, "busy"),
                          .retry_after = milliseconds(60000)};
  for (int i = 1; i <= kMaxSnoozes; ++i) {
    const Job slept = finish(*store, claim_one(*store), snooze);
    CHECK(slept.state == JobState::Sleeping);
    CHECK(slept.run_at >= store->clock().now() + milliseconds(60000));
    store->restart();
    CHECK(get(*store, job.id).snoozes == i);
    CHECK(get(*store, job.id).attempts == 0);
    CHECK(claim(*store).empty());
    store->clock().advance(std::chrono::hours(1));
  }
  CHECK(finish(*store, claim_one(*store), snooze).attempts == 1);
  const auto faults = store->queue().faults(job.id).value();
  CHECK(faults.front().what == "snoozed");
  CHECK(faults.back().what == "failed");
}

template <typename Make>
void joins_children(const Make& make) {
  INFO("a parent holds no slot while it waits, and goes on when its last child has ended");
  const auto store = make();
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

template <typename Make>
void redrives(const Make& make) {
  INFO("what failed can be made live again, with its tries, its steps and its old errors kept");
  const auto store = make();
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

template <typename Make>
void lists_and_counts(const Make& make) {
  INFO("a list goes from new to old in pages, and counts are by kind and state");
  const auto store = make();
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

template <typename Make>
void prunes(const Make& make) {
  INFO("ended jobs go when they are old, in chunks; live ones stay");
  const auto store = make();
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

}  // namespace job_store

/// What every store of jobs promises, in sentences. `make` gives a `std::unique_ptr` to a fresh
/// store with
///
///     FakeClock& clock();
///     JobStore& queue();
///     void restart();  ///< the process dies and another one opens the same store
template <typename Make>
void check_job_store(const Make& make) {
  SECTION("a job is found as it was asked for, also by the next process") {
    job_store::enqueues_and_finds(make);
  }
  SECTION("any text is kept or refused, and ends no job in between") {
    job_store::keeps_any_text(make);
  }
  SECTION("what is claimed, and in which order") { job_store::claims_in_order(make); }
  SECTION("limits count what runs, also after a crash") { job_store::respects_limits(make); }
  SECTION("whoever lost a job can write nothing to it any more") {
    job_store::guards_by_lease(make);
  }
  SECTION("how a try ends") { job_store::ends_tries(make); }
  SECTION("how a job is cancelled") { job_store::cancels(make); }
  SECTION("how jobs are held back") { job_store::pauses(make); }
  SECTION("of jobs with one key one lives") { job_store::keeps_unique_keys(make); }
  SECTION("jobs of a process that died come back, but not for ever") { job_store::rescues(make); }
  SECTION("jobs are claimed before a runner is free") { job_store::claims_ahead(make); }
  SECTION("the end of most jobs") { job_store::succeeds(make); }
  SECTION("a step is found by key and inputs") { job_store::keeps_steps(make); }
  SECTION("a job waits for its time") { job_store::waits_for_time(make); }
  SECTION("a job is put off that a provider does not want yet") { job_store::snoozes(make); }
  SECTION("a parent waits for its children") { job_store::joins_children(make); }
  SECTION("what failed can be made live again") { job_store::redrives(make); }
  SECTION("lists and counts") { job_store::lists_and_counts(make); }
  SECTION("old jobs go in chunks") { job_store::prunes(make); }
}

}  // namespace indx
