#pragma once
#include "jobs/job_queue.hpp"
#include "tests/support/fake_clock.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

/// The promises about one job from its request to its end; see job_store_conformance.hpp.
namespace indx::job_store {

using Kind = JobOutcome::Kind;

inline JobRequest request(const std::string& kind = "tag") {
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
inline std::vector<JobStore::KnownKind> known() {
  return {{.kind = "tag"}, {.kind = "move"}, {.kind = "single", .max_running = 1}};
}
template <typename Store>
Job add(Store& store, const JobRequest& asked = request()) {
  auto added = store.queue().enqueue(asked);
  INFO((added ? "" : added.error().message));
  REQUIRE(added);
  return added->job;
}
template <typename Store>
std::vector<Job> claim(Store& store, int count = 1, const std::string& by = "a") {
  auto claimed = store.queue().claim(by, known(), count);
  INFO((claimed ? "" : claimed.error().message));
  REQUIRE(claimed);
  return std::move(*claimed);
}
template <typename Store>
Job claim_one(Store& store, const std::string& by = "a") {
  auto claimed = claim(store, 1, by);
  REQUIRE(claimed.size() == 1);
  return claimed.front();
}
inline Lease lease_of(const Job& job) { return {job.id, job.lease, job.leased_by}; }
template <typename Store>
Job get(Store& store, const JobId& id) {
  auto found = store.queue().get(id);
  REQUIRE(found);
  REQUIRE(found->has_value());
  return std::move(**found);
}
template <typename Store>
Job finish(Store& store, const Job& job, const JobOutcome& outcome) {
  auto ended = store.queue().finish(lease_of(job), outcome, known());
  INFO((ended ? "" : ended.error().message));
  REQUIRE(ended);
  return ended->job;
}
inline JobOutcome success(Json result = Json::object()) {
  return {.kind = Kind::Succeeded, .result = std::move(result)};
}
inline JobOutcome failure(Reason reason, const std::string& message = "no") {
  return {.kind = Kind::Failed, .error = make_error(reason, message)};
}

template <typename Make>
void enqueues_and_finds(const Make& make) {
  INFO("a job is found as it was asked for, also by the next process");
  const auto store = make();
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

template <typename Make>
void keeps_any_text(const Make& make) {
  INFO("text with NUL and 4-byte characters comes back unchanged, what is no text is refused");
  const std::string nul("a\0b", 3), wide = "\xF0\x9F\x8C\xB1 \xF0\x9D\x84\x9E",
                                    surrogate = "x\xED\xA0\x80y";
  for (const auto& text : {nul, wide}) {
    const auto store = make();
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
  const auto store = make();
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

template <typename Make>
void claims_in_order(const Make& make) {
  INFO("the more urgent job goes first, then the older; time makes up for priority");
  const auto store = make();
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

template <typename Make>
void respects_limits(const Make& make) {
  INFO("limits of a kind and of a key count what runs, also after a crash");
  const auto store = make();
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

template <typename Make>
void guards_by_lease(const Make& make) {
  INFO("whoever lost a job can write nothing to it any more");
  const auto store = make();
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

template <typename Make>
void ends_tries(const Make& make) {
  INFO("a retryable failure is tried again later and its error kept; used-up attempts are dead");
  const auto store = make();
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

template <typename Make>
void cancels(const Make& make) {
  INFO("a waiting job is cancelled at once, a running one is asked and says how far it came");
  const auto store = make();
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

template <typename Make>
void pauses(const Make& make) {
  INFO("a paused job, kind or queue starts nothing until it is resumed, over restarts too");
  const auto store = make();
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

}  // namespace indx::job_store
