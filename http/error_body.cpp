#include "http/error_body.hpp"

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "http/rest.hpp"

#include <Poco/DateTimeFormat.h>
#include <Poco/DateTimeFormatter.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Timestamp.h>

#include <algorithm>

namespace indx {
namespace {

/// Nothing that came from outside may begin a header of its own.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
  return text;
}

std::string_view code_of_refusal(int status) {
  switch (status) {
    case 408:
      return "timeout";
    case 413:
      return "too_large";
    case 503:
      return "unavailable";
    default:
      return "validation_failed";
  }
}

/// `text` is JSON.
HttpResponse text_response(int status, std::string text, const RequestId& id) {
  HttpResponse response;
  response.status = status;
  response.headers = {{"Content-Type", "application/json"}, {"X-Request-Id", id.value}};
  response.body = std::move(text);
  return response;
}

}  // namespace

HttpResponse json_response(int status, const Json& body, const RequestId& id) {
  return text_response(status, json_text(body) + "\n", id);
}

HttpResponse data_response(int status, const Json& data, const RequestId& id) {
  std::string text = R"({"ok":true,"data":)";  // around the data, which may be too large to copy
  append_json(text, data);
  return text_response(status, text += "}\n", id);
}

HttpResponse error_response(const Error& error, const RequestId& id) {
  Json body = error.to_json();
  body["request_id"] = id.value;
  auto response =
      json_response(error.http_status(), {{"ok", false}, {"error", std::move(body)}}, id);
  if (response.status == 401)
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"indx\"");
  if (response.status == 429 || response.status == 503) {
    const auto wait =
        error.details.is_object() ? error.details.value("retry_after_s", Json()) : Json();
    response.headers.emplace_back(
        "Retry-After",
        wait.is_number() ? cat(std::max<std::int64_t>(1, wait.get<std::int64_t>())) : "1");
  }
  return response;
}

HttpResponse refusal_response(int status, const std::string& message, const RequestId& id) {
  auto response = json_response(status,
                                {{"ok", false},
                                 {"error",
                                  {{"code", code_of_refusal(status)},
                                   {"message", message},
                                   {"details", Json::object()},
                                   {"request_id", id.value}}}},
                                id);
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

std::string to_wire(const HttpResponse& response, const WireForm& form) {
  const auto status = static_cast<Poco::Net::HTTPResponse::HTTPStatus>(response.status);
  std::string out = cat("HTTP/1.1 ", response.status, " ",
                        Poco::Net::HTTPResponse::getReasonForStatus(status), "\r\n");
  for (const auto& [name, value] : response.headers)
    out += one_line(name) + ": " + one_line(value) + "\r\n";
  out += "Date: " +
         Poco::DateTimeFormatter::format(Poco::Timestamp(), Poco::DateTimeFormat::HTTP_FORMAT) +
         "\r\n";
  const bool has_body = response.status >= 200 && response.status != 204 && response.status != 304;
  if (form.has_length && has_body) out += cat("Content-Length: ", response.body_size(), "\r\n");
  out += form.keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  if (has_body && !form.is_head) out += response.body;
  return out;
}

}  // namespace indx
