#include "actors/state.hpp"
#include "base/text.hpp"
#include "tests/actors/engine_fixture.hpp"
#include "tests/support/fake_clock.hpp"

namespace indx {
namespace {

/// The state of one vault, whose clock starts at Monday 2026-03-16 10:00 UTC.
struct ScheduledState {
  TempFolder folder;
  FakeClock clock;
  SeededRandom random{5};
  std::unique_ptr<State> state;

  ScheduledState() { open(std::nullopt); }
  void open(std::optional<std::vector<JobId>> only_jobs) {
    state.reset();
    auto opened = State::open({.dir = folder.path() + "/.indx",
                               .durability = Durability::Off,
                               .instance = "a",
                               .kinds = {{.kind = "vault_reindex"}},
                               .only_jobs = std::move(only_jobs),
                               .time_zone = "UTC"},
                              clock, random);
    REQUIRE(opened);
    state = std::move(*opened);
  }
  void set_hourly(const std::string& subject) const {
    REQUIRE(state->set_schedule({.name = "hourly",
                                 .kind = "vault_reindex",
                                 .owner = {.subject = subject, .surface = "api"},
                                 .cron = "0 * * * *"}));
  }
  std::vector<Event> told(const std::string& kind) const {
    return state->events.after(0, {kind}, "", 100).value();
  }
  std::string next_of(const std::string& name) const {
    const auto found = state->schedules.get(name).value();
    return found && found->next_at ? format_time(*found->next_at).substr(0, 16) : "";
  }
};

Answer call_with(const ServedVault& vault, const std::string& subject, std::set<Scope> scopes,
                 const std::string& operation, const Json& input) {
  Call call;
  call.operation = vault.registry.find(operation);
  call.input = input;
  call.principal = {.subject = subject, .scopes = std::move(scopes)};
  return vault.dispatcher->call_and_wait(std::move(call));
}

std::string reason_of(const Answer& answer) {
  return answer.result ? "" : std::string(answer.result.error().name());
}

}  // namespace

TEST_CASE("a vault clears up each night and checks itself each week, unless somebody changed that",
          "[actors][schedules]") {
  ScheduledState s;
  REQUIRE(s.state->make_builtin_schedules());
  CHECK(s.next_of("vault_prune") == "2026-03-17T03:17");
  CHECK(s.next_of("vault_doctor") == "2026-03-22T04:23");
  CHECK(s.told("schedule.*").empty());

  auto changed = *s.state->schedules.get("vault_doctor").value();
  changed.cron = "0 5 1 * *";
  changed.is_paused = true;
  REQUIRE(s.state->set_schedule(changed));
  s.open(std::nullopt);
  REQUIRE(s.state->make_builtin_schedules());

  CHECK(s.state->schedules.get("vault_doctor").value()->cron == "0 5 1 * *");
  CHECK(s.next_of("vault_doctor").empty());
  CHECK(s.state->schedules.list().value().size() == 2);
}

TEST_CASE(
    "with a model for embeddings a vault comes back to what has no vector, four times an hour",
    "[actors][schedules][A69]") {
  ScheduledState s;
  bool is_wanted = false;
  s.state->settings.wants_embedding = [&] { return is_wanted; };
  REQUIRE(s.state->make_builtin_schedules());
  CHECK(s.next_of("vault_embed") == "2026-03-16T10:15");
  REQUIRE(s.state->run_schedules());

  s.clock.advance(std::chrono::minutes(15));
  REQUIRE(s.state->run_schedules());
  CHECK(s.told("job.created").empty());
  CHECK(s.told("schedule.*").empty());
  CHECK(s.next_of("vault_embed") == "2026-03-16T10:30");

  is_wanted = true;
  s.clock.advance(std::chrono::minutes(15));
  REQUIRE(s.state->run_schedules());
  REQUIRE(s.told("job.created").size() == 1);
  CHECK(s.told("job.created")[0].data["operation"] == "vault_embed");

  s.open(std::nullopt);  // and without a model: the schedule is still there, and does nothing
  s.clock.advance(std::chrono::hours(1));
  REQUIRE(s.state->make_builtin_schedules());
  REQUIRE(s.state->run_schedules());
  CHECK(s.told("job.created").size() == 1);
}

TEST_CASE("what schedules do is told: set, fired, missed", "[actors][schedules][jobs-53]") {
  ScheduledState s;
  s.set_hourly("tok_1");
  CHECK(s.state->next_schedule_in(milliseconds(100)) == milliseconds(0));  // the look at the start
  REQUIRE(s.state->run_schedules());
  CHECK(s.state->next_schedule_in(std::chrono::minutes(10)) == std::nullopt);
  CHECK(s.state->next_schedule_in(std::chrono::hours(1)) == std::chrono::hours(1));

  s.clock.advance(std::chrono::minutes(150));
  CHECK(s.state->next_schedule_in(milliseconds(100)) == milliseconds(0));
  REQUIRE(s.state->run_schedules());

  const auto set = s.told("schedule.set"), fired = s.told("schedule.fired"),
             missed = s.told("schedule.missed"), created = s.told("job.created");
  REQUIRE((set.size() == 1 && fired.size() == 1 && missed.size() == 1 && created.size() == 1));
  CHECK(set[0].subject == "tok_1");
  CHECK(set[0].actor == "api");
  CHECK(fired[0].data["slot"] == "2026-03-16T12:00:00.000Z");
  CHECK(fired[0].job_id == created[0].job_id);
  CHECK(missed[0].data["count"] == 1);
  CHECK(missed[0].data["first"] == "2026-03-16T11:00:00.000Z");
  CHECK(s.state->jobs_changed);
}

TEST_CASE("a schedule whose token was revoked makes no jobs", "[actors][schedules]") {
  ScheduledState s;
  REQUIRE(s.state->tokens.add({.id = "tok_1", .name = "t", .created_at = s.clock.now()}, "indx_1"));
  s.set_hourly("tok_1");
  REQUIRE(s.state->tokens.revoke("tok_1", s.clock.now()).value());
  s.clock.advance(std::chrono::hours(1));

  REQUIRE(s.state->run_schedules());

  CHECK(s.told("job.created").empty());
  REQUIRE(s.told("schedule.skipped").size() == 1);
  CHECK(s.state->schedules.slots("hourly", 5).value()[0].outcome == "skipped");
}

TEST_CASE("a command lets no schedule run", "[actors][schedules]") {
  ScheduledState s;
  s.set_hourly("tok_1");
  s.open(std::vector<JobId>());
  s.clock.advance(std::chrono::hours(2));

  CHECK(s.state->next_schedule_in(std::chrono::hours(1)) == std::nullopt);
  REQUIRE(s.state->run_schedules());

  CHECK(s.told("job.created").empty());
  CHECK(s.state->schedules.slots("hourly", 5).value().empty());
}

TEST_CASE("clearing up goes by age, in pieces, and counts", "[actors][schedules]") {
  ScheduledState s;
  for (int i = 0; i < 5; ++i) REQUIRE(s.state->tell({.kind = "note.updated", .actor = "api"}));
  s.clock.advance(std::chrono::hours(24 * 31));
  REQUIRE(s.state->tell({.kind = "note.updated", .actor = "api"}));

  const auto first = s.state->prune(3).value(), second = s.state->prune(3).value();

  CHECK(first.events == 3);
  CHECK_FALSE(first.is_done);
  CHECK(second.events == 2);
  CHECK(second.total() == 2);
  CHECK(second.is_done);
  CHECK(s.told("note.updated").size() == 1);
}

TEST_CASE("schedules are set, listed and deleted by their owners", "[actors][schedules]") {
  const TempFolder folder;
  const ServedVault vault(folder, [](Config& config) { config.time_zone = "Europe/Berlin"; });
  const std::set<Scope> reader = {Scope::VaultRead}, admin = {Scope::VaultAdmin};
  const Json nightly{{"name", "nightly"},
                     {"kind", "vault_reindex"},
                     {"cron", "30 2 * * *"},
                     {"input", Json::object()}};

  CHECK(reason_of(call_with(vault, "tok_r", reader, "schedule_set", nightly)) == "forbidden");
  const auto made = call_with(vault, "tok_a", admin, "schedule_set", nightly);
  REQUIRE(made.result);
  CHECK((*made.result)["created"] == true);
  const Json schedule = (*made.result)["schedule"];
  CHECK(schedule["time_zone"] == "Europe/Berlin");
  CHECK(schedule["input"]["rebuild"] == false);
  CHECK(schedule.contains("next_at"));

  const auto names = [&](const std::string& subject, const std::set<Scope>& scopes) {
    std::string all;
    const auto listed = call_with(vault, subject, scopes, "schedule_list", Json::object());
    if (listed.result)
      for (const auto& row : (*listed.result)["schedules"])
        all += row["name"].get<std::string>() + " ";
    return all;
  };
  CHECK(names("tok_a", admin) == "nightly vault_doctor vault_prune ");
  CHECK(names("tok_r", reader).empty());

  // The owner, narrowed to less than it takes to make such a schedule.
  CHECK(reason_of(call_with(vault, "tok_a", reader, "schedule_delete", {{"name", "nightly"}})) ==
        "forbidden");
  const auto paused =
      call_with(vault, "tok_a", admin, "schedule_set", {{"name", "nightly"}, {"paused", true}});
  REQUIRE(paused.result);
  CHECK((*paused.result)["created"] == false);
  CHECK((*paused.result)["schedule"]["cron"] == "30 2 * * *");
  CHECK_FALSE((*paused.result)["schedule"].contains("next_at"));

  CHECK_FALSE(call_with(vault, "tok_r", reader, "schedule_delete", {{"name", "nightly"}}).result);
  CHECK(reason_of(call_with(vault, "tok_a", admin, "schedule_delete", {{"name", "vault_prune"}})) ==
        "forbidden");
  CHECK(call_with(vault, "tok_a", admin, "schedule_delete", {{"name", "nightly"}}).result);
  CHECK(names("tok_a", admin) == "vault_doctor vault_prune ");
}

TEST_CASE("what a schedule would run is checked when it is set", "[actors][schedules]") {
  const TempFolder folder;
  const ServedVault vault(folder, [](Config&) {});
  const auto refused = [&](const Json& changes) {
    Json input{{"name", "n"},
               {"kind", "tag_rename"},
               {"cron", "@daily"},
               {"input", {{"from", "a"}, {"to", "b"}}}};
    input.update(changes);
    return reason_of(call_with(vault, "tok_w", {Scope::VaultWrite}, "schedule_set", input));
  };

  CHECK(refused(Json::object()).empty());
  CHECK(refused({{"name", "m"}, {"kind", nullptr}}) == "validation_failed");
  CHECK(refused({{"kind", "note_read"}}) == "validation_failed");
  CHECK(refused({{"kind", "no_such"}}) == "validation_failed");
  CHECK(refused({{"input", {{"from", "a"}}}}) == "validation_failed");
  CHECK(refused({{"input", {{"from", "a"}, {"to", "b"}, {"more", 1}}}}) == "validation_failed");
  CHECK(refused({{"cron", "0 0 30 2 *"}}) == "validation_failed");
  CHECK(refused({{"time_zone", "Mars/Base"}}) == "validation_failed");
  CHECK(refused({{"kind", "vault_doctor"}, {"input", Json::object()}}) == "forbidden");
}

TEST_CASE("what a server missed while it was down runs when it is back",
          "[actors][schedules][jobs-53]") {
  const TempFolder folder;
  {
    FakeClock clock;
    clock.set(SystemClock().now() - std::chrono::minutes(10));
    SeededRandom random(8);
    const auto state = State::open(
        {.dir = folder.path() + "/.indx", .durability = Durability::Off, .instance = "before"},
        clock, random);
    REQUIRE(state);
    REQUIRE((*state)->set_schedule(
        {.name = "often",
         .kind = "vault_reindex",
         .owner = {.subject = "local", .surface = "cli", .scopes = {"vault:admin"}},
         .cron = "*/2 * * * *"}));
  }
  const ServedVault vault(folder, [](Config&) {});

  std::map<std::string, std::string> outcome_by_job;
  CHECK(comes_true([&] {
    const Json listed = vault.ask("schedule_list", {{"slots", 50}});
    for (const auto& row : listed.value("schedules", Json::array()))
      if (row["name"] == "often")
        for (const auto& slot : row["last_slots"])
          if (slot.contains("job"))
            outcome_by_job[slot["job"].get<std::string>()] =
                vault.state_of(slot["job"].get<std::string>());
    return !outcome_by_job.empty() && outcome_by_job.begin()->second == "succeeded";
  }));
  const Json listed = vault.ask("schedule_list", {{"slots", 50}});
  for (const auto& row : listed["schedules"])
    if (row["name"] == "often") CHECK(row["last_slots"].back()["outcome"] == "missed");
}

}  // namespace indx
