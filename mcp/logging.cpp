#include "mcp/logging.hpp"

#include "base/text.hpp"
#include "mcp/operation_call.hpp"

#include <array>
#include <utility>
#include <vector>

namespace indx {
namespace {

constexpr std::string_view kLogger = "indx.tools";
constexpr std::array<std::string_view, 8> kLevels = {"debug", "info",     "notice", "warning",
                                                     "error", "critical", "alert",  "emergency"};

/// Only a modern request names its level.
std::optional<McpLogLevel> level_of(const McpRequest& request) {
  const Protocol* protocol = request.peer.protocol;
  if (!protocol || protocol->era != Era::Modern) return std::nullopt;
  const Json* meta = member(request.message.params, "_meta");
  const auto level = meta ? string_member(*meta, kLogLevelMeta) : std::nullopt;
  return level ? parse_mcp_log_level(*level) : std::nullopt;
}

Json log_line(McpLogLevel level, Json data) {
  return rpc_notification("notifications/message",
                          {{"level", name(level)}, {"logger", kLogger}, {"data", std::move(data)}});
}

}  // namespace

std::string_view name(McpLogLevel level) { return kLevels[static_cast<std::size_t>(level)]; }

std::optional<McpLogLevel> parse_mcp_log_level(std::string_view name) {
  for (std::size_t i = 0; i < kLevels.size(); ++i)
    if (kLevels[i] == name) return static_cast<McpLogLevel>(i);
  return std::nullopt;
}

std::string mcp_log_levels() {
  return join(std::vector<std::string>(kLevels.begin(), kLevels.end()), ", ");
}

void McpLogFilter::set_level(McpLogLevel level) {
  const std::scoped_lock lock(mutex_);
  level_ = level;
}

std::optional<int> McpLogFilter::admit(McpLogLevel level, std::chrono::nanoseconds now) {
  const std::scoped_lock lock(mutex_);
  if (!level_ || level < *level_) return std::nullopt;
  if (now - window_start_ >= kWindow) {
    window_start_ = now;
    sent_ = 0;
  }
  if (sent_ == kLinesPerWindow) {
    ++left_out_;
    return std::nullopt;
  }
  ++sent_;
  return std::exchange(left_out_, 0);
}

ToolLog::ToolLog(const McpRequest& request, const Clock& clock, std::string tool)
    : clock_(clock),
      tool_(std::move(tool)),
      session_(request.peer.session),
      call_(request.call),
      level_(level_of(request)) {}

void ToolLog::say(McpLogLevel level, Json data) const {
  data["tool"] = tool_;
  if (level_) {
    const auto call = call_.lock();
    if (call && level >= *level_ && call->can_notify()) call->notify(log_line(level, data));
    return;
  }
  if (!session_ || !session_->channel) return;
  const auto left_out = session_->log.admit(level, clock_.monotonic());
  if (!left_out) return;
  if (*left_out != 0) data["lines_left_out"] = *left_out;
  session_->channel->send(log_line(level, std::move(data)));
}

void ToolLog::answered(const Answer& answer) const {
  if (!answer.result) {
    const Error& error = answer.result.error();
    if (error.code() == ErrorCode::Cancelled) return;
    const bool is_ours = error.code() == ErrorCode::Internal;
    return say(is_ours ? McpLogLevel::Error : McpLogLevel::Warning,
               {{"message", "The call failed."}, {"code", error.name()}});
  }
  if (answer.is_accepted)
    return say(McpLogLevel::Info,
               {{"message", "The call goes on as a job."}, {"job_id", answer.job_id}});
  if (const Json* indexing = member(*answer.result, "indexing"); indexing && *indexing == true)
    say(McpLogLevel::Notice,
        {{"message", "The index is still being filled; the answer may lack notes."}});
}

void ToolLog::told(const Event& event) const {
  const auto about_job = [&](McpLogLevel level, const char* message) {
    say(level, {{"message", message}, {"job_id", event.job_id}});
  };
  if (event.kind == "job.started") about_job(McpLogLevel::Info, "A job works on the call.");
  if (event.kind == "job.retrying") about_job(McpLogLevel::Warning, "The job will be tried again.");
}

McpMethod set_level_method() {
  return {.name = "logging/setLevel", .is_modern = false, .run = [](const McpRequest& request) {
            const auto asked = string_member(request.message.params, "level");
            const auto level = asked ? parse_mcp_log_level(*asked) : std::nullopt;
            if (!level)
              return request.call->answer_fault(
                  kRpcInvalidParams, cat("params.level must be one of ", mcp_log_levels(), "."));
            if (request.peer.session) request.peer.session->log.set_level(*level);
            request.call->answer_result(Json::object());
          }};
}

}  // namespace indx
