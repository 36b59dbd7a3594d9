#include "mcp/synthetic_resources.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/resources.hpp"

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace indx {
namespace {

using Kind = ResourceUri::Kind;

/// How one resource without arguments, or one template, is shown.
struct Shown {
  std::string_view operation;
  std::string_view uri;  ///< of a template: RFC 6570
  std::string_view name, title, description;
  std::string_view mime_type;  ///< empty: it depends on the file
};

constexpr std::array<Shown, 2> kEntries = {{
    {"graph_edges", "vault://graph", "graph", "Link graph",
     "Links between the files of the vault as JSON {edges: [{source, target, count}], "
     "next_cursor}. More: vault://graph?cursor=<next_cursor>.",
     "application/json"},
    {"tag_list", "vault://tags", "tags", "Tags", "Every tag with the number of its notes, as JSON.",
     "application/json"},
}};

constexpr std::array<Shown, 9> kTemplates = {{
    {"note_read", "vault://{+path}", "file", "Note or file of the vault",
     "The exact bytes of a file by its vault-relative path, percent-encoded by segment. "
     "vault:///{+path} is always a path, also in folders named search, graph, tags, canvas or "
     "base. Subscribe to vault://Folder/** to hear of every change below a folder.",
     ""},
    {"vault_search", "vault://search{?q,mode,limit,cursor}", "search", "Search",
     "What vault_search finds for q, as JSON; mode is lexical, semantic or hybrid. A subscription "
     "tells when the results change.",
     "application/json"},
    {"graph_edges", "vault://graph{?cursor,limit}", "graph_page", "Page of the link graph",
     "Links between files, as JSON.", "application/json"},
    {"link_backlinks", "vault://graph/backlinks/{+path}", "backlinks", "Backlinks",
     "The files that link to a file, as JSON.", "application/json"},
    {"link_forward", "vault://graph/forward/{+path}", "forward_links", "Forward links",
     "The links of a note and what they reach, as JSON.", "application/json"},
    {"attachment_read", "vault://canvas/{+path}", "canvas", "Canvas",
     "The exact bytes of a .canvas file (JSON Canvas).", "application/json"},
    {"base_query", "vault://base/{+path}", "base", "Base",
     "The rows that the first view of a .base file gives, as JSON.", "application/json"},
    {"ai_summarize", "ai://summary/{scope}", "ai_summary", "Summary by AI",
     "ai_summarize for a scope, made when it is read. scope is a percent-encoded AiScope such as "
     "{\"kind\":\"glob\",\"path_glob\":\"Projects/**\"}.",
     "application/json"},
    {"ai_toc", "ai://moc/{scope}", "ai_moc", "Map of content by AI",
     "ai_toc in mode moc for a scope, made when it is read.", "application/json"},
}};

template <std::size_t size>
Json shown(const std::array<Shown, size>& rows, const char* uri_key, const Registry& registry,
           const Principal& principal, const AiRoles& roles, const Protocol& protocol) {
  Json list = Json::array();
  for (const Shown& row : rows) {
    const Operation* operation = registry.find(row.operation);
    if (!operation || !may_call(principal, *operation) || !operation->is_listed(roles)) continue;
    Json one = {{uri_key, row.uri}, {"name", row.name}, {"description", row.description}};
    if (protocol.has_structured_content) one["title"] = row.title;
    if (!row.mime_type.empty()) one["mimeType"] = row.mime_type;
    list.push_back(std::move(one));
  }
  return list;
}

/// The arguments of a query by the fields of the operation.
Result<Json> query_input(const ResourceUri& uri, const Operation& operation) {
  std::map<std::string, std::vector<std::string>> given;
  for (const auto& [key, value] : uri.query) given[key].push_back(value);
  Json input = Json::object();
  for (const auto& [key, values] : given) {
    const auto* field = operation.input->find(key);
    if (!field || key == "path")
      return invalid(cat("`", key, "` is not an argument of this resource; it takes those of ",
                         operation.name, "."),
                     {{"path", key}});
    input[key] = INDX_TRY(parse_text_value(field->schema, key, values));
  }
  return input;
}

bool is_note_path(std::string_view path) { return to_lower(path).ends_with(".md"); }

}  // namespace

std::string_view operation_name_of(const ResourceUri& uri) {
  switch (uri.kind) {
    case Kind::File:
      return is_note_path(uri.path) ? "note_read" : "attachment_read";
    case Kind::Glob:
      return "note_list";
    case Kind::Search:
      return "vault_search";
    case Kind::Graph:
      return "graph_edges";
    case Kind::Backlinks:
      return "link_backlinks";
    case Kind::Forward:
      return "link_forward";
    case Kind::Tags:
      return "tag_list";
    case Kind::Canvas:
      return "attachment_read";
    case Kind::Base:
      return "base_query";
    case Kind::Summary:
      return "ai_summarize";
    case Kind::Map:
      return "ai_toc";
  }
  return {};
}

bool is_bytes(const ResourceUri& uri) { return uri.kind == Kind::File || uri.kind == Kind::Canvas; }

Result<Json> operation_input(const ResourceUri& uri, const Operation& operation) {
  if (uri.kind == Kind::Summary) return Json{{"scope", uri.scope}};
  if (uri.kind == Kind::Map) return Json{{"mode", "moc"}, {"scope", uri.scope}};
  if (uri.kind == Kind::File && is_note_path(uri.path)) return note_bytes_input(uri.path);
  if (uri.kind == Kind::Canvas && !to_lower(uri.path).ends_with(".canvas"))
    return invalid(cat("`", uri.path, "` is no canvas; read it as ", vault_uri(uri.path), "."));
  Json input = INDX_TRY(query_input(uri, operation));
  if (!uri.path.empty()) input["path"] = uri.path;
  return input;
}

Json synthetic_entries(const Registry& registry, const Principal& principal, const AiRoles& roles,
                       const Protocol& protocol) {
  return shown(kEntries, "uri", registry, principal, roles, protocol);
}

Json resource_templates(const Registry& registry, const Principal& principal, const AiRoles& roles,
                        const Protocol& protocol) {
  return {{"resourceTemplates",
           shown(kTemplates, "uriTemplate", registry, principal, roles, protocol)}};
}

}  // namespace indx
