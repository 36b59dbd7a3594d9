// Long work over MCP on the real program: clients that leave and come back, servers that are
// killed, answers that are told while they are made.
#include "base/http_client.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/model_server.hpp"
#include "tests/support/vendor_server.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <set>

namespace indx {
namespace {

using std::chrono::milliseconds;

const Json kBulkTag{
    {"name", "ai_tag"},
    {"arguments", {{"scope", {{"kind", "glob"}, {"path_glob", "*.md"}}}, {"apply", true}}}};
const Json kTaskExtensionDeclared{
    {"extensions", {{"io.modelcontextprotocol/tasks", Json::object()}}}};

/// A host on HTTP. Its messages are those of one answer, the answer last.
class McpHttpHost {
 public:
  McpHttpHost(const RunningServer& server, bool is_modern) : server_(server), modern_(is_modern) {
    if (modern_) return;
    request("initialize", {{"protocolVersion", "2025-11-25"},
                           {"capabilities", Json::object()},
                           {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
  }

  std::vector<Json> exchange(const std::string& method, Json params) {
    HttpClientRequest request;
    request.method = "POST";
    request.url = server_.url() + "/mcp";
    request.timeout = milliseconds(60'000);
    request.headers = {{"Authorization", "Bearer " + server_.token()},
                       {"Content-Type", "application/json"},
                       {"Accept", "application/json, text/event-stream"}};
    if (modern_) {
      params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
      params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = kTaskExtensionDeclared;
      request.headers.emplace_back("MCP-Protocol-Version", "2026-07-28");
      request.headers.emplace_back("Mcp-Method", method);
      for (const char* key : {"name", "taskId"})
        if (params.contains(key))
          request.headers.emplace_back("Mcp-Name", params[key].get<std::string>());
    } else if (!session_.empty()) {
      request.headers.emplace_back("Mcp-Session-Id", session_);
      request.headers.emplace_back("MCP-Protocol-Version", "2025-11-25");
    }
    request.body =
        Json{{"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}, {"params", params}}.dump();
    const auto response = http_exchange(request, {});
    REQUIRE(response);
    if (const auto session = response->headers.find("mcp-session-id");
        session != response->headers.end())
      session_ = session->second;
    if (response->body.starts_with("{")) return {Json::parse(response->body, nullptr, false)};
    std::vector<Json> messages;
    for (const auto& line : split(response->body, '\n'))
      if (line.starts_with("data: {")) messages.push_back(Json::parse(line.substr(6)));
    return messages;
  }
  Json request(const std::string& method, Json params) {
    const auto messages = exchange(method, std::move(params));
    REQUIRE_FALSE(messages.empty());
    INFO(messages.back().dump());
    CHECK(messages.back()["id"] == last_id_);
    return messages.back().value("result", Json(messages.back()));
  }

 private:
  const RunningServer& server_;
  const bool modern_;
  std::string session_;
  int last_id_ = 0;
};

/// Notes and a slow model that tags them.
struct TaggedVault {
  explicit TaggedVault(int notes = 12) : model(0, milliseconds(150)) {
    for (int i = 0; i < notes; ++i)
      vault.write(cat("note-", 10 + i, ".md"),
                  cat("# Note ", i, "\n\nCompost number ", i, " warms the compost heap.\n"));
  }
  std::map<std::string, std::string> env() const {
    return {{"INDX_AI_PROVIDER", "openai"},     {"INDX_AI_MODEL", "slow"},
            {"INDX_AI_CACHE", "off"},           {"INDX_OPENAI_BASE_URL", model.base_url()},
            {"INDX_OPENAI_API_KEY", "k"},       {"INDX_JOBS_LANES_PER_JOB", "1"},
            {"INDX_RATE_LIMIT_PER_MINUTE", "0"}};
  }
  bool wait_for_calls(int calls) const {
    return wait_until([&] { return model.counts()["calls"].get<int>() >= calls; });
  }
  bool are_all_tagged() const {
    const auto files = vault_files(vault);
    return std::all_of(files.begin(), files.end(),
                       [](const auto& file) { return file.second.starts_with("---\ntags:"); });
  }

  TempFolder vault;
  ModelServer model;
};

/// The result of a task in a later session, whose end it waits for.
Json fetch_task(McpHttpHost& host, bool is_modern, const std::string& id) {
  if (!is_modern) return host.request("tasks/result", {{"taskId", id}});
  Json task;
  CHECK(wait_until([&] {
    task = host.request("tasks/get", {{"taskId", id}});
    return task["status"] != "working";
  }));
  return task["result"];
}

Json call_until_done(McpHttpHost& host, bool is_modern, const Json& call) {
  const Json answer = host.request("tools/call", call);
  if (answer.value("resultType", "") != "task") return answer;
  return fetch_task(host, is_modern, answer["taskId"]);
}

}  // namespace

TEST_CASE(
    "bulk tagging started as a task survives its client and a killed server, is fetched in "
    "another session and undone",
    "[end_to_end]") {
  const bool is_modern = GENERATE(false, true);
  const bool kills_server = GENERATE(false, true);
  CAPTURE(is_modern, kills_server);
  const TaggedVault given;
  const auto before = vault_files(given.vault);
  auto server =
      std::make_unique<RunningServer>(given.vault, std::vector<std::string>{}, given.env());
  std::string id;
  {
    McpHttpHost host(*server, is_modern);
    Json call = kBulkTag;
    if (!is_modern) call["task"] = {{"ttl", 600000}};
    const Json created = host.request("tools/call", call);
    const Json& task = is_modern ? created : created["task"];
    CHECK(task["status"] == "working");
    id = task["taskId"].get<std::string>();
  }
  REQUIRE(given.wait_for_calls(4));
  if (kills_server) {
    server->kill();
    server = std::make_unique<RunningServer>(given.vault, std::vector<std::string>{}, given.env());
  }

  McpHttpHost later(*server, is_modern);
  const Json result = fetch_task(later, is_modern, id);

  INFO(result.dump());
  CHECK(result["isError"] == false);
  CHECK(result["structuredContent"].is_object());
  CHECK(given.are_all_tagged());
  CHECK(later.request("tasks/get", {{"taskId", id}})["status"] == "completed");

  const Json undone = call_until_done(
      later, is_modern,
      {{"name", "job_manage"}, {"arguments", {{"action", "job_revert"}, {"id", id}}}});
  INFO(undone.dump());
  CHECK(undone["isError"] == false);
  CHECK(vault_files(given.vault) == before);
}

TEST_CASE("a task that is cancelled stops its job and its calls of the model", "[end_to_end]") {
  const TaggedVault given(40);
  RunningServer server(given.vault, {}, given.env());
  McpHttpHost host(server, false);
  Json call = kBulkTag;
  call["task"] = Json::object();
  const std::string id = host.request("tools/call", call)["task"]["taskId"];
  REQUIRE(given.wait_for_calls(2));

  CHECK(host.request("tasks/cancel", {{"taskId", id}})["status"] == "cancelled");

  CHECK(server.wait_for_job(id)["state"] == "cancelled");
  CHECK(given.model.counts()["calls"].get<int>() < 40);
  CHECK(host.request("tasks/cancel", {{"taskId", id}})["error"]["code"] == -32602);
  const Json listed = host.request("tasks/list", Json::object())["tasks"];
  REQUIRE(listed.size() == 1);
  CHECK(listed[0]["taskId"] == id);
  CHECK(host.request("tasks/result", {{"taskId", id}})["isError"] == true);
}

TEST_CASE("another token does not see the tasks of this one, an admin neither", "[end_to_end]") {
  const TaggedVault given(3);
  RunningServer server(given.vault, {}, given.env());
  const Json writer = server.make_token({"vault:read", "vault:write"});
  const auto as_writer = [&](const std::string& session, const std::string& method,
                             const Json& params) {
    return server.call_as(
        writer["token"], "POST", "/mcp",
        {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}},
        {{"Mcp-Session-Id", session}, {"Accept", "application/json, text/event-stream"}});
  };
  const auto opened = as_writer(
      "", "initialize", {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}});
  const std::string session = opened.headers.at("mcp-session-id");
  Json call = kBulkTag;
  call["task"] = Json::object();
  const auto created = as_writer(session, "tools/call", call);
  const std::string id = created.body["result"]["task"]["taskId"];

  McpHttpHost admin(server, false);
  CHECK(server.wait_for_job(id)["state"] == "succeeded");  // REST shows it to an admin
  for (const std::string method : {"tasks/get", "tasks/result", "tasks/cancel"})
    CHECK(admin.request(method, {{"taskId", id}})["error"]["code"] == -32602);
  CHECK(admin.request("tasks/list", Json::object())["tasks"].empty());
  CHECK(as_writer(session, "tasks/get", {{"taskId", id}}).body["result"]["status"] == "completed");
}

TEST_CASE("an answer of AI is told as it is made, and ends as one without a token",
          "[end_to_end][B67][D44]") {
  const bool is_job = GENERATE(false, true);
  CAPTURE(is_job);
  const std::string text =
      "Compost \"warms\" the heap.\nGrüße aus 東京 👋🏽, all winter long.";
  const Json citation{{"path", "a.md"}, {"snippet", "Compost warms the heap"}};
  VendorPlan plan;
  plan.reply.text = Json{
      {"text", text},
      {"tldr", "It warms."},
      {"key_points",
       Json::array({{{"text", "Compost warms."}, {"citations", Json::array({citation})}}})},
      {"open_questions",
       Json::array()}}.dump();
  plan.piece = 7;
  TempFolder vault;
  vault.write("a.md", "# Garden\n\nOwner: Ana\n\nCompost warms the heap in winter.\n");
  vault.write("b.md", "# Tools\n\nA fork turns the heap.\n");
  VendorServer model("openai");
  RunningServer server(vault, {}, provider_variables(model.config()));
  McpHttpHost host(server, false);
  Json call = {{"name", "ai_summarize"}, {"arguments", {{"cache", false}}}};
  call["arguments"]["scope"] = is_job ? Json{{"kind", "glob"}, {"path_glob", "*.md"}}
                                      : Json{{"kind", "note"}, {"path", "a.md"}};
  model.plan(plan);
  model.plan(plan);

  const auto plain = host.exchange("tools/call", call);
  call["_meta"] = {{"progressToken", 0}};
  const auto told = host.exchange("tools/call", call);

  REQUIRE(plain.size() == 1);
  REQUIRE(told.size() > 1);
  INFO(told.back().dump());
  const auto of_any_job = [](Json result) {
    result.erase("_meta");  // each names its own job
    result["structuredContent"].erase("job_id");
    result["content"][1] = Json::parse(result["content"][1]["text"].get<std::string>());
    result["content"][1].erase("job_id");
    return result;
  };
  CHECK(of_any_job(told.back()["result"]) == of_any_job(plain.back()["result"]));
  CHECK(told.back()["result"]["structuredContent"]["summary"]["text"] == text);
  std::string joined;
  Json citations = Json::array(), usage;
  double last = -1;
  for (std::size_t i = 0; i + 1 < told.size(); ++i) {
    CHECK(told[i]["method"] == "notifications/progress");
    const Json& params = told[i]["params"];
    CHECK(params["progressToken"] == 0);
    CHECK(params["progress"].get<double>() > last);
    last = params["progress"].get<double>();
    CHECK(params["message"].is_string());
    const Json meta = params.value("_meta", Json::object());
    if (meta.contains("indx/partial")) {
      if (meta["indx/partial"].value("restart", false)) joined.clear();
      joined += meta["indx/partial"]["delta"].get<std::string>();
    }
    for (const Json& each : meta.value("indx/citations", Json::array())) citations.push_back(each);
    if (meta.contains("indx/usage")) usage = meta["indx/usage"];
  }
  CHECK(joined == text);
  CHECK(citations == told.back()["result"]["structuredContent"]["citations"]);
  CHECK(usage == told.back()["result"]["structuredContent"]["usage"]);
}

namespace {

/// A host on stdio.
class McpStdioHost {
 public:
  McpStdioHost(const TempFolder& vault, std::map<std::string, std::string> env)
      : process_(indx_spec({"mcp", "serve", "--stdio", "--vault", vault.path()}, env)) {
    send({{"id", "hello"},
          {"method", "initialize"},
          {"params", {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}}}});
    REQUIRE(process_.wait_for_out("\"hello\"", std::chrono::seconds(60)));
  }
  void send(Json message) {
    message["jsonrpc"] = "2.0";
    process_.write(message.dump() + "\n");
  }
  void call(int id, const Json& params) {
    send({{"id", id}, {"method", "tools/call"}, {"params", params}});
  }
  void cancel(int id) {
    send({{"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}});
  }
  std::vector<Json> messages() const {
    std::vector<Json> found;
    const std::string out = process_.out();
    for (const auto& line : split(out.substr(0, out.rfind('\n') + 1), '\n'))
      if (!line.empty()) found.push_back(Json::parse(line, nullptr, false));
    return found;
  }
  /// Waits for an answer; null when none comes.
  Json answer(int id) const {
    Json found;
    wait_until(
        [&] {
          for (const Json& message : messages())
            if (message.is_object() && message.value("id", Json()) == id) found = message;
          return !found.is_null();
        },
        std::chrono::seconds(60));
    return found;
  }
  Process& process() { return process_; }

 private:
  Process process_;
};

}  // namespace

TEST_CASE("a stdio client that is killed with its server finds its task in the next one",
          "[end_to_end]") {
  const TaggedVault given;
  std::string id;
  {
    McpStdioHost host(given.vault, given.env());
    Json call = kBulkTag;
    call["task"] = Json::object();
    host.call(1, call);
    id = host.answer(1)["result"]["task"]["taskId"].get<std::string>();
    REQUIRE(given.wait_for_calls(3));
    host.process().signal(SIGKILL);
    CHECK(host.process().wait() == 128 + SIGKILL);
  }

  McpStdioHost next(given.vault, given.env());
  next.send({{"id", 1}, {"method", "tasks/result"}, {"params", {{"taskId", id}}}});

  const Json result = next.answer(1)["result"];
  INFO(result.dump());
  CHECK(result["isError"] == false);
  CHECK(given.are_all_tagged());
}

TEST_CASE("a stdio client beside a live server has its tasks there", "[end_to_end]") {
  const TaggedVault given(4);
  RunningServer server(given.vault, {}, given.env());
  McpStdioHost host(given.vault, given.env());
  Json call = kBulkTag;
  call["task"] = Json::object();
  host.call(1, call);
  const Json created = host.answer(1);
  INFO(created.dump());
  const std::string id = created["result"]["task"]["taskId"];

  host.send({{"id", 2}, {"method", "tasks/result"}, {"params", {{"taskId", id}}}});

  CHECK(host.answer(2)["result"]["isError"] == false);
  CHECK(server.job(id)["state"] == "succeeded");
  CHECK(given.are_all_tagged());
}

TEST_CASE("a cancelled call ends the call of the model behind it", "[end_to_end]") {
  TempFolder vault;
  vault.write("a.md", "# Garden\n\nCompost warms the heap in winter.\n");
  VendorServer model("openai");
  VendorPlan hangs;
  hangs.fault = VendorFault::Hang;
  model.plan(hangs);
  McpStdioHost host(vault, provider_variables(model.config()));
  host.call(1, {{"name", "ai_summarize"},
                {"arguments", {{"scope", {{"kind", "note"}, {"path", "a.md"}}}}}});
  REQUIRE(wait_until([&] { return model.requests().size() == 1; }));

  host.cancel(1);

  CHECK(model.saw_close());
  host.send({{"id", 2}, {"method", "ping"}});
  CHECK(host.answer(2)["result"] == Json::object());
  for (const Json& message : host.messages()) CHECK(message.value("id", Json()) != 1);
}

TEST_CASE(
    "calls cancelled at any moment, twice and after their end, get no answer behind it and "
    "leave nothing behind",
    "[end_to_end]") {
  const TaggedVault given(3);
  McpStdioHost host(given.vault, given.env());
  SeededRandom random(9);
  // Messages are taken in order: once the ping behind it is answered, the cancellation was seen.
  constexpr int kPing = 10'000;
  for (int id = 100; id < 300; ++id) {
    Json call = kBulkTag;
    if (id % 2 == 0) call["_meta"] = {{"progressToken", id}};
    host.call(id, call);
    std::this_thread::sleep_for(milliseconds(random.next() % 12));
    host.cancel(id);
    host.send({{"id", kPing + id}, {"method", "ping"}});
    if (id % 3 == 0) host.cancel(id);
    if (id > 100 && id % 5 == 0) host.cancel(id - 1);
  }
  host.send({{"id", 1}, {"method", "ping"}});
  CHECK(host.answer(1)["result"] == Json::object());

  std::set<int> answered, pings, over;  // over: cancelled or answered
  for (const Json& message : host.messages()) {
    if (message.value("method", "") == "notifications/progress") {
      CHECK_FALSE(over.contains(message["params"]["progressToken"].get<int>()));
      continue;
    }
    if (message.contains("method") || !message["id"].is_number()) continue;
    const int id = message["id"].get<int>();
    INFO(id);
    if (id >= kPing) {
      pings.insert(id);
      over.insert(id - kPing);
    } else if (id >= 100) {
      CHECK(answered.insert(id).second);
      CHECK_FALSE(pings.contains(kPing + id));
      over.insert(id);
    }
  }
  CHECK(pings.size() == 200);
  const auto live_jobs = [&](int id) {
    host.call(id, {{"name", "vault_lists"},
                   {"arguments",
                    {{"action", "job_list"},
                     {"state", {"running", "ready", "scheduled"}},
                     {"kind", "ai_tag"}}}});
    return host.answer(id)["result"]["structuredContent"]["jobs"].size();
  };
  int id = 1000;
  CHECK(wait_until([&] { return live_jobs(++id) == 0; }, std::chrono::seconds(60)));
  host.process().close_input();
  CHECK(host.process().wait() == 0);
}

}  // namespace indx
