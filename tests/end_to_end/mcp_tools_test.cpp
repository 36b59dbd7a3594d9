#include "base/text.hpp"
#include "tests/end_to_end/mcp_client.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

namespace indx {
namespace {

const std::map<std::string, std::string> kToolEnv = {{"INDX_AI_PROVIDER", "builtin"},
                                                     {"INDX_EMBEDDINGS_PROVIDER", "none"}};

void copy_sample(const TempFolder& vault) {
  std::filesystem::copy(
      INDX_SAMPLE_VAULT, vault.path(),
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
}

/// Without what differs between two runs, and in one form: MCP leaves out what is null and gives
/// values of any kind as their text.
Json stable_view(const Json& json) {
  static const std::set<std::string> moving = {"modified",    "vault_dir",  "generation", "took_ms",
                                               "duration_ms", "updated_at", "created_at", "usage",
                                               "at",          "trash_path", "job_id"};
  if (!json.is_structured()) return json;
  Json kept = json.is_object() ? Json::object() : Json::array();
  for (const auto& [key, value] : json.items()) {
    if (json.is_array()) {
      // Items of any kind are JSON text where each item needs one type.
      const Json parsed = value.is_string()
                              ? Json::parse(value.get_ref<const std::string&>(), nullptr, false)
                              : Json();
      kept.push_back(stable_view(parsed.is_object() ? parsed : value));
    } else if (key.ends_with("_json") && value.is_string()) {
      const Json parsed = Json::parse(value.get_ref<const std::string&>(), nullptr, false);
      if (!parsed.is_null()) kept[key.substr(0, key.size() - 5)] = stable_view(parsed);
    } else if (!value.is_null() && !moving.contains(key)) {
      kept[key] = stable_view(value);
    }
  }
  return kept;
}

/// One operation of `indx schema`: how REST and the command line say a call of it.
class ContractLine {
 public:
  explicit ContractLine(const std::string& name) {
    static const Json contract = Json::parse(run_indx({"schema"}).out, nullptr, false);
    for (const auto& each : contract["operations"])
      if (each["name"] == name) operation_ = each;
  }
  std::string method() const { return operation_["http"]["method"]; }
  std::string route() const {
    return method() + " " + operation_["http"]["path"].get<std::string>();
  }
  /// `indx note get`
  std::string words() const {
    std::vector<std::string> kept;
    for (const auto& word : cli_words())
      if (word[0] >= 'a' && word[0] <= 'z') kept.push_back(word);
    return join(kept, " ");
  }

  RunningServer::Reply by_rest(const RunningServer& server, Json arguments) const {
    std::string target = operation_["http"]["path"];
    const Json given = arguments;
    for (const auto& [name, value] : given.items()) {
      const auto at = target.find("{" + name + "}");
      if (at == std::string::npos) continue;
      target.replace(at, name.size() + 2, percent_encode(value.get<std::string>(), true));
      arguments.erase(name);
    }
    if (method() != "GET" && method() != "HEAD" && method() != "DELETE")
      return server.call(method(), target, arguments);
    char separator = '?';
    for (const auto& [name, value] : arguments.items())
      target += cat(std::exchange(separator, '&'), name, '=',
                    percent_encode(value.is_string() ? value.get<std::string>() : value.dump()));
    return server.call(method(), target);
  }

  Finished by_command(const TempFolder& vault, Json arguments) const {
    std::vector<std::string> args = {"--vault", vault.path()};
    for (const auto& word : cli_words()) {
      if (word == "indx") continue;
      if (word[0] >= 'a' && word[0] <= 'z') {
        args.push_back(word);
        continue;
      }
      std::string field;
      for (const char c : word)
        if (c >= 'A' && c <= 'Z') field += static_cast<char>(c + 32);
      if (!arguments.contains(field)) continue;
      args.push_back(as_text(arguments[field]));
      arguments.erase(field);
    }
    for (const auto& [name, value] : arguments.items()) {
      args.push_back("--" + replace_all(name, "_", "-"));
      if (name == "write")
        args.push_back(value["path"].get<std::string>());  // its short form
      else if (!value.is_boolean())
        args.push_back(as_text(value));
    }
    if (operation_["effect"] != "reads") args.emplace_back("--yes");
    return run_indx(args, kToolEnv);
  }

 private:
  std::vector<std::string> cli_words() const {
    std::vector<std::string> words;
    for (auto& word : split(operation_["cli"].get<std::string>(), ' ')) {
      if (word.starts_with("--") || word == "[flags]") break;
      words.push_back(std::move(word));
    }
    return words;
  }
  static std::string as_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  Json operation_;
};

struct ToolLine {
  std::string tool;
  Json arguments;
};

/// What each way of the same call says, on one vault that nothing changes.
void compare_reads(const std::vector<ToolLine>& lines) {
  const TempFolder vault;
  copy_sample(vault);
  RunningServer server(vault, {}, kToolEnv);
  const McpHttpClient client(server);
  for (const auto& [tool, arguments] : lines) {
    INFO(tool << " " << arguments.dump());
    const ContractLine line(tool);

    const Json told = client.call(tool, arguments);
    const auto reply = line.by_rest(server, arguments);
    const auto printed = line.by_command(vault, arguments);

    INFO(told.dump().substr(0, 600));
    INFO(printed.err);
    CHECK(told["isError"] == false);
    CHECK(reply.status == 200);
    CHECK(printed.code == 0);
    const Json structured = stable_view(told["structuredContent"]);
    if (line.method() == "HEAD")
      CHECK(structured["exists"] == true);
    else
      CHECK(structured == stable_view(reply.body["data"]));
    CHECK(structured == stable_view(Json::parse(printed.out, nullptr, false)));
  }
}

/// The same for calls that write, each way on a copy of its own.
void compare_writes(const std::vector<ToolLine>& lines) {
  const TempFolder by_tool, by_route, by_word;
  for (const auto* vault : {&by_tool, &by_route, &by_word}) copy_sample(*vault);
  RunningServer first(by_tool, {}, kToolEnv), second(by_route, {}, kToolEnv);
  const McpHttpClient client(first);
  for (const auto& [tool, arguments] : lines) {
    INFO(tool << " " << arguments.dump());
    const ContractLine line(tool);

    const Json told = client.call(tool, arguments);
    const auto reply = line.by_rest(second, arguments);
    const auto printed = line.by_command(by_word, arguments);

    INFO(told.dump().substr(0, 600));
    INFO(reply.body.dump().substr(0, 600));
    INFO(printed.err);
    CHECK(told["isError"] == false);
    CHECK(reply.status / 100 == 2);
    CHECK(printed.code == 0);
    CHECK(stable_view(told["structuredContent"]) == stable_view(reply.body["data"]));
    CHECK(stable_view(told["structuredContent"]) ==
          stable_view(Json::parse(printed.out, nullptr, false)));
    CHECK(vault_files(by_tool) == vault_files(by_route));
    CHECK(vault_files(by_tool) == vault_files(by_word));
  }
}

const Json kNote = {{"path", "Home.md"}};
const Json kInbox = {{"kind", "glob"}, {"path_glob", "inbox/Frost*"}};
const Json kMeeting = {{"kind", "paths"}, {"paths", {"meetings/2026-04-07 Weekly.md"}}};
const Json kRecord = {{"type", "object"},
                      {"properties", {{"date", {{"type", "string"}, {"format", "date"}}}}}};

/// What AI writes. `ai_toc` is the last: what AI finds depends on the notes there are.
const std::vector<ToolLine> kAiWrites = {
    {"ai_tag", {{"scope", kInbox}, {"apply", true}}},
    {"ai_metadata",
     {{"scope", kInbox},
      {"fields", Json::array({{{"key", "summary"}, {"type", "string"}}})},
      {"apply", true}}},
    {"ai_extract",
     {{"scope", kMeeting},
      {"schema", kRecord},
      {"destination", "frontmatter"},
      {"destination_key", "record"},
      {"apply", true}}},
    {"ai_toc", {{"mode", "moc"}, {"scope", kInbox}, {"write", {{"path", "Map.md"}}}}}};

}  // namespace

TEST_CASE("reading tools answer what their routes and commands answer",
          "[end_to_end][B15][B16][B17][B18][B19][B20][B21][B22][B23][B24][B25][B26][B27]"
          "[B28][B29][B68]") {
  compare_reads({{"vault_status", Json::object()},
                 {"note_read", kNote},
                 {"note_read", {{"path", "Home.md"}, {"include", {"tags", "links"}}}},
                 {"note_list", {{"path_glob", "meetings/**"}, {"limit", 2}}},
                 {"note_list", {{"tag", "meeting"}, {"limit", 2}}},
                 {"note_outline", kNote},
                 {"note_exists", kNote},
                 {"vault_search", {{"q", "frost"}, {"limit", 3}}},
                 {"vault_search", {{"q", "frost"}, {"mode", "lexical"}, {"path_glob", "inbox/**"}}},
                 {"vault_search", {{"q", "water"}, {"tag", {"meeting"}}, {"limit", 3}}},
                 {"link_backlinks", {{"path", "people/Mei Tanaka.md"}}},
                 {"link_forward", kNote},
                 {"link_unresolved", {{"limit", 5}}},
                 {"link_orphans", {{"limit", 5}}},
                 {"tag_list", Json::object()},
                 {"tag_notes", {{"tag", "meeting"}, {"limit", 3}}},
                 {"canvas_read", {{"path", "boards/Season plan.canvas"}}},
                 {"base_query", {{"path", "boards/Projects.base"}, {"limit", 3}}},
                 {"ai_status", Json::object()}});
}

TEST_CASE("tools of AI answer what their routes and commands answer",
          "[end_to_end][B30][B31][B32][B33][B34][B35][B36][B68]") {
  compare_reads(
      {{"ai_summarize", {{"scope", kInbox}}},
       {"ai_ask", {{"question", "What is done in a frost night?"}}},
       {"ai_toc", {{"mode", "note"}, {"path", "Home.md"}}},
       {"ai_toc", {{"mode", "moc"}, {"scope", kInbox}}},
       {"ai_relate", {{"source", {{"kind", "path"}, {"path", "inbox/Frost night.md"}}}}},
       {"ai_tag", {{"scope", kInbox}}},
       {"ai_metadata",
        {{"scope", kInbox}, {"fields", Json::array({{{"key", "summary"}, {"type", "string"}}})}}},
       {"ai_extract", {{"scope", kMeeting}, {"schema", kRecord}}}});
}

TEST_CASE("writing tools write and answer what their routes and commands do",
          "[end_to_end][B37][B38][B39][B40][B41][B42][B43][B68]") {
  compare_writes(
      {{"note_write", {{"path", "New.md"}, {"body", "# New\n"}, {"frontmatter", {{"k", 1}}}}},
       {"note_patch",
        {{"path", "New.md"},
         {"ops", Json::array({{{"op", "append_body"}, {"markdown", "more"}},
                              {{"op", "set_frontmatter"}, {"key", "k"}, {"value", 2}}})}}},
       {"note_move", {{"from", "New.md"}, {"to", "inbox/New.md"}}},
       {"note_delete", {{"path", "inbox/New.md"}}},
       {"tag_rename", {{"from", "meeting"}, {"to", "gathering"}, {"dry_run", true}}},
       {"tag_rename", {{"from", "meeting"}, {"to", "gathering"}}},
       {"canvas_write",
        {{"path", "boards/B.canvas"},
         {"canvas", {{"nodes", Json::array()}, {"edges", Json::array()}}}}},
       {"canvas_patch",
        {{"path", "boards/B.canvas"},
         {"ops", Json::array({{{"op", "add_node"},
                               {"node",
                                {{"id", "a"},
                                 {"type", "text"},
                                 {"text", "t"},
                                 {"x", 0},
                                 {"y", 0},
                                 {"width", 10},
                                 {"height", 10}}}}})}}}});
}

TEST_CASE("tools of AI apply what their routes and commands apply",
          "[end_to_end][B44][B45][B46][B47][B68]") {
  compare_writes(kAiWrites);
}

TEST_CASE("tools of the vault itself answer what their routes and commands answer, for admins only",
          "[end_to_end][B48][B68]") {
  compare_writes({{"vault_config_get", {{"key", "http.workers"}}},
                  {"vault_config_set", {{"values", {{"http.workers", 16}}}}},
                  {"vault_reindex", {{"rebuild", true}}}});

  const TempFolder vault;
  copy_sample(vault);
  RunningServer server(vault, {}, kToolEnv);
  const Json writer = server.make_token({"vault:read", "vault:write"});
  const McpHttpClient client(server, writer["token"].get<std::string>());
  for (const auto* name : {"vault_reindex", "vault_config_get", "vault_config_set"}) {
    INFO(name);
    const auto reply = client.post("tools/call", {{"name", name}, {"arguments", Json::object()}});
    CHECK(reply.status == 403);
    CHECK(reply.body["error"]["data"]["code"] == "forbidden");
  }
}

TEST_CASE("the table of tools, routes and commands is that of the requirements",
          "[end_to_end][B68]") {
  const std::vector<std::array<std::string, 3>> table = {
      {"note_read", "GET /v1/notes/{path}", "indx note get"},
      {"note_write", "PUT /v1/notes/{path}", "indx note update"},
      {"note_patch", "PATCH /v1/notes/{path}", "indx note patch"},
      {"note_delete", "DELETE /v1/notes/{path}", "indx note delete"},
      {"note_move", "POST /v1/notes/{from}/move", "indx note move"},
      {"note_list", "GET /v1/notes", "indx note list"},
      {"note_exists", "HEAD /v1/notes/{path}", "indx note exists"},
      {"vault_search", "GET /v1/search", "indx search"},
      {"link_backlinks", "GET /v1/links/{path}/backlinks", "indx link backlinks"},
      {"link_forward", "GET /v1/links/{path}/forward", "indx link forward"},
      {"link_unresolved", "GET /v1/links/unresolved", "indx link unresolved"},
      {"link_orphans", "GET /v1/links/orphans", "indx link orphans"},
      {"tag_list", "GET /v1/tags", "indx tag list"},
      {"tag_notes", "GET /v1/tags/{tag}/notes", "indx tag notes"},
      {"tag_rename", "POST /v1/tags/rename", "indx tag rename"},
      {"canvas_read", "GET /v1/canvas/{path}", "indx canvas get"},
      {"canvas_write", "PUT /v1/canvas/{path}", "indx canvas create"},
      {"canvas_patch", "PATCH /v1/canvas/{path}", "indx canvas patch"},
      {"base_query", "GET /v1/bases/{path}/query", "indx base query"},
      {"vault_status", "GET /v1/vault/status", "indx vault status"},
      {"vault_reindex", "POST /v1/vault/reindex", "indx vault index"},
      {"vault_config_get", "GET /v1/vault/config", "indx vault config get"},
      {"vault_config_set", "PUT /v1/vault/config", "indx vault config set"},
      {"ai_status", "GET /v1/ai/status", "indx ai status"},
      {"ai_summarize", "POST /v1/ai/summarize", "indx ai summarize"},
      {"ai_ask", "POST /v1/ai/ask", "indx ai ask"},
      {"ai_toc", "POST /v1/ai/toc", "indx ai toc"},
      {"ai_relate", "POST /v1/ai/relate", "indx ai relate"},
      {"ai_tag", "POST /v1/ai/tag", "indx ai tag"},
      {"ai_metadata", "POST /v1/ai/metadata", "indx ai metadata"},
      {"ai_extract", "POST /v1/ai/extract", "indx ai extract"}};
  for (const auto& [tool, route, words] : table) {
    INFO(tool);
    CHECK(ContractLine(tool).route() == route);
    CHECK(ContractLine(tool).words() == words);
  }
  CHECK(ContractLine("note_outline").words() == "indx note outline");

  // Its line names the route of note_read.
  const TempFolder vault;
  copy_sample(vault);
  RunningServer server(vault);
  const McpHttpClient client(server);
  const auto reply = server.call("GET", "/v1/notes/Home.md?include=outline");
  const Json outline = client.call("note_outline", kNote)["structuredContent"]["outline"];
  CHECK_FALSE(outline.empty());
  CHECK(stable_view(reply.body["data"]["outline"]) == stable_view(outline));
}

TEST_CASE("text alone and structured content alone tell the same, whatever the tool",
          "[end_to_end][B4][mcp-10]") {
  const TempFolder vault;
  copy_sample(vault);
  vault.write("Long.md", "# Long\n\n" + std::string(90'000, 'x') + "\n");
  RunningServer server(vault, {}, kToolEnv);
  const McpHttpClient client(server);
  const std::vector<ToolLine> lines = {
      {"vault_status", Json::object()},
      {"note_read", {{"path", "Long.md"}}},
      {"note_list", {{"limit", 1000}}},
      {"notes_read", {{"path_glob", "**"}}},
      {"vault_search", {{"q", "the"}, {"limit", 200}}},
      {"tag_list", Json::object()},
      {"base_query", {{"path", "boards/Projects.base"}}},
      {"canvas_read", {{"path", "boards/Season plan.canvas"}}},
      {"ai_tag", {{"scope", kInbox}}},
      {"ai_ask", {{"question", "What is done in a frost night?"}}},
      {"note_explore", {{"action", "document_map"}, {"path", "Home.md"}}},
      {"note_explore", {{"action", "graph_neighbors"}, {"path", "Home.md"}, {"depth", 3}}},
      {"vault_lists", {{"action", "task_list"}}},
      {"vault_lists", {{"action", "attachment_read"}, {"path", "attachments/bed-map.svg"}}},
      {"vault_manage", {{"action", "daily_append"}, {"markdown", "x"}}},
      {"note_write", {{"path", "W.md"}, {"body", "w"}}}};
  for (const auto& [tool, arguments] : lines) {
    INFO(tool << " " << arguments.dump());
    const Json told = client.call(tool, arguments);
    CHECK(told["isError"] == false);
    REQUIRE(told["content"].size() >= 2);
    const auto text = told["content"][1]["text"].get<std::string>();
    CHECK(Json::parse(text) == told["structuredContent"]);
    CHECK(text.size() + told["content"][0]["text"].get<std::string>().size() < 40'000);
    CHECK_FALSE(told["content"][0]["text"].get<std::string>().empty());
  }
}

TEST_CASE("text and structured content tell the same of every tool and every action",
          "[end_to_end][B2][B4][mcp-10]") {
  const TempFolder vault;
  copy_sample(vault);
  RunningServer server(vault, {}, kToolEnv);
  const McpHttpClient client(server);  // an admin sees everything
  const std::string job = server.start_job("/v1/vault/reindex", Json::object());
  REQUIRE(server.wait_for_job(job).is_object());
  const Json nodes = {{"nodes", Json::array()}, {"edges", Json::array()}};
  const Json node = {{"id", "a"}, {"type", "text"}, {"text", "t"}, {"x", 0},
                     {"y", 0},    {"width", 10},    {"height", 10}};
  // In this order: later ones find what earlier ones made.
  const std::vector<ToolLine> lines = {
      {"vault_status", Json::object()},
      {"note_list", {{"limit", 3}}},
      {"note_read", kNote},
      {"note_outline", kNote},
      {"note_exists", kNote},
      {"notes_read", {{"paths", {"Home.md"}}}},
      {"note_write", {{"path", "W.md"}, {"body", "one"}, {"frontmatter", {{"k", 1}}}}},
      {"note_patch",
       {{"path", "W.md"}, {"ops", Json::array({{{"op", "append_body"}, {"markdown", "two"}}})}}},
      {"note_move", {{"from", "W.md"}, {"to", "V.md"}}},
      {"document_map", kNote},
      {"note_history", {{"path", "V.md"}}},
      {"note_diff", {{"path", "V.md"}, {"from", 1}}},
      {"note_restore", {{"path", "V.md"}, {"version", 1}}},
      {"note_delete", {{"path", "V.md"}}},
      {"vault_search", {{"q", "frost"}, {"limit", 3}}},
      {"note_similar", kNote},
      {"tag_list", Json::object()},
      {"tag_notes", {{"tag", "meeting"}}},
      {"tag_rename", {{"from", "meeting"}, {"to", "gathering"}}},
      {"property_list", Json::object()},
      {"property_values", {{"name", "tags"}}},
      {"property_rename", {{"from", "none"}, {"to", "other"}, {"dry_run", true}}},
      {"task_list", {{"limit", 3}}},
      {"recent_changes", Json::object()},
      {"daily_path", Json::object()},
      {"daily_append", {{"markdown", "x"}}},
      {"daily_read", Json::object()},
      {"link_forward", kNote},
      {"link_backlinks", {{"path", "people/Mei Tanaka.md"}}},
      {"link_unresolved", {{"limit", 3}}},
      {"link_orphans", {{"limit", 3}}},
      {"link_resolve", {{"link", "Home"}}},
      {"unlinked_mentions", {{"path", "people/Mei Tanaka.md"}}},
      {"graph_neighbors", {{"path", "Home.md"}, {"depth", 2}}},
      {"graph_edges", {{"limit", 3}}},
      {"canvas_read", {{"path", "boards/Season plan.canvas"}}},
      {"canvas_write", {{"path", "boards/B.canvas"}, {"canvas", nodes}}},
      {"canvas_patch",
       {{"path", "boards/B.canvas"}, {"ops", Json::array({{{"op", "add_node"}, {"node", node}}})}}},
      {"base_query", {{"path", "boards/Projects.base"}, {"limit", 3}}},
      {"base_query_inline", {{"definition", "views:\n  - type: table\n    name: All\n"}}},
      {"attachment_list", Json::object()},
      {"attachment_read", {{"path", "attachments/bed-map.svg"}}},
      {"attachment_write", {{"path", "attachments/n.txt"}, {"content_text", "n"}}},
      {"attachment_upload", {{"name", "u.txt"}, {"content_text", "u"}}},
      {"attachment_delete", {{"path", "attachments/n.txt"}}},
      {"vault_config_get", {{"key", "http.workers"}}},
      {"vault_config_set", {{"values", {{"http.workers", 16}}}}},
      {"vault_reindex", Json::object()},
      {"vault_index_paths", {{"paths", {"Home.md"}}}},
      {"vault_doctor", Json::object()},
      {"vault_prune", Json::object()},
      {"job_list", Json::object()},
      {"job_get", {{"id", job}}},
      {"job_events", {{"id", job}}},
      {"job_result", {{"id", job}}},
      {"job_revert", {{"id", job}, {"dry_run", true}}},
      {"job_redrive", {{"dry_run", true}}},
      {"queue_status", Json::object()},
      {"queue_pause", {{"kind", "ai_tag"}}},
      {"queue_resume", {{"kind", "ai_tag"}}},
      {"schedule_set", {{"name", "nightly"}, {"kind", "vault_reindex"}, {"cron", "0 3 * * *"}}},
      {"schedule_list", Json::object()},
      {"schedule_delete", {{"name", "nightly"}}},
      {"token_create", {{"name", "t"}}},
      {"token_list", Json::object()},
      {"ai_status", Json::object()},
      {"ai_tag", {{"scope", kInbox}}},
      {"ai_metadata",
       {{"scope", kInbox}, {"fields", Json::array({{{"key", "summary"}, {"type", "string"}}})}}},
      {"ai_extract", {{"scope", kMeeting}, {"schema", kRecord}}},
      {"ai_summarize", {{"scope", kInbox}}},
      {"ai_relate", {{"source", {{"kind", "path"}, {"path", "inbox/Frost night.md"}}}}},
      {"ai_toc", {{"mode", "note"}, {"path", "Home.md"}}},
      {"ai_ask", {{"question", "What is done in a frost night?"}}},
      // What cannot go well: the job has ended, and there is no such token. Their texts count.
      {"job_cancel", {{"id", job}}},
      {"job_pause", {{"id", job}}},
      {"job_resume", {{"id", job}}},
      {"job_retry", {{"id", job}}},
      {"token_revoke", {{"id", "none"}}}};
  const std::set<std::string> may_fail = {"job_result", "job_cancel", "job_pause",
                                          "job_resume", "job_retry",  "token_revoke"};

  std::map<std::string, std::string> tool_of;  // by operation
  for (const Json& tool : client.list()) {
    const Json fields = tool["inputSchema"]["properties"];
    if (!fields.contains("action") || !fields["action"].contains("enum"))
      tool_of[tool["name"]] = tool["name"];
    else
      for (const Json& action : fields["action"]["enum"]) tool_of[action] = tool["name"];
  }
  std::set<std::string> called;
  for (auto [operation, arguments] : lines) {
    INFO(operation << " " << arguments.dump());
    called.insert(operation);
    REQUIRE(tool_of.contains(operation));
    if (tool_of[operation] != operation) arguments["action"] = operation;
    const Json told = client.call(tool_of[operation], arguments);
    INFO(told.dump().substr(0, 1000));
    REQUIRE(told["content"].size() >= 2);
    const Json first = told["content"][0]["text"], second = told["content"][1]["text"];
    if (told["isError"] == true) {
      CHECK(may_fail.contains(operation));
      CHECK(Json::parse(first.get<std::string>())["code"].is_string());
      CHECK_FALSE(second.get<std::string>().empty());
      CHECK_FALSE(told.contains("structuredContent"));
      continue;
    }
    CHECK_FALSE(first.get<std::string>().empty());
    CHECK(Json::parse(second.get<std::string>()) == told["structuredContent"]);
    // Whole, and not the handle of a job that goes on.
    CHECK_FALSE((told["structuredContent"].contains("job_id") &&
                 told["structuredContent"].contains("status")));
  }
  for (const auto& [operation, tool] : tool_of) {
    INFO(operation);
    CHECK(called.contains(operation));
  }
}

TEST_CASE("the lists of tools, resources and prompts are enough to begin with",
          "[end_to_end][B13]") {
  const TempFolder vault;
  copy_sample(vault);
  RunningServer server(vault, {}, kToolEnv);
  const McpHttpClient client(server);

  const Json resources = client.post("resources/list", Json::object()).body["result"];
  const Json prompts = client.post("prompts/list", Json::object()).body["result"];
  Json search, read;
  for (const auto& tool : client.list()) {
    if (tool["name"] == "vault_search") search = tool;
    if (tool["name"] == "note_read") read = tool;
  }

  // What each needs is in its schema alone.
  REQUIRE(search["inputSchema"]["required"] == Json::array({"q"}));
  REQUIRE(read["inputSchema"]["required"] == Json::array({"path"}));
  const Json found = client.call("vault_search", {{"q", "frost"}})["structuredContent"];
  REQUIRE_FALSE(found["results"].empty());
  const Json note = client.call("note_read", {{"path", found["results"][0]["path"]}});
  CHECK_FALSE(note["structuredContent"]["body"].get<std::string>().empty());

  REQUIRE_FALSE(resources["resources"].empty());
  const Json uri = resources["resources"][0]["uri"];
  CHECK(client.post("resources/read", {{"uri", uri}}).body["result"].contains("contents"));
  REQUIRE_FALSE(prompts["prompts"].empty());
  const Json got = client.post("prompts/get", {{"name", "vault_summary"}}).body["result"];
  CHECK_FALSE(got["messages"].empty());
}

TEST_CASE("a safe call is replayed until the vault changes, by whatever hand", "[end_to_end][B6]") {
  const TempFolder vault;
  copy_sample(vault);
  RunningServer server(vault, {}, kToolEnv);
  const McpHttpClient client(server);
  const Json listing = {{"path_glob", "inbox/**"}};
  const auto is_replayed = [](const Json& result) {
    return result.contains("_meta") && result["_meta"].value("indx/replayed", false);
  };

  // A file must have rested for a moment before its times can tell of a change.
  CHECK(wait_until([&] { return is_replayed(client.call("note_read", kNote)); }));
  CHECK(wait_until([&] { return is_replayed(client.call("note_list", listing)); }));

  vault.write("Home.md", "# Changed by an editor\n");
  const Json after = client.call("note_read", kNote);
  CHECK_FALSE(is_replayed(after));
  CHECK(after["structuredContent"]["body"] == "# Changed by an editor\n");

  server.call("PUT", "/v1/notes/inbox/Fresh.md", {{"body", "fresh"}});
  CHECK(wait_until([&] {
    return client.call("note_list", listing).dump().find("inbox/Fresh.md") != std::string::npos;
  }));
}

TEST_CASE("errors of the core come through a tool with code, message, details and a next step",
          "[end_to_end][B5][B10]") {
  const TempFolder vault;
  copy_sample(vault);
  RunningServer server(vault, {}, kToolEnv);
  const McpHttpClient client(server);
  struct Mistake {
    std::string tool;
    Json arguments;
    std::string code;
  };
  const std::vector<Mistake> mistakes = {
      {"note_read", Json::object(), "validation_failed"},
      {"note_read", {{"path", "../x.md"}}, "validation_failed"},
      {"note_read", {{"path", "No such.md"}}, "not_found"},
      {"note_write", {{"path", "Home.md"}, {"body", "x"}, {"if_match", "0000"}}, "etag_mismatch"},
      {"note_write", {{"path", "Home.md"}, {"body", "x"}, {"if_not_exists", true}}, "conflict"},
      {"note_patch",
       {{"path", "Home.md"},
        {"ops", Json::array({{{"op", "replace_section"}, {"markdown", "x"}}})}},
       "validation_failed"},
      {"note_patch",
       {{"path", "Home.md"},
        {"ops",
         Json::array({{{"op", "replace_section"}, {"heading", "None"}, {"markdown", "x"}}})}},
       "target_not_found"},
      {"vault_lists", {{"action", "nothing"}}, "validation_failed"}};
  for (const auto& [tool, arguments, code] : mistakes) {
    INFO(tool << " " << arguments.dump());
    const Json told = client.call(tool, arguments);
    INFO(told.dump());
    CHECK(told["isError"] == true);
    CHECK_FALSE(told.contains("structuredContent"));
    const Json body = Json::parse(told["content"][0]["text"].get<std::string>());
    CHECK(body["code"] == code);
    CHECK_FALSE(body["message"].get<std::string>().empty());
    CHECK(body["details"].is_object());
    CHECK(told["content"].size() == 2);
  }

  const Json reader = server.make_token({"vault:read"});
  const McpHttpClient reading(server, reader["token"].get<std::string>());
  for (const auto& [tool, arguments] : kAiWrites) {
    INFO(tool);
    const Json refused = reading.call(tool, arguments);
    CHECK(refused["isError"] == true);
    CHECK(Json::parse(refused["content"][0]["text"].get<std::string>())["code"] == "forbidden");
  }
  CHECK(server.call("GET", "/v1/notes/Map.md").status == 404);
}

TEST_CASE("the rest of a result that is too long for one answer comes in pages",
          "[end_to_end][B4]") {
  constexpr int kNotes = 200;
  const TempFolder vault;
  for (int i = 0; i < kNotes; ++i)
    vault.write(
        cat("heap/Note ", 100 + i, ".md"),
        cat("# Compost ", i, "\n\nCompost and wood keep the heap of garden ", i, " warm.\n"));
  RunningServer server(vault, {}, {{"INDX_AI_PROVIDER", "builtin"}});
  const McpHttpClient client(server);

  const Json cut = client.call("ai_tag", {{"scope", {{"kind", "glob"}, {"path_glob", "heap/**"}}}});
  const std::string summary = cut["content"][0]["text"];
  INFO(summary);
  CHECK(cut["structuredContent"].dump().size() < 40'000);
  const std::string id = cut["_meta"]["indx/job_id"];
  CHECK(cut["structuredContent"]["job_id"] == id);
  const std::string notice = cut["structuredContent"]["result_cut"];
  CHECK(summary.ends_with(notice));
  REQUIRE(summary.find("action job_result, id " + id + " and list ") != std::string::npos);
  CHECK(summary.find("suggestions or ") != std::string::npos);

  std::set<std::string> seen;
  Json arguments = {{"action", "job_result"}, {"id", id}, {"list", "suggestions"}, {"limit", 1000}};
  for (int page = 0; page < kNotes; ++page) {
    const Json told = client.call("vault_lists", arguments);
    INFO(told.dump());
    REQUIRE(told["isError"] == false);
    const Json answer = told["structuredContent"];
    CHECK(answer.dump().size() < 40'000);
    CHECK_FALSE(told.value("_meta", Json::object()).contains("indx/cut"));
    for (const Json& item : answer["items"]) CHECK(seen.insert(item["path"]).second);
    if (!answer.contains("next_cursor") || answer["next_cursor"].is_null()) break;
    arguments["cursor"] = answer["next_cursor"];
  }
  CHECK(seen.size() == kNotes);
}

TEST_CASE("a server without AI refuses its tools, and does not list them", "[end_to_end][B11]") {
  const TempFolder vault;
  copy_sample(vault);
  RunningServer server(vault, {},
                       {{"INDX_AI_PROVIDER", "none"}, {"INDX_EMBEDDINGS_PROVIDER", "none"}});
  const McpHttpClient client(server);

  for (const auto& tool : client.list())
    CHECK(tool["name"].get<std::string>().rfind("ai_", 0) != 0);
  const Json told = client.call("ai_ask", {{"question", "q"}});
  CHECK(told["isError"] == true);
  CHECK(Json::parse(told["content"][0]["text"].get<std::string>())["code"] == "ai_unavailable");
}

TEST_CASE("one call tells an agent what AI there is, and resources of it are offered",
          "[end_to_end][B14]") {
  const TempFolder vault;
  copy_sample(vault);
  RunningServer server(vault, {}, kToolEnv);
  const McpHttpClient client(server);

  const Json told = client.call("ai_status", Json::object())["structuredContent"];
  CHECK(told["provider"] == "builtin");
  CHECK(told["model"].is_string());
  CHECK(told["cache"]["enabled"].is_boolean());
  CHECK(told["spend_today_usd"] == 0.0);

  std::set<std::string> templates;
  const Json offered = client.post("resources/templates/list", Json::object()).body["result"];
  for (const Json& row : offered["resourceTemplates"])
    templates.insert(row["uriTemplate"].get<std::string>());
  CHECK(std::any_of(templates.begin(), templates.end(),
                    [](const auto& uri) { return uri.starts_with("ai://summary/"); }));
  CHECK(std::any_of(templates.begin(), templates.end(),
                    [](const auto& uri) { return uri.starts_with("ai://moc/"); }));
}

}  // namespace indx
