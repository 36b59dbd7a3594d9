#include "ops/openapi.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace indx {
namespace {

/// Names in braces of a route pattern.
std::set<std::string> route_fields(const std::string& pattern) {
  std::set<std::string> names;
  for (std::size_t at = pattern.find('{'); at != std::string::npos; at = pattern.find('{', at + 1))
    names.insert(pattern.substr(at + 1, pattern.find('}', at) - at - 1));
  return names;
}

bool has_body(const Operation& operation) {
  const auto& method = operation.route.method;
  return method != "GET" && method != "HEAD" && method != "DELETE" && !operation.takes_file;
}

/// The file of an operation that takes one: as it is, or in a form with the other fields.
Json file_body(const SchemaNode& fields) {
  Json form = to_json_schema(fields);
  form["properties"]["file"] =
      Json{{"type", "string"}, {"contentMediaType", "application/octet-stream"}};
  form["required"] = Json::array({"file"});
  return Json{{"required", true},
              {"content",
               {{"application/octet-stream", {{"schema", Json::object()}}},
                {"multipart/form-data", {{"schema", form}}}}}};
}

/// Answers of an operation that gives a file (RFC 9110, 13 and 14).
void add_file_responses(const Operation& operation, Json& responses) {
  const Json bytes{{"*/*", {{"schema", Json::object()}}}};
  responses["200"] = Json{{"description", operation.summary}, {"content", bytes}};
  responses["206"] = Json{{"description", "The parts that Range asks for."}, {"content", bytes}};
  responses["304"] = Json{{"description", "The file is the one that the client has."}};
  responses["416"] = Json{{"description", "The file has none of the bytes that Range asks for."}};
}

std::string_view header_name(const std::string& field) {
  return field == "if_match" ? "If-Match" : "Idempotency-Key";
}

Json parameter(const SchemaNode::Property& property, std::string_view where) {
  Json schema = to_json_schema(property.schema);
  schema.erase("description");
  Json result{{"name", property.name},
              {"in", std::string(where)},
              {"description", property.schema.description},
              {"required", where == "path" || property.is_required},
              {"schema", schema}};
  if (where == "header") {
    result["name"] = std::string(header_name(property.name));
    result["required"] = false;
  }
  if (where == "query" && property.schema.type == SchemaNode::Type::Array) result["explode"] = true;
  const bool is_object = property.schema.type == SchemaNode::Type::Map ||
                         property.schema.type == SchemaNode::Type::Object;
  if (where == "query" && is_object) {  // sent as JSON text
    result["content"] = Json{{"application/json", {{"schema", schema}}}};
    result.erase("schema");
  }
  return result;
}

Json error_response(const Reason reason, const std::string& when) {
  const Error sample = make_error(reason, "");
  return Json{
      {"description", cat("`", sample.name(), "`: ", when)},
      {"content", {{"application/json", {{"schema", {{"$ref", "#/components/schemas/Error"}}}}}}}};
}

/// Failures that every operation can have.
std::vector<Failure> common_failures(const Operation& operation) {
  std::vector<Failure> failures = {
      {Reason::ValidationFailed,
       "The input breaks the schema; details hold path, expected, actual."},
      {Reason::Unauthorized, "No token, or one that does not work."},
      {Reason::Forbidden, "The token lacks a scope; details.required_scopes names it."},
      {Reason::RateLimited, "Too many calls with this token; wait Retry-After seconds."},
      {Reason::Internal, "A bug in indx."},
      {Reason::Unavailable, "The server is full or stopping; wait Retry-After seconds."}};
  if (operation.takes_idempotency_key()) {
    failures.push_back(
        {Reason::IdempotencyKeyReused, "The idempotency key was used with another input."});
    failures.push_back(
        {Reason::InProgress, "The first call with this idempotency key still runs."});
  }
  return failures;
}

/// What a call tells to who accepts events.
Json event_stream_schema(const Operation& operation) {
  const std::string prefix = operation.stream_prefix();
  std::string text =
      cat("With `Accept: text/event-stream`: `job.*` events while a job works on it");
  if (operation.streams_answer())
    text +=
        ", `ai.partial` {delta, restart?} while the answer is made, `ai.citation` {citation} for "
        "each that holds, `ai.usage` {usage}";
  text += cat("; the last is `", prefix, "complete` with what `data` holds else, or `", prefix,
              "error`.");
  return Json{{"type", "string"}, {"description", text}};
}

Json responses(const Operation& operation) {
  Json result = Json::object();
  const Json envelope{
      {"type", "object"},
      {"required", {"ok", "data"}},
      {"properties",
       {{"ok", {{"const", true}}}, {"data", to_json_schema(operation.output, SchemaUse::Output)}}}};
  Json success{{"description", operation.summary}};
  if (operation.route.method != "HEAD")
    success["content"] = Json{{"application/json", {{"schema", envelope}}}};
  if (operation.has_pages())
    success["content"]["application/x-ndjson"] = Json{
        {"schema",
         {{"type", "string"},
          {"description",
           "A row a line. Without limit and cursor the whole list; with them one page, and the "
           "header X-Indx-Next-Cursor while there are more."}}}};
  if (operation.tells_events())
    success["content"]["text/event-stream"] = Json{{"schema", event_stream_schema(operation)}};
  result[cat(operation.success_status)] = success;
  if (operation.execution != Execution::Inline)
    result["202"] = Json{
        {"description", "Accepted as a job (`Prefer: respond-async`); Location names it."},
        {"content",
         {{"application/json", {{"schema", {{"$ref", "#/components/schemas/AcceptedJob"}}}}}}}};
  if (operation.gives_file) add_file_responses(operation, result);
  std::vector<Failure> failures = operation.failures;
  const auto common = common_failures(operation);
  failures.insert(failures.end(), common.begin(), common.end());
  for (const auto& failure : failures) {
    const std::string status = cat(make_error(failure.reason, "").http_status());
    if (!result.contains(status)) {
      result[status] = error_response(failure.reason, failure.when);
      continue;
    }
    const std::string reason(make_error(failure.reason, "").name());
    auto& description = result[status]["description"];
    if (description.get<std::string>().find("`" + reason + "`") == std::string::npos)
      description = cat(description.get<std::string>(), " `", reason, "`: ", failure.when);
  }
  return result;
}

Json operation_object(const Operation& operation) {
  Json result{{"operationId", operation.name}, {"summary", operation.summary}};
  result["description"] = operation.guidance.empty() ? operation.summary : operation.guidance;
  result["tags"] = Json::array({operation.name.substr(0, operation.name.find('_'))});
  std::vector<std::string> scopes;
  for (const Scope scope : operation.scopes) scopes.emplace_back(name(scope));
  result["security"] = Json::array({Json{{"bearer", Json::array()}}});
  result["x-indx-scopes"] = scopes;
  result["x-indx-mcp"] = operation.tool_group.empty()
                             ? Json{{"tool", operation.name}}
                             : Json{{"tool", operation.tool_group}, {"action", operation.name}};

  const auto in_path = route_fields(operation.route.pattern);
  Json parameters = Json::array();
  SchemaNode body = operation.input;
  body.properties.clear();
  for (const auto& property : operation.input->properties) {
    const bool is_path = in_path.contains(property.name);
    if (operation.takes_file && !is_path && !property.schema.is_header)
      body.properties.push_back(property);
    if (is_path)
      parameters.push_back(parameter(property, "path"));
    else if (has_body(operation))
      body.properties.push_back(property);
    else if (!property.schema.is_header)
      parameters.push_back(parameter(property, "query"));
    if (property.schema.is_header) parameters.push_back(parameter(property, "header"));
  }
  if (!parameters.empty()) result["parameters"] = parameters;
  if (operation.takes_file) {
    result["requestBody"] = file_body(body);
  } else if (has_body(operation) && !body.properties.empty()) {
    const bool is_required = std::any_of(body.properties.begin(), body.properties.end(),
                                         [](const auto& p) { return p.is_required; });
    result["requestBody"] =
        Json{{"required", is_required},
             {"content", {{"application/json", {{"schema", to_json_schema(body)}}}}}};
  }
  result["responses"] = responses(operation);
  return result;
}

Json components() {
  const Json text{{"type", "string"}};
  const Json error{{"type", "object"},
                   {"required", {"code", "message", "details"}},
                   {"properties",
                    {{"code", text},
                     {"message", text},
                     {"details", {{"type", "object"}}},
                     {"request_id", text}}}};
  return Json{
      {"securitySchemes",
       {{"bearer",
         {{"type", "http"}, {"scheme", "bearer"}, {"description", "`indx_` and 32 hex digits"}}}}},
      {"schemas",
       {{"Error",
         {{"type", "object"},
          {"required", {"ok", "error"}},
          {"properties", {{"ok", {{"const", false}}}, {"error", error}}}}},
        {"AcceptedJob",
         {{"type", "object"},
          {"required", {"ok", "data"}},
          {"properties",
           {{"ok", {{"const", true}}},
            {"data",
             {{"type", "object"},
              {"required", {"job"}},
              {"properties", {{"job", {{"type", "object"}}}}}}}}}}}}}};
}

/// What the server answers beside the operations: streams, and what a supervisor asks without a
/// token.
struct PlainRoute {
  const char *path, *id, *summary, *media_type;
  bool needs_token = false, may_be_unready = false;
};
constexpr std::array kPlainRoutes = {
    PlainRoute{"/v1/events", "events",
               "Stream of changes; `kinds` and `jobs` filter, Last-Event-ID resumes.",
               "text/event-stream", true},
    PlainRoute{"/v1/jobs/{id}/events", "job_stream",
               "Stream of one job: its record first, then each change, `done` at the end.",
               "text/event-stream", true},
    PlainRoute{"/healthz", "healthz", "Whether the process answers.", "application/json"},
    PlainRoute{"/readyz", "readyz", "Whether it takes requests; else 503.", "application/json",
               false, true},
    PlainRoute{"/version", "version", "Name and version.", "application/json"},
    PlainRoute{"/metrics", "metrics", "Numbers for Prometheus, text format 0.0.4.", "text/plain"},
    PlainRoute{"/v1/health", "health",
               "State of the parts, and what the token may do if one is sent; 503 unless ready.",
               "application/json", false, true}};

Json plain_object(const PlainRoute& route) {
  const bool is_stream = std::string_view(route.media_type) == "text/event-stream";
  Json responses = Json::object();
  responses["200"] = {{"description", route.summary},
                      {"content", {{route.media_type, {{"schema", Json::object()}}}}}};
  if (route.may_be_unready) responses["503"] = {{"description", "Not ready yet, or stopping."}};
  if (route.needs_token)
    responses["401"] = error_response(Reason::Unauthorized, "A token is needed.");
  const Json text{{"type", "string"}};
  Json parameters = Json::array();
  for (const auto& name : route_fields(route.path))
    parameters.push_back({{"name", name}, {"in", "path"}, {"required", true}, {"schema", text}});
  if (is_stream)
    parameters.push_back({{"name", "Last-Event-ID"}, {"in", "header"}, {"schema", text}});
  if (std::string_view(route.id) == "events")
    for (const auto* name : {"kinds", "jobs"})
      parameters.push_back({{"name", name}, {"in", "query"}, {"schema", text}});
  Json result{
      {"operationId", route.id}, {"summary", route.summary}, {"description", route.summary}};
  result["tags"] = Json::array({"service"});
  result["security"] =
      route.needs_token ? Json::array({Json{{"bearer", Json::array()}}}) : Json::array();
  if (!parameters.empty()) result["parameters"] = std::move(parameters);
  result["responses"] = std::move(responses);
  return result;
}

}  // namespace

Json openapi_document(const Registry& registry, const AiRoles& roles) {
  Json paths = Json::object();
  for (const auto& operation : registry.all()) {
    if (!operation.is_listed(roles)) continue;
    std::string method = operation.route.method;
    std::transform(method.begin(), method.end(), method.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    paths[operation.route.pattern][method] = operation_object(operation);
  }
  for (const auto& route : kPlainRoutes) paths[route.path]["get"] = plain_object(route);
  std::set<std::string> names;
  for (const auto& [pattern, methods] : paths.items())
    for (const auto& [method, operation] : methods.items())
      names.insert(operation["tags"][0].get<std::string>());
  Json tags = Json::array();
  for (const auto& name : names)
    tags.push_back({{"name", name}, {"description", "Operations on " + name + "."}});
  return Json{{"openapi", "3.1.0"},
              {"info",
               {{"title", "indx"},
                {"version", "1"},
                {"description", "A vault of Markdown notes as a service."},
                {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
              {"servers", Json::array({{{"url", "/"}, {"description", "This server."}}})},
              {"tags", tags},
              {"paths", paths},
              {"components", components()}};
}

}  // namespace indx
