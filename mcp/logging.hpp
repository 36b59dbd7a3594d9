#pragma once
#include "base/json.hpp"
#include "ops/dispatch.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace indx {

class OpenCall;
struct McpMethod;
struct McpRequest;
struct McpSession;

/// The levels of MCP, those of syslog; a higher one is more urgent.
enum class McpLogLevel : std::uint8_t {
  Debug,
  Info,
  Notice,
  Warning,
  Error,
  Critical,
  Alert,
  Emergency
};
std::string_view name(McpLogLevel level);  ///< `warning`
std::optional<McpLogLevel> parse_mcp_log_level(std::string_view name);
std::string mcp_log_levels();  ///< all of them, with commas between
/// The member of `_meta` with which a modern request names its level.
inline constexpr std::string_view kLogLevelMeta = "io.modelcontextprotocol/logLevel";

/// Which log lines one session wants, and how many it gets: silent until a level is set, then at
/// most kLinesPerWindow in a window. Thread-safe.
class McpLogFilter {
 public:
  static constexpr int kLinesPerWindow = 20;
  static constexpr std::chrono::seconds kWindow{10};

  void set_level(McpLogLevel level);
  /// nullopt: the line must not be sent. Else how many wanted lines were left out since the last
  /// one.
  std::optional<int> admit(McpLogLevel level, std::chrono::nanoseconds now);

 private:
  std::mutex mutex_;
  std::optional<McpLogLevel> level_;
  std::chrono::nanoseconds window_start_{};
  int sent_ = 0, left_out_ = 0;
};

/// What the log of the client says about one call of a tool: that it failed, that a job works on it
/// or is tried again, that the index was incomplete. Names and codes only, never text of notes.
/// Legacy: to the session, at the level it set; modern: to the request, at the level in its
/// `_meta`.
class ToolLog {
 public:
  ToolLog(const McpRequest& request, const Clock& clock, std::string tool);
  /// Before the call is answered: nothing may follow an answer.
  void answered(const Answer& answer) const;
  void told(const Event& event) const;

 private:
  void say(McpLogLevel level, Json data) const;

  const Clock& clock_;
  const std::string tool_;
  const std::shared_ptr<McpSession> session_;  // shared: with the transport; null in the modern era
  const std::weak_ptr<OpenCall> call_;
  const std::optional<McpLogLevel> level_;  ///< of the request
};

/// logging/setLevel.
McpMethod set_level_method();

}  // namespace indx
