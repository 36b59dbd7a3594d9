#include "mcp/tool_methods.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "mcp/logging.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/progress_meter.hpp"
#include "mcp/result_size.hpp"
#include "mcp/task_view.hpp"
#include "mcp/tool_files.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace indx {
namespace {

constexpr std::chrono::milliseconds kJobRecheck{1'000};
constexpr std::string_view kIdempotencyMeta = "indx/idempotency_key";
constexpr int kMostPageTries = 3;

std::string unknown_tool(const Registry& registry, const std::string& full_name) {
  const Operation* operation = registry.find(full_name);
  const auto name = prefix_at_grapheme(full_name, kMaxShownName);
  if (operation && !operation->tool_group.empty())
    return cat("Unknown tool ", name, ". Call ", operation->tool_group, " with action ", name, '.');
  return cat("Unknown tool ", name, ". tools/list names those there are.");
}

/// The limit with which a page would fit into a result; 0: it fits, or smaller pages do not help.
int smaller_limit(const Operation& operation, const Json& output) {
  if (!operation.has_pages() || !output.is_object()) return 0;
  const auto list = output.find(operation.list);
  if (list == output.end() || !list->is_array() || list->size() < 2) return 0;
  const std::size_t size = json_size(to_portable_value(operation.output, output));
  if (size <= kMaxResultBytes) return 0;
  const std::size_t fits = list->size() * kMaxResultBytes * 9 / (size * 10);
  return static_cast<int>(std::clamp<std::size_t>(fits, 1, list->size() - 1));
}

/// Who sees the same catalog.
std::string catalog_key(const McpPeer& peer, const AiRoles& roles) {
  std::string key = cat(peer.protocol->version, roles.chat, roles.embeddings);
  for (const Scope scope : peer.principal.scopes) key += cat(' ', name(scope));
  return key;
}

}  // namespace

/// One call in work; shared by the callbacks of what it waits for.
struct ToolMethods::Work {
  const McpServices services;
  const std::shared_ptr<JobFollower> follower;
  const TaskUse task_use;
  const Json progress_token;  ///< null: nobody wants to hear of progress
  Dispatcher& dispatcher;
  const std::shared_ptr<ReplayCache> replays;
  const McpPeer peer;
  const std::shared_ptr<OpenCall> call;
  const ToolArguments arguments;
  const ToolLog log;
  std::string idempotency_key;
  std::shared_ptr<ProgressMeter> meter;  ///< null: there is nothing to tell, or a task tells it

  std::optional<std::string> revision = {};  ///< nullopt: the answer is not kept
  std::string replay_key = {};
  std::string job_id = {};         ///< of the job that made the answer; empty: none
  int limit = 0, pages_tried = 0;  ///< of a page that was asked for again because it was too long

  const Operation& operation() const { return *arguments.operation; }
  void answer_with(Json output, const FileBytes* file, bool is_replay) const;
};

void ToolMethods::Work::answer_with(Json output, const FileBytes* file, bool is_replay) const {
  if (file) put_file(*file, output);
  Json result =
      tool_result(operation(), output, arguments.repaired, *peer.protocol, arguments.input, job_id);
  if (file)
    if (Json image = image_block(*file, output); !image.is_null())
      result["content"].push_back(std::move(image));
  if (is_replay) result["_meta"]["indx/replayed"] = true;
  if (limit > 0) result["_meta"]["indx/limit"] = limit;
  if (!job_id.empty()) name_job(result, operation(), output, job_id);
  call->answer_result(std::move(result));
}

std::vector<McpMethod> ToolMethods::methods() {
  return {{.name = "tools/list", .run = [this](const McpRequest& request) { list(request); }},
          {.name = "tools/call", .run = [this](const McpRequest& request) { call_tool(request); }}};
}

void ToolMethods::list(const McpRequest& request) {
  const McpPeer& peer = request.peer;
  const AiRoles roles = services_.dispatcher.ai_roles();
  std::shared_ptr<const Json> catalog;
  {
    const std::scoped_lock lock(mutex_);
    auto& kept = catalogs_[catalog_key(peer, roles)];
    if (!kept) {
      Json tools = Json::array();
      for (const Tool& tool : tools_of(services_.dispatcher.registry(), peer.principal, roles))
        tools.push_back(tool_descriptor(tool, peer.principal, *peer.protocol));
      kept = std::make_shared<const Json>(std::move(tools));
    }
    catalog = kept;
  }
  request.call->answer_result({{"tools", *catalog}});
}

void ToolMethods::refuse_hidden(const McpRequest& request, const Operation& operation) const {
  const auto& call = request.call;
  const Principal& principal = request.peer.principal;
  if (request.peer.transport == McpTransport::Http)
    return call->answer(insufficient_scope(principal, operation, call->id()));
  call->answer_result(tool_error(lacks_scope(principal, operation), &operation));
}

void ToolMethods::call_tool(const McpRequest& request) {
  const auto& [peer, message, call] = request;
  const Registry& registry = services_.dispatcher.registry();
  const auto name = string_member(message.params, "name");
  if (!name)
    return call->answer_fault(kRpcInvalidParams, "params.name must be the name of a tool.");
  const auto tool = find_tool(registry, *name);
  if (!tool) return call->answer_fault(kRpcInvalidParams, unknown_tool(registry, *name));
  const bool may_call_some =
      std::any_of(tool->operations.begin(), tool->operations.end(),
                  [&](const Operation* each) { return may_call(request.peer.principal, *each); });
  const Json* meta = member(message.params, "_meta");
  if (const Json* key = meta ? member(*meta, kIdempotencyMeta) : nullptr; key && !key->is_string())
    return call->answer_fault(kRpcInvalidParams, cat("_meta.", kIdempotencyMeta, " must be text."));
  const Json* given = member(message.params, "arguments");
  if (!may_call_some) return refuse_hidden(request, asked_operation(*tool, given));

  auto arguments = tool_arguments(*tool, given ? *given : Json(nullptr), &peer.principal);
  if (!arguments) return answer_call_error(request, arguments.error());
  const Operation& operation = *arguments->operation;
  if (!may_call(peer.principal, operation) || !is_shown_to(peer.principal, operation))
    return refuse_hidden(request, operation);
  if (!operation.is_listed(services_.dispatcher.ai_roles()))
    return answer_call_error(request, operation.lacks_role());
  const auto task = task_use(request, operation);
  if (!task) return;
  const Json input = arguments->input;
  confirmation_.ask_first(request, operation, input,
                          [this, request, arguments = std::move(*arguments), task = *task] {
                            run(request, arguments, task);
                          });
}

void ToolMethods::run(const McpRequest& request, ToolArguments arguments, TaskUse task_use) {
  const auto& [peer, message, call] = request;
  const Operation& operation = *arguments.operation;
  const Json* meta = member(message.params, "_meta");
  const Json token = call->can_notify() ? progress_token(message) : Json(nullptr);
  const std::string key =
      string_member(meta ? *meta : Json(), kIdempotencyMeta)
          .value_or(string_member(arguments.input, "idempotency_key").value_or(""));
  const bool is_task = task_use == TaskUse::AtOnce;
  const auto work = std::shared_ptr<Work>(new Work{
      .services = services_,
      .follower = follower_,
      .task_use = task_use,
      .progress_token = token,
      .dispatcher = services_.dispatcher,
      .replays = replays_,
      .peer = peer,
      .call = call,
      .arguments = std::move(arguments),
      .log = ToolLog(request, services_.clock, operation.name),
      .idempotency_key = key,
      .meter = token.is_null() || is_task
                   ? nullptr
                   : std::make_shared<ProgressMeter>(
                         token, *peer.protocol, services_.clock, services_.options.progress_gap,
                         [call = call](const Json& told) { call->notify(told); })});
  work->revision = services_.dispatcher.revision(operation, work->arguments.input);
  if (work->revision) {
    work->replay_key = ReplayCache::key(peer.principal, operation, work->arguments.input);
    if (auto kept = replays_->find(work->replay_key, *work->revision))
      return work->answer_with(std::move(*kept), nullptr, true);
  }
  if (task_use == TaskUse::WhenLong)
    answer_with_job_after(services_.options.task_wait, work);
  else if (token.is_null() && !is_task && operation.execution != Execution::Inline)
    answer_with_job_after(services_.options.job_wait, work);
  start(work);
}

void ToolMethods::know_job(const Work& work, const std::string& job_id) {
  if (!work.call->set_job(job_id)) cancel_job(work.dispatcher, work.peer, job_id);
}

void ToolMethods::start(const std::shared_ptr<Work>& work) {
  const Operation& operation = work->operation();
  Json input = work->arguments.input;
  if (work->limit > 0) input["limit"] = work->limit;
  Call call = make_call(work->peer, operation, std::move(input), work->call->token());
  call.keep = operation.execution != Execution::Inline;
  // A model may take longer than a host waits: what runs as a job has a handle to answer with.
  call.as_job = operation.needs_provider && !work->meter;
  call.is_async = work->task_use == TaskUse::AtOnce;
  call.is_streamed = work->meter && operation.streams_answer();
  call.on_job = [work](const std::string& job_id) { know_job(*work, job_id); };
  call.is_next_page = work->limit > 0;
  call.idempotency_key = work->idempotency_key;
  call.upload = work->arguments.upload;
  work->dispatcher.call(
      std::move(call), [work](const Answer& answer) { finish(work, answer); },
      [work](const Event& event) {
        work->log.told(event);
        if (!event.job_id.empty()) know_job(*work, event.job_id);  // a streamed one, over the wire
        if (work->meter && !work->call->is_ended()) work->meter->take(event);
      });
}

void ToolMethods::finish(const std::shared_ptr<Work>& work, const Answer& answer) {
  if (work->call->is_ended()) return;
  if (work->task_use == TaskUse::AtOnce)
    return answer_created_task(work->services, *work->follower, work->peer, work->call,
                               work->progress_token, answer, work->arguments.repaired);
  if (answer.result && !answer.is_accepted)
    if (const int limit = smaller_limit(work->operation(), *answer.result);
        limit > 0 && work->pages_tried++ < kMostPageTries) {
      work->limit = limit;
      return start(work);
    }
  work->log.answered(answer);
  if (work->meter) work->meter->flush();
  if (!answer.result)
    return work->call->answer_result(tool_error(answer.result.error(), &work->operation()));
  if (answer.is_accepted) {
    const Json* job = member(*answer.result, "job");
    const std::string state = job ? string_member(*job, "state").value_or("ready") : "ready";
    return work->call->answer_result(tool_job_result(answer.job_id, state, *work->peer.protocol));
  }
  if (work->revision && work->limit == 0)
    work->replays->put(work->replay_key, *work->revision, *answer.result);
  work->job_id = answer.job_id;
  work->answer_with(*answer.result, answer.file.get(), false);
}

void ToolMethods::answer_with_job_after(std::chrono::milliseconds delay,
                                        const std::shared_ptr<Work>& work) {
  services_.deadlines.after(delay, [this, delay, weak = std::weak_ptr(work)] {
    const auto waiting = weak.lock();
    if (!waiting || waiting->call->is_ended()) return;
    const std::string job = waiting->call->job_id();
    if (job.empty()) return answer_with_job_after(std::min(delay, kJobRecheck), waiting);
    if (waiting->task_use == TaskUse::WhenLong)
      return answer_with_task(services_.dispatcher, waiting->peer, waiting->call, job);
    waiting->call->answer_result(tool_job_result(job, "running", *waiting->peer.protocol));
  });
}

}  // namespace indx
