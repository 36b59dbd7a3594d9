#include "base/log.hpp"

#include "base/clock.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"

#include <atomic>
#include <unistd.h>

namespace indx {
namespace {

std::atomic<LogLevel> g_level =
    LogLevel::Info;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables):
                     // set once at start
std::atomic<LogFormat> g_format =
    LogFormat::Text;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables):
                      // set once at start
thread_local std::string
    t_request;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): see LogContext
thread_local std::string
    t_job;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): see LogContext

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return "debug";
    case LogLevel::Info:
      return "info";
    case LogLevel::Warn:
      return "warn";
    case LogLevel::Error:
      return "error";
  }
  return "error";
}

}  // namespace

void configure_log(LogLevel level, LogFormat format) {
  g_level = level;
  g_format = format;
}

LogLevel parse_log_level(std::string_view name) {
  for (const auto level : {LogLevel::Debug, LogLevel::Warn, LogLevel::Error})
    if (level_name(level) == name) return level;
  return LogLevel::Info;
}

LogContext::LogContext(std::string request_id, std::string job_id)
    : previous_request_(std::exchange(t_request, std::move(request_id))),
      previous_job_(std::exchange(t_job, std::move(job_id))) {}

LogContext::~LogContext() {
  t_request = std::move(previous_request_);
  t_job = std::move(previous_job_);
}

void log(LogLevel level, std::string_view message, const Json& fields) {
  if (level < g_level) return;
  const auto time = format_time(SystemClock().now());
  Json all = Json::object();
  if (!t_request.empty()) all["request_id"] = t_request;
  if (!t_job.empty()) all["job_id"] = t_job;
  all.update(fields);
  std::string line;
  if (g_format == LogFormat::JsonLines) {
    Json object{{"time", time}, {"level", level_name(level)}, {"message", message}};
    object.update(all);
    line = json_text(object);
  } else {
    line = cat(time, " ", level_name(level), " ", message);
    for (const auto& [key, value] : all.items()) line += cat(" ", key, "=", json_text(value));
  }
  line += '\n';
  // One write, so that lines of several threads do not mix. A closed stderr must not end the
  // program.
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace indx
