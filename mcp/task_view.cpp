#include "mcp/task_view.hpp"

#include "base/clock.hpp"
#include "base/text.hpp"
#include "mcp/client_capabilities.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/progress_meter.hpp"
#include "mcp/tools.hpp"
#include "ops/job_record.hpp"
#include "ops/jobs.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::int64_t kPollMs = 1'000;

bool is_cancelled(const Json& record, Era era) {
  return record.value("state", "") == "cancelled" ||
         (era == Era::Legacy && record.value("cancel_requested", false));
}

/// What it is at, or how it ended; empty: nothing to say.
std::string status_message(const Json& record, Era era) {
  if (is_cancelled(record, era)) return "Cancelled. What was written before stays.";
  if (const Json* error = member(record, "error"); error && is_final_record(record))
    return string_member(*error, "message").value_or("");
  const Json* progress = member(record, "progress");
  const std::string done = progress ? progress_text(*progress) : "";
  const std::string state = record.value("state", "");
  if (state == "running" || is_final_record(record)) return done;
  return cat(state == "ready" ? "waits for its turn" : state, done.empty() ? "" : "; ", done);
}

/// How long the record lives from its making on: kept a while after its end, so at least that long
/// before its end is known.
std::int64_t ttl_ms(const Json& record) {
  const auto time = [&](const char* key) {
    return parse_time(string_member(record, key).value_or(""));
  };
  using std::chrono::milliseconds;
  auto lives = std::chrono::duration_cast<milliseconds>(kFinishedJobsKept);
  const auto created = time("created_at"), finished = time("finished_at");
  if (created && finished && *finished > *created)
    lives += std::chrono::duration_cast<milliseconds>(*finished - *created);
  return lives.count();
}

}  // namespace

bool may_become_task(const Operation& operation) {
  return operation.execution != Execution::Inline;
}

Json task_capability() {
  return {{"extensions", {{"io.modelcontextprotocol/tasks", Json::object()}}}};
}

bool declares_tasks(const McpPeer& peer) {
  return declares(peer.client_capabilities, task_capability());
}

std::string_view task_status(const Json& record, Era era) {
  if (is_cancelled(record, era)) return "cancelled";
  if (!is_final_record(record)) return "working";
  return era == Era::Modern || outcome_of(record) ? "completed" : "failed";
}

bool is_terminal_task(const Json& record, Era era) { return task_status(record, era) != "working"; }

Json task_view(const Json& record, Era era) {
  const bool is_modern = era == Era::Modern;
  Json task = {{"taskId", record.value("id", "")}, {"status", task_status(record, era)}};
  if (std::string message = status_message(record, era); !message.empty())
    task["statusMessage"] = std::move(message);
  task["createdAt"] = record.value("created_at", "");
  task["lastUpdatedAt"] = record.value("updated_at", "");
  task[is_modern ? "ttlMs" : "ttl"] = ttl_ms(record);
  task[is_modern ? "pollIntervalMs" : "pollInterval"] = kPollMs;
  return task;
}

const Operation* operation_of_task(const Registry& registry, const Json& record) {
  if (!record.value("is_own", false)) return nullptr;
  return registry.find(record.value("kind", ""));
}

Json task_with_result(const Json& record, const Registry& registry, const Protocol& protocol) {
  Json task = task_view(record, protocol.era);
  if (protocol.era == Era::Legacy || task["status"] != "completed") return task;
  task["result"] = task_result(record, *operation_of_task(registry, record), protocol);
  task["result"]["resultType"] = "complete";
  return task;
}

void name_job(Json& result, const Operation& operation, const Json& output,
              const std::string& job_id) {
  result["_meta"]["indx/job_id"] = job_id;
  // AI that only suggests writes nothing, nor does what mends the index.
  const Json* applied = member(output, "applied");
  const bool may_have_written = operation.is_ai
                                    ? (applied && !applied->empty()) || member(output, "written")
                                    : std::find(operation.scopes.begin(), operation.scopes.end(),
                                                Scope::VaultWrite) != operation.scopes.end();
  if (may_have_written)
    result["content"].push_back(
        {{"type", "text"},
         {"text", cat("Done as job ", job_id,
                      "; job_manage with action job_revert and this id undoes what it wrote.")}});
}

Json task_result(const Json& record, const Operation& operation, const Protocol& protocol) {
  const auto outcome = outcome_of(record);
  if (!outcome) return tool_error(outcome.error(), &operation);
  const Json input = record.value("input", Json::object());
  const std::string id = record.value("id", "");
  Json result = tool_result(operation, *outcome, {}, protocol, input, id);
  name_job(result, operation, *outcome, id);
  return result;
}

}  // namespace indx
