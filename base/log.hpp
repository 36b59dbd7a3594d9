#pragma once
#include "base/config.hpp"
#include "base/json.hpp"

#include <string>
#include <string_view>

namespace indx {

enum class LogLevel : std::uint8_t { Debug, Info, Warn, Error };

/// Set once at start; lines go to stderr, one write each. Text: `time level message key=value…`;
/// JSON: one object a line.
void configure_log(LogLevel level, LogFormat format);
LogLevel parse_log_level(std::string_view name);

/// Adds `request_id` and `job_id` of this thread's current work to each line while it lives.
class LogContext {
 public:
  LogContext(std::string request_id, std::string job_id);
  ~LogContext();
  LogContext(const LogContext&) = delete;
  LogContext& operator=(const LogContext&) = delete;

 private:
  std::string previous_request_, previous_job_;
};

/// Never pass note content, prompts, model output or secrets.
void log(LogLevel level, std::string_view message, const Json& fields = Json::object());
inline void log_debug(std::string_view m, const Json& f = Json::object()) {
  log(LogLevel::Debug, m, f);
}
inline void log_info(std::string_view m, const Json& f = Json::object()) {
  log(LogLevel::Info, m, f);
}
inline void log_warn(std::string_view m, const Json& f = Json::object()) {
  log(LogLevel::Warn, m, f);
}
inline void log_error(std::string_view m, const Json& f = Json::object()) {
  log(LogLevel::Error, m, f);
}

}  // namespace indx
