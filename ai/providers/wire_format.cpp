#include "ai/providers/wire_format.hpp"

#include "ai/json_shape.hpp"
#include "base/json_text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <charconv>

namespace indx {
namespace {

constexpr std::size_t kMaxSchemaName = 64;               // of the strictest
constexpr std::int64_t kMostTokens = 1'000'000'000'000;  // so that sums cannot overflow

}  // namespace

HttpClientRequest WireFormat::call(const std::string& path) const {
  HttpClientRequest http;
  http.url = upstream_.base_url + path;
  http.headers = {{"Accept", "application/json, text/event-stream"}};
  if (!upstream_.api_key.empty()) http.headers.push_back(authorization());
  return http;
}

HttpClientRequest WireFormat::get(const std::string& path) const { return call(path); }

HttpClientRequest WireFormat::post(const std::string& path, const Json& body) const {
  auto http = call(path);
  http.method = "POST";
  http.headers.emplace_back("Content-Type", "application/json");
  http.body = json_text(body);
  return http;
}

const Json& member(const Json& object, const char* name) {
  static const Json null;
  const auto it = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && it != object.end() ? *it : null;
}

std::string text_member(const Json& object, const char* name) {
  const auto& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<std::int64_t> count_member(const Json& object, const char* name) {
  const auto& value = member(object, name);
  if (!value.is_number_integer()) return std::nullopt;
  return std::clamp<std::int64_t>(value.get<std::int64_t>(), 0, kMostTokens);
}

std::optional<Json> parse_body(std::string_view text) {
  if (auto json = parse_untrusted_json(text)) return json;
  if (is_valid_utf8(text)) return std::nullopt;
  return parse_untrusted_json(replace_invalid_utf8(text));
}

int status_of_code(const std::string& code) {
  int number = 0;
  const auto [stop, failure] = std::from_chars(code.data(), code.data() + code.size(), number);
  if (failure == std::errc() && stop == code.data() + code.size() && number >= 400 && number < 600)
    return number;
  static const std::pair<std::string_view, int> kCodes[] = {
      {"invalid_request_error", 400}, {"INVALID_ARGUMENT", 400},    {"authentication_error", 401},
      {"UNAUTHENTICATED", 401},       {"permission_error", 403},    {"PERMISSION_DENIED", 403},
      {"not_found_error", 404},       {"NOT_FOUND", 404},           {"request_too_large", 413},
      {"rate_limit_error", 429},      {"rate_limit_exceeded", 429}, {"insufficient_quota", 429},
      {"RESOURCE_EXHAUSTED", 429},    {"overloaded_error", 529},    {"UNAVAILABLE", 503},
      {"DEADLINE_EXCEEDED", 504},     {"timeout_error", 504}};
  for (const auto& [name, status] : kCodes)
    if (name == code) return status;
  return 500;
}

std::string schema_name_of(const GenerateRequest& request) {
  std::string name;
  for (const char c : request.schema_name.substr(0, kMaxSchemaName)) {
    const bool is_allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                            (c >= '0' && c <= '9') || c == '_' || c == '-';
    name += is_allowed ? c : '_';
  }
  return name.empty() ? "reply" : name;
}

std::int64_t prompt_tokens(const GenerateRequest& request) {
  auto tokens = estimate_tokens(request.system);
  for (const auto& message : request.messages) tokens += estimate_tokens(message.content);
  return tokens;
}

}  // namespace indx
