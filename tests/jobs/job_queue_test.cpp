#include "jobs/job_state.hpp"
#include "store/event_store.hpp"
#include "tests/jobs/queue_fixture.hpp"

#include <catch2/catch.hpp>

#include <map>

namespace indx {
namespace {

std::vector<std::string> job_ids(const std::vector<Job>& jobs) {
  std::vector<std::string> ids;
  for (const auto& job : jobs) ids.push_back(job.id.value);
  return ids;
}

}  // namespace

TEST_CASE_METHOD(QueueFixture, "a job keeps what was asked and for whom, across a restart",
                 "[jobs][E1]") {
  auto asked = request();
  asked.keep = true;
  asked.priority = 3;
  const auto id = add(asked).id;

  reopen();
  const auto job = get(id);

  CHECK(job.kind == "tag");
  CHECK(job.state == JobState::Ready);
  CHECK(job.input == asked.input);
  CHECK(job.owner.subject == "tok_1");
  CHECK(job.owner.scopes == std::vector<std::string>{"vault:read"});
  CHECK(job.keep);
  CHECK(job.priority == 3);
  CHECK_FALSE(queue.get({"nothing"}).value().has_value());
}

TEST_CASE_METHOD(QueueFixture,
                 "a job asked for together with a write is there if and only if the write is",
                 "[jobs][jobs-50]") {
  EventStore events(db);
  const auto write_and_ask = [&](bool is_undone) -> Status {
    auto transaction = INDX_TRY(Database::Transaction::begin(db));
    INDX_TRY(events.append({.kind = "note.updated", .at = clock.now(), .actor = "api"}));
    INDX_TRY(queue.enqueue(request()));
    if (is_undone) return make_error(Reason::Conflict, "The note was changed meanwhile.");
    return transaction.commit();
  };

  CHECK_FALSE(write_and_ask(true).has_value());
  CHECK(queue.list({}, 10, "").value().jobs.empty());
  CHECK(queue.counts().value().empty());
  CHECK_FALSE(claim());

  CHECK(write_and_ask(false).has_value());
  CHECK(claim());
  CHECK(events.after(0, {}, "", 10).value().size() == 1);
}

TEST_CASE_METHOD(QueueFixture, "urgent jobs come first, then older ones, each once", "[jobs]") {
  auto urgent = request();
  urgent.priority = 1;
  const auto first = add(), second = add();
  const auto third = add(urgent);

  CHECK(claim()->id == third.id);
  CHECK(claim()->id == first.id);
  CHECK(claim()->id == second.id);
  CHECK_FALSE(claim().has_value());
}

TEST_CASE_METHOD(QueueFixture, "a scheduled job runs when it is due and says when that is",
                 "[jobs]") {
  auto later = request();
  later.run_at = clock.now() + milliseconds(1000);
  const auto job = add(later);

  CHECK(job.state == JobState::Scheduled);
  CHECK_FALSE(claim().has_value());
  CHECK(queue.next_due().value() == later.run_at);
  clock.advance(milliseconds(1000));
  CHECK(claim()->id == job.id);
  CHECK_FALSE(queue.next_due().value().has_value());
}

TEST_CASE_METHOD(QueueFixture, "a claim stamps the owner and progress counts as a heartbeat",
                 "[jobs][E15]") {
  add();
  const auto claimed = *claim();
  CHECK(claimed.leased_by == "a");
  CHECK(claimed.leased_at == clock.now());
  CHECK(claimed.heartbeat_at == clock.now());
  CHECK(claimed.started_at == clock.now());

  clock.advance(milliseconds(100));
  JobProgress progress;
  progress.done = 3;
  progress.total = 10;
  progress.current = "a.md";
  progress.rate_per_second = 1.5;
  REQUIRE(queue.set_progress(lease_of(claimed), progress).has_value());

  const auto job = get(claimed.id);
  CHECK(job.heartbeat_at == clock.now());
  CHECK(job.updated_at == clock.now());
  CHECK(job.leased_at == claimed.leased_at);
  CHECK(to_json(job.progress) == to_json(progress));
  CHECK(finish(job, success()).leased_by.empty());
}

TEST_CASE_METHOD(QueueFixture,
                 "an error that passes is tried again later until attempts are used up",
                 "[jobs][E7][E8]") {
  auto asked = request();
  asked.max_attempts = 2;
  add(asked);

  const auto once = finish(*claim(), failure(Reason::Unavailable, "busy"));
  CHECK(once.state == JobState::Scheduled);
  CHECK(once.attempts == 1);
  CHECK(once.error->message == "busy");
  CHECK(once.run_at >= clock.now() + milliseconds(1000));
  CHECK_FALSE(claim().has_value());
  clock.advance(milliseconds(2000));
  const auto twice = finish(*claim(), failure(Reason::Unavailable));
  CHECK(twice.state == JobState::Dead);
  CHECK(twice.attempts == 2);
  CHECK(twice.finished_at == clock.now());
}

TEST_CASE_METHOD(QueueFixture, "an error that stays fails the job at once", "[jobs][E7]") {
  add();
  const auto job = finish(*claim(), failure(Reason::ValidationFailed, "bad"));

  CHECK(job.state == JobState::Failed);
  CHECK(job.attempts == 0);
  CHECK(get(job.id).error == make_error(Reason::ValidationFailed, "bad"));
}

TEST_CASE_METHOD(QueueFixture, "a server's Retry-After is the least delay", "[jobs][E8]") {
  add();
  auto outcome = failure(Reason::RateLimited);
  outcome.retry_after = milliseconds(60000);

  CHECK(finish(*claim(), outcome).run_at >= clock.now() + milliseconds(60000));
}

TEST_CASE_METHOD(QueueFixture, "500 jobs that fail together do not come back together",
                 "[jobs][E8][jobs-56]") {
  for (int i = 0; i < 500; ++i) add();
  std::vector<std::int64_t> times;
  while (const auto job = claim())
    times.push_back(to_millis(finish(*job, failure(Reason::Unavailable)).run_at));
  REQUIRE(times.size() == 500);

  std::sort(times.begin(), times.end());
  for (std::size_t i = 0; i + 50 < times.size(); ++i) CHECK(times[i + 50] - times[i] >= 1000);
}

TEST_CASE_METHOD(QueueFixture, "a graceful stop gives the job back without counting an attempt",
                 "[jobs][E25][jobs-14][jobs-18]") {
  auto asked = request();
  asked.max_attempts = 1;
  const auto job = add(asked);

  const auto returned_job = finish(*claim(), returned());

  CHECK(returned_job.state == JobState::Ready);
  CHECK(returned_job.attempts == 0);
  CHECK(returned_job.interruptions == 1);
  CHECK(claim("b")->id == job.id);
}

TEST_CASE_METHOD(QueueFixture, "a job whose process died runs again and shows a crash, no attempt",
                 "[jobs][E1][jobs-1][jobs-6][jobs-16]") {
  const auto job = add();
  REQUIRE(claim("dead").has_value());

  const auto rescued = queue.rescue("a", true).value();

  REQUIRE(job_ids(rescued) == std::vector<std::string>{job.id.value});
  CHECK(rescued[0].state == JobState::Ready);
  CHECK(rescued[0].crashes == 1);
  CHECK(rescued[0].attempts == 0);
  CHECK_FALSE(rescued[0].error.has_value());
  CHECK(queue.rescue("a", true).value().empty());
  CHECK(claim("a")->lease == 2);
}

TEST_CASE_METHOD(QueueFixture,
                 "a job that kills its process three times is dead and the others run",
                 "[jobs][jobs-9]") {
  const auto killer = add();
  const auto innocent = add();
  for (int start = 1; start <= 3; ++start) {
    const auto instance = "p" + std::to_string(start);
    REQUIRE(queue.rescue(instance, true).has_value());
    std::vector<std::string> started;
    while (const auto job = claim(instance)) started.push_back(job->id.value);
    REQUIRE(!started.empty());
    CHECK(started[0] == killer.id.value);
  }
  REQUIRE(queue.rescue("p4", true).has_value());

  const auto dead = get(killer.id);
  CHECK(dead.state == JobState::Dead);
  CHECK(dead.crashes == 3);
  CHECK(dead.error->message.find("crashed its process 3 times") != std::string::npos);
  CHECK(get(innocent.id).crashes == 2);
  CHECK(claim("p4")->id == innocent.id);
}

TEST_CASE_METHOD(QueueFixture, "leases of a live process never run out, those of another one do",
                 "[jobs][E16]") {
  add();
  add();
  REQUIRE(claim("live").has_value());
  const auto foreign = *claim("other");
  clock.set(clock.now() + std::chrono::hours(5));  // the wall clock jumps
  CHECK(queue.heartbeat("other").value().empty());
  CHECK(queue.rescue("live", false).value().empty());

  clock.advance(milliseconds(15001));

  CHECK(job_ids(queue.rescue("live", false).value()) == std::vector<std::string>{foreign.id.value});
}

TEST_CASE_METHOD(QueueFixture, "a worker that lost its lease can change nothing", "[jobs][E16]") {
  add();
  const auto old = *claim("old");
  REQUIRE(queue.rescue("new", true).has_value());
  const auto current = *claim("new");

  CHECK(queue.finish(lease_of(old), success(), known).error().reason == Reason::StaleLease);
  CHECK(queue.set_progress(lease_of(old), {}).error().reason == Reason::StaleLease);
  CHECK(queue.put_step(lease_of(old), {"k", "h", 1}).error().reason == Reason::StaleLease);
  CHECK(queue.finish({current.id, current.lease, "old"}, success(), known).error().reason ==
        Reason::StaleLease);
  CHECK(queue.finish({{"nothing"}, 1, "new"}, success(), known).error().reason ==
        Reason::StaleLease);
  CHECK(finish(current, success()).state == JobState::Succeeded);
  CHECK(queue.finish(lease_of(current), success(), known).error().reason == Reason::StaleLease);
}

TEST_CASE_METHOD(QueueFixture, "a waiting job is cancelled at once, a running one is asked to stop",
                 "[jobs][E9]") {
  const auto first = add(), second = add();
  const auto running = *claim();

  const auto cancelled = queue.request_cancel(second.id).value().job;
  CHECK(cancelled.state == JobState::Cancelled);
  CHECK(cancelled.error->reason == Reason::Cancelled);
  CHECK(queue.heartbeat("a").value().empty());
  CHECK(queue.request_cancel(first.id).value().job.state == JobState::Running);
  const auto asked = queue.heartbeat("a").value();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].job == first.id);
  CHECK_FALSE(asked[0].is_pause);
  CHECK(queue.heartbeat("b").value().empty());
  const auto ended =
      finish(running, {.kind = JobOutcome::Kind::Cancelled, .result = Json{{"done", 3}}});
  CHECK(ended.state == JobState::Cancelled);
  CHECK(ended.result == Json{{"done", 3}});
  CHECK(queue.request_cancel(first.id).value().job.state == JobState::Cancelled);
  CHECK(queue.request_cancel({"nothing"}).error().reason == Reason::NotFound);
}

TEST_CASE_METHOD(QueueFixture, "a cancelled job never runs again, however its try ends",
                 "[jobs][E9]") {
  for (const auto& outcome : {returned(), failure(Reason::Unavailable)}) {
    add();
    const auto job = *claim();
    REQUIRE(queue.request_cancel(job.id).has_value());
    CHECK(finish(job, outcome).state == JobState::Cancelled);
  }
  add();
  const auto job = *claim("dead");
  REQUIRE(queue.request_cancel(job.id).has_value());
  CHECK(queue.rescue("a", true).value().at(0).state == JobState::Cancelled);
  CHECK_FALSE(claim().has_value());
}

TEST_CASE_METHOD(QueueFixture, "jobs of an unknown kind or version wait until they are known",
                 "[jobs][jobs-58]") {
  auto unknown = request(), newer = request();
  unknown.kind = "future";
  newer.operation_version = 2;
  const auto unknown_job = add(unknown), newer_job = add(newer), plain = add();

  CHECK(claim()->id == plain.id);
  CHECK(get(unknown_job.id).state == JobState::Unsupported);
  CHECK(get(newer_job.id).state == JobState::Unsupported);
  CHECK_FALSE(claim().has_value());
  known = {{.kind = "future"}, {.kind = "tag", .version = 3, .resumes_other_versions = true}};
  CHECK(claim()->id == unknown_job.id);
  CHECK(claim()->id == newer_job.id);
}

TEST_CASE_METHOD(QueueFixture, "a claim limited to some jobs leaves the others alone", "[jobs]") {
  const auto orphan = add(), own = add();

  CHECK(job_ids(queue.claim("cli", known, 5, {own.id}).value()) ==
        std::vector<std::string>{own.id.value});
  CHECK(queue.claim("cli", known, 1, {own.id}).value().empty());
  CHECK(get(orphan.id).state == JobState::Ready);
}

TEST_CASE_METHOD(QueueFixture,
                 "text that is not UTF-8 is refused in the input and ends a job elsewhere",
                 "[jobs][E7][jobs-48]") {
  const std::string surrogate = "x\xED\xA0\x80y", strange("nul\0 \xF0\x9F\x8C\xB1", 9);
  auto bad = request(), odd = request();
  bad.input = {{"text", surrogate}};
  odd.input = {{"text", strange}, {strange, 1}};
  CHECK(queue.enqueue(bad).error().reason == Reason::ValidationFailed);
  bad = request();
  bad.owner.path_globs = {surrogate};
  CHECK(queue.enqueue(bad).error().reason == Reason::ValidationFailed);

  const auto id = add(odd).id;
  const auto job = *claim();
  CHECK(job.input == odd.input);
  JobProgress progress;
  progress.current = surrogate + strange;
  progress.rate_per_second = std::numeric_limits<double>::quiet_NaN();
  REQUIRE(queue.set_progress(lease_of(job), progress).has_value());
  CHECK(get(id).progress.current.ends_with(strange));
  CHECK(finish(job, failure(Reason::ParseFailed, surrogate + strange)).state == JobState::Failed);
  CHECK(get(id).error->message.ends_with(strange));
  CHECK_NOTHROW(to_json(get(id)).dump());

  add();
  CHECK(finish(*claim(), success({{"r", surrogate}})).state == JobState::Succeeded);
}

TEST_CASE_METHOD(QueueFixture,
                 "what is too large is refused or ends the job, and never leaves it running",
                 "[jobs]") {
  auto large = request();
  large.input = std::string((1U << 20U) - 2, 'x');
  CHECK(queue.enqueue(large).has_value());
  large.input = std::string((1U << 20U) - 1, 'x');
  CHECK(queue.enqueue(large).error().reason == Reason::TooLarge);

  const auto job = finish(*claim(), success(std::string(std::size_t{17} << 20U, 'x')));
  CHECK(job.state == JobState::Failed);
  CHECK(job.error->reason == Reason::TooLarge);
  add();
  const auto failed = finish(*claim(), failure(Reason::Internal, std::string(1U << 20U, 'x')));
  CHECK(get(failed.id).error->message.size() == 8192);
}

TEST_CASE_METHOD(QueueFixture, "a job without kind or without attempts is refused", "[jobs]") {
  auto asked = request();
  asked.kind = "";
  CHECK(queue.enqueue(asked).error().reason == Reason::ValidationFailed);
  asked = request();
  asked.max_attempts = 0;
  CHECK(queue.enqueue(asked).error().reason == Reason::ValidationFailed);
  CHECK(queue.claim("", known, 1).error().reason == Reason::ValidationFailed);
}

TEST_CASE_METHOD(QueueFixture,
                 "the list is newest first, filtered, and pages never repeat or miss a job",
                 "[jobs][E13]") {
  std::vector<std::string> expected;
  for (int i = 0; i < 7; ++i) expected.insert(expected.begin(), add().id.value);
  auto other = request();
  other.kind = "other";
  other.owner.subject = "tok_2";
  const auto other_id = add(other).id;

  std::vector<std::string> seen;
  std::string cursor;
  do {
    const auto page = queue.list({.kind = "tag"}, 3, cursor).value();
    CHECK(page.jobs.size() <= 3);
    for (const auto& id : job_ids(page.jobs)) seen.push_back(id);
    cursor = page.next_cursor.value_or("");
    if (seen.size() == 3) add();  // a job that arrives meanwhile is not in later pages
  } while (!cursor.empty());

  CHECK(seen == expected);
  CHECK(job_ids(queue.list({.subject = "tok_2"}, 10, "").value().jobs) ==
        std::vector<std::string>{other_id.value});
  CHECK(queue.list({.states = {JobState::Running, JobState::Dead}}, 10, "").value().jobs.empty());
  REQUIRE(claim().has_value());
  CHECK(queue.list({.states = {JobState::Running, JobState::Dead}}, 10, "").value().jobs.size() ==
        1);
  CHECK(queue.count_live().value() == 9);
  for (const auto* bad : {"x", "am9iczo=", "am9iczotMQ==", "!!", "am9iczoxeA=="})
    CHECK(queue.list({}, 10, bad).error().reason == Reason::ValidationFailed);
}

TEST_CASE_METHOD(QueueFixture,
                 "the public record has every field, times in ISO 8601 and null where nothing is",
                 "[jobs][E2][E3][E11]") {
  add();
  const auto waiting = to_json(*queue.get(add().id).value());
  CHECK(waiting["state"] == "ready");
  CHECK(waiting["status"] == "pending");
  for (const auto* key : {"total", "result", "error", "leased_by", "leased_at", "heartbeat_at",
                          "started_at", "finished_at"}) {
    INFO(key);
    REQUIRE(waiting.contains(key));
    CHECK(waiting[key].is_null());
  }
  CHECK(waiting["processed"] == 0);
  CHECK(waiting["created_at"] == "2026-03-16T10:00:00.000Z");
  CHECK(waiting["input"] == request().input);
  CHECK(waiting["progress"]["unit"] == "notes");

  const auto job = *claim();
  CHECK(to_json(job)["status"] == "running");
  CHECK(to_json(job)["leased_by"] == "a");
  CHECK(to_json(finish(job, success({{"chunks", 4}})))["result"]["chunks"] == 4);
  const auto failed = to_json(finish(*claim(), failure(Reason::NotFound, "gone")));
  CHECK(failed["status"] == "failed");
  CHECK(failed["error"]["code"] == "not_found");
  CHECK(failed["error"]["message"] == "gone");
}

TEST_CASE_METHOD(QueueFixture, "100 jobs survive a process that dies 20 times",
                 "[jobs][E1][jobs-11]") {
  std::map<std::string, int> done;
  for (int i = 0; i < 100; ++i) {
    auto asked = request();
    asked.max_crashes = 30;
    done[add(asked).id.value] = 0;
  }
  for (int death = 0; death < 20; ++death) {
    const auto instance = "p" + std::to_string(death);
    REQUIRE(queue.rescue(instance, true).has_value());
    for (int i = 0; i < 4; ++i) {
      const auto job = *claim(instance);
      if (random.uniform() < 0.5) continue;
      ++done[job.id.value];
      finish(job, success());
    }
    reopen();
  }
  REQUIRE(queue.rescue("last", true).has_value());
  while (const auto job = claim("last")) {
    ++done[job->id.value];
    finish(*job, success());
  }

  CHECK(queue.count_live().value() == 0);
  for (const auto& [id, times] : done) CHECK(times == 1);
}

TEST_CASE_METHOD(QueueFixture, "the claim and the sweeps read an index, not the table", "[jobs]") {
  const auto plan = [&](const std::string& sql) {
    auto query = db.prepare("EXPLAIN QUERY PLAN " + sql);
    std::string text;
    while (query.step().value()) text += query.text(3) + "; ";
    return text;
  };

  const auto claim_plan = plan(
      "SELECT * FROM jobs WHERE state = 'ready' AND kind = 'tag' ORDER BY run_at - priority "
      "* 60000, seq LIMIT 1");
  CHECK(claim_plan.find("jobs_claim") != std::string::npos);
  CHECK(claim_plan.find("TEMP B-TREE") == std::string::npos);
  CHECK(plan("UPDATE jobs SET state = 'ready' WHERE state IN ('scheduled', 'sleeping') AND run_at "
             "<= 5")
            .find("jobs_due") != std::string::npos);
  CHECK(plan("SELECT * FROM jobs WHERE state = 'running' AND leased_by <> 'a'")
            .find("jobs_running") != std::string::npos);
  CHECK(plan("SELECT * FROM jobs WHERE state = 'unsupported' GROUP BY kind, operation_version")
            .find("jobs_unsupported") != std::string::npos);
}

}  // namespace indx
