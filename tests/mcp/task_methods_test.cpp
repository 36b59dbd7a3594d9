#include "mcp/task_methods.hpp"

#include "mcp/task_view.hpp"
#include "tests/support/fake_task_dispatcher.hpp"

#include <catch2/catch.hpp>

#include <utility>

namespace indx {
namespace {

using std::chrono::milliseconds;

const Json kTakesTasks{{"extensions", {{"io.modelcontextprotocol/tasks", Json::object()}}}};
const Json kAsTask{{"task", {{"ttl", 60000}}}};
const Json kReindexed{{"indexed", 7}}, kReindexedByJ1{{"indexed", 7}, {"job_id", "J1"}};

/// A server over a fake queue, where long work becomes a task at once.
struct TaskServer {
  TaskServer() {
    options.clock = &clock;
    options.task_wait = milliseconds(0);
    server = std::make_unique<McpServer>(dispatcher, options);
  }
  FakeTaskDispatcher dispatcher;
  McpTestClock clock;
  McpOptions options;
  std::unique_ptr<McpServer> server;
};

Json by_task(const std::string& id) { return {{"taskId", id}}; }

/// A legacy client with one task in work, J1.
struct LegacyTask : TaskServer {
  explicit LegacyTask(const Json& more = kAsTask) : client(*server, "2025-11-25") {
    created = client.call_tool("vault_reindex", Json::object(), more)->message();
  }
  McpTestClient client;
  Json created;
};

}  // namespace

TEST_CASE("a legacy call that asks for a task is answered at once with the task of a stored job",
          "[mcp]") {
  LegacyTask task;

  const Json& result = task.created["result"];
  CHECK(result["task"]["taskId"] == "J1");
  CHECK(result["task"]["status"] == "working");
  CHECK(result["task"]["ttl"].is_number());
  CHECK(result["task"]["pollInterval"].is_number());
  CHECK(result["_meta"]["io.modelcontextprotocol/model-immediate-response"].is_string());
  CHECK(task.dispatcher.record("J1")["kind"] == "vault_reindex");
  CHECK(task.client.result("tasks/get", by_task("J1")) == result["task"]);
}

TEST_CASE("the result of a legacy task is that of the plain call, and says whose it is", "[mcp]") {
  LegacyTask task;
  const auto plain = task.client.call_tool("vault_reindex", Json::object());
  task.dispatcher.end("J1", "succeeded", {{"result", kReindexed}});
  task.dispatcher.end("J2", "succeeded", {{"result", kReindexed}});

  Json fetched = task.client.result("tasks/result", by_task("J1"));

  CHECK(fetched["_meta"]["io.modelcontextprotocol/related-task"]["taskId"] == "J1");
  const Json told = plain->message()["result"];
  // Each names its own job, and how to undo it.
  Json fetched_facts = fetched["structuredContent"], told_facts = told["structuredContent"];
  CHECK(std::exchange(fetched_facts["job_id"], nullptr) == "J1");
  CHECK(std::exchange(told_facts["job_id"], nullptr) == "J2");
  CHECK(fetched_facts == told_facts);
  CHECK(fetched["content"].size() == told["content"].size());
  CHECK(Json::parse(fetched["content"][1]["text"].get<std::string>()) ==
        fetched["structuredContent"]);
  CHECK(fetched["_meta"]["indx/job_id"] == "J1");
  CHECK(told["_meta"]["indx/job_id"] == "J2");
  CHECK(told["content"].back()["text"] ==
        "Done as job J2; job_manage with action job_revert and this id undoes what it wrote.");
  CHECK(task.client.result("tasks/get", by_task("J1"))["status"] == "completed");
}

TEST_CASE(
    "tasks/result waits until the task has ended, without a thread, and ends with its "
    "request",
    "[mcp]") {
  LegacyTask task;
  task.client.peer.session->channel = nullptr;
  const auto waiting = task.client.request("tasks/result", by_task("J1"));
  const auto given_up = task.client.request("tasks/result", by_task("J1"));
  task.client.cancel_last();
  task.dispatcher.change("J1", {{"state", "running"}});
  CHECK_FALSE(waiting->is_answered());

  task.dispatcher.end("J1", "failed",
                      {{"error", {{"code", "internal"}, {"message", "It broke."}}}});

  const Json result = waiting->message()["result"];
  CHECK(result["isError"] == true);
  CHECK_FALSE(given_up->is_answered());
  CHECK(task.dispatcher.listener_count() == 0);
  CHECK(task.client.result("tasks/get", by_task("J1"))["status"] == "failed");
  CHECK(task.client.result("tasks/get", by_task("J1"))["statusMessage"] == "It broke.");
}

TEST_CASE("tools say where a task may be asked for, and refuse it elsewhere", "[mcp]") {
  LegacyTask task;
  const Json listed = task.client.result("tools/list", Json::object());
  for (const Json& tool : listed["tools"]) {
    const bool is_long = tool["name"] == "vault_reindex" || tool["name"] == "vault_wipe";
    CHECK(tool.contains("execution") == is_long);
    if (is_long) CHECK(tool["execution"]["taskSupport"] == "optional");
  }
  const auto code_of = [&](const std::string& name, const Json& more) {
    return task.client.call_tool(name, {{"path", "Ops/Runbook.md"}}, more)
        ->message()["error"]
        .value("code", 0);
  };
  CHECK(code_of("note_read", kAsTask) == kRpcMethodNotFound);
  CHECK(code_of("vault_reindex", {{"task", 5}}) == kRpcInvalidParams);
  CHECK(code_of("vault_reindex", {{"task", {{"ttl", "long"}}}}) == kRpcInvalidParams);
  // Who waits for a task reads no tool result, so bad arguments are an error of JSON-RPC.
  const Json refused =
      task.client.call_tool("vault_reindex", Json::array(), kAsTask)->message()["error"];
  CHECK(refused["code"] == kRpcInvalidParams);
  CHECK(refused["data"]["code"] == "validation_failed");
}

TEST_CASE("a legacy task is cancelled before the answer and stays so", "[mcp]") {
  LegacyTask task;
  task.dispatcher.change("J1", {{"state", "running"}});

  const Json cancelled = task.client.result("tasks/cancel", by_task("J1"));

  CHECK(cancelled["status"] == "cancelled");
  CHECK(cancelled["taskId"] == "J1");
  CHECK(task.client.result("tasks/get", by_task("J1"))["status"] == "cancelled");
  CHECK(task.client.error_code("tasks/cancel", by_task("J1")) == kRpcInvalidParams);
  task.dispatcher.end("J1", "succeeded", {{"result", kReindexed}});
  CHECK(task.client.result("tasks/get", by_task("J1"))["status"] == "cancelled");
  const Json result = task.client.result("tasks/result", by_task("J1"));
  CHECK(result["isError"] == true);
  CHECK(Json::parse(result["content"][0]["text"].get<std::string>())["code"] == "cancelled");
  CHECK(result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"] == "J1");

  CHECK(task.client.error_code("tasks/cancel", by_task("J9")) == kRpcInvalidParams);
  const std::string done = task.dispatcher.add_job("vault_reindex");
  task.dispatcher.end(done, "succeeded", {{"result", kReindexed}});
  CHECK(task.client.error_code("tasks/cancel", by_task(done)) == kRpcInvalidParams);
}

TEST_CASE("the job of somebody else is no task, though an admin may see it", "[mcp]") {
  LegacyTask task;
  const std::string foreign = task.dispatcher.add_job("vault_reindex", false);
  McpTestClient modern(*task.server, "2026-07-28", kTakesTasks);

  for (const std::string method : {"tasks/get", "tasks/result", "tasks/cancel"}) {
    CHECK(task.client.error_code(method, by_task(foreign)) == kRpcInvalidParams);
    CHECK(task.client.error_code(method, by_task("J9")) == kRpcInvalidParams);
    CHECK(task.client.error_code(method, Json::object()) == kRpcInvalidParams);
  }
  for (const std::string method : {"tasks/get", "tasks/cancel"})
    CHECK(modern.error_code(method, by_task(foreign)) == kRpcInvalidParams);
  CHECK(task.dispatcher.record(foreign)["cancel_requested"] == false);
}

TEST_CASE("tasks/list gives one's own tasks in pages", "[mcp]") {
  LegacyTask task;
  task.dispatcher.add_job("vault_reindex", false);
  task.dispatcher.add_job("vault_reindex");
  task.dispatcher.add_job("vault_reindex", true, "J1");
  task.dispatcher.add_job("vault_reindex");

  std::vector<std::string> ids;
  Json params = Json::object();
  for (int page = 0; page < 5; ++page) {
    const Json result = task.client.result("tasks/list", params);
    for (const Json& each : result["tasks"]) ids.push_back(each["taskId"].get<std::string>());
    if (!result.contains("nextCursor")) break;
    params["cursor"] = result["nextCursor"];
  }

  CHECK(ids == std::vector<std::string>{"J1", "J3", "J5"});
  CHECK(task.client.error_code("tasks/list", {{"cursor", "nonsense"}}) == kRpcInvalidParams);
  CHECK(task.client.error_code("tasks/list", {{"cursor", 5}}) == kRpcInvalidParams);
}

TEST_CASE(
    "versions before 2025-11-25 have no tasks: the methods are unknown and the parameter is "
    "ignored",
    "[mcp]") {
  TaskServer setup;
  McpTestClient client(*setup.server, "2025-06-18");

  for (const std::string method : {"tasks/get", "tasks/result", "tasks/list", "tasks/cancel"})
    CHECK(client.error_code(method, by_task("J1")) == kRpcMethodNotFound);
  const Json read =
      client.call_tool("note_read", {{"path", "Ops/Runbook.md"}}, kAsTask)->message()["result"];
  CHECK(read["isError"] == false);
  const Json listed = client.result("tools/list", Json::object());
  for (const Json& tool : listed["tools"]) CHECK_FALSE(tool.contains("execution"));
}

TEST_CASE(
    "the peer of a legacy task hears of its status, and of progress under its token until "
    "the end",
    "[mcp]") {
  Json more = kAsTask;
  more["_meta"] = {{"progressToken", 0}};
  LegacyTask task(more);
  const auto progress = [&](int done) {
    task.dispatcher.tell("J1", "job.progress", {{"done", done}, {"total", 9}, {"unit", "notes"}});
    task.clock.advance(std::chrono::seconds(1));
  };
  task.dispatcher.change("J1", {{"state", "running"}});
  progress(4);
  progress(2);
  progress(8);
  task.dispatcher.end("J1", "succeeded", {{"result", kReindexed}});
  progress(9);

  std::vector<Json> statuses, steps;
  for (const Json& told : task.client.channel->sent()) {
    const bool is_status = told["method"] == "notifications/tasks/status";
    if (!is_status) CHECK(told["method"] == "notifications/progress");
    (is_status ? statuses : steps).push_back(told["params"]);
  }
  REQUIRE_FALSE(statuses.empty());
  CHECK(statuses.back()["status"] == "completed");
  CHECK(statuses.back()["taskId"] == "J1");
  CHECK(statuses.back().contains("ttl"));
  REQUIRE(steps.size() >= 3);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CHECK(steps[i]["progressToken"] == 0);
    if (i > 0) CHECK(steps[i]["progress"] > steps[i - 1]["progress"]);
  }
  CHECK(task.dispatcher.listener_count() == 0);
}

TEST_CASE("nobody is told of a task whose session is gone, and the task goes on", "[mcp]") {
  LegacyTask task;
  task.client.peer.session.reset();
  task.client.peer.calls.reset();
  task.dispatcher.change("J1", {{"state", "running"}});

  CHECK(task.dispatcher.listener_count() == 0);
  McpTestClient later(*task.server, "2025-11-25");
  task.dispatcher.end("J1", "succeeded", {{"result", kReindexed}});
  CHECK(later.result("tasks/result", by_task("J1"))["structuredContent"] == kReindexedByJ1);
}

TEST_CASE("modern: long work of a client that takes tasks becomes one, whose job is stored",
          "[mcp]") {
  TaskServer setup;
  McpTestClient client(*setup.server, "2026-07-28", kTakesTasks);

  const Json result = client.call_tool("vault_reindex", Json::object(), {{"task", {{"ttl", 1}}}})
                          ->message()["result"];

  CHECK(result["resultType"] == "task");
  CHECK(result["taskId"] == "J1");
  CHECK(result["status"] == "working");
  CHECK(result["ttlMs"].is_number());
  const Json task = client.result("tasks/get", by_task("J1"));
  CHECK(task["status"] == "working");
  CHECK_FALSE(task.contains("result"));

  setup.dispatcher.end("J1", "succeeded", {{"result", kReindexed}});
  const Json done = client.result("tasks/get", by_task("J1"));
  CHECK(done["status"] == "completed");
  CHECK(done["result"]["structuredContent"] == kReindexedByJ1);
  CHECK(done["result"]["isError"] == false);
}

TEST_CASE("modern: an error result completes a task, and a cancelled one has no result", "[mcp]") {
  TaskServer setup;
  McpTestClient client(*setup.server, "2026-07-28", kTakesTasks);
  client.call_tool("vault_reindex", Json::object())->message();
  client.call_tool("vault_reindex", Json::object())->message();
  setup.dispatcher.end("J1", "dead", {{"error", {{"code", "internal"}, {"message", "Bad."}}}});
  setup.dispatcher.change("J2", {{"state", "running"}});

  const Json failed = client.result("tasks/get", by_task("J1"));
  CHECK(failed["status"] == "completed");
  CHECK(failed["result"]["isError"] == true);

  for (int again = 0; again < 2; ++again)
    CHECK_FALSE(client.result("tasks/cancel", by_task("J2")).contains("status"));
  CHECK(setup.dispatcher.record("J2")["cancel_requested"] == true);
  CHECK(client.result("tasks/get", by_task("J2"))["status"] == "working");
  setup.dispatcher.end("J2", "cancelled");
  const Json cancelled = client.result("tasks/get", by_task("J2"));
  CHECK(cancelled["status"] == "cancelled");
  CHECK_FALSE(cancelled.contains("result"));
  CHECK_FALSE(client.result("tasks/cancel", by_task("J2")).is_null());
}

TEST_CASE("modern: tasks/update is taken though nothing was asked", "[mcp]") {
  TaskServer setup;
  McpTestClient client(*setup.server, "2026-07-28", kTakesTasks);
  client.call_tool("vault_reindex", Json::object())->message();

  const Json answer = client.result(
      "tasks/update", {{"taskId", "J1"}, {"inputResponses", {{"confirm", Json::object()}}}});
  CHECK(answer.is_object());
  CHECK(client.error_code("tasks/update", by_task("J1")) == kRpcInvalidParams);
  CHECK(client.error_code("tasks/update", {{"taskId", "J9"}, {"inputResponses", Json::object()}}) ==
        kRpcInvalidParams);
}

TEST_CASE("modern: who does not declare tasks gets the result itself, and no task method",
          "[mcp]") {
  TaskServer setup;
  McpTestClient client(*setup.server, "2026-07-28");

  const auto waiting = client.call_tool("vault_reindex", Json::object(), kAsTask);
  setup.dispatcher.end("J1", "succeeded", {{"result", kReindexed}});
  CHECK(waiting->message()["result"]["structuredContent"] == kReindexedByJ1);

  for (const std::string method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    const auto reply = client.request(method, by_task("J1"));
    const Json error = reply->message()["error"];
    CHECK(error["code"] == kRpcMissingCapability);
    CHECK(error["data"]["requiredCapabilities"]["extensions"].contains(
        "io.modelcontextprotocol/tasks"));
    CHECK(reply->http_status() == 400);
  }
}

TEST_CASE("modern: a stream that listens to tasks hears what tasks/get would say, of one's own",
          "[mcp]") {
  TaskServer setup;
  McpTestClient client(*setup.server, "2026-07-28", kTakesTasks);
  client.call_tool("vault_reindex", Json::object())->message();
  const std::string foreign = setup.dispatcher.add_job("vault_reindex", false);
  const Json wishes = {{"notifications", {{"taskIds", {"J1", foreign, "J9"}}}}};

  const auto stream = client.request("subscriptions/listen", wishes);
  setup.dispatcher.end("J1", "succeeded", {{"result", kReindexed}});
  setup.dispatcher.end(foreign, "succeeded", {{"result", kReindexed}});

  const auto told = stream->told();
  REQUIRE(told.size() == 3);
  CHECK(told[0]["params"]["notifications"]["taskIds"] == Json{"J1"});  // the others are not mine
  for (std::size_t i = 1; i < told.size(); ++i) {
    CHECK(told[i]["method"] == "notifications/tasks");
    CHECK(told[i]["params"]["taskId"] == "J1");
    CHECK(told[i]["params"]["_meta"].contains("io.modelcontextprotocol/subscriptionId"));
  }
  CHECK(told[1]["params"]["status"] == "working");
  CHECK(told[2]["params"]["status"] == "completed");
  CHECK(told[2]["params"]["result"]["structuredContent"] == kReindexedByJ1);

  McpTestClient undeclared(*setup.server, "2026-07-28");
  const auto silent = undeclared.request("subscriptions/listen", wishes);
  REQUIRE(silent->told().size() == 1);
  CHECK_FALSE(silent->told()[0]["params"]["notifications"].contains("taskIds"));
}

TEST_CASE("a client without tasks gets the job of long work before hosts give up", "[mcp]") {
  TaskServer setup;
  CHECK(setup.options.job_wait <= milliseconds(45'000));
  McpOptions options = setup.options;
  options.job_wait = milliseconds(0);
  McpServer server(setup.dispatcher, options);
  for (const std::string version : {"2025-06-18", "2025-11-25", "2026-07-28"}) {
    McpTestClient client(server, version);
    const Json result = client.call_tool("vault_reindex", Json::object())->message()["result"];
    CHECK(result["structuredContent"]["job_id"].get<std::string>().starts_with("J"));
  }
}

TEST_CASE("cancelling a call cancels the job behind it, also one that waits for its turn",
          "[mcp]") {
  TaskServer setup;
  McpTestClient client(*setup.server, "2025-11-25");
  const auto reply = client.call_tool("vault_reindex", Json::object());
  client.cancel_last();
  client.cancel_last();

  CHECK(setup.dispatcher.record("J1")["state"] == "cancelled");
  setup.dispatcher.end("J1", "cancelled");
  CHECK_FALSE(reply->is_answered());
  CHECK(setup.dispatcher.calls_of("job_cancel").size() == 1);
}

}  // namespace indx
