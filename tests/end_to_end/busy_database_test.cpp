#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("while a shell holds the lock of the database for two seconds, nobody hears of it",
          "[end_to_end][jobs-42]") {
  constexpr int kClients = 8, kJobsOfEach = 3;
  const TempFolder vault;
  for (int i = 0; i < kClients * kJobsOfEach; ++i)
    vault.write(cat("n", 100 + i, ".md"),
                cat("# Note ", i, "\n\nCompost number ", i, " warms the compost heap.\n"));
  const std::map<std::string, std::string> env = {{"INDX_AI_PROVIDER", "builtin"},
                                                  {"INDX_JOBS_RUNNERS", "4"},
                                                  {"INDX_JOBS_HEARTBEAT_MS", "200"},
                                                  {"INDX_RATE_LIMIT_PER_MINUTE", "0"}};
  RunningServer server(vault, {}, env);
  // What the program told is seen at once only when it comes from a child of its own.
  Process holder({"/bin/sh",
                  {"-c",
                   "{ echo 'BEGIN IMMEDIATE;'; echo '.shell echo held'; sleep 2; echo 'COMMIT;'; "
                   "echo '.shell echo given back'; } | sqlite3 -bail -cmd '.timeout 10000' \"$1\"",
                   "sh", vault.path() + "/.indx/state.db"},
                  {},
                  {},
                  ""});
  REQUIRE(holder.wait_for_out("held\n"));

  std::vector<std::unique_ptr<Process>> clients;
  for (int client = 0; client < kClients; ++client) {
    auto spec = indx_spec({}, env);
    const auto program = spec.program;
    spec.program = "/bin/sh";
    spec.args = {"-c",
                 "for i in 0 1 2; do \"$1\" --vault \"$2\" ai tag --scope-glob "
                 "\"n$(($3 + $i)).md\" --apply --async || exit; done",
                 "sh",
                 program,
                 vault.path(),
                 std::to_string(100 + client * kJobsOfEach)};
    spec.input = "";
    clients.push_back(std::make_unique<Process>(spec));
  }
  CHECK(holder.out().find("given back") == std::string::npos);  // they came in the meantime

  std::vector<std::string> jobs;
  for (const auto& client : clients) {
    CHECK(client->wait(std::chrono::seconds(60)) == 0);
    INFO(client->err());
    CHECK(client->err().find("locked") == std::string::npos);
    CHECK(client->err().find("busy") == std::string::npos);
    for (const auto& line : split(client->out(), '\n')) {
      if (line.empty()) continue;
      const auto accepted = Json::parse(line, nullptr, false);
      INFO(line);
      REQUIRE(accepted.is_object());
      jobs.push_back(accepted["job"]["id"].get<std::string>());
    }
  }
  CHECK(holder.wait() == 0);
  CHECK(holder.out().find("given back") != std::string::npos);

  CHECK(jobs.size() == kClients * kJobsOfEach);
  for (const auto& id : jobs) {
    const auto record = server.wait_for_job(id);
    CHECK(record["state"] == "succeeded");
    CHECK(record["attempts"] == 0);
    CHECK(record["crashes"] == 0);
    CHECK(record["interruptions"] == 0);
  }
  CHECK(server.stop() == 0);
  std::map<std::string, int> starts, writes;
  for (const auto& line : audit_lines(vault)) {
    if (line["kind"] == "job.started" && line["operation"] == "ai_tag")
      ++starts[line["job_id"].get<std::string>()];
    if (line["kind"] == "note.updated") ++writes[line["path"].get<std::string>()];
  }
  CHECK(starts.size() == jobs.size());
  for (const auto& [id, count] : starts) CHECK(count == 1);
  CHECK(writes.size() == jobs.size());
  for (const auto& [path, count] : writes) CHECK(count == 1);
}

}  // namespace indx
