#include "cli/remote_wire.hpp"

#include "base/text.hpp"

#include <chrono>

namespace indx {
namespace {

constexpr std::size_t kMaxAnswerBytes = 256U << 20U;

}  // namespace

HttpClientRequest RemoteWire::request(const std::string& method, const std::string& path_and_query,
                                      const Principal* principal) const {
  HttpClientRequest request;
  request.method = method;
  request.url = target.base + path_and_query;
  request.timeout = std::chrono::milliseconds(0);
  request.max_response_bytes = kMaxAnswerBytes;
  if (!target.token.empty())
    request.headers.emplace_back("Authorization", "Bearer " + target.token);
  if (principal == nullptr) return request;
  request.headers.emplace_back("X-Indx-Surface", std::string(name(principal->surface)));
  std::vector<std::string> scopes;
  for (const Scope scope : principal->scopes) scopes.emplace_back(name(scope));
  for (const auto& glob : principal->path_globs) scopes.push_back("path:" + percent_encode(glob));
  if (!scopes.empty()) request.headers.emplace_back("X-Indx-Scopes", join(scopes, " "));
  return request;
}

Error error_of_response(const HttpClientResponse& response) {
  const Json body = Json::parse(response.body, nullptr, false);
  if (body.is_object() && body.contains("error") && body["error"].is_object())
    return error_from_json(body["error"]);
  Reason reason = Reason::Internal;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Reason::kCount); ++i) {
    const Error sample = make_error(static_cast<Reason>(i), "");
    if (sample.http_status() != response.status) continue;
    reason = sample.reason;
    break;
  }
  return make_error(reason, cat("The server answered with status ", response.status, "."),
                    Json{{"status", response.status}});
}

Event event_of(const SseFrame& frame, std::string* epoch) {
  Event event;
  event.kind = frame.event;
  Json data = Json::parse(frame.data, nullptr, false);
  if (!data.is_object()) return event;
  const auto take = [&](const char* key) {
    const auto it = data.find(key);
    std::string text = it != data.end() && it->is_string() ? it->get<std::string>() : "";
    if (it != data.end()) data.erase(key);
    return text;
  };
  const std::string id = take("id");
  if (const auto dash = id.rfind('-'); dash != id.npos) {
    if (epoch != nullptr) *epoch = id.substr(0, dash);
    event.id = std::strtoll(id.c_str() + dash + 1, nullptr, 10);
  }
  if (const auto kind = take("kind"); !kind.empty()) event.kind = kind;
  event.at = parse_time(take("at")).value_or(Timestamp());
  event.actor = take("actor");
  event.subject = take("subject");
  event.job_id = take("job_id");
  event.data = std::move(data);
  return event;
}

}  // namespace indx
