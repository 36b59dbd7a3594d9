#pragma once
#include "base/config.hpp"
#include "cli/args.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// One thing that was looked at.
struct McpCheck {
  enum class State : std::uint8_t { Ok, Warn, Fail };
  State state = State::Ok;
  std::string name;     ///< `vault`
  std::string finding;  ///< what is so
  std::string advice;   ///< what to do; empty: nothing
};

/// Every check that could be made; later ones are left out when an earlier one makes them
/// pointless.
class McpReport {
 public:
  void ok(std::string name, std::string finding);
  void warn(std::string name, std::string finding, std::string advice);
  void fail(std::string name, std::string finding, std::string advice);
  bool is_healthy() const;  ///< no check failed
  const std::vector<McpCheck>& checks() const { return checks_; }

  std::string text() const;  ///< a line each
  Json json() const;         ///< `{ok, checks: [{name, state, finding, advice}]}`

 private:
  std::vector<McpCheck> checks_;
};

/// `indx mcp doctor`: checks what a host would meet, over stdio on a vault or, with --url, over
/// HTTP. Gives 0 when nothing failed, else 1.
int run_mcp_doctor(const Invocation& invocation, const Environment& env);

}  // namespace indx
