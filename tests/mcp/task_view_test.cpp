#include "mcp/task_view.hpp"

#include "tests/support/fake_mcp_dispatcher.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

Json task_record(const std::string& state, const Json& more = Json::object()) {
  const bool is_final =
      state == "succeeded" || state == "failed" || state == "dead" || state == "cancelled";
  Json record = {
      {"id", "J1"},
      {"kind", "vault_reindex"},
      {"state", state},
      {"cancel_requested", false},
      {"result", nullptr},
      {"error", nullptr},
      {"progress",
       {{"done", 3}, {"total", 10}, {"unit", "notes"}, {"phase", "suggest"}, {"current", "a.md"}}},
      {"created_at", "2026-01-01T00:00:00.000Z"},
      {"updated_at", "2026-01-01T00:00:02.000Z"},
      {"finished_at", is_final ? Json("2026-01-01T00:00:05.000Z") : Json()}};
  record.update(more);
  return record;
}

const Json kTaskError{{"code", "ai_provider_error"}, {"message", "The model is down."}};
constexpr std::int64_t kWeekMs = 7LL * 24 * 3600 * 1000;

}  // namespace

TEST_CASE("both views give each state of a job its status; an error result fails in one only",
          "[mcp]") {
  for (const std::string live :
       {"scheduled", "ready", "running", "sleeping", "waiting", "paused", "unsupported"}) {
    CHECK(task_status(task_record(live), Era::Legacy) == "working");
    CHECK(task_status(task_record(live), Era::Modern) == "working");
  }
  const Json done = task_record("succeeded", {{"result", {{"indexed", 3}}}});
  CHECK(task_status(done, Era::Legacy) == "completed");
  CHECK(task_status(done, Era::Modern) == "completed");
  for (const std::string state : {"failed", "dead"}) {
    const Json failed = task_record(state, {{"error", kTaskError}});
    CHECK(task_status(failed, Era::Legacy) == "failed");
    CHECK(task_status(failed, Era::Modern) == "completed");
  }
  CHECK(task_status(task_record("cancelled"), Era::Legacy) == "cancelled");
  CHECK(task_status(task_record("cancelled"), Era::Modern) == "cancelled");

  const Json lost = task_record("succeeded", {{"error", kTaskError}});
  CHECK(task_status(lost, Era::Legacy) == "failed");
}

TEST_CASE(
    "a task that was asked to stop is cancelled for good in the legacy view, and when its "
    "work has stopped in the modern one",
    "[mcp]") {
  const Json stopping = task_record("running", {{"cancel_requested", true}});
  CHECK(task_status(stopping, Era::Legacy) == "cancelled");
  CHECK(task_status(stopping, Era::Modern) == "working");

  const Json came_to_end =
      task_record("succeeded", {{"cancel_requested", true}, {"result", {{"indexed", 3}}}});
  CHECK(task_status(came_to_end, Era::Legacy) == "cancelled");
  CHECK(task_status(came_to_end, Era::Modern) == "completed");
}

TEST_CASE("a task shows its times, how long it is kept and what it is at, named as its era does",
          "[mcp]") {
  const Json legacy = task_view(task_record("running"), Era::Legacy);
  CHECK(legacy == Json{{"taskId", "J1"},
                       {"status", "working"},
                       {"statusMessage", "suggest: 3 of 10 notes, a.md"},
                       {"createdAt", "2026-01-01T00:00:00.000Z"},
                       {"lastUpdatedAt", "2026-01-01T00:00:02.000Z"},
                       {"ttl", kWeekMs},
                       {"pollInterval", 1000}});

  const Json modern = task_view(task_record("failed", {{"error", kTaskError}}), Era::Modern);
  CHECK(modern["ttlMs"] == kWeekMs + 5000);
  CHECK(modern["pollIntervalMs"] == 1000);
  CHECK(modern["statusMessage"] == "The model is down.");
  CHECK_FALSE(modern.contains("ttl"));

  CHECK(task_view(task_record("ready"), Era::Legacy)["statusMessage"] ==
        "waits for its turn; suggest: 3 of 10 notes, a.md");
}

TEST_CASE("the result of a task is what the call would have answered", "[mcp]") {
  const FakeMcpDispatcher dispatcher;
  Operation operation = *dispatcher.registry().find("vault_reindex");
  operation.scopes = {Scope::VaultAdmin};
  const Protocol& protocol = *find_protocol("2025-11-25");

  const Json done =
      task_result(task_record("succeeded", {{"result", {{"indexed", 3}}}}), operation, protocol);
  CHECK(done["isError"] == false);
  CHECK(done["structuredContent"] == Json{{"indexed", 3}, {"job_id", "J1"}});

  CHECK(done["content"].dump().find("job_revert") == std::string::npos);  // no note to bring back

  const Json failed =
      task_result(task_record("failed", {{"error", kTaskError}}), operation, protocol);
  CHECK(failed["isError"] == true);
  const std::string text = failed["content"][0]["text"];
  CHECK(Json::parse(text)["code"] == "ai_provider_error");
  CHECK(Json::parse(text)["details"]["job_id"] == "J1");
}

}  // namespace indx
