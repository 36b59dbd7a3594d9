#include "mcp/task_methods.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "mcp/client_capabilities.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/task_calls.hpp"
#include "mcp/task_view.hpp"
#include "mcp/tools.hpp"
#include "ops/job_record.hpp"

#include <optional>
#include <string>
#include <utility>

namespace indx {
namespace {

constexpr int kTasksAPage = 50;

bool is_modern_request(const McpRequest& request) {
  return request.peer.protocol->era == Era::Modern;
}

void refuse_unknown(const McpRequest& request, const std::string& id) {
  const auto shown = prefix_at_grapheme(id, kMaxShownName);
  request.call->answer_fault(
      kRpcInvalidParams, cat("You have no task with the id ", shown, ". It may be over and gone."),
      {{"taskId", shown}});
}

void cancel_task(const McpServices& services, const McpRequest& request, const Json& record) {
  const bool is_modern = is_modern_request(request);
  const std::string id = record.value("id", "");
  const auto refuse_terminal = [request, id](const Json& ended) {
    request.call->answer_fault(
        kRpcInvalidParams,
        cat("Task ", id, " is ", task_status(ended, Era::Legacy), " and cannot be cancelled."),
        {{"taskId", id}});
  };
  if (is_terminal_task(record, request.peer.protocol->era))
    return is_modern ? request.call->answer_result(Json::object()) : refuse_terminal(record);
  const Operation* cancels = operation_behind(services, request, "job_cancel");
  if (!cancels) return;
  services.dispatcher.call(make_call(request.peer, *cancels, {{"id", id}}, {}),
                           [request, is_modern, refuse_terminal](const Answer& answer) {
                             if (!answer.result)
                               return answer_fault_of(*request.call, answer.result.error());
                             if (is_modern) return request.call->answer_result(Json::object());
                             const Json& now = answer.result->at("job");
                             if (task_status(now, Era::Legacy) != "cancelled")
                               return refuse_terminal(now);
                             request.call->answer_result(task_view(now, Era::Legacy));
                           });
}

}  // namespace

std::vector<McpMethod> TaskMethods::methods() {
  const auto run = [this](void (TaskMethods::*method)(const McpRequest&) const) {
    return [this, method](const McpRequest& request) {
      if (has_tasks(request)) (this->*method)(request);
    };
  };
  return {
      {.name = "tasks/get", .run = run(&TaskMethods::get)},
      {.name = "tasks/cancel", .run = run(&TaskMethods::cancel)},
      {.name = "tasks/result", .is_modern = false, .run = run(&TaskMethods::result)},
      {.name = "tasks/list", .is_modern = false, .run = run(&TaskMethods::list)},
      {.name = "tasks/update", .is_legacy = false, .run = run(&TaskMethods::update)},
  };
}

bool TaskMethods::has_tasks(const McpRequest& request) const {
  const auto& [peer, message, call] = request;
  if (!is_modern_request(request)) {
    if (peer.protocol->has_tasks) return true;
    call->answer_fault(kRpcMethodNotFound,
                       cat("There is no method ", prefix_at_grapheme(message.method, kMaxShownName),
                           " in ", peer.protocol->version, '.'));
    return false;
  }
  return require_capability(request, task_capability());
}

void TaskMethods::with_record(const McpRequest& request, Then then) const {
  const auto id = string_member(request.message.params, "taskId");
  if (!id)
    return request.call->answer_fault(kRpcInvalidParams, "params.taskId must be the id of a task.");
  const Operation* reads = operation_behind(services_, request, "job_get");
  if (!reads) return;
  services_.dispatcher.call(make_call(request.peer, *reads, {{"id", *id}}, request.call->token()),
                            [request, id = *id, then = std::move(then),
                             registry = services_.dispatcher.registry()](const Answer& answer) {
                              if (!answer.result) {
                                const Error& error = answer.result.error();
                                const bool is_unknown = error.code() == ErrorCode::NotFound ||
                                                        error.code() == ErrorCode::InvalidArgument;
                                return is_unknown ? refuse_unknown(request, id)
                                                  : answer_fault_of(*request.call, error);
                              }
                              const Json& record = answer.result->at("job");
                              if (!operation_of_task(registry, record))
                                return refuse_unknown(request, id);
                              then(record);
                            });
}

void TaskMethods::get(const McpRequest& request) const {
  with_record(request, [request, registry = services_.dispatcher.registry()](const Json& record) {
    request.call->answer_result(task_with_result(record, registry, *request.peer.protocol));
  });
}

void TaskMethods::result(const McpRequest& request) const {
  const auto answer = [request, registry = services_.dispatcher.registry()](const Json& record) {
    // It was called cancelled, and stays so, though its job may have come to its end first.
    const std::string id = record.value("id", "");
    const bool ended_after_all =
        record.value("state", "") == "succeeded" && task_status(record, Era::Legacy) == "cancelled";
    Json result =
        ended_after_all
            ? tool_error(make_error(Reason::Cancelled,
                                    "The task was cancelled when its work was done already; "
                                    "job_get shows what came of it.",
                                    {{"job_id", id}}))
            : task_result(record, *operation_of_task(registry, record), *request.peer.protocol);
    result["_meta"][std::string(kRelatedTask)] = {{"taskId", id}};
    request.call->answer_result(std::move(result));
  };
  with_record(request, [request, answer, follower = follower_](const Json& now) {
    if (is_final_record(now)) return answer(now);
    follower->follow(request.peer.principal, now.value("id", ""),
                     {.on_record =
                          [request, answer](const Result<Json>& record) {
                            if (!record) {
                              answer_fault_of(*request.call, record.error());
                            } else if (is_final_record(*record)) {
                              answer(*record);
                            }
                            return !request.call->is_ended();
                          },
                      .is_wanted = [call = request.call] { return !call->is_ended(); }});
  });
}

void TaskMethods::list(const McpRequest& request) const {
  const Operation* lists = operation_behind(services_, request, "job_list");
  if (!lists) return;
  Json input = {{"limit", kTasksAPage}};
  if (const auto cursor = string_member(request.message.params, "cursor");
      cursor && !cursor->empty())
    input["cursor"] = *cursor;
  services_.dispatcher.call(
      make_call(request.peer, *lists, std::move(input), request.call->token()),
      [request, registry = services_.dispatcher.registry()](const Answer& answer) {
        if (!answer.result) return answer_fault_of(*request.call, answer.result.error());
        Json tasks = Json::array();
        for (const Json& record : answer.result->at("jobs"))
          if (operation_of_task(registry, record) && !member(record, "parent"))
            tasks.push_back(task_view(record, Era::Legacy));
        Json result = {{"tasks", std::move(tasks)}};
        if (const auto next = string_member(*answer.result, "next_cursor"))
          result["nextCursor"] = *next;
        request.call->answer_result(std::move(result));
      });
}

/// No task of ours waits for input: what has to be asked is asked before the task is made.
void TaskMethods::update(const McpRequest& request) const {
  const Json* responses = member(request.message.params, "inputResponses");
  if (!responses || !responses->is_object())
    return request.call->answer_fault(kRpcInvalidParams,
                                      "params.inputResponses must be an object.");
  with_record(request, [request](const Json&) { request.call->answer_result(Json::object()); });
}

void TaskMethods::cancel(const McpRequest& request) const {
  with_record(request, [request, services = services_](const Json& record) {
    cancel_task(services, request, record);
  });
}

}  // namespace indx
