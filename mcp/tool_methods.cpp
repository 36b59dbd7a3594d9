#include "mcp/tool_methods.hpp"

#include "base/text.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/progress_meter.hpp"
#include "mcp/tools.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace indx {
namespace {

constexpr std::chrono::milliseconds kJobRecheck{1'000};
constexpr std::string_view kIdempotencyMeta = "indx/idempotency_key";

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

}  // namespace

std::vector<McpMethod> ToolMethods::methods() {
  return {{.name = "tools/list", .run = [this](const McpRequest& request) { list(request); }},
          {.name = "tools/call", .run = [this](const McpRequest& request) { call_tool(request); }}};
}

void ToolMethods::list(const McpRequest& request) const {
  const McpPeer& peer = request.peer;
  Json tools = Json::array();
  for (const Operation* operation :
       services_.dispatcher.registry().visible_to(peer.principal, services_.dispatcher.ai_roles()))
    if (operation->is_listed_in_mcp) tools.push_back(tool_descriptor(*operation, *peer.protocol));
  request.call->answer_result({{"tools", std::move(tools)}});
}

void ToolMethods::refuse_hidden(const McpRequest& request, const Operation& operation) const {
  const auto& call = request.call;
  if (request.peer.transport == McpTransport::Http)
    return call->answer(insufficient_scope(operation, call->id()));
  const std::string message =
      cat(operation.name, " needs the scope ", scope_names(operation), ", which was not granted.");
  call->answer_result(
      tool_error(make_error(Reason::Forbidden, message, {{"scope", scope_names(operation)}})));
}

void ToolMethods::call_tool(const McpRequest& request) {
  const auto& [peer, message, call] = request;
  const auto tool = string_member(message.params, "name");
  if (!tool)
    return call->answer_fault(kRpcInvalidParams, "params.name must be the name of a tool.");
  const Operation* operation = services_.dispatcher.registry().find(*tool);
  if (!operation || !operation->is_listed_in_mcp)
    return call->answer_fault(kRpcInvalidParams,
                              cat("Unknown tool ", *tool, ". tools/list names those there are."));
  if (!may_call(peer.principal, *operation)) return refuse_hidden(request, *operation);
  if (!operation->is_listed(services_.dispatcher.ai_roles()))
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
    answer_with_job_after(services_.options.job_wait, call, *peer.protocol);
  const auto meter = token.is_null() ? nullptr
                                     : std::make_shared<ProgressMeter>(
                                           token, services_.clock, services_.options.progress_gap);
  services_.dispatcher.call(
      std::move(work),
      [call = call, operation, repaired = std::move(prepared->repaired),
       protocol = peer.protocol](const Answer& answer) {
        answer_tool_call(call, *operation, repaired, *protocol, answer);
      },
      [call = call, meter, peer = peer, &dispatcher = services_.dispatcher](const Event& event) {
        if (!event.job_id.empty() && !call->set_job(event.job_id))
          cancel_job(dispatcher, peer, event.job_id);
        if (!meter || (event.kind != "job.progress" && event.kind != "job.started")) return;
        if (call->is_ended()) return;
        if (const auto notification = meter->notification_for(event)) call->notify(*notification);
      });
}

void ToolMethods::answer_with_job_after(std::chrono::milliseconds delay,
                                        const std::shared_ptr<OpenCall>& call,
                                        const Protocol& protocol) {
  services_.deadlines.after(delay, [this, weak = std::weak_ptr(call), &protocol] {
    const auto waiting = weak.lock();
    if (!waiting || waiting->is_ended()) return;
    if (const std::string job = waiting->job_id(); !job.empty())
      return waiting->answer_result(tool_job_result(job, "running", protocol));
    answer_with_job_after(std::min(services_.options.job_wait, kJobRecheck), waiting, protocol);
  });
}

}  // namespace indx
