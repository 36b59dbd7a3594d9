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

/// What waits for a moment must not keep a session alive.
McpPeer without_session(McpPeer peer) {
  peer.session.reset();
  peer.calls.reset();
  return peer;
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
    return answer_call_error(request, operation->lacks_role());

  const auto task = task_use(request, *operation);
  if (!task) return;
  const Json* arguments = member(message.params, "arguments");
  auto prepared = tool_arguments(*operation, arguments ? *arguments : Json(nullptr));
  if (!prepared) return answer_call_error(request, prepared.error());
  const Json input = prepared->input;
  confirmation_.ask_first(request, *operation, input,
                          [this, request, operation, prepared = std::move(*prepared),
                           task = *task] { run(request, *operation, prepared, task); });
}

void ToolMethods::run(const McpRequest& request, const Operation& operation,
                      ToolArguments arguments, TaskUse task_use) {
  const auto& [peer, message, call] = request;
  const bool is_task = task_use == TaskUse::AtOnce;
  const Json token = call->can_notify() && !is_task ? progress_token(message) : Json(nullptr);

  Call work = make_call(peer, operation, std::move(arguments.input), call->token());
  work.keep = operation.execution != Execution::Inline;
  work.is_async = is_task;
  work.is_streamed = !token.is_null() && operation.streams_answer();
  work.on_job = [request, &dispatcher = services_.dispatcher](const std::string& job_id) {
    if (!request.call->set_job(job_id)) cancel_job(dispatcher, request.peer, job_id);
  };
  const Json* meta = member(message.params, "_meta");
  work.idempotency_key = string_member(meta ? *meta : Json(), kIdempotencyMeta)
                             .value_or(string_member(work.input, "idempotency_key").value_or(""));

  if (task_use == TaskUse::WhenLong)
    answer_with_job_after(services_.options.task_wait, call, without_session(peer), task_use);
  else if (token.is_null() && !is_task && operation.execution != Execution::Inline)
    answer_with_job_after(services_.options.job_wait, call, without_session(peer), task_use);
  const auto meter =
      token.is_null() ? nullptr
                      : std::make_shared<ProgressMeter>(
                            token, *peer.protocol, services_.clock, services_.options.progress_gap,
                            [call = call](const Json& told) { call->notify(told); });
  services_.dispatcher.call(
      std::move(work),
      [request, &operation, repaired = std::move(arguments.repaired), meter, is_task,
       services = services_, follower = follower_](const Answer& answer) {
        if (is_task) return answer_created_task(services, *follower, request, answer, repaired);
        if (meter) meter->flush();
        answer_tool_call(request.call, operation, repaired, *request.peer.protocol, answer);
      },
      [call = call, meter](const Event& event) {
        if (meter && !call->is_ended()) meter->take(event);
      });
}

void ToolMethods::answer_with_job_after(std::chrono::milliseconds delay,
                                        std::weak_ptr<OpenCall> call, McpPeer peer,
                                        TaskUse task_use) {
  services_.deadlines.after(
      delay, [this, delay, call = std::move(call), peer = std::move(peer), task_use] {
        const auto waiting = call.lock();
        if (!waiting || waiting->is_ended()) return;
        const std::string job = waiting->job_id();
        if (job.empty())
          return answer_with_job_after(std::min(delay, kJobRecheck), call, peer, task_use);
        if (task_use == TaskUse::WhenLong)
          return answer_with_task(services_.dispatcher, peer, waiting, job);
        waiting->answer_result(tool_job_result(job, "running", *peer.protocol));
      });
}

}  // namespace indx
