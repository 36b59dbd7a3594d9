#include "base/hash.hpp"
#include "base/http_client.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/model_server.hpp"

#include <catch2/catch.hpp>

#include <csignal>

namespace indx {
namespace {

std::map<std::string, std::string> model_env(const ModelServer& model) {
  return {{"INDX_AI_PROVIDER", "openai"},
          {"INDX_AI_MODEL", "test"},
          {"INDX_OPENAI_BASE_URL", model.base_url()},
          {"INDX_OPENAI_API_KEY", "k"},
          {"INDX_JOBS_LANES_PER_JOB", "1"},
          {"INDX_JOBS_RUNNERS", "1"}};
}

std::string numbered(int number) { return cat("n", number < 10 ? "0" : "", number, ".md"); }

/// Notes whose texts differ, so that the model server counts them apart.
void fill_numbered(const TempFolder& vault, int count) {
  for (int i = 0; i < count; ++i)
    vault.write(numbered(i),
                cat("# Note ", i, "\n\nCompost number ", i, " warms the compost heap.\n"));
}

Json tag_all(bool apply) {
  return {{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}, {"apply", apply}};
}

int calls_of(const ModelServer& model) { return model.counts()["calls"].get<int>(); }

/// Writes of each path by the log.
std::map<std::string, int> writes_by_path(const TempFolder& vault) {
  std::map<std::string, int> writes;
  for (const auto& line : audit_lines(vault))
    if (line["kind"] == "note.updated") ++writes[line["path"].get<std::string>()];
  return writes;
}

}  // namespace

TEST_CASE("20 queued jobs all end after a kill and a restart", "[end_to_end][E1]") {
  const TempFolder vault;
  fill_numbered(vault, 20);
  ModelServer model(0, milliseconds(50));
  std::vector<std::string> jobs;
  {
    RunningServer server(vault, {}, model_env(model));
    for (int i = 0; i < 20; ++i)
      jobs.push_back(server.start_job(
          "/v1/ai/tag",
          {{"scope", {{"kind", "paths"}, {"paths", {numbered(i)}}}}, {"apply", true}}));
    CHECK(wait_until([&] { return calls_of(model) >= 3; }));
    server.kill();
  }
  CHECK(calls_of(model) < 20);

  RunningServer server(vault, {}, model_env(model));

  for (const auto& id : jobs) CHECK(server.wait_for_job(id)["state"] == "succeeded");
  for (int i = 0; i < 20; ++i)
    CHECK(vault.read(numbered(i)).find("compost\n") != std::string::npos);
}

TEST_CASE("a job killed while it asks a model asks for no finished note again",
          "[end_to_end][E5][E6][C81]") {
  const TempFolder vault;
  fill_numbered(vault, 12);
  ModelServer model(0, milliseconds(60));
  std::string id;
  {
    RunningServer server(vault, {}, model_env(model));
    id = server.start_job("/v1/ai/tag", tag_all(true));
    CHECK(wait_until([&] { return calls_of(model) >= 6; }));
    server.kill();
  }
  const int before = calls_of(model);

  RunningServer server(vault, {}, model_env(model));
  const auto record = server.wait_for_job(id);

  CHECK(before < 12);
  CHECK(record["state"] == "succeeded");
  CHECK(record["result"]["suggestions"].size() == 12);
  CHECK(record["result"]["applied"].size() == 12);
  CHECK(record["crashes"] == 1);
  const auto counts = model.counts();
  CHECK(counts["by_content"].size() == 12);
  CHECK(counts["calls"].get<int>() <= 13);  // the one in flight
  for (int i = 0; i < 12; ++i) CHECK(vault.read(numbered(i)).find("compost") != std::string::npos);
  CHECK(server.stop() == 0);
  for (const auto& [path, writes] : writes_by_path(vault)) CHECK(writes == 1);
  CHECK(writes_by_path(vault).size() == 12);
}

TEST_CASE("a job killed while it writes writes no note twice", "[end_to_end][E5][C81]") {
  constexpr int kNotes = 90;
  const TempFolder vault;
  fill_numbered(vault, kNotes);
  std::string id;
  std::map<std::string, std::string> at_kill;
  {
    RunningServer server(vault, {}, {{"INDX_AI_PROVIDER", "builtin"}});
    EventFeed feed(server, "?kinds=note.updated");
    id = server.start_job("/v1/ai/tag", tag_all(true));
    CHECK(feed.wait_for([](const EventFeed::Frame&) { return true; }));
    server.kill();
    at_kill = vault_files(vault);
  }
  RunningServer server(vault, {}, {{"INDX_AI_PROVIDER", "builtin"}});
  const auto record = server.wait_for_job(id);
  CHECK(server.stop() == 0);

  CHECK(record["state"] == "succeeded");
  CHECK(record["result"]["applied"].size() == kNotes);
  const auto writes = writes_by_path(vault);
  CHECK(writes.size() == kNotes);
  for (const auto& [path, count] : writes) {
    INFO(path);
    CHECK(count == 1);
  }
  for (const auto& [path, bytes] : at_kill)
    if (bytes.starts_with("---")) CHECK(vault.read(path) == bytes);
}

TEST_CASE("a job that renames a tag or a property goes on after a kill and writes no note twice",
          "[end_to_end][E5]") {
  constexpr int kNotes = 90;
  struct Rename {
    std::string target, before, after;
  };
  for (const auto& rename :
       {Rename{"/v1/tags/rename", "---\ntags: [old]\n---\n#", "new]\n---\n#"},
        Rename{"/v1/properties/rename", "---\nold: 1\n---\n#", "new: 1\n---\n#"}}) {
    INFO(rename.target);
    const TempFolder vault;
    for (int i = 0; i < kNotes; ++i)
      vault.write(numbered(i), cat(rename.before, " Note ", i, "\n"));
    std::string id;
    {
      RunningServer server(vault);
      EventFeed feed(server, "?kinds=note.updated");
      id = server.start_job(rename.target, {{"from", "old"}, {"to", "new"}});
      CHECK(feed.wait_for([](const EventFeed::Frame&) { return true; }));
      server.kill();
    }
    RunningServer server(vault);
    const auto record = server.wait_for_job(id);
    CHECK(server.stop() == 0);

    CHECK(record["state"] == "succeeded");
    CHECK(record["result"]["changed"].size() == kNotes);
    CHECK(record["result"]["failed"].empty());
    for (int i = 0; i < kNotes; ++i)
      CHECK(vault.read(numbered(i)).ends_with(cat(rename.after, " Note ", i, "\n")));
    const auto writes = writes_by_path(vault);
    CHECK(writes.size() == kNotes);
    for (const auto& [path, count] : writes) {
      INFO(path);
      CHECK(count == 1);
    }
  }
}

TEST_CASE("a job cancelled between two notes tells how far it came", "[end_to_end][E9]") {
  constexpr int kNotes = 95;
  const TempFolder vault;
  for (int i = 0; i < kNotes; ++i) vault.write(numbered(i), "About #garden things.\n");
  RunningServer server(vault);
  EventFeed feed(server);

  const auto id = server.start_job("/v1/tags/rename", {{"from", "garden"}, {"to", "yard"}});
  CHECK(feed.wait_for([](const EventFeed::Frame& frame) { return frame.event == "note.updated"; }));
  CHECK(server.call("POST", "/v1/jobs/" + id + "/cancel", Json::object()).status == 200);
  const auto record = server.wait_for_job(id);

  INFO(record.dump());
  CHECK(record["state"] == "cancelled");
  int changed = 0;
  for (int i = 0; i < kNotes; ++i) {
    const auto bytes = vault.read(numbered(i));
    CHECK((bytes == "About #garden things.\n" || bytes == "About #yard things.\n"));
    changed += bytes == "About #yard things.\n" ? 1 : 0;
  }
  CHECK(changed >= 1);
  CHECK(changed < kNotes);
  CHECK(record["processed"] == changed);
}

TEST_CASE("a job cancelled while it asks a model writes nothing", "[end_to_end][E9]") {
  const TempFolder vault;
  fill_numbered(vault, 12);
  ModelServer model(0, milliseconds(60));
  RunningServer server(vault, {}, model_env(model));
  const auto before = vault_files(vault);

  const auto id = server.start_job("/v1/ai/tag", tag_all(true));
  CHECK(wait_until([&] { return calls_of(model) >= 3; }));
  CHECK(server.call("POST", "/v1/jobs/" + id + "/cancel", Json::object()).status == 200);
  const auto record = server.wait_for_job(id);

  INFO(record.dump());
  CHECK(record["state"] == "cancelled");
  CHECK(record["status"] == "failed");
  CHECK(calls_of(model) < 12);
  CHECK(vault_files(vault) == before);
}

TEST_CASE("a job is read by its id, and an unknown one is not found", "[end_to_end][E11][E13]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);

  const auto id = server.start_job("/v1/vault/reindex", Json::object());
  const auto record = server.wait_for_job(id);
  const auto list = server.call("GET", "/v1/jobs?kind=vault_reindex").body["data"]["jobs"];
  const auto missing = server.call("GET", "/v1/jobs/01m8fyzzzzzzzzzzzzzzzzzzzz");

  CHECK(record["kind"] == "vault_reindex");
  CHECK(record["state"] == "succeeded");
  CHECK(record["result"].contains("counts"));
  for (const std::string key : {"done", "total", "current", "phase", "unit"})
    CHECK(record["progress"].contains(key));
  REQUIRE(list.size() == 1);
  CHECK(list[0]["id"] == id);
  CHECK(missing.status == 404);
  CHECK(missing.body["error"]["code"] == "not_found");
}

TEST_CASE("a late listener of a job gets its record and its end", "[end_to_end][E12]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  const auto id = server.start_job("/v1/vault/reindex", Json::object());
  server.wait_for_job(id);
  HttpClientRequest request;
  request.url = server.url() + "/v1/jobs/" + id + "/events";
  request.headers = {{"Authorization", "Bearer " + server.token()}};

  const auto reply = http_exchange(request, {});

  REQUIRE(reply);
  CHECK(reply->status == 200);
  CHECK(reply->headers.at("content-type") == "text/event-stream");
  CHECK(reply->headers.at("cache-control").find("no-cache") == 0);
  const auto frames = parse_frames(reply->body);
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].event == "job");
  CHECK(frames[0].data == server.job(id));
  CHECK(frames[1].event == "done");
  CHECK(frames[1].data["status"] == "succeeded");
}

TEST_CASE("a listener of a running job sees it go to its end", "[end_to_end][E12][E13]") {
  const TempFolder vault;
  fill_numbered(vault, 6);
  ModelServer model(0, milliseconds(60));
  RunningServer server(vault, {}, model_env(model));
  const auto id = server.start_job("/v1/ai/tag", tag_all(false));
  HttpClientRequest request;
  request.url = server.url() + "/v1/jobs/" + id + "/events";
  request.headers = {{"Authorization", "Bearer " + server.token()}};

  const auto reply = http_exchange(request, {});

  REQUIRE(reply);
  const auto frames = parse_frames(reply->body);
  REQUIRE(frames.size() >= 3);
  std::int64_t done = 0;
  for (const auto& frame : frames) {
    if (frame.event != "job") continue;
    CHECK(frame.data["id"] == id);
    CHECK(frame.data["progress"]["done"].get<std::int64_t>() >= done);
    done = frame.data["progress"]["done"].get<std::int64_t>();
  }
  CHECK(done == 6);
  CHECK(frames.back().event == "done");
}

TEST_CASE("asked for a job or waited for, an operation gives equal data", "[end_to_end][E14]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault, {}, {{"INDX_AI_PROVIDER", "builtin"}});

  const auto waited = server.call("POST", "/v1/ai/tag", tag_all(false));
  const auto preferred =
      server.call("POST", "/v1/ai/tag", tag_all(false), {{"Prefer", "respond-async"}});
  const auto queried = server.call("POST", "/v1/ai/tag?async=true", tag_all(false));
  const auto reindex = server.call("POST", "/v1/vault/reindex?async=true", Json::object());

  CHECK(waited.status == 200);
  for (const auto& reply : {preferred, queried}) {
    REQUIRE(reply.status == 202);
    const auto id = reply.body["data"]["job"]["id"].get<std::string>();
    CHECK(reply.headers.at("location") == "/v1/jobs/" + id);
    CHECK(server.wait_for_job(id)["result"] == waited.body["data"]);
  }
  REQUIRE(reindex.status == 202);
  auto counts =
      server.wait_for_job(reindex.body["data"]["job"]["id"].get<std::string>())["result"]["counts"];
  auto waited_counts =
      server.call("POST", "/v1/vault/reindex", Json::object()).body["data"]["counts"];
  for (auto* one : {&counts, &waited_counts}) one->erase("took_ms");
  CHECK(counts["unchanged"] == 3);
  CHECK(counts == waited_counts);
}

TEST_CASE("two equal requests with one key share a job", "[end_to_end][E10]") {
  const TempFolder vault;
  fill_numbered(vault, 4);
  ModelServer model(0, milliseconds(60));
  RunningServer server(vault, {}, model_env(model));
  const std::vector<std::pair<std::string, std::string>> headers = {{"Prefer", "respond-async"},
                                                                    {"Idempotency-Key", "k"}};

  const auto first = server.call("POST", "/v1/ai/tag", tag_all(false), headers);
  const auto second = server.call("POST", "/v1/ai/tag", tag_all(false), headers);

  REQUIRE(first.status == 202);
  REQUIRE(second.status == 202);
  CHECK(first.body["data"]["job"]["id"] == second.body["data"]["job"]["id"]);
  CHECK(server.wait_for_job(first.body["data"]["job"]["id"].get<std::string>())["state"] ==
        "succeeded");
  CHECK(calls_of(model) == 4);
}

TEST_CASE("a server stopped during a job ends in time, and the next one finishes the job",
          "[end_to_end][E25]") {
  const TempFolder vault;
  fill_numbered(vault, 12);
  ModelServer model(0, milliseconds(60));
  std::string id;
  {
    RunningServer server(vault, {}, model_env(model));
    id = server.start_job("/v1/ai/tag", tag_all(true));
    CHECK(wait_until([&] { return calls_of(model) >= 5; }));
    const auto began = std::chrono::steady_clock::now();
    CHECK(server.stop() == 0);
    // 5 s of grace; the rest is for a busy machine.
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
  }
  const int before = calls_of(model);
  RunningServer server(vault, {}, model_env(model));
  const auto record = server.wait_for_job(id);
  CHECK(server.stop() == 0);

  CHECK(before < 12);
  CHECK(record["state"] == "succeeded");
  CHECK(record["attempts"] == 0);
  CHECK(record["crashes"] == 0);
  CHECK(record["interruptions"] == 1);
  CHECK(calls_of(model) <= 13);
  const auto writes = writes_by_path(vault);
  CHECK(writes.size() == 12);
  for (const auto& [path, count] : writes) CHECK(count == 1);
}

TEST_CASE("a token without admin rights hears of its own jobs and of no others",
          "[end_to_end][E13][A81]") {
  const TempFolder vault;
  fill_numbered(vault, 4);
  RunningServer server(vault, {}, {{"INDX_AI_PROVIDER", "builtin"}});
  const auto token = server.make_token({"vault:read"})["token"].get<std::string>();
  EventFeed feed(server, "?kinds=job.*", "", token);

  const auto others = server.start_job("/v1/ai/tag", tag_all(false));
  server.wait_for_job(others);
  const auto own =
      server.call_as(token, "POST", "/v1/ai/tag", tag_all(false), {{"Prefer", "respond-async"}});
  REQUIRE(own.status == 202);
  CHECK(feed.wait_for([](const EventFeed::Frame& frame) { return frame.event == "job.finished"; }));

  std::set<std::string> kinds;
  for (const auto& frame : feed.frames()) {
    CHECK(frame.data["job"] == own.body["data"]["job"]["id"]);
    kinds.insert(frame.event);
  }
  CHECK(kinds ==
        std::set<std::string>{"job.created", "job.started", "job.progress", "job.finished"});
}

}  // namespace indx
