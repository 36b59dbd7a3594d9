#include "http/rest.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "http/call_stream.hpp"
#include "http/event_stream.hpp"
#include "http/file_response.hpp"
#include "http/json_body.hpp"
#include "http/line_stream.hpp"
#include "http/upload.hpp"
#include "ops/openapi.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#ifndef INDX_VERSION
#define INDX_VERSION "dev"
#endif

namespace indx {
namespace {

using PathCaptures = std::map<std::string, std::string>;

bool takes_query(const std::string& method) {
  return method == "GET" || method == "HEAD" || method == "DELETE";
}

std::string with_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// `"etag"` → `etag`; `*`, any version, stays.
Result<std::string> read_etag(const std::string& text) {
  if (text == "*") return text;
  if (text.starts_with("W/"))
    return invalid("If-Match takes a strong etag, as reads give it.", {{"header", "If-Match"}});
  auto bare = text;
  if (bare.size() >= 2 && bare.front() == '"' && bare.back() == '"')
    bare = bare.substr(1, bare.size() - 2);
  // An empty one would silently mean no guard.
  if (bare.empty() || bare == "*" || bare.find_first_of("\", ") != bare.npos)
    return invalid("If-Match takes one etag, as reads give it, or `*`.", {{"header", "If-Match"}});
  return bare;
}

Status put_once(Json& input, const std::string& name, Json value, const std::string& place) {
  if (input.contains(name) && input[name] != value)
    return invalid(cat("`", name, "` is given twice, and the ", place, " says something else."),
                   {{"path", name}});
  input[name] = std::move(value);
  return {};
}

Result<Json> read_query(const Operation& operation, const HttpRequest& request) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const auto& [key, value] : request.query) {
    if (!is_valid_utf8(key) || !is_valid_utf8(value))
      return invalid("The query is not UTF-8 text.");
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&key = key](const auto& g) { return g.first == key; });
    if (group == groups.end()) group = groups.insert(groups.end(), {key, {}});
    group->second.push_back(value);
  }
  Json input = Json::object();
  for (const auto& [key, values] : groups) {
    const auto* property = operation.input->find(key);
    if (property == nullptr && key == "async") continue;
    if (property != nullptr) {
      input[key] = INDX_TRY(parse_text_value(property->schema, key, values));
    } else {
      input[key] = values.front();  // the schema will say that there is no such field
    }
  }
  return input;
}

Result<Json> read_body(const HttpRequest& request) {
  for (const auto& [key, value] : request.query)
    if (key != "async")
      return invalid(cat("`", key, "` goes into the JSON body, not into the query."),
                     {{"path", key}});
  if (trim(request.body).empty()) return Json::object();
  Json input = INDX_TRY(parse_json_body(request.body));
  if (!input.is_object())
    return invalid("The body must be a JSON object.",
                   {{"expected", "object"}, {"actual", input.type_name()}});
  return input;
}

bool is_json_type(const std::string& content_type) {
  std::string type(trim(content_type.substr(0, content_type.find(';'))));
  std::transform(type.begin(), type.end(), type.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return type.empty() || type == "application/json" ||
         (type.starts_with("application/") && type.ends_with("+json"));
}

Result<Json> read_input(const Operation& operation, const HttpRequest& request,
                        const PathCaptures& captures) {
  Json input = Json::object();
  if (operation.takes_file) {
    input = INDX_TRY(read_query(operation, request));
  } else if (takes_query(request.method)) {
    if (!trim(request.body).empty() && trim(request.body) != "{}")
      return invalid(cat(request.method, " takes its arguments in the query, not in a body."));
    input = INDX_TRY(read_query(operation, request));
  } else {
    input = INDX_TRY(read_body(request));
  }
  for (const auto& [name, text] : captures) {
    Json value = text;
    if (const auto* property = operation.input->find(name);
        property != nullptr && property->schema.type != SchemaNode::Type::String)
      value = INDX_TRY(parse_text_value(property->schema, name, {text}));
    INDX_TRY(put_once(input, name, std::move(value), "address"));
  }
  for (const auto& property : operation.input->properties) {
    if (!property.schema.is_header) continue;
    auto text = request.header(with_dashes(property.name));
    if (text.empty()) continue;
    if (!is_valid_utf8(text))
      return invalid(cat("The header ", with_dashes(property.name), " is not UTF-8 text."));
    if (property.name == "if_match") text = INDX_TRY(read_etag(text));
    INDX_TRY(put_once(input, property.name, std::move(text), "header"));
  }
  if (operation.effect != Effect::Reads && operation.input->find("if_match") == nullptr &&
      !request.header("if-match").empty())
    return invalid(cat(operation.name, " takes no If-Match."), {{"header", "If-Match"}});
  // Ignoring a precondition would overwrite what it was to protect.
  if (const auto none = request.header("if-none-match");
      operation.effect != Effect::Reads && !none.empty()) {
    if (none != "*" || operation.input->find("if_not_exists") == nullptr)
      return invalid(cat(operation.name, " takes no such If-None-Match."),
                     {{"header", "If-None-Match"}});
    INDX_TRY(put_once(input, "if_not_exists", true, "header"));
  }
  return input;
}

Result<bool> wants_async(const HttpRequest& request) {
  const auto query = request.query_value("async");
  if (query && *query != "true" && *query != "false" && *query != "1" && *query != "0")
    return invalid("`async` is true or false.", {{"path", "async"}, {"expected", "boolean"}});
  if (query && (*query == "true" || *query == "1")) return true;
  const auto preferences = split(request.header("prefer"), ',');
  return std::any_of(preferences.begin(), preferences.end(), [](const std::string& part) {
    return trim(part.substr(0, part.find(';'))) == "respond-async";
  });
}

Result<Call> read_call(const Operation& operation, Dispatcher& dispatcher,
                       const HttpRequest& request, const PathCaptures& captures) {
  Call call;
  call.operation = &operation;
  call.principal = INDX_TRY(admit_request(request, dispatcher));
  call.input = INDX_TRY(read_input(operation, request, captures));
  if (operation.takes_file) call.upload = INDX_TRY(read_upload(operation, request, call.input));
  call.is_async = INDX_TRY(wants_async(request));
  call.idempotency_key = request.header("idempotency-key");
  if (call.idempotency_key.size() > 255 || !is_valid_utf8(call.idempotency_key))
    return invalid("Idempotency-Key is longer than 255 bytes or not text.",
                   {{"header", "Idempotency-Key"}});
  if (const auto field = call.input.find("idempotency_key");
      field != call.input.end() && field->is_string()) {
    if (call.idempotency_key.empty()) call.idempotency_key = field->get<std::string>();
    if (operation.input->find("idempotency_key") == nullptr) call.input.erase("idempotency_key");
  }
  call.keep = call.is_async || !call.idempotency_key.empty();
  return call;
}

/// What an answer needs to know of its request, which is gone by then.
struct AnswerForm {
  const Operation* operation = nullptr;
  RequestId id;
  bool is_read = false;
  bool wants_lines = false;
  std::string if_none_match;
  FileConditions file;  ///< of an operation that gives one
};

/// Whether the answer is about a list: the operation declares one and this is no text.
bool has_list(const Operation& operation, const Json& data) {
  if (operation.list.empty() || operation.text_of(data) != nullptr) return false;
  const auto found = data.find(operation.list);
  return found != data.end() && found->is_array();
}

HttpResponse lines_response(const Operation& operation, const Json& data, const RequestId& id) {
  HttpResponse response;
  response.headers = {{"Content-Type", "application/x-ndjson"}, {"X-Request-Id", id.value}};
  response.body = lines_of(operation, data);
  if (data.contains("next_cursor") && data["next_cursor"].is_string())
    response.headers.emplace_back("X-Indx-Next-Cursor", data["next_cursor"].get<std::string>());
  return response;
}

HttpResponse to_response(const Answer& answer, const AnswerForm& form) {
  if (!answer.result) {
    auto failed = error_response(answer.result.error(), form.id);
    if (answer.is_replay) failed.headers.emplace_back("X-Indx-Idempotent-Replay", "true");
    return failed;
  }
  const Json& data = *answer.result;
  if (form.operation->route.method == "HEAD" && data.contains("exists") && data["exists"] == false)
    return error_response(not_found("There is no such note."), form.id);

  if (answer.file) return file_response(data, answer.file, form.file, form.id);
  std::string etag;
  if (data.is_object() && data.contains("etag") && data["etag"].is_string())
    etag = data["etag"].get<std::string>();
  const bool is_lines = form.wants_lines && !answer.is_accepted && has_list(*form.operation, data);
  auto response = is_lines
                      ? lines_response(*form.operation, data, form.id)
                      : data_response(answer.is_accepted ? 202 : answer.http_status, data, form.id);
  if (!etag.empty()) response.headers.emplace_back("ETag", "\"" + etag + "\"");
  if (!etag.empty() && form.is_read && names_etag(form.if_none_match, etag, true)) {
    response.status = 304;
    response.body.clear();
  }
  if (answer.is_accepted && !answer.job_id.empty())
    response.headers.emplace_back("Location", "/v1/jobs/" + answer.job_id);
  if (answer.is_replay) response.headers.emplace_back("X-Indx-Idempotent-Replay", "true");
  return response;
}

/// The field that asks for a stream, taken out of the input: it says how the answer comes, and the
/// request decides that. nullopt: not given.
std::optional<bool> take_stream(const Operation& operation, Json& input) {
  const auto field = operation.streams_answer() ? input.find("stream") : input.end();
  if (field == input.end() || !field->is_boolean()) return std::nullopt;
  const bool asked = field->get<bool>();
  input.erase(field);
  return asked;
}

void run_operation(const Operation& operation, Dispatcher& dispatcher, const HttpRequest& request,
                   const PathCaptures& captures, const Responder& responder,
                   const std::shared_ptr<TaskThread>& thread) {
  if (!takes_query(request.method) && !operation.takes_file && !request.body.empty() &&
      !is_json_type(request.header("content-type"))) {
    auto refused = error_response(
        invalid("The body must be application/json.", {{"header", "Content-Type"}}), request.id);
    refused.status = 415;
    return responder.send(std::move(refused));
  }
  auto call = read_call(operation, dispatcher, request, captures);
  if (!call) return responder.send(error_response(call.error(), request.id));
  AnswerForm form{&operation,
                  request.id,
                  request.method == "GET" || request.method == "HEAD",
                  accepts(request, "application/x-ndjson"),
                  request.header("if-none-match"),
                  operation.gives_file ? file_conditions(request) : FileConditions{}};
  if (form.wants_lines && request.method == "GET" && is_whole_list(*call))
    return send_lines(dispatcher, std::move(*call), !request.is_http_1_0, thread, request.id,
                      responder);
  responder.on_disconnect([cancel = call->cancel] { cancel.cancel(CancelReason::Requested); });

  const auto asked = take_stream(operation, call->input);
  const bool wants_events = accepts(request, "text/event-stream") || asked.value_or(false);
  const auto whole = [form](const Answer& answer) { return to_response(answer, form); };
  if (!operation.tells_events() || !wants_events || call->is_async)
    return dispatcher.call(std::move(*call), [responder, whole](const Answer& answer) {
      responder.send(whole(answer));
    });
  call->is_streamed = asked.value_or(true);
  const auto stream = std::make_shared<CallStream>(responder, operation, request.id, dispatcher,
                                                   whole);  // shared with both callbacks
  dispatcher.call(
      std::move(*call), [stream](const Answer& answer) { stream->finish(answer); },
      [stream](const Event& event) { stream->take(event); });
  stream->settle();
}

using PlainHandler = std::function<HttpResponse(const HttpRequest&)>;

/// A route without a token, still closed to other people's pages.
void add_plain(Router& router, const std::string& pattern, PlainHandler handler) {
  router.add(
      "GET", pattern,
      [handler = std::move(handler)](const HttpRequest& request, const auto&,
                                     const Responder& responder) {
        const auto allowed = check_origin(request);
        responder.send(allowed ? handler(request) : error_response(allowed.error(), request.id));
      });
}

HttpResponse health_response(const HttpRequest& request, const Json& health, Json body) {
  const bool is_ready = health.value("ready", false);
  auto response = json_response(is_ready ? 200 : 503, body, request.id);
  if (!is_ready) response.headers.emplace_back("Retry-After", "1");
  return response;
}

/// Numbers without names of notes or people: on this machine for everybody, off it for who may
/// read.
HttpResponse metrics_response(const HttpRequest& request, Dispatcher& dispatcher) {
  if (!request.is_loopback_listener && !request.is_local_socket) {
    const auto principal = authenticate_request(request, dispatcher, Surface::Api);
    if (!principal) return error_response(principal.error(), request.id);
    if (!principal->has(Scope::VaultRead))
      return error_response(make_error(Reason::Forbidden, "Metrics need the scope vault:read.",
                                       {{"required_scopes", {"vault:read"}}}),
                            request.id);
  }
  Metrics* metrics = dispatcher.metrics();
  if (metrics == nullptr)
    return error_response(not_found("This process keeps no metrics."), request.id);
  // What cannot be looked up keeps its last value: the rest is worth the more while the engine is
  // in trouble.
  if (const auto fresh = dispatcher.refresh_metrics(); !fresh)
    log_warn("metrics are not all fresh", {{"error", fresh.error().message}});
  HttpResponse response;
  response.headers = {{"Content-Type", std::string(kMetricsMediaType)},
                      {"Cache-Control", "no-store"}};
  response.body = metrics->text();
  return response;
}

/// What the token may do that came along, for clients that show only that; null: none came, or none
/// that is known.
Json caller_of(const HttpRequest& request, Dispatcher& dispatcher) {
  if (request.header("authorization").empty()) return nullptr;
  const auto principal = authenticate_request(request, dispatcher, Surface::Api);
  if (!principal) return nullptr;
  Json scopes = Json::array();
  for (const Scope scope : principal->scopes) scopes.push_back(name(scope));
  return {{"scopes", std::move(scopes)}};
}

void add_operational_routes(Router& router, Dispatcher& dispatcher) {
  add_plain(router, "/healthz", [](const HttpRequest& request) {
    return json_response(200, {{"status", "ok"}}, request.id);
  });
  add_plain(router, "/readyz", [&dispatcher](const HttpRequest& request) {
    const Json health = dispatcher.health();
    const bool is_ready = health.value("ready", false);
    return health_response(request, health,
                           {{"ready", is_ready},
                            {"status", health.value("state", is_ready ? "ready" : "starting")},
                            {"stuck_handlers", health.value("stuck_handlers", 0)}});
  });
  add_plain(router, "/version", [](const HttpRequest& request) {
    return json_response(200, {{"name", "indx"}, {"version", INDX_VERSION}}, request.id);
  });
  add_plain(router, "/v1/health", [&dispatcher](const HttpRequest& request) {
    Json health = dispatcher.health();
    if (Json caller = caller_of(request, dispatcher); !caller.is_null())
      health["caller"] = std::move(caller);
    return health_response(request, health,
                           {{"ok", health.value("ready", false)}, {"data", health}});
  });
  add_plain(router, "/openapi.json", [&dispatcher](const HttpRequest& request) {
    if (!request.is_loopback_listener && !request.is_local_socket) {
      const auto principal = authenticate_request(request, dispatcher, Surface::Api);
      if (!principal) return error_response(principal.error(), request.id);
    }
    return json_response(200, openapi_document(dispatcher.registry(), dispatcher.ai_roles()),
                         request.id);
  });
  add_plain(router, "/metrics", [&dispatcher](const HttpRequest& request) {
    return metrics_response(request, dispatcher);
  });
  add_plain(router, "/", [](const HttpRequest&) {
    HttpResponse response;
    response.headers = {{"Content-Type", "text/plain; charset=utf-8"}};
    response.body = "indx " INDX_VERSION
                    "\nREST: /openapi.json describes /v1. MCP: /mcp. Health: /healthz /readyz.\n";
    return response;
  });
}

}  // namespace

void add_rest_routes(Router& router, Dispatcher& dispatcher) {
  add_operational_routes(router, dispatcher);
  add_event_routes(router, dispatcher);
  const auto thread = std::make_shared<TaskThread>();  // shared: with the streams, weakly
  for (const auto& operation : dispatcher.registry().all()) {
    if (operation.route.method.empty()) continue;
    router.add(operation.route.method, operation.route.pattern,
               [&operation, &dispatcher, thread](const HttpRequest& request, const auto& captures,
                                                 const Responder& responder) {
                 run_operation(operation, dispatcher, request, captures, responder, thread);
               });
  }
}

}  // namespace indx
