#pragma once
#include "mcp/method.hpp"
#include "mcp/request_state.hpp"

#include <functional>
#include <string>

namespace indx {

/// Asks a person before a call that may lose something (Operation::asks_person), where the client
/// says that it can ask: a form with one switch. Other clients call as they always did.
/// Thread-safe.
class Confirmation {
 public:
  explicit Confirmation(const McpServices& services)
      : deadlines_(services.deadlines), states_(services.clock, services.random) {}

  /// Runs `go_on` now, or when the person has agreed; or answers the call otherwise: legacy asks on
  /// the stream of the call, modern answers with what has to be asked, and the client repeats the
  /// call. Who declines, or says nothing for RequestStates::kLifetime, gets
  /// `confirmation_required`, who closes the question `cancelled`; nothing is done then. `input` is
  /// that of the operation.
  void ask_first(const McpRequest& request, const Operation& operation, const Json& input,
                 std::function<void()> go_on) const;

 private:
  void ask_legacy(const McpRequest& request, const Operation& operation, Json form,
                  std::function<void()> go_on) const;
  void ask_modern(const McpRequest& request, const Operation& operation, Json form,
                  const std::function<void()>& go_on) const;

  Deadlines& deadlines_;
  mutable RequestStates states_;  // it knows which were used
};

}  // namespace indx
