#include "ops/openapi.hpp"
#include "ops/operation.hpp"

#include <catch2/catch.hpp>

#include <regex>
#include <set>

namespace indx {
namespace {

/// Calls `visit` for the node and everything below it.
void walk_nodes(const SchemaNode& node, const std::string& path,
                const std::function<void(const SchemaNode&, const std::string&)>& visit) {
  visit(node, path);
  if (node.items) walk_nodes(*node.items, path + "[]", visit);
  for (const auto& property : node.properties)
    walk_nodes(property.schema, path + "." + property.name, visit);
}

TEST_CASE("operations are listed once, in order, under good names", "[contract][B3]") {
  const Registry registry = make_registry();
  std::vector<std::string> names;
  std::set<std::string> unique_names, routes, words;

  for (const auto& operation : registry.all()) {
    INFO(operation.name);
    names.push_back(operation.name);
    CHECK(std::regex_match(operation.name, std::regex("[a-z]+(_[a-z]+)+")));
    CHECK(operation.name.size() <= 48);
    CHECK(unique_names.insert(operation.name).second);
    CHECK(routes.insert(operation.route.method + " " + operation.route.pattern).second);
    CHECK(words.insert(operation.cli).second);
    CHECK(registry.find(operation.name) == &operation);
  }

  CHECK(names == std::vector<std::string>{"vault_status",
                                          "note_list",
                                          "note_read",
                                          "note_outline",
                                          "note_exists",
                                          "note_write",
                                          "note_patch",
                                          "note_delete",
                                          "note_move",
                                          "notes_read",
                                          "document_map",
                                          "note_history",
                                          "note_diff",
                                          "note_restore",
                                          "vault_search",
                                          "note_similar",
                                          "tag_list",
                                          "tag_notes",
                                          "tag_rename",
                                          "property_rename",
                                          "property_list",
                                          "property_values",
                                          "task_list",
                                          "recent_changes",
                                          "daily_path",
                                          "daily_read",
                                          "daily_append",
                                          "link_forward",
                                          "link_backlinks",
                                          "link_unresolved",
                                          "link_orphans",
                                          "link_resolve",
                                          "unlinked_mentions",
                                          "graph_neighbors",
                                          "graph_edges",
                                          "canvas_read",
                                          "canvas_write",
                                          "canvas_patch",
                                          "base_query",
                                          "base_query_inline",
                                          "attachment_list",
                                          "attachment_read",
                                          "attachment_write",
                                          "attachment_upload",
                                          "attachment_delete",
                                          "vault_config_get",
                                          "vault_config_set",
                                          "vault_reindex",
                                          "vault_index_paths",
                                          "vault_doctor",
                                          "vault_prune",
                                          "vault_embed",
                                          "job_list",
                                          "job_get",
                                          "job_events",
                                          "job_result",
                                          "job_cancel",
                                          "job_revert",
                                          "job_pause",
                                          "job_resume",
                                          "job_retry",
                                          "job_redrive",
                                          "queue_status",
                                          "queue_pause",
                                          "queue_resume",
                                          "schedule_list",
                                          "schedule_set",
                                          "schedule_delete",
                                          "token_create",
                                          "token_list",
                                          "token_revoke",
                                          "ai_status",
                                          "ai_tag",
                                          "ai_metadata",
                                          "ai_extract",
                                          "ai_summarize",
                                          "ai_relate",
                                          "ai_toc",
                                          "ai_ask"});
}

TEST_CASE("routes and CLI words are those of the requirements",
          "[contract][A16][A17][A19][A20][A21][A45][A49][A50][A51][A60][A75][A76][A95][D77]") {
  const Registry registry = make_registry();
  const auto is = [&](const char* name, const char* method, const char* pattern, const char* cli) {
    const Operation& operation = *registry.find(name);
    INFO(name);
    CHECK(operation.route.method == method);
    CHECK(operation.route.pattern == pattern);
    CHECK(operation.cli == cli);
  };

  is("note_read", "GET", "/v1/notes/{path}", "note get");
  is("note_list", "GET", "/v1/notes", "note list");
  is("note_exists", "HEAD", "/v1/notes/{path}", "note exists");
  is("note_write", "PUT", "/v1/notes/{path}", "note update");
  is("note_patch", "PATCH", "/v1/notes/{path}", "note patch");
  is("note_delete", "DELETE", "/v1/notes/{path}", "note delete");
  is("note_move", "POST", "/v1/notes/{from}/move", "note move");
  is("link_forward", "GET", "/v1/links/{path}/forward", "link forward");
  is("link_backlinks", "GET", "/v1/links/{path}/backlinks", "link backlinks");
  is("link_unresolved", "GET", "/v1/links/unresolved", "link unresolved");
  is("link_orphans", "GET", "/v1/links/orphans", "link orphans");
  is("tag_list", "GET", "/v1/tags", "tag list");
  is("tag_notes", "GET", "/v1/tags/{tag}/notes", "tag notes");
  is("tag_rename", "POST", "/v1/tags/rename", "tag rename");
  is("vault_search", "GET", "/v1/search", "search");
  is("note_similar", "GET", "/v1/similar/{path}", "note similar");
  is("vault_embed", "POST", "/v1/vault/embed", "vault embed");
  is("vault_status", "GET", "/v1/vault/status", "vault status");
  is("canvas_read", "GET", "/v1/canvas/{path}", "canvas get");
  is("canvas_write", "PUT", "/v1/canvas/{path}", "canvas create");
  is("canvas_patch", "PATCH", "/v1/canvas/{path}", "canvas patch");
  is("vault_config_get", "GET", "/v1/vault/config", "vault config get");
  is("vault_config_set", "PUT", "/v1/vault/config", "vault config set");
  is("attachment_read", "GET", "/v1/files/{path}", "attachment get");
  is("attachment_write", "PUT", "/v1/files/{path}", "attachment put");
  is("vault_reindex", "POST", "/v1/vault/reindex", "vault index");
  is("vault_index_paths", "POST", "/v1/vault/index-paths", "vault index-paths");
  is("base_query", "GET", "/v1/bases/{path}/query", "base query");
  is("base_query_inline", "POST", "/v1/bases/query", "base query-inline");
  is("vault_doctor", "POST", "/v1/vault/doctor", "doctor");
  is("vault_prune", "POST", "/v1/vault/prune", "vault prune");
  is("schedule_list", "GET", "/v1/schedules", "schedule list");
  is("schedule_set", "PUT", "/v1/schedules/{name}", "schedule set");
  is("schedule_delete", "DELETE", "/v1/schedules/{name}", "schedule delete");
  is("job_cancel", "POST", "/v1/jobs/{id}/cancel", "job cancel");
  is("job_pause", "POST", "/v1/jobs/{id}/pause", "job pause");
  is("job_resume", "POST", "/v1/jobs/{id}/resume", "job resume");
  is("job_retry", "POST", "/v1/jobs/{id}/retry", "job retry");
  is("job_redrive", "POST", "/v1/jobs/redrive", "job redrive");
  is("job_events", "GET", "/v1/jobs/{id}/history", "job events");
  is("job_result", "GET", "/v1/jobs/{id}/result", "job result");
  is("queue_status", "GET", "/v1/queue", "queue status");
  is("job_revert", "POST", "/v1/jobs/{id}/revert", "job revert");
  is("ai_status", "GET", "/v1/ai/status", "ai status");
  is("ai_tag", "POST", "/v1/ai/tag", "ai tag");
  is("ai_metadata", "POST", "/v1/ai/metadata", "ai metadata");
  is("ai_extract", "POST", "/v1/ai/extract", "ai extract");
  is("ai_summarize", "POST", "/v1/ai/summarize", "ai summarize");
  is("ai_relate", "POST", "/v1/ai/relate", "ai relate");
  is("ai_toc", "POST", "/v1/ai/toc", "ai toc");
  is("ai_ask", "POST", "/v1/ai/ask", "ai ask");
}

TEST_CASE("each operation is described, scoped and consistent", "[contract]") {
  const Registry registry = make_registry();
  for (const auto& operation : registry.all()) {
    INFO(operation.name);
    CHECK(operation.summary.ends_with("."));
    CHECK_FALSE(operation.scopes.empty());
    CHECK(operation.handler);
    CHECK((operation.execution == Execution::Sized) == static_cast<bool>(operation.size));
    if (operation.needs == Needs::Files) {
      CHECK(operation.effect == Effect::Reads);
      CHECK(operation.execution == Execution::Inline);
      CHECK_FALSE((operation.needs_provider || operation.takes_file));
    }
    CHECK(operation.input->type == SchemaNode::Type::Object);
    CHECK(operation.output->type == SchemaNode::Type::Object);
    for (const auto& word : operation.cli_positional) CHECK(operation.input->find(word) != nullptr);
    const std::regex field("\\{([a-z_]+)\\}");
    const std::string& pattern = operation.route.pattern;
    for (auto it = std::sregex_iterator(pattern.begin(), pattern.end(), field);
         it != std::sregex_iterator(); ++it) {
      const auto* property = operation.input->find((*it)[1].str());
      REQUIRE(property != nullptr);
      CHECK(property->is_required);
    }
    CHECK((operation.input->find("idempotency_key") != nullptr) ==
          operation.takes_idempotency_key());
    for (const auto* schema : {&*operation.input, &*operation.output})
      walk_nodes(*schema, operation.name, [](const SchemaNode& node, const std::string& path) {
        INFO(path);
        const bool is_list =
            node.type == SchemaNode::Type::Array || node.type == SchemaNode::Type::Map;
        CHECK(is_list == (node.items != nullptr));
        bool optional_seen = false;
        for (const auto& property : node.properties) {
          CHECK_FALSE(property.schema.description.empty());
          CHECK_FALSE((property.is_required && optional_seen));
          optional_seen = optional_seen || !property.is_required;
        }
      });
  }
}

TEST_CASE(
    "every answer that comes in pages names the list that the pages bring, or is streamed whole",
    "[contract][A24][A26]") {
  // Where an output holds several lists only people can tell. Empty: no list alone is the answer.
  const std::map<std::string, std::string> chosen = {{"base_query", "rows"},
                                                     {"base_query_inline", "rows"},
                                                     {"graph_neighbors", ""},
                                                     {"notes_read", "notes"},
                                                     {"vault_search", "results"}};
  const Registry registry = make_registry();
  for (const auto& operation : registry.all()) {
    INFO(operation.name);
    const bool is_paged = operation.output->find("next_cursor") != nullptr;
    std::vector<std::string> lists;
    for (const auto& property : operation.output->properties)
      if (property.schema.type == SchemaNode::Type::Array) lists.push_back(property.name);
    const auto choice = chosen.find(operation.name);
    if (is_paged) {
      REQUIRE_FALSE(lists.empty());
      REQUIRE((choice != chosen.end()) == (lists.size() > 1));
      CHECK(operation.list == (choice != chosen.end() ? choice->second : lists[0]));
    }
    if (operation.list.empty()) continue;
    REQUIRE(operation.output->find(operation.list) != nullptr);
    CHECK(operation.output->find(operation.list)->schema.type == SchemaNode::Type::Array);
    if (!is_paged) continue;
    CHECK(operation.input->find("cursor") != nullptr);
    REQUIRE(operation.input->find("limit") != nullptr);
  }
}

TEST_CASE("columns of cells and whole texts are members of the output", "[contract]") {
  const Registry registry = make_registry();
  for (const auto& operation : registry.all()) {
    INFO(operation.name);
    if (!operation.text.empty()) {
      const auto* text = operation.output->find(operation.text);
      REQUIRE(text != nullptr);
      CHECK(text->schema.type == SchemaNode::Type::String);
      CHECK_FALSE(text->is_required);
    }
    CHECK(operation.cells.cells.empty() == operation.cells.columns.empty());
    if (operation.cells.cells.empty()) continue;
    const auto* columns = operation.output->find(operation.cells.columns);
    REQUIRE(columns != nullptr);
    for (const auto* name : {"id", "name"}) CHECK(columns->schema.items->find(name) != nullptr);
    const auto* list = operation.output->find(operation.list);
    REQUIRE(list != nullptr);
    CHECK(list->schema.items->find(operation.cells.cells) != nullptr);
  }
}

TEST_CASE("the OpenAPI routes are those of the registry, AI ones only with a provider",
          "[contract][A86]") {
  const Registry registry = make_registry();
  for (const AiRoles roles :
       {AiRoles{true, true}, AiRoles{true, false}, AiRoles{false, true}, AiRoles{false, false}}) {
    const Json document = openapi_document(registry, roles);
    std::set<std::string> ids;
    for (const auto& [pattern, methods] : document["paths"].items())
      for (const auto& [method, operation] : methods.items())
        CHECK(ids.insert(operation["operationId"].get<std::string>()).second);
    std::set<std::string> expected = {"events",  "job_stream", "healthz", "readyz",
                                      "version", "health",     "metrics"};
    for (const auto& operation : registry.all())
      if (operation.is_listed(roles)) expected.insert(operation.name);
    CHECK(ids == expected);
  }
}

TEST_CASE("every operation that asks a model can be streamed, and says so",
          "[contract][C18][D42]") {
  const Registry registry = make_registry();
  const Json document = openapi_document(registry, {true, true});
  int count = 0;
  for (const auto& operation : registry.all()) {
    INFO(operation.name);
    if (operation.needs_provider && operation.is_ai) CHECK(operation.streams_answer());
    if (!operation.streams_answer()) continue;
    ++count;
    const auto* field = operation.input->find("stream");
    REQUIRE(field != nullptr);
    CHECK(field->schema.type == SchemaNode::Type::Boolean);
    CHECK_FALSE(field->is_required);
    CHECK(operation.stream_prefix() == "ai.");
    const Json& responses = document["paths"][operation.route.pattern]["post"]["responses"];
    CHECK(responses["200"]["content"].contains("text/event-stream"));
  }
  CHECK(count >= 4);
}

TEST_CASE("operations are visible by scope and provider", "[contract][B11][A81]") {
  const Registry registry = make_registry();
  const auto names = [&](std::set<Scope> scopes, bool has_ai) {
    Principal principal;
    principal.scopes = std::move(scopes);
    std::set<std::string> result;
    for (const auto* operation : registry.visible_to(principal, {has_ai, has_ai}))
      result.insert(operation->name);
    return result;
  };

  CHECK(names({Scope::VaultAdmin}, true).size() == registry.all().size());
  CHECK(names({Scope::VaultRead}, true).contains("ai_tag"));
  CHECK_FALSE(names({Scope::VaultRead}, true).contains("note_write"));
  for (const auto& name : names({Scope::VaultAdmin}, false)) CHECK(name.substr(0, 3) != "ai_");
  CHECK_FALSE(names({Scope::VaultWrite}, true).contains("vault_reindex"));
  CHECK(names({Scope::VaultRead}, true).contains("job_pause"));
  for (const auto* name : {"queue_status", "queue_pause", "queue_resume"})
    CHECK_FALSE(names({Scope::VaultWrite}, true).contains(name));
}

}  // namespace
TEST_CASE("the style of an answer is neutral unless it is asked for", "[contract][D34]") {
  const Registry registry = make_registry();
  for (const auto* name : {"ai_ask", "ai_summarize"}) {
    const auto* style = registry.find(name)->input->find("style");
    REQUIRE(style != nullptr);
    const Json schema = to_json_schema(style->schema);
    CHECK(schema["default"] == "neutral");
    CHECK(schema["enum"][0] == "neutral");
  }
}

}  // namespace indx
