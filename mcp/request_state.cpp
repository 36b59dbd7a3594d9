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

}  // namespace

std::string RequestStates::signature(const McpPeer& peer, const RpcMessage& message,
                                     const std::string& expires) const {
  const Json* arguments = member(message.params, "arguments");
  const Json bound = Json::array(
      {peer.principal.subject, message.method, string_member(message.params, "name").value_or(""),
       canonical_hash(arguments ? *arguments : Json::object()), expires});
  return hmac_sha256_hex(key_, dump_rpc(bound));
}

std::string RequestStates::make(const McpPeer& peer, const RpcMessage& message) const {
  const auto lifetime = std::chrono::milliseconds(kLifetime).count();
  const std::string expires = cat(now_ms(clock_) + lifetime);
  return cat(expires, '.', signature(peer, message, expires));
}

RequestStates::Verdict RequestStates::check(const std::string& state, const McpPeer& peer,
                                            const RpcMessage& message) const {
  const auto dot = state.find('.');
  if (dot == std::string::npos) return Verdict::Altered;
  const std::string expires = state.substr(0, dot);
  if (!equal_in_constant_time(state.substr(dot + 1), signature(peer, message, expires)))
    return Verdict::Altered;
  std::int64_t until = 0;
  std::from_chars(expires.data(), expires.data() + expires.size(), until);
  return now_ms(clock_) < until ? Verdict::Valid : Verdict::Expired;
}

}  // namespace indx
