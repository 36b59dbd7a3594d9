#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

Json schedule_named(const RunningServer& server, const std::string& name) {
  const auto listed = server.call("GET", "/v1/schedules");
  for (const auto& row : listed.body["data"]["schedules"])
    if (row["name"] == name) return row;
  return Json();
}

}  // namespace

TEST_CASE("schedules are set, listed and deleted by REST", "[end_to_end][schedules]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault, {}, {{"INDX_TIME_ZONE", "Europe/Berlin"}});

  const auto made = server.call("PUT", "/v1/schedules/nightly",
                                {{"kind", "vault_reindex"}, {"cron", "30 2 * * *"}});
  CHECK(made.status == 200);
  CHECK(made.body["data"]["created"] == true);
  const auto row = schedule_named(server, "nightly");
  CHECK(row["time_zone"] == "Europe/Berlin");
  CHECK(row["next_at"].get<std::string>().size() == 24);
  CHECK(schedule_named(server, "vault_prune")["builtin"] == true);
  CHECK(schedule_named(server, "vault_doctor")["cron"] == "23 4 * * sun");

  CHECK(server.call("PUT", "/v1/schedules/nightly", {{"cron", "30 2 * *"}}).status == 400);
  CHECK(server.call("PUT", "/v1/schedules/vault_prune", {{"paused", true}}).status == 200);
  CHECK(schedule_named(server, "vault_prune")["paused"] == true);
  CHECK(server.call("DELETE", "/v1/schedules/vault_prune").status == 403);
  CHECK(server.call("DELETE", "/v1/schedules/nightly").status == 200);
  CHECK(server.call("DELETE", "/v1/schedules/nightly").status == 404);
  CHECK(schedule_named(server, "nightly").is_null());

  CHECK(server.stop() == 0);
  std::vector<std::string> told;
  for (const auto& line : audit_lines(vault))
    if (line["kind"].get<std::string>().starts_with("schedule."))
      told.push_back(line["kind"].get<std::string>());
  CHECK(told == std::vector<std::string>{"schedule.set", "schedule.set", "schedule.removed"});
}

TEST_CASE("schedules of another token are neither seen nor changed", "[end_to_end][schedules]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  const auto mine = server.make_token({"vault:write"})["token"].get<std::string>();
  const auto other = server.make_token({"vault:write"})["token"].get<std::string>();
  const Json rename{
      {"kind", "tag_rename"}, {"cron", "@daily"}, {"input", {{"from", "a"}, {"to", "b"}}}};

  CHECK(server.call_as(mine, "PUT", "/v1/schedules/mine", rename).status == 200);

  const auto seen = server.call_as(other, "GET", "/v1/schedules");
  CHECK(seen.body["data"]["schedules"].empty());
  CHECK(server.call_as(other, "PUT", "/v1/schedules/mine", rename).status >= 400);
  CHECK(server.call_as(other, "DELETE", "/v1/schedules/mine").status == 404);
  CHECK(server
            .call_as(other, "PUT", "/v1/schedules/check",
                     {{"kind", "vault_doctor"}, {"cron", "@daily"}})
            .status == 403);
  CHECK(schedule_named(server, "mine")["input"]["to"] == "b");
}

TEST_CASE("schedules are set, listed and deleted on the command line", "[end_to_end][schedules]") {
  const TempFolder vault;
  fill_vault(vault);
  const auto indx = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"--vault", vault.path()});
    return run_indx(args);
  };

  const auto set = indx({"schedule", "set", "nightly", "vault_reindex", "17 3 * * *", "--time-zone",
                         "America/New_York", "--input", "rebuild=true"});
  INFO(set.err);
  REQUIRE(set.code == 0);
  const auto listed = indx({"schedule", "list"});
  CHECK(listed.out.find("nightly") != std::string::npos);
  CHECK(indx({"schedule", "set", "other", "vault_reindex", "61 * * * *"}).code == 2);
  CHECK(indx({"schedule", "delete", "nightly"}).code == 4);
  CHECK(indx({"schedule", "delete", "nightly", "--yes"}).code == 0);
  CHECK(indx({"schedule", "delete", "nightly", "--yes"}).code == 3);
}

TEST_CASE("clearing up is a job that tells what it deleted", "[end_to_end][schedules]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);

  const auto id = server.start_job("/v1/vault/prune", Json::object());
  const auto record = server.wait_for_job(id);

  INFO(record.dump());
  CHECK(record["state"] == "succeeded");
  for (const auto* kind : {"versions", "events", "idempotency_keys", "jobs", "slots"})
    CHECK(record["result"][kind] == 0);
}

}  // namespace indx
