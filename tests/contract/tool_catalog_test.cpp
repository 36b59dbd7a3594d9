#include "mcp/catalog.hpp"
#include "mcp/json_rpc.hpp"
#include "mcp/tools.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

namespace indx {
namespace {

const std::vector<std::set<Scope>> kTokenKinds = {
    {Scope::VaultRead},
    {Scope::VaultRead, Scope::VaultWrite},
    {Scope::VaultRead, Scope::VaultWrite, Scope::VaultAdmin},
    {Scope::VaultAdmin}};
const std::vector<AiRoles> kRoleKinds = {
    {}, {.chat = true}, {.embeddings = true}, {.chat = true, .embeddings = true}};

Principal holder_of(std::set<Scope> scopes) {
  Principal principal;
  principal.subject = "t";
  principal.surface = Surface::Mcp;
  principal.scopes = std::move(scopes);
  return principal;
}

const Registry& whole_registry() {
  static const Registry registry = make_registry();
  return registry;
}

Json catalog_of(std::set<Scope> scopes, const AiRoles& roles = {true, true},
                const Protocol& protocol = protocols().front()) {
  const Principal principal = holder_of(std::move(scopes));
  Json tools = Json::array();
  for (const Tool& tool : tools_of(whole_registry(), principal, roles))
    tools.push_back(tool_descriptor(tool, principal, protocol));
  return tools;
}

bool has_required_first(const Json& schema) {
  const Json required = schema.value("required", Json::array());
  std::set<std::string> first;
  for (const auto& [name, property] : schema["properties"].items())
    if (first.size() < required.size()) first.insert(name);
  return std::all_of(required.begin(), required.end(),
                     [&](const Json& name) { return first.contains(name.get<std::string>()); });
}

std::set<std::string> tool_names(const Json& catalog) {
  std::set<std::string> names;
  for (const auto& tool : catalog) names.insert(tool["name"].get<std::string>());
  return names;
}

Json tool_in(const Json& catalog, const std::string& name) {
  for (const auto& tool : catalog)
    if (tool["name"] == name) return tool;
  return Json();
}

enum class Side : std::uint8_t { Input, Output };

/// mcp.md section 9 for one node and everything below it; counts what it saw.
void lint_node(const Json& node, Side side, const std::string& where, int depth, int& seen) {
  INFO(where);
  ++seen;
  REQUIRE(node.is_object());
  REQUIRE(node.contains("type"));
  REQUIRE(node["type"].is_string());
  CHECK(depth <= 8);
  static const std::set<std::string> types = {"object", "array",   "string",
                                              "number", "integer", "boolean"};
  CHECK(types.contains(node["type"].get<std::string>()));
  static const std::set<std::string> allowed = {
      "type",     "description", "enum",    "items",   "properties",          "required",
      "minItems", "default",     "minimum", "maximum", "additionalProperties"};
  for (const auto& [key, value] : node.items()) {
    INFO(key);
    CHECK(allowed.contains(key));
  }
  if (node.contains("enum")) {
    CHECK(node["type"] == "string");
    CHECK_FALSE(node["enum"].empty());
    for (const auto& name : node["enum"]) CHECK(name.is_string());
  }
  if (node["type"] == "array") {
    REQUIRE(node.contains("items"));
    lint_node(node["items"], side, where + "[]", depth + 1, seen);
  }
  if (node["type"] != "object") return;
  REQUIRE(node.contains("properties"));
  const Json others = node.value("additionalProperties", Json());
  if (others.is_object()) lint_node(others, side, where + ".*", depth + 1, seen);
  if (side == Side::Input && depth == 0) CHECK(others == false);
  for (const auto& name : node.value("required", Json::array()))
    CHECK(node["properties"].contains(name.get<std::string>()));
  for (const auto& [name, child] : node["properties"].items()) {
    CHECK(std::regex_match(name, std::regex("[A-Za-z0-9_.-]{1,64}")));
    lint_node(child, side, where + "." + name, depth + 1, seen);
  }
}

}  // namespace

TEST_CASE("every schema of every catalog is in the subset that passes on all hosts",
          "[contract][B3][mcp-1][mcp-2][mcp-3]") {
  int seen = 0;
  for (const auto& scopes : kTokenKinds)
    for (const auto& roles : kRoleKinds)
      for (const Protocol& protocol : protocols())
        for (const auto& tool : catalog_of(scopes, roles, protocol)) {
          const auto name = tool["name"].get<std::string>();
          REQUIRE(tool["inputSchema"]["type"] == "object");
          CHECK(tool["inputSchema"]["additionalProperties"] == false);
          CHECK(has_required_first(tool["inputSchema"]));
          lint_node(tool["inputSchema"], Side::Input, name, 0, seen);
          if (!tool.contains("outputSchema")) continue;
          REQUIRE(tool["outputSchema"]["type"] == "object");
          lint_node(tool["outputSchema"], Side::Output, name + " output", 0, seen);
        }
  CHECK(seen > 5000);
}

TEST_CASE("every tool has a good name, a title, a short description and all four hints",
          "[contract][B3][mcp-4]") {
  for (const auto& scopes : kTokenKinds) {
    std::set<std::string> names;
    for (const auto& tool : catalog_of(scopes)) {
      const auto name = tool["name"].get<std::string>();
      INFO(name);
      CHECK(std::regex_match(name, std::regex("[a-z][a-z0-9_]{0,47}")));
      CHECK(names.insert(name).second);
      CHECK_FALSE(tool["title"].get<std::string>().empty());
      CHECK(tool["title"].get<std::string>().size() <= 60);
      const auto description = tool["description"].get<std::string>();
      CHECK(description.size() < 1024);
      CHECK(description.find(". ") != std::string::npos);  // what it does, and then when to use it
      for (const auto* hint :
           {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"})
        CHECK(tool["annotations"][hint].is_boolean());
      CHECK_FALSE((tool["annotations"]["readOnlyHint"] == true &&
                   tool["annotations"]["destructiveHint"] == true));
    }
  }
}

TEST_CASE("a catalog is small enough for every host, and the same twice", "[contract]") {
  for (const auto& scopes : kTokenKinds) {
    const Json catalog = catalog_of(scopes);
    INFO(scopes.size() << " scopes: " << catalog.size() << " tools, " << dump_rpc(catalog).size()
                       << " bytes");
    CHECK(catalog.size() <= 40);
    CHECK(catalog == catalog_of(scopes));
  }
  for (const Protocol& protocol : protocols()) {  // each tells a little more or less of a tool
    const Json list = {
        {"tools", catalog_of({Scope::VaultRead, Scope::VaultWrite}, {true, true}, protocol)}};
    INFO(protocol.version << ": " << dump_rpc(list).size());
    CHECK(dump_rpc(list).size() < 60'000);
  }
}

TEST_CASE("every operation is a tool, or an action of one, and is found again by its name",
          "[contract][B2]") {
  std::set<std::string> reached;
  const Principal admin = holder_of({Scope::VaultAdmin});
  for (const Tool& tool : tools_of(whole_registry(), admin, {true, true})) {
    const auto found = find_tool(whole_registry(), tool.name);
    REQUIRE(found);
    for (const Operation* operation : tool.operations) {
      INFO(tool.name << " " << operation->name);
      CHECK(reached.insert(operation->name).second);
      CHECK((operation->tool_group.empty() ? operation->name : operation->tool_group) == tool.name);
      Json arguments = Json::object();
      if (tool.group) arguments[std::string(kActionField)] = operation->name;
      if (operation->takes_file) arguments["content_text"] = "x";
      const auto meant = tool_arguments(*found, arguments);
      REQUIRE(meant);
      CHECK(meant->operation == operation);
    }
  }
  for (const Operation& operation : whole_registry().all()) {
    INFO(operation.name);
    CHECK(reached.contains(operation.name));
    if (!operation.tool_group.empty()) CHECK_FALSE(find_tool(whole_registry(), operation.name));
  }
  CHECK(reached.size() == whole_registry().all().size());
}

TEST_CASE("reads and writes are never behind one tool", "[contract]") {
  const Principal admin = holder_of({Scope::VaultAdmin});
  for (const Tool& tool : tools_of(whole_registry(), admin, {true, true})) {
    INFO(tool.name);
    const bool reads = tool.operations.front()->effect == Effect::Reads;
    for (const Operation* operation : tool.operations)
      CHECK((operation->effect == Effect::Reads) == reads);
  }
}

TEST_CASE("the catalog of a read token shows no tool and no action that writes", "[contract][B9]") {
  const Json reader = catalog_of({Scope::VaultRead});
  const Json writer = catalog_of({Scope::VaultRead, Scope::VaultWrite});

  for (const auto& tool : reader) {
    INFO(tool["name"]);
    CHECK(tool["annotations"]["readOnlyHint"] == true);
  }
  for (const auto* name : {"note_write", "note_patch", "note_delete", "note_move", "tag_rename",
                           "canvas_write", "canvas_patch", "vault_manage", "job_manage"}) {
    INFO(name);
    CHECK_FALSE(tool_names(reader).contains(name));
    CHECK(tool_names(writer).contains(name));
  }
  const auto actions = [](const Json& catalog, const char* tool) {
    return tool_in(catalog, tool)["inputSchema"]["properties"]["action"]["enum"]
        .get<std::vector<std::string>>();
  };
  const auto has = [](const std::vector<std::string>& names, const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  CHECK(has(actions(reader, "vault_lists"), "task_list"));
  CHECK_FALSE(has(actions(reader, "vault_lists"), "token_list"));
  CHECK_FALSE(has(actions(writer, "vault_manage"), "token_create"));
  CHECK(has(actions(catalog_of({Scope::VaultAdmin}), "vault_manage"), "token_create"));
}

TEST_CASE("only an admin token sees reindexing and the configuration", "[contract][B48]") {
  for (const auto* name : {"vault_reindex", "vault_config_get", "vault_config_set"}) {
    INFO(name);
    CHECK_FALSE(tool_names(catalog_of({Scope::VaultRead, Scope::VaultWrite})).contains(name));
    CHECK(tool_names(catalog_of({Scope::VaultAdmin})).contains(name));
  }
}

TEST_CASE("a read token is not offered what applies or writes", "[contract][B10]") {
  const Json reader = catalog_of({Scope::VaultRead});
  const Json writer = catalog_of({Scope::VaultRead, Scope::VaultWrite});
  const std::map<std::string, std::vector<std::string>> hidden = {
      {"ai_tag", {"apply", "apply_mode", "if_match"}},
      {"ai_metadata", {"apply", "apply_mode", "if_match"}},
      {"ai_extract", {"apply", "apply_mode", "if_match"}},
      {"ai_toc", {"write"}}};

  for (const auto& [tool, fields] : hidden)
    for (const auto& field : fields) {
      INFO(tool << "." << field);
      CHECK_FALSE(tool_in(reader, tool)["inputSchema"]["properties"].contains(field));
      CHECK(tool_in(writer, tool)["inputSchema"]["properties"].contains(field));
    }
  CHECK(tool_in(reader, "ai_tag")["annotations"]["readOnlyHint"] == true);
  CHECK(tool_in(writer, "ai_tag")["annotations"]["readOnlyHint"] == false);
}

TEST_CASE("tools of AI are listed where their role is there", "[contract][B11]") {
  for (const auto& roles : kRoleKinds)
    for (const Operation& operation : whole_registry().all()) {
      if (!operation.is_ai || !operation.tool_group.empty()) continue;
      INFO(operation.name << " chat " << roles.chat << " embeddings " << roles.embeddings);
      CHECK(tool_names(catalog_of({Scope::VaultAdmin}, roles)).contains(operation.name) ==
            (operation.is_listed(roles) && roles.any()));
    }
}

TEST_CASE("the tools of AI take what their routes take", "[contract]") {
  const Json catalog = catalog_of({Scope::VaultRead, Scope::VaultWrite});
  int compared = 0;
  for (const Operation& operation : whole_registry().all()) {
    if (!operation.is_ai || !operation.tool_group.empty()) continue;
    INFO(operation.name);
    CHECK(tool_in(catalog, operation.name)["inputSchema"] == to_portable_schema(operation.input));
    ++compared;
  }
  CHECK(compared >= 8);
}

TEST_CASE("a group says which actions take a field, and what an action lacks is said when it runs",
          "[contract]") {
  const Json explore = tool_in(catalog_of({Scope::VaultRead}), "note_explore");
  const Json& fields = explore["inputSchema"]["properties"];
  CHECK(explore["inputSchema"]["required"] == Json::array({"action"}));
  CHECK(fields["direction"]["description"].get<std::string>().rfind("graph_neighbors: ", 0) == 0);
  const auto actions = fields["action"]["enum"].get<std::vector<std::string>>();
  for (const auto& action : actions)
    CHECK(fields["action"]["description"].get<std::string>().find(action + ": ") !=
          std::string::npos);

  const auto tool = find_tool(whole_registry(), "note_explore");
  REQUIRE(tool);
  const auto none = tool_arguments(*tool, {{"path", "a.md"}});
  REQUIRE_FALSE(none);
  CHECK(none.error().reason == Reason::ValidationFailed);
  CHECK(none.error().message.find("graph_neighbors") != std::string::npos);
  const auto wrong =
      tool_arguments(*tool, {{"action", "note_history"}, {"path", "a.md"}, {"direction", "in"}});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("graph_neighbors takes it") != std::string::npos);
  const auto filled = tool_arguments(
      *tool, {{"action", "note_history"}, {"path", "a.md"}, {"direction", ""}, {"date", nullptr}});
  REQUIRE(filled);
  CHECK(filled->input == Json{{"path", "a.md"}});
  CHECK(filled->repaired == std::vector<std::string>{"direction", "date"});
}

TEST_CASE("no text of a catalog has an empty part, a route, or an action that looks like a tool",
          "[contract]") {
  std::set<std::string> actions;
  for (const Operation& operation : whole_registry().all())
    if (!operation.tool_group.empty()) actions.insert(operation.name);
  for (const auto& scopes : kTokenKinds)
    for (const auto& tool : catalog_of(scopes)) {
      INFO(tool["name"]);
      const auto text = tool["description"].get<std::string>();
      CHECK(text.find("REST") == std::string::npos);
      CHECK(text.find("/v1/") == std::string::npos);
      if (!find_tool_group(tool["name"].get<std::string>()))
        for (const auto& action : actions) {
          INFO(action);
          const auto at = text.find(action);
          if (at != std::string::npos) CHECK(text.substr(0, at).ends_with("action "));
        }
      for (const auto& field : tool["inputSchema"]["properties"]) {
        const std::string told = field.value("description", "");
        INFO(told);
        CHECK(told.find(":  ") == std::string::npos);
        CHECK_FALSE(told.ends_with(": "));
        CHECK(told.rfind("Not ", 0) != 0);
      }
    }
}

TEST_CASE("a file comes with a call as text or base64, one of them", "[contract][B2]") {
  const auto tool = find_tool(whole_registry(), "vault_manage");
  REQUIRE(tool);
  Json arguments = {{"action", "attachment_write"}, {"path", "a.bin"}};
  CHECK_FALSE(tool_arguments(*tool, arguments));
  arguments["content_base64"] = "not base64!";
  CHECK_FALSE(tool_arguments(*tool, arguments));
  arguments["content_base64"] = "/w==";
  const auto given = tool_arguments(*tool, arguments);
  REQUIRE(given);
  REQUIRE(given->upload);
  CHECK(given->upload->bytes.read_all().value_or("") == "\xff");
  CHECK_FALSE(given->input.contains("content_base64"));
}

TEST_CASE("what asks a model can run as a job, so that it has a handle to answer with in time",
          "[contract][mcp-14]") {
  for (const Operation& operation : whole_registry().all()) {
    INFO(operation.name);
    if (operation.needs_provider) CHECK(operation.execution != Execution::Inline);
  }
}

TEST_CASE("note_patch takes each of its steps in the schema of REST and of MCP, and no other",
          "[contract][B38]") {
  const auto tool = find_tool(whole_registry(), "note_patch");
  REQUIRE(tool);
  const Operation& patch = *tool->operations.front();
  const Json descriptor = tool_in(catalog_of({Scope::VaultWrite}), "note_patch");
  CHECK(descriptor["title"] == "Edit a note with structured ops");
  for (const auto* field : {"path", "etag", "frontmatter", "outline", "body"})
    CHECK(descriptor["outputSchema"]["properties"].contains(field));

  const Json step = descriptor["inputSchema"]["properties"]["ops"]["items"];
  const auto ops = step["properties"]["op"]["enum"].get<std::set<std::string>>();
  const Json rest = to_json_schema(patch.input)["properties"]["ops"]["items"]["properties"]["op"];
  CHECK(rest["enum"].get<std::set<std::string>>() == ops);
  const std::map<std::string, Json> seeds = {
      {"set_frontmatter", {{"key", "k"}, {"value_json", "[1, 2]"}}},
      {"delete_frontmatter", {{"key", "k"}}},
      {"append_body", {{"markdown", "m"}}},
      {"prepend_body", {{"markdown", "m"}}},
      {"insert_before_heading", {{"heading", "H"}, {"markdown", "m"}}},
      {"insert_after_heading", {{"heading", "H"}, {"markdown", "m"}}},
      {"replace_section", {{"heading", "H"}, {"markdown", "m"}}},
      {"replace_block", {{"block_id", "b"}, {"markdown", "m"}}},
      {"rename_heading", {{"from", "A"}, {"to", "B"}}}};
  for (const auto& [op, fields] : seeds) {
    INFO(op);
    CHECK(ops.contains(op));
    Json given = fields;
    given["op"] = op;
    for (const auto& [name, value] : given.items()) CHECK(step["properties"].contains(name));
    const auto arguments = tool_arguments(*tool, {{"path", "a.md"}, {"ops", Json::array({given})}});
    REQUIRE(arguments);
    CHECK(validate(patch.input, arguments->input));
  }
  for (const auto* op : {"set_frontmatter ", "append", "replace", "", "drop_table"})
    CHECK_FALSE(validate(patch.input, {{"path", "a.md"}, {"ops", {{{"op", op}}}}}));
}

TEST_CASE("the line about a search is that of the requirements, and the same twice",
          "[contract][B4][B20]") {
  const Operation& search = *whole_registry().find("vault_search");
  const Json output = {{"results",
                        {{{"path", "Ops/Runbook.md"},
                          {"title", "Runbook"},
                          {"score", 0.81},
                          {"snippet", "…incident **runbook**…"}}}},
                       {"next_cursor", nullptr},
                       {"mode_used", "hybrid"}};
  const Json input = {{"q", "runbook"}};
  const Json result = tool_result(search, output, {}, protocols().front(), input);

  CHECK(result["content"][0]["text"] ==
        "Found 1 result for 'runbook' (hybrid). Top hit: Ops/Runbook.md (score 0.81).");
  CHECK(result == tool_result(search, output, {}, protocols().front(), input));
  CHECK(Json::parse(result["content"][1]["text"].get<std::string>()) ==
        result["structuredContent"]);
  const Json none = {{"results", Json::array()}, {"mode_used", "lexical"}};
  CHECK(tool_result(search, none, {}, protocols().front(), input)["content"][0]["text"] ==
        "Found 0 results for 'runbook' (lexical).");
}

}  // namespace indx
