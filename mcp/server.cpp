#include "mcp/server.hpp"

#include "base/text.hpp"
#include "mcp/resources.hpp"
#include "mcp/tools.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace indx {
namespace {

constexpr std::size_t kMaxClientCapabilities = 16U << 10U;
constexpr int kResourcePageSize = 100;
constexpr std::chrono::milliseconds kJobRecheck{1'000};
constexpr std::string_view kIdempotencyMeta = "indx/idempotency_key";

const Clock& clock_or_system(const Clock* clock) {
  static const SystemClock system;
  return clock ? *clock : system;
}

Random& random_or_system(Random* random) {
  static SystemRandom system;
  return random ? *random : system;
}

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> string_member(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  return value && value->is_string() ? std::optional(value->get<std::string>()) : std::nullopt;
}

/// The token under which the peer wants to hear of progress; null: it does not.
Json progress_token(const RpcMessage& message) {
  const Json* meta = member(message.params, "_meta");
  const Json* token = meta ? member(*meta, "progressToken") : nullptr;
  return token && (token->is_string() || token->is_number_integer()) ? *token : Json(nullptr);
}

bool may_call(const Principal& principal, const Operation& operation) {
  return std::all_of(operation.scopes.begin(), operation.scopes.end(),
                     [&](Scope scope) { return principal.has(scope); });
}

std::string scope_names(const Operation& operation) {
  std::vector<std::string> names;
  for (const Scope scope : operation.scopes) names.emplace_back(name(scope));
  return join(names, " ");
}

McpAnswer insufficient_scope(const Operation& operation, const Json& id) {
  const std::string scopes = scope_names(operation);
  const std::string message =
      cat(operation.name, " needs the scope ", scopes, ", which this token does not have.");
  return {.message =
              rpc_error({kRpcForbidden, message, {{"code", "forbidden"}, {"scope", scopes}}, id}),
          .http_status = 403,
          .challenge =
              cat("Bearer realm=\"indx\", error=\"insufficient_scope\", scope=\"", scopes, '"')};
}

Call make_call(const McpPeer& peer, const Operation& operation, Json input,
               const CancelToken& cancel) {
  Call call;
  call.operation = &operation;
  call.input = std::move(input);
  call.principal = peer.principal;
  call.cancel = cancel;
  return call;
}

/// Asks for the end of a job whose caller does not want it any more.
void cancel_job(Dispatcher& dispatcher, const McpPeer& peer, const std::string& job_id) {
  const Operation* operation = dispatcher.registry().find("job_cancel");
  if (!operation) return;
  const auto& fields = operation->input->properties;
  const auto field =
      std::find_if(fields.begin(), fields.end(), [](const auto& each) { return each.is_required; });
  const std::string name = field == fields.end() ? "id" : field->name;
  dispatcher.call(make_call(peer, *operation, {{name, job_id}}, {}), [](const Answer&) {});
}

/// Turns job progress into notifications that never go back and come at most once per gap.
class ProgressMeter {
 public:
  ProgressMeter(Json token, const Clock& clock, std::chrono::milliseconds gap)
      : token_(std::move(token)), clock_(clock), gap_(gap) {}

  std::optional<Json> notification_for(const Event& event) {
    // A start counts as no work done: some operations say nothing until they end.
    static const Json start = {{"done", 0}, {"phase", "started"}};
    const Json* nested = member(event.data, "progress");
    const Json& progress = event.kind == "job.started"     ? start
                           : nested && nested->is_object() ? *nested
                                                           : event.data;
    const Json* done = member(progress, "done");
    if (!done || !done->is_number()) return std::nullopt;
    const auto value = done->get<std::int64_t>();
    const auto now = clock_.monotonic();

    const std::scoped_lock lock(mutex_);
    if (value < last_done_) base_ = last_sent_;  // a new phase counts from the start again
    last_done_ = value;
    if (base_ + value <= last_sent_ || (last_sent_ >= 0 && now - last_time_ < gap_))
      return std::nullopt;
    last_sent_ = base_ + value;
    last_time_ = now;
    Json params = {{"progressToken", token_}, {"progress", last_sent_}};
    const Json* total = member(progress, "total");
    if (total && total->is_number_integer() && base_ + total->get<std::int64_t>() >= last_sent_)
      params["total"] = base_ + total->get<std::int64_t>();
    params["message"] = text_of(progress, value, total);
    return rpc_notification("notifications/progress", std::move(params));
  }

 private:
  static std::string text_of(const Json& progress, std::int64_t done, const Json* total) {
    std::string text = string_member(progress, "phase").value_or("");
    if (!text.empty()) text += ": ";
    text += cat(done);
    if (total) text += cat(" of ", total->dump());
    text += " " + string_member(progress, "unit").value_or("notes");
    if (const auto current = string_member(progress, "current"); current && !current->empty())
      text += ", " + *current;
    return text;
  }

  const Json token_;
  const Clock& clock_;
  const std::chrono::milliseconds gap_;
  std::mutex mutex_;
  std::int64_t base_ = 0, last_done_ = -1, last_sent_ = -1;
  std::chrono::nanoseconds last_time_{};
};

void answer_tool_call(const std::shared_ptr<OpenCall>& call, const Operation& operation,
                      const std::vector<std::string>& repaired, const Protocol& protocol,
                      const Answer& answer) {
  if (call->is_ended()) return;
  if (!answer.result) return call->answer_result(tool_error(answer.result.error()));
  if (!answer.is_accepted)
    return call->answer_result(tool_result(operation, *answer.result, repaired, protocol));
  const Json* job = member(*answer.result, "job");
  const std::string state = job ? string_member(*job, "state").value_or("ready") : "ready";
  call->answer_result(tool_job_result(answer.job_id, state, protocol));
}

/// A failed operation behind a resources method.
void answer_resource_error(OpenCall& call, const Error& error, const std::string& uri) {
  const bool is_missing = error.reason == Reason::NotFound || error.reason == Reason::Forbidden;
  if (is_missing && !uri.empty())
    return call.answer_fault(kRpcResourceNotFound, "No such resource.", {{"uri", uri}});
  const int code =
      error.code() == ErrorCode::InvalidArgument ? kRpcInvalidParams : kRpcInternalError;
  Json data = error.to_json();
  if (!uri.empty()) data["uri"] = uri;
  call.answer_fault(code, error.message, std::move(data));
}

}  // namespace

McpServer::McpServer(Dispatcher& dispatcher, const McpOptions& options)
    : dispatcher_(dispatcher),
      options_(options),
      clock_(clock_or_system(options.clock)),
      random_(random_or_system(options.random)) {}

McpServer::Handshake McpServer::initialize(const RpcMessage& message) const {
  const auto refuse = [&](std::string text) {
    return Handshake{
        {.message = rpc_error({kRpcInvalidParams, std::move(text), nullptr, message.id})},
        nullptr,
        {}};
  };
  const auto version = string_member(message.params, "protocolVersion");
  if (!version) return refuse("protocolVersion must be a string like \"2025-11-25\".");
  const Json* capabilities = member(message.params, "capabilities");
  if (capabilities && !capabilities->is_object()) return refuse("capabilities must be an object.");
  if (capabilities && dump_rpc(*capabilities).size() > kMaxClientCapabilities)
    return refuse("capabilities are too long.");

  const Protocol& protocol = negotiate_protocol(*version);
  Json result = {{"protocolVersion", protocol.version},
                 {"capabilities", server_capabilities(protocol)},
                 {"serverInfo", server_info()},
                 {"instructions", server_instructions()}};
  return {{.message = rpc_result(message.id, std::move(result))},
          &protocol,
          capabilities ? *capabilities : Json::object()};
}

void McpServer::request(const McpPeer& peer, const RpcMessage& message,
                        std::shared_ptr<McpReply> reply) {
  const auto call = peer.calls->open(message.id, std::move(reply));
  if (message.method == "ping") return call->answer_result(Json::object());
  constexpr std::array<std::string_view, 5> known = {"tools/list", "tools/call", "resources/list",
                                                     "resources/read", "resources/templates/list"};
  if (std::find(known.begin(), known.end(), message.method) == known.end())
    return call->answer_fault(kRpcMethodNotFound, cat("There is no method ", message.method, "."));
  if (!peer.protocol) return call->answer_fault(kRpcInvalidRequest, "Send initialize first.");

  const Json* cursor = member(message.params, "cursor");
  const bool takes_cursor = message.method == "resources/list";
  if (message.method.ends_with("/list") && cursor && !(takes_cursor && cursor->is_string()))
    return call->answer_fault(kRpcInvalidParams, "This cursor was not given by this list.");

  if (message.method == "tools/list") return list_tools(peer, call);
  if (message.method == "tools/call") return call_tool(peer, message, call);
  if (message.method == "resources/list") return list_resources(peer, message, call);
  if (message.method == "resources/read") return read_resource(peer, message, call);
  call->answer_result(resource_templates());
}

void McpServer::notification(const McpPeer& peer, const RpcMessage& message) {
  if (message.method != "notifications/cancelled") return;
  const Json* id = member(message.params, "requestId");
  if (!id) return;
  for (const auto& call : peer.calls->with_id(*id)) {
    call->cancel(CancelReason::Requested);
    if (const std::string job = call->job_id(); !job.empty()) cancel_job(dispatcher_, peer, job);
  }
}

void McpServer::list_tools(const McpPeer& peer, const CallPtr& call) const {
  Json tools = Json::array();
  for (const Operation* operation :
       dispatcher_.registry().visible_to(peer.principal, dispatcher_.ai_roles()))
    if (operation->is_listed_in_mcp) tools.push_back(tool_descriptor(*operation, *peer.protocol));
  call->answer_result({{"tools", std::move(tools)}});
}

void McpServer::refuse_hidden_tool(const McpPeer& peer, const Operation& operation,
                                   const CallPtr& call) const {
  if (peer.transport == McpTransport::Http)
    return call->answer(insufficient_scope(operation, call->id()));
  const std::string message =
      cat(operation.name, " needs the scope ", scope_names(operation), ", which was not granted.");
  call->answer_result(
      tool_error(make_error(Reason::Forbidden, message, {{"scope", scope_names(operation)}})));
}

void McpServer::call_tool(const McpPeer& peer, const RpcMessage& message, const CallPtr& call) {
  const auto tool = string_member(message.params, "name");
  if (!tool)
    return call->answer_fault(kRpcInvalidParams, "params.name must be the name of a tool.");
  const Operation* operation = dispatcher_.registry().find(*tool);
  if (!operation || !operation->is_listed_in_mcp)
    return call->answer_fault(kRpcInvalidParams,
                              cat("Unknown tool ", *tool, ". tools/list names those there are."));
  if (!may_call(peer.principal, *operation)) return refuse_hidden_tool(peer, *operation, call);
  if (!operation->is_listed(dispatcher_.ai_roles()))
    return call->answer_result(tool_error(operation->lacks_role()));

  const Json* arguments = member(message.params, "arguments");
  auto prepared = tool_arguments(*operation, arguments ? *arguments : Json(nullptr));
  if (!prepared) return call->answer_result(tool_error(prepared.error()));

  Call work = make_call(peer, *operation, std::move(prepared->input), call->token());
  work.keep = operation->execution != Execution::Inline;
  const Json* meta = member(message.params, "_meta");
  work.idempotency_key = string_member(meta ? *meta : Json(), kIdempotencyMeta)
                             .value_or(string_member(work.input, "idempotency_key").value_or(""));

  const Json token = call->can_notify() ? progress_token(message) : Json(nullptr);
  if (token.is_null() && operation->execution != Execution::Inline)
    answer_with_job_after(options_.job_wait, call, *peer.protocol);
  const auto meter = token.is_null()
                         ? nullptr
                         : std::make_shared<ProgressMeter>(token, clock_, options_.progress_gap);
  dispatcher_.call(
      std::move(work),
      [call, operation, repaired = std::move(prepared->repaired),
       protocol = peer.protocol](const Answer& answer) {
        answer_tool_call(call, *operation, repaired, *protocol, answer);
      },
      [call, meter, peer, &dispatcher = dispatcher_](const Event& event) {
        if (!event.job_id.empty() && !call->set_job(event.job_id))
          cancel_job(dispatcher, peer, event.job_id);
        if (!meter || (event.kind != "job.progress" && event.kind != "job.started")) return;
        if (call->is_ended()) return;
        if (const auto notification = meter->notification_for(event)) call->notify(*notification);
      });
}

void McpServer::answer_with_job_after(std::chrono::milliseconds delay, const CallPtr& call,
                                      const Protocol& protocol) {
  deadlines_.after(delay, [this, weak = std::weak_ptr(call), &protocol] {
    const auto waiting = weak.lock();
    if (!waiting || waiting->is_ended()) return;
    if (const std::string job = waiting->job_id(); !job.empty())
      return waiting->answer_result(tool_job_result(job, "running", protocol));
    answer_with_job_after(std::min(options_.job_wait, kJobRecheck), waiting, protocol);
  });
}

const Operation* McpServer::operation_behind(std::string_view name, const CallPtr& call) const {
  const Operation* operation = dispatcher_.registry().find(name);
  if (!operation) call->answer_fault(kRpcMethodNotFound, "This server offers no notes.");
  return operation;
}

void McpServer::list_resources(const McpPeer& peer, const RpcMessage& message,
                               const CallPtr& call) {
  const Operation* operation = operation_behind("note_list", call);
  if (!operation) return;
  if (!may_call(peer.principal, *operation))
    return call->answer(insufficient_scope(*operation, call->id()));
  Json input = {{"limit", kResourcePageSize}};
  if (const auto cursor = string_member(message.params, "cursor")) input["cursor"] = *cursor;
  dispatcher_.call(make_call(peer, *operation, std::move(input), call->token()),
                   [call](const Answer& answer) {
                     if (!answer.result)
                       return answer_resource_error(*call, answer.result.error(), "");
                     call->answer_result(resource_page(*answer.result));
                   });
}

void McpServer::read_resource(const McpPeer& peer, const RpcMessage& message, const CallPtr& call) {
  const auto uri = string_member(message.params, "uri");
  if (!uri)
    return call->answer_fault(kRpcInvalidParams, "params.uri must be the URI of a resource.");
  const Operation* operation = operation_behind("note_read", call);
  if (!operation) return;
  if (!may_call(peer.principal, *operation))
    return call->answer(insufficient_scope(*operation, call->id()));
  const auto path = path_of_vault_uri(*uri);
  if (!path) return answer_resource_error(*call, path.error(), *uri);
  Json input = note_read_input(*path);
  dispatcher_.call(make_call(peer, *operation, std::move(input), call->token()),
                   [call, uri = *uri, path = *path](const Answer& answer) {
                     if (!answer.result)
                       return answer_resource_error(*call, answer.result.error(), uri);
                     call->answer_result(resource_contents(uri, path, *answer.result));
                   });
}

}  // namespace indx
