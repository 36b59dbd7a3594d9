#include "mcp/task_calls.hpp"

#include "base/text.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/progress_meter.hpp"
#include "mcp/task_view.hpp"
#include "mcp/tools.hpp"

#include <utility>

namespace indx {
namespace {

constexpr std::string_view kImmediateResponse = "io.modelcontextprotocol/model-immediate-response";

bool asks_for_task(const McpRequest& request) {
  return request.peer.protocol->has_tasks && member(request.message.params, "task") != nullptr;
}

int rpc_code(const Error& error) {
  switch (error.code()) {
    case ErrorCode::InvalidArgument:
    case ErrorCode::NotFound:
    case ErrorCode::Unprocessable:
    case ErrorCode::TooLarge:
    case ErrorCode::Conflict:
    case ErrorCode::PreconditionFailed:
      return kRpcInvalidParams;
    case ErrorCode::Forbidden:
      return kRpcForbidden;
    default:
      return kRpcInternalError;
  }
}

/// Tells one client about one task until that ends. Shared by the two callbacks of the listener.
class TaskNews {
 public:
  TaskNews(const McpServices& services, const McpPeer& peer, Json token, Json told)
      : session_(peer.session), told_(std::move(told)) {
    if (!token.is_null())
      meter_ = std::make_unique<ProgressMeter>(
          std::move(token), *peer.protocol, services.clock, services.options.progress_gap,
          [session = session_](const Json& notification) { send(session, notification); });
  }

  bool is_wanted() const { return !session_.expired(); }
  void take(const Event& event) {
    if (meter_) meter_->take(event);
  }
  bool show(const Result<Json>& record) {
    if (!record) return false;
    Json task = task_view(*record, Era::Legacy);
    const bool is_over = is_terminal_task(*record, Era::Legacy);
    if (task["status"] != told_["status"] || task.value("statusMessage", "") != said()) {
      told_ = std::move(task);
      send(session_, rpc_notification("notifications/tasks/status", told_));
    }
    return !is_over;
  }

 private:
  static void send(const std::weak_ptr<McpSession>& session, const Json& notification) {
    const auto open = session.lock();
    if (open && open->channel) open->channel->send(notification);
  }
  std::string said() const { return told_.value("statusMessage", ""); }

  const std::weak_ptr<McpSession> session_;
  Json told_;
  std::unique_ptr<ProgressMeter> meter_;  // null: progress is not wanted
};

void follow_task(const McpServices& services, JobFollower& follower, const McpPeer& peer,
                 Json token, const std::string& job_id, Json told) {
  if (!peer.session || !peer.session->channel) return;
  const auto news = std::make_shared<TaskNews>(services, peer, std::move(token), std::move(told));
  follower.follow(peer.principal, job_id,
                  {.on_record = [news](const Result<Json>& record) { return news->show(record); },
                   .on_event = [news](const Event& event) { news->take(event); },
                   .is_wanted = [news] { return news->is_wanted(); }});
}

}  // namespace

std::optional<TaskUse> task_use(const McpRequest& request, const Operation& operation) {
  const auto& [peer, message, call] = request;
  if (peer.protocol->has_task_extension)
    return may_become_task(operation) && declares_tasks(peer) ? TaskUse::WhenLong : TaskUse::None;
  if (!asks_for_task(request)) return TaskUse::None;
  const Json& task = message.params["task"];
  const Json* ttl = member(task, "ttl");
  if (!task.is_object() || (ttl && !ttl->is_number())) {
    call->answer_fault(kRpcInvalidParams, "params.task must be an object like {\"ttl\": 60000}.");
    return std::nullopt;
  }
  if (may_become_task(operation)) return TaskUse::AtOnce;
  call->answer_fault(kRpcMethodNotFound,
                     cat(operation.name, " is answered at once; call it without task."));
  return std::nullopt;
}

void answer_with_task(Dispatcher& dispatcher, const McpPeer& peer,
                      const std::shared_ptr<OpenCall>& call, const std::string& job_id) {
  const auto answer_with_job = [call, job_id, &protocol = *peer.protocol] {
    call->answer_result(tool_job_result(job_id, "running", protocol));
  };
  const Operation* reads = dispatcher.registry().find("job_get");
  if (!reads || !may_call(peer.principal, *reads)) return answer_with_job();
  Call look = make_call(peer, *reads, {{"id", job_id}}, {});
  look.is_next_page = true;  // part of a call that the limit has counted
  dispatcher.call(std::move(look), [call, answer_with_job](const Answer& answer) {
    if (!answer.result) return answer_with_job();
    Json task = task_view(answer.result->at("job"), Era::Modern);
    task["resultType"] = "task";
    call->answer_result(std::move(task));
  });
}

void answer_created_task(const McpServices& services, JobFollower& follower, const McpPeer& peer,
                         const std::shared_ptr<OpenCall>& call, Json token, const Answer& answer,
                         const std::vector<std::string>& repaired) {
  if (!answer.result) return answer_fault_of(*call, answer.result.error());
  const Json* record = member(*answer.result, "job");
  if (!answer.is_accepted || !record)
    return call->answer_fault(kRpcInvalidParams,
                              "This idempotency key has its answer already. Call the tool without "
                              "task, or with another key.");
  const Json task = task_view(*record, Era::Legacy);
  Json meta = {{kImmediateResponse, cat("indx works on it as task ", answer.job_id,
                                        ". Its result can be fetched when it is done.")}};
  if (!repaired.empty()) meta["indx/repaired"] = repaired;
  call->answer_result({{"task", task}, {"_meta", std::move(meta)}});
  follow_task(services, follower, peer, std::move(token), answer.job_id, task);
}

void answer_fault_of(OpenCall& call, const Error& error) {
  call.answer_fault(rpc_code(error), error.message, error.to_json());
}

void answer_call_error(const McpRequest& request, const Error& error, const Operation* operation) {
  if (!asks_for_task(request)) return request.call->answer_result(tool_error(error, operation));
  answer_fault_of(*request.call, error);
}

}  // namespace indx
