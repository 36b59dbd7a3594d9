#include "mcp/http_message.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <utility>

namespace indx {
namespace {

constexpr int kRetryAfterSeconds = 1;

/// `q=0`, with as many zeros as one likes.
bool is_refused(std::string_view part) {
  const auto parameters = split(std::string(part), ';');
  for (std::size_t i = 1; i < parameters.size(); ++i) {
    const std::string text = to_lower(replace_all(parameters[i], " ", ""));
    if (text.starts_with("q=0")) return text.find_first_not_of("0.", 2) == text.npos;
  }
  return false;
}

struct Wish {
  bool is_wanted = false, is_of_anything = false;  ///< by `*/*` alone
};
/// What the header says of a type: the range that names it closest counts.
Wish wish_for(const std::string& header, std::string_view kind, std::string_view form) {
  Wish wish;
  int closest = 0;
  for (const std::string& part : split(header, ',')) {
    const std::string range = media_type(part);
    const int closeness = range == cat(kind, '/', form) ? 3
                          : range == cat(kind, "/*")    ? 2
                          : range == "*/*"              ? 1
                                                        : 0;
    if (closeness <= closest) continue;
    closest = closeness;
    wish = {.is_wanted = !is_refused(part), .is_of_anything = closeness == 1};
  }
  return wish;
}

}  // namespace

std::string media_type(std::string_view text) {
  return to_lower(trim(text.substr(0, text.find(';'))));
}

Accepted accepted_types(const HttpRequest& request) {
  const std::string header = request.header("accept");
  if (trim(header).empty()) return {.json = true, .any_sse = true};
  const auto json = wish_for(header, "application", "json");
  const auto sse = wish_for(header, "text", "event-stream");
  // Who takes just anything gets JSON, which every client can read; a stream if not even that.
  return {.json = json.is_wanted,
          .sse = sse.is_wanted && (!sse.is_of_anything || !json.is_wanted),
          .any_sse = sse.is_wanted};
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
