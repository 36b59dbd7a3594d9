#pragma once
#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/random.hpp"
#include "mcp/session.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace indx {

/// The `requestState` of a result that asks for more input (modern): what the client gives back
/// with the answers proves that we asked this principal about this very call, a short while ago.
/// Nothing is kept here. Thread-safe.
class RequestStates {
 public:
  RequestStates(const Clock& clock, Random& random) : clock_(clock), key_(random.hex(32)) {}

  std::string make(const McpPeer& peer, const RpcMessage& message) const;

  enum class Verdict : std::uint8_t {
    Valid,
    Expired,
    Altered  ///< not ours, or made for another principal, method, tool or arguments
  };
  Verdict check(const std::string& state, const McpPeer& peer, const RpcMessage& message) const;

  static constexpr std::chrono::minutes kLifetime{10};

 private:
  std::string signature(const McpPeer& peer, const RpcMessage& message,
                        const std::string& expires) const;

  const Clock& clock_;
  const std::string key_;  // of this process: a state does not outlive it
};

}  // namespace indx
