#include "mcp/resource_methods.hpp"

#include "base/text.hpp"
#include "mcp/operation_call.hpp"
#include "mcp/resources.hpp"

#include <string>
#include <utility>

namespace indx {
namespace {

constexpr int kResourcePageSize = 100;

/// A failed operation behind a resources method.
void answer_resource_error(OpenCall& call, const Error& error, const std::string& uri) {
  const bool is_missing = error.reason == Reason::NotFound || error.reason == Reason::Forbidden;
  if (is_missing && !uri.empty())
    return call.answer_fault(kRpcResourceNotFound, "No such resource.", {{"uri", uri}});
  const int code =
      error.code() == ErrorCode::InvalidArgument ? kRpcInvalidParams : kRpcInternalError;
  Json data = error.to_json();
  if (!uri.empty()) data["uri"] = uri;
  call.answer_fault(code, error.message, std::move(data));
}

}  // namespace

std::vector<McpMethod> ResourceMethods::methods() {
  return {{.name = "resources/list", .run = [this](const McpRequest& request) { list(request); }},
          {.name = "resources/read", .run = [this](const McpRequest& request) { read(request); }},
          {.name = "resources/templates/list", .run = [](const McpRequest& request) {
             request.call->answer_result(resource_templates());
           }}};
}

void ResourceMethods::list(const McpRequest& request) const {
  const auto& [peer, message, call] = request;
  const Operation* operation = operation_behind(services_, request, "note_list");
  if (!operation) return;
  Json input = {{"limit", kResourcePageSize}};
  if (const auto cursor = string_member(message.params, "cursor")) input["cursor"] = *cursor;
  services_.dispatcher.call(make_call(peer, *operation, std::move(input), call->token()),
                            [call = call](const Answer& answer) {
                              if (!answer.result)
                                return answer_resource_error(*call, answer.result.error(), "");
                              call->answer_result(resource_page(*answer.result));
                            });
}

void ResourceMethods::read(const McpRequest& request) const {
  const auto& [peer, message, call] = request;
  const auto uri = string_member(message.params, "uri");
  if (!uri)
    return call->answer_fault(kRpcInvalidParams, "params.uri must be the URI of a resource.");
  const Operation* operation = operation_behind(services_, request, "note_read");
  if (!operation) return;
  const auto path = path_of_vault_uri(*uri);
  if (!path) return answer_resource_error(*call, path.error(), *uri);
  services_.dispatcher.call(make_call(peer, *operation, note_read_input(*path), call->token()),
                            [call = call, uri = *uri, path = *path](const Answer& answer) {
                              if (!answer.result)
                                return answer_resource_error(*call, answer.result.error(), uri);
                              call->answer_result(resource_contents(uri, path, *answer.result));
                            });
}

}  // namespace indx
