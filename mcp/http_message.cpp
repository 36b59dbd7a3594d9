#include "mcp/http_message.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <utility>

namespace indx {
namespace {

constexpr int kRetryAfterSeconds = 1;

}  // namespace

std::string media_type(std::string_view text) {
  return to_lower(trim(text.substr(0, text.find(';'))));
}

Accepted accepted_types(const HttpRequest& request) {
  const std::string header = request.header("accept");
  if (trim(header).empty()) return {.json = true};
  Accepted accepted;
  for (const std::string& part : split(header, ',')) {
    const std::string type = media_type(part);
    const std::string parameters = replace_all(part, " ", "");
    if (parameters.ends_with(";q=0") || parameters.ends_with(";q=0.0")) continue;
    if (type == "*/*" || type == "application/*" || type == "application/json")
      accepted.json = true;
    if (type == "text/*" || type == "text/event-stream") accepted.sse = true;
  }
  return accepted;
}

HttpResponse rpc_response(int status, const Json& message, const HttpRequest& request) {
  HttpResponse response{status,
                        {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
                        dump_rpc(message)};
  if (!request.id.empty()) response.headers.emplace_back("X-Request-Id", request.id.value);
  if (status == 503) response.headers.emplace_back("Retry-After", cat(kRetryAfterSeconds));
  return response;
}

HttpResponse rpc_failure(int status, std::string message, const HttpRequest& request, int code,
                         const Json& id) {
  return rpc_response(status, rpc_error({code, std::move(message), nullptr, id}), request);
}

}  // namespace indx
