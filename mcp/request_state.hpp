#pragma once
#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/random.hpp"
#include "mcp/session.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace indx {

/// The `requestState` of a result that asks for more input (modern): what the client gives back
/// with the answers proves that we asked this principal about this very call, a short while ago.
/// One is good for one call: those that were used are kept until they expire. Thread-safe.
class RequestStates {
 public:
  RequestStates(const Clock& clock, Random& random)
      : clock_(clock), random_(random), key_(random.hex(32)) {}

  std::string make(const McpPeer& peer, const RpcMessage& message) const;

  enum class Verdict : std::uint8_t {
    Valid,
    Expired,  ///< too old, or used before
    Altered   ///< not ours, or made for another principal, method, tool or arguments
  };
  Verdict check(const std::string& state, const McpPeer& peer, const RpcMessage& message) const;
  /// Takes a valid state out of use. False: another call was quicker.
  bool use(const std::string& state);

  static constexpr std::chrono::minutes kLifetime{10};

 private:
  std::string signature(const McpPeer& peer, const RpcMessage& message,
                        const std::string& head) const;

  const Clock& clock_;
  Random& random_;
  const std::string key_;  // of this process: a state does not outlive it
  mutable std::mutex mutex_;
  std::map<std::string, std::int64_t> used_;  // until when they would be valid, in ms
};

}  // namespace indx
