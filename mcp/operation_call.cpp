#include "mcp/operation_call.hpp"

#include "base/text.hpp"
#include "mcp/catalog.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace indx {

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> string_member(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  return value && value->is_string() ? std::optional(value->get<std::string>()) : std::nullopt;
}

/// The token under which the peer wants to hear of progress; null: it does not.
Json progress_token(const RpcMessage& message) {
  const Json* meta = member(message.params, "_meta");
  const Json* token = meta ? member(*meta, "progressToken") : nullptr;
  return token && (token->is_string() || token->is_number_integer()) ? *token : Json(nullptr);
}

bool may_call(const Principal& principal, const Operation& operation) {
  return std::all_of(operation.scopes.begin(), operation.scopes.end(),
                     [&](Scope scope) { return principal.has(scope); });
}

/// What a caller needs to be shown this operation.
std::vector<Scope> wanted_scopes(const Principal& principal, const Operation& operation) {
  std::vector<Scope> scopes = operation.scopes;
  if (!is_shown_to(principal, operation) &&
      std::find(scopes.begin(), scopes.end(), Scope::VaultWrite) == scopes.end())
    scopes.push_back(Scope::VaultWrite);
  return scopes;
}

Error lacks_scope(const Principal& principal, const Operation& operation) {
  const auto allowed = check_scopes(operation, principal, wanted_scopes(principal, operation));
  return allowed ? make_error(Reason::Forbidden, "") : allowed.error();
}

McpAnswer insufficient_scope(const Principal& principal, const Operation& operation,
                             const Json& id) {
  const Error error = lacks_scope(principal, operation);
  Json data = error.details;
  data["code"] = error.name();
  std::vector<std::string> scopes;
  for (const Scope scope : wanted_scopes(principal, operation)) scopes.emplace_back(name(scope));
  return {.message = rpc_error({kRpcForbidden, error.message, std::move(data), id}),
          .http_status = 403,
          .challenge = cat("Bearer realm=\"indx\", error=\"insufficient_scope\", scope=\"",
                           join(scopes, " "), '"')};
}

Call make_call(const McpPeer& peer, const Operation& operation, Json input,
               const CancelToken& cancel) {
  Call call;
  call.operation = &operation;
  call.input = std::move(input);
  call.principal = peer.principal;
  call.cancel = cancel;
  return call;
}

/// Asks for the end of a job whose caller does not want it any more.
void cancel_job(Dispatcher& dispatcher, const McpPeer& peer, const std::string& job_id) {
  const Operation* operation = dispatcher.registry().find("job_cancel");
  if (!operation) return;
  const auto& fields = operation->input->properties;
  const auto field =
      std::find_if(fields.begin(), fields.end(), [](const auto& each) { return each.is_required; });
  const std::string name = field == fields.end() ? "id" : field->name;
  dispatcher.call(make_call(peer, *operation, {{name, job_id}}, {}), [](const Answer&) {});
}

const Operation* operation_behind(const McpServices& services, const McpRequest& request,
                                  std::string_view name) {
  const Operation* operation = services.dispatcher.registry().find(name);
  if (!operation) {
    request.call->answer_fault(kRpcMethodNotFound, cat("This server offers no ", name, "."));
    return nullptr;
  }
  if (may_call(request.peer.principal, *operation)) return operation;
  request.call->answer(insufficient_scope(request.peer.principal, *operation, request.call->id()));
  return nullptr;
}

}  // namespace indx
