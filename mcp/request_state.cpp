#include "mcp/request_state.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "mcp/operation_call.hpp"

#include <charconv>

namespace indx {
namespace {

std::int64_t now_ms(const Clock& clock) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock.now().time_since_epoch())
      .count();
}

std::int64_t expiry_of(const std::string& state) {
  std::int64_t until = 0;
  std::from_chars(state.data(), state.data() + state.size(), until);
  return until;
}

}  // namespace

std::string RequestStates::signature(const McpPeer& peer, const RpcMessage& message,
                                     const std::string& head) const {
  const Json* arguments = member(message.params, "arguments");
  const Json bound = Json::array({peer.principal.subject, message.method,
                                  string_member(message.params, "name").value_or(""),
                                  canonical_hash(arguments ? *arguments : Json::object()), head});
  return hmac_sha256_hex(key_, dump_rpc(bound));
}

// `expiry.nonce.signature`
std::string RequestStates::make(const McpPeer& peer, const RpcMessage& message) const {
  const auto lifetime = std::chrono::milliseconds(kLifetime).count();
  const std::string head = cat(now_ms(clock_) + lifetime, '.', random_.hex(8));
  return cat(head, '.', signature(peer, message, head));
}

RequestStates::Verdict RequestStates::check(const std::string& state, const McpPeer& peer,
                                            const RpcMessage& message) const {
  const auto dot = state.rfind('.');
  if (dot == std::string::npos) return Verdict::Altered;
  if (!equal_in_constant_time(state.substr(dot + 1),
                              signature(peer, message, state.substr(0, dot))))
    return Verdict::Altered;
  const std::scoped_lock lock(mutex_);
  return now_ms(clock_) < expiry_of(state) && !used_.contains(state) ? Verdict::Valid
                                                                     : Verdict::Expired;
}

bool RequestStates::use(const std::string& state) {
  const auto now = now_ms(clock_);
  const std::scoped_lock lock(mutex_);
  std::erase_if(used_, [&](const auto& each) { return each.second <= now; });
  return used_.emplace(state, expiry_of(state)).second;
}

}  // namespace indx
