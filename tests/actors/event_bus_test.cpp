#include "base/text.hpp"
#include "tests/actors/engine_fixture.hpp"
#include "tests/support/metrics_text.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

namespace indx {
namespace {

constexpr int kTags = 220;

/// A note with many tags, each of which a job can rename.
struct TaggedNote {
  TaggedNote() {
    std::string text = "About";
    for (int i = 0; i < kTags; ++i) text += cat(" #secret", i);
    vault.write("Private plan.md", text + "\n");
  }
  TempFolder vault;
};

struct EventVault : TaggedNote, ServedVault {
  explicit EventVault(int runners = 2)
      : ServedVault(vault, [runners](Config& config) { config.jobs.runners = runners; }) {
    if (runners > 0) REQUIRE(works("vault_reindex", {{"rebuild", false}}));  // the tags are known
  }

  /// Starts one job and gives its id; empty: it was refused.
  std::string start_job() const {
    const int number = next_tag_++;
    return call("tag_rename", {{"from", cat("secret", number)}, {"to", cat("public", number)}},
                true)
        .job_id;
  }

 private:
  mutable int next_tag_ = 0;
};

/// What one subscriber was told.
class HeardEvents {
 public:
  HeardEvents(Dispatcher& dispatcher, const EventFilter& filter,
              const std::optional<std::string>& after = std::nullopt) {
    auto opened = dispatcher.subscribe(filter, after, [events = events_](const Event& event) {
      const std::scoped_lock lock(events->mutex);
      events->all.push_back(event);
      return true;
    });
    REQUIRE(opened);
    subscription_ = std::move(*opened);
  }
  std::vector<Event> all() const {
    const std::scoped_lock lock(events_->mutex);
    return events_->all;
  }
  std::ptrdiff_t count(const std::string& kind, const std::string& job) const {
    const auto events = all();
    return std::count_if(events.begin(), events.end(), [&](const Event& event) {
      return event.kind == kind && event.job_id == job;
    });
  }

 private:
  struct Events {
    std::mutex mutex;
    std::vector<Event> all;
  };
  const std::shared_ptr<Events> events_ = std::make_shared<Events>();  // shared: with the sink
  std::unique_ptr<Subscription> subscription_;
};

/// What a subscriber hears whose id is of another epoch.
Event reset_of(Dispatcher& dispatcher, const EventFilter& filter) {
  const auto events = HeardEvents(dispatcher, filter, "older-1").all();
  REQUIRE_FALSE(events.empty());
  CHECK(events[0].kind == kEventReset);
  CHECK(events[0].id == 0);
  return events[0];
}

/// Ids of the jobs that this test started, sorted.
std::vector<std::string> ids_of(const Json& jobs) {
  std::vector<std::string> ids;
  for (const auto& job : jobs)
    if (job.value("kind", "") == "tag_rename") ids.push_back(job.value("id", ""));
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

TEST_CASE("who subscribes while a job is enqueued sees its first event, once",
          "[actors][jobs-37][slow]") {
  const EventVault running;
  auto& dispatcher = *running.dispatcher;
  EventFilter all_jobs;
  all_jobs.kinds = {"job.*"};
  for (int round = 0; round < 200; ++round) {
    INFO(round);
    const auto known = reset_of(dispatcher, all_jobs).data.value("newest", "");
    std::string id;
    std::thread enqueues([&] { id = running.start_job(); });
    const HeardEvents heard(dispatcher, all_jobs, known);
    enqueues.join();
    REQUIRE_FALSE(id.empty());
    EventFilter one_job;
    one_job.jobs = {id};
    one_job.from_first = true;
    const HeardEvents watching(dispatcher, one_job);

    REQUIRE(comes_true([&] { return heard.count("job.finished", id) > 0; }));
    REQUIRE(comes_true([&] { return watching.count("job.finished", id) > 0; }));
    for (const auto* each : {&heard, &watching}) {
      CHECK(each->count("job.created", id) == 1);
      CHECK(each->count("job.finished", id) == 1);
    }
    CHECK(watching.all()[0].kind == "job.created");
    std::vector<std::int64_t> order;
    for (const auto& event : heard.all())
      if (event.id > 0) order.push_back(event.id);
    CHECK(std::adjacent_find(order.begin(), order.end(), std::greater_equal<>()) == order.end());
  }
}

TEST_CASE("a reset brings the records of live jobs and the id to go on from", "[actors]") {
  const EventVault running(0);  // nobody runs jobs: they live on
  auto& dispatcher = *running.dispatcher;
  std::vector<std::string> jobs{running.start_job(), running.start_job(), running.start_job()};
  const EventFilter everything;

  const auto reset = reset_of(dispatcher, everything);
  const auto newest = reset.data.value("newest", "");
  const HeardEvents heard(dispatcher, everything, newest);
  const auto next = running.start_job();
  REQUIRE(comes_true([&] { return heard.count("job.created", next) == 1; }));

  EventFilter two_jobs;
  two_jobs.jobs = {jobs[2], jobs[0]};
  auto two = ids_of(reset_of(dispatcher, two_jobs).data["jobs"]);
  EventFilter notes;
  notes.kinds = {"note.*"};
  const auto without_jobs = reset_of(dispatcher, notes).data["jobs"];
  EventFilter stranger;
  stranger.subject = "tok_other";
  stranger.only_own_jobs = true;
  const auto of_stranger = reset_of(dispatcher, stranger).data["jobs"];

  const auto first = reset.data["jobs"][0].value("id", "");
  CHECK(first == jobs[2]);  // newest first
  std::sort(jobs.begin(), jobs.end());
  CHECK(ids_of(reset.data["jobs"]) == jobs);
  CHECK(reset.data["jobs"][0].value("state", "") == "ready");
  CHECK_FALSE(reset.data["jobs"][0].contains("result"));  // may be large, and in a file
  CHECK(reset.data["has_more_jobs"] == false);
  for (const auto& job : jobs) CHECK(heard.count("job.created", job) == 0);  // no repeat
  CHECK(two.size() == 2);
  CHECK(without_jobs.empty());
  CHECK(of_stranger.empty());
}

TEST_CASE("jobs of others are told to those only who may see them", "[actors]") {
  const EventVault running;
  EventFilter stranger;
  stranger.subject = "tok_other";
  stranger.only_own_jobs = true;
  const HeardEvents admin(*running.dispatcher, {}), other(*running.dispatcher, stranger);

  const auto id = running.start_job();
  REQUIRE(comes_true([&] { return admin.count("job.finished", id) == 1; }));
  running.ask("note_write", {{"path", "Last.md"}, {"body", "x"}});
  REQUIRE(comes_true([&] {
    const auto events = other.all();
    return std::any_of(events.begin(), events.end(), [](const Event& event) {
      return event.data.value("path", "") == "Last.md";
    });
  }));

  for (const auto& event : other.all()) CHECK_FALSE(event.kind.starts_with("job."));
}

TEST_CASE("metrics move with the work that is done, and hold nothing that users wrote",
          "[actors][H28]") {
  const EventVault running;
  Metrics& metrics = *running.dispatcher->metrics();
  const HeardEvents heard(*running.dispatcher, {});
  const auto before = test::parse_metrics(metrics.text());

  const auto id = running.start_job();
  REQUIRE(comes_true([&] { return heard.count("job.finished", id) == 1; }));
  REQUIRE(comes_true([&] {
    return test::parse_metrics(metrics.text())
               .value("indx_job_run_seconds_count", {{"kind", "tag_rename"}}) == 1.0;
  }));
  REQUIRE(running.dispatcher->refresh_metrics());
  const auto after = test::parse_metrics(metrics.text());

  CHECK(after.fault.empty());
  CHECK(after.value("indx_jobs", {{"kind", "tag_rename"}, {"state", "succeeded"}}) == 1.0);
  CHECK(after.value("indx_jobs_finished_total", {{"kind", "tag_rename"}, {"state", "succeeded"}}) ==
        1.0);
  CHECK(after.value("indx_job_wait_seconds_count", {{"kind", "tag_rename"}}) == 1.0);
  CHECK(after.value("indx_job_steps_total") > before.value("indx_job_steps_total"));
  CHECK(after.value("indx_commit_seconds_count") > before.value("indx_commit_seconds_count"));
  CHECK(after.value("indx_commit_changes_sum") >= after.value("indx_commit_changes_count"));
  CHECK(after.value("indx_wal_bytes", {{"database", "state"}}) > 0.0);
  CHECK(after.value("process_resident_memory_bytes") > 1e6);
  CHECK(after.value("indx_state_queue_depth"));
  CHECK(after.value("indx_event_lag"));
  for (const auto& sample : after.samples)
    for (const auto& [name, value] : sample.labels) {
      INFO(sample.name << " " << name << " " << value);
      CHECK(value.find("secret") == value.npos);
      CHECK(value.find("public") == value.npos);
      CHECK(value.find("Private") == value.npos);
      CHECK(value.find(id) == value.npos);
    }
}

TEST_CASE("the count of a state goes back to none when its last job leaves it", "[actors][H28]") {
  const EventVault running(0);  // nobody runs jobs: it waits
  const auto ready = [&] {
    REQUIRE(running.dispatcher->refresh_metrics());
    return test::parse_metrics(running.dispatcher->metrics()->text())
        .value("indx_jobs", {{"kind", "tag_rename"}, {"state", "ready"}});
  };

  const auto id = running.start_job();
  CHECK(ready() == 1.0);
  CHECK(running.works("job_cancel", {{"id", id}}));

  CHECK(ready() == 0.0);
}

TEST_CASE("who listens hears of a crash of the event bus as a reset, and of all that follows",
          "[actors][E22]") {
  const EventVault running;
  EventFilter all_jobs;
  all_jobs.kinds = {"job.*"};
  const HeardEvents heard(*running.dispatcher, all_jobs);
  const auto before = running.start_job();
  REQUIRE(comes_true([&] { return heard.count("job.finished", before) == 1; }));

  running.engine->crash_actor("event_bus");

  const auto resets = [&] {
    const auto events = heard.all();
    return std::count_if(events.begin(), events.end(),
                         [](const Event& event) { return event.kind == kEventReset; });
  };
  REQUIRE(comes_true([&] { return resets() == 1; }));
  const auto after = running.start_job();
  CHECK(comes_true([&] { return heard.count("job.finished", after) == 1; }));
  CHECK(heard.count("job.created", after) == 1);
  CHECK(resets() == 1);
}

TEST_CASE("a call that waits for its job is answered although the event bus crashed",
          "[actors][E22]") {
  const EventVault running;
  for (int round = 0; round < 20; ++round) {
    std::thread crash([&] { running.engine->crash_actor("event_bus"); });
    const auto answer = running.call("vault_prune", Json::object());
    crash.join();
    INFO(round);
    // It may be refused while nobody is there to listen with, but never left without an answer.
    if (!answer.result) CHECK(answer.result.error().is_retryable());
  }
}

}  // namespace indx
