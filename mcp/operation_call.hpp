#pragma once
#include "mcp/method.hpp"

#include <optional>
#include <string>

namespace indx {

/// How methods reach the operations behind them.

/// How many bytes of a name that a client made up an error repeats.
inline constexpr std::size_t kMaxShownName = 100;

/// The member of an object; null: there is none, or it is null.
const Json* member(const Json& object, std::string_view key);
std::optional<std::string> string_member(const Json& object, std::string_view key);
/// The token under which the peer wants to hear of progress; null: it does not.
Json progress_token(const RpcMessage& message);

bool may_call(const Principal& principal, const Operation& operation);
/// 403 with the challenge that names the missing scopes, and a JSON-RPC error for who shows only
/// the body.
McpAnswer insufficient_scope(const Principal& principal, const Operation& operation,
                             const Json& id);
/// Why the principal may not call the operation, as dispatch says it.
Error lacks_scope(const Principal& principal, const Operation& operation);

Call make_call(const McpPeer& peer, const Operation& operation, Json input,
               const CancelToken& cancel);
/// Asks for the end of a job whose caller does not want it any more.
void cancel_job(Dispatcher& dispatcher, const McpPeer& peer, const std::string& job_id);

/// An operation that a method is made of; answers the request itself when there is none, or when
/// the principal may not call it.
const Operation* operation_behind(const McpServices& services, const McpRequest& request,
                                  std::string_view name);

}  // namespace indx
