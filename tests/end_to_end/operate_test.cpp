#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/model_server.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>

namespace indx {
namespace {

constexpr int kOperatedNotes = 12;

/// A vault whose notes a slow model reads one after another, in one job at a time.
struct SlowVault {
  SlowVault() {
    for (int i = 0; i < kOperatedNotes; ++i)
      folder.write(cat("n", i, ".md"),
                   cat("# Note ", i, "\n\nCompost number ", i, " warms the compost heap.\n"));
  }
  std::map<std::string, std::string> env() const {
    return {{"INDX_AI_PROVIDER", "openai"}, {"INDX_AI_MODEL", "test"},
            {"INDX_AI_CACHE", "off"},       {"INDX_OPENAI_BASE_URL", model.base_url()},
            {"INDX_OPENAI_API_KEY", "k"},   {"INDX_JOBS_LANES_PER_JOB", "1"},
            {"INDX_JOBS_RUNNERS", "1"}};
  }
  int calls() const { return model.counts()["calls"].get<int>(); }

  TempFolder folder;
  ModelServer model{0, milliseconds(60)};
};

std::string start_tagging(const RunningServer& server, const std::string& glob = "**") {
  return server.start_job("/v1/ai/tag",
                          {{"scope", {{"kind", "glob"}, {"path_glob", glob}}}, {"apply", false}});
}

int act_on(const RunningServer& server, const std::string& job, const std::string& verb) {
  return server.call("POST", cat("/v1/jobs/", job, "/", verb), Json::object()).status;
}

std::string state_of(const RunningServer& server, const std::string& job) {
  return server.job(job).value("state", "");
}

bool comes_to(const RunningServer& server, const std::string& job, const std::string& state) {
  return wait_until([&] { return state_of(server, job) == state; });
}

std::vector<Json> json_lines(const std::string& text) {
  std::vector<Json> lines;
  for (const auto& line : split(text, '\n'))
    if (!line.empty()) lines.push_back(Json::parse(line, nullptr, false));
  return lines;
}

/// How many lines tell this kind of event about the job.
int told_times(const std::vector<Json>& lines, const std::string& kind, const std::string& job) {
  int times = 0;
  for (const auto& line : lines)
    if (line.is_object() && line.value("type", "") == kind && line.value("job", Json()) == job)
      ++times;
  return times;
}

}  // namespace

TEST_CASE("a running job that is paused stays so over a restart and goes on where it was",
          "[end_to_end]") {
  const SlowVault vault;
  std::string id;
  {
    RunningServer server(vault.folder, {}, vault.env());
    id = start_tagging(server);
    CHECK(wait_until([&] { return vault.calls() >= 3; }));
    CHECK(act_on(server, id, "pause") == 200);
    CHECK(comes_to(server, id, "paused"));
    CHECK(server.stop() == 0);
  }
  const int before = vault.calls();
  RunningServer server(vault.folder, {}, vault.env());
  CHECK_FALSE(wait_until([&] { return state_of(server, id) != "paused"; }, milliseconds(700)));
  CHECK(vault.calls() == before);
  CHECK(before < kOperatedNotes);

  CHECK(run_indx({"--vault", vault.folder.path(), "job", "resume", id}).code == 0);
  const auto record = server.wait_for_job(id);

  CHECK(record["state"] == "succeeded");
  CHECK(record["attempts"] == 0);
  CHECK(record["crashes"] == 0);
  CHECK(record["result"]["suggestions"].size() == kOperatedNotes);
  CHECK(vault.calls() <= kOperatedNotes + 1);
  const auto history = server.call("GET", "/v1/jobs/" + id + "/history").body["data"]["events"];
  std::vector<std::string> kinds;
  for (const auto& event : history) kinds.push_back(event["kind"]);
  for (const std::string kind : {"job.pausing", "job.paused", "job.resumed", "job.finished"})
    CHECK(std::count(kinds.begin(), kinds.end(), kind) == 1);
}

TEST_CASE("a paused queue starts neither what waits nor an orphan after a crash, until resume",
          "[end_to_end][jobs-32]") {
  const SlowVault vault;
  std::vector<std::string> jobs;
  {
    RunningServer server(vault.folder, {}, vault.env());
    jobs.push_back(start_tagging(server));
    CHECK(wait_until([&] { return vault.calls() >= 2; }));
    CHECK(server.call("POST", "/v1/queue/pause", Json::object()).status == 200);
    jobs.push_back(start_tagging(server, "n1.md"));
    jobs.push_back(server.start_job("/v1/vault/reindex", Json::object()));
    CHECK(state_of(server, jobs[0]) == "running");  // what runs goes on
    server.kill();
  }
  RunningServer server(vault.folder, {}, vault.env());
  const int before = vault.calls();  // now without any that the dead process had in flight

  const auto status = server.call("GET", "/v1/queue").body["data"];
  REQUIRE(status["pauses"].size() == 1);
  CHECK(status["pauses"][0]["kind"] == "*");
  CHECK_FALSE(wait_until(
      [&] {
        return std::any_of(jobs.begin(), jobs.end(),
                           [&](const auto& job) { return state_of(server, job) != "ready"; });
      },
      milliseconds(1500)));
  CHECK(vault.calls() == before);
  CHECK(server.job(jobs[0])["crashes"] == 1);

  CHECK(server.call("POST", "/v1/queue/resume", Json::object()).status == 200);
  for (const auto& job : jobs) CHECK(server.wait_for_job(job)["state"] == "succeeded");
  std::vector<std::string> acts;
  CHECK(server.stop() == 0);
  for (const auto& line : audit_lines(vault.folder))
    if (line["kind"].get<std::string>().starts_with("queue.")) acts.push_back(line["kind"]);
  CHECK(acts == std::vector<std::string>{"queue.paused", "queue.resumed"});
}

TEST_CASE("a failed job is tried again from the command line and keeps its error",
          "[end_to_end][E7]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  const auto id = server.start_job("/v1/notes/Later.md/move", {{"to", "Now.md"}});
  CHECK(server.wait_for_job(id)["state"] == "failed");
  const auto token = server.make_token({"vault:write"})["token"].get<std::string>();
  for (const std::string verb : {"pause", "resume", "retry", "cancel"})
    CHECK(server.call_as(token, "POST", cat("/v1/jobs/", id, "/", verb), Json::object()).status ==
          404);
  CHECK(server.call_as(token, "GET", "/v1/queue").status == 403);
  CHECK(server.call("PUT", "/v1/notes/Later.md", {{"body", "Later.\n"}}).status < 300);
  const std::vector<std::string> indx = {"--vault", vault.path()};
  const auto at = [&](std::vector<std::string> words) {
    words.insert(words.begin(), indx.begin(), indx.end());
    const auto ended = run_indx(words);
    INFO(ended.err);
    CHECK(ended.code == 0);
    return Json::parse(ended.out, nullptr, false);
  };

  const auto trial = at({"job", "redrive", "--state", "failed", "--dry-run"});
  REQUIRE(trial["jobs"].size() == 1);
  CHECK(trial["jobs"][0]["id"] == id);
  CHECK(state_of(server, id) == "failed");
  at({"job", "retry", id});
  CHECK(server.wait_for_job(id)["state"] == "succeeded");
  const auto shown = at({"job", "get", id});

  REQUIRE(shown["faults"].size() == 1);
  CHECK(shown["faults"][0]["error"]["code"] == "not_found");
  CHECK(std::filesystem::exists(vault.path() + "/Now.md"));
}

TEST_CASE("without a terminal a watch of all jobs is a line a change, over a restart, until Ctrl-C",
          "[end_to_end]") {
  const TempFolder vault;
  fill_vault(vault);
  auto server = std::make_unique<RunningServer>(vault);
  Process watch(indx_spec({"--vault", vault.path(), "job", "watch"}));
  const auto reindex = [&] {
    const auto id = server->start_job("/v1/vault/reindex", Json::object());
    CHECK(server->wait_for_job(id)["state"] == "succeeded");
    return id;
  };
  CHECK(wait_until([&] {  // until its stream is open
    return watch.wait_for_out(cat("\"job\":\"", reindex(), "\""), milliseconds(300));
  }));
  const auto first = reindex();

  CHECK(server->stop() == 0);
  server = std::make_unique<RunningServer>(vault);
  const auto second = reindex();
  CHECK(
      wait_until([&] { return told_times(json_lines(watch.out()), "job.finished", second) > 0; }));
  watch.signal(SIGINT);
  const auto code = watch.wait();

  CHECK(code == 0);
  CHECK(watch.out().find('\x1b') == std::string::npos);
  const auto lines = json_lines(watch.out());
  for (const auto& line : lines) CHECK(line.is_object());
  for (const std::string kind : {"job.created", "job.started", "job.finished"}) {
    INFO(kind);
    CHECK(told_times(lines, kind, first) == 1);
    CHECK(told_times(lines, kind, second) == 1);
  }
}

TEST_CASE("on a terminal a watch draws the live jobs and tells which ended", "[end_to_end]") {
  if (!std::filesystem::exists("/usr/bin/script")) {
    WARN("skipped: no /usr/bin/script here, so nothing can be a terminal");
    return;
  }
  const SlowVault vault;
  RunningServer server(vault.folder, {}, vault.env());
  ProcessSpec spec;
  spec.program = "/bin/sh";
  spec.args = {"-c", cat("exec script -qec \"stty cols 120 rows 30; exec ", INDX_PROGRAM,
                         " --vault '", vault.folder.path(), "' job watch\" /dev/null")};
  spec.env = {{"TERM", "xterm"}, {"NO_COLOR", "1"}};
  Process watch(spec);
  CHECK(watch.wait_for_out("No job runs or waits."));

  const auto id = start_tagging(server);
  CHECK(watch.wait_for_out(cat(id, "  ai_tag  running")));
  CHECK(watch.wait_for_out(cat("/", kOperatedNotes)));
  CHECK(server.wait_for_job(id)["state"] == "succeeded");
  CHECK(watch.wait_for_out(cat(id, " ai_tag succeeded")));
  CHECK(watch.out().find("\x1b[32m") == std::string::npos);

  watch.write("\x03");
  CHECK(watch.wait() == 0);
}

}  // namespace indx
