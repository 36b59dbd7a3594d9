#include "ai/providers/upstream_client.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace indx {
namespace {

constexpr std::size_t kMaxUpstreamMessage = 300;
constexpr std::size_t kMaxReplyBytes = 16U << 20U;
constexpr std::size_t kMaxEventBytes = 4U << 20U;

/// Providers have no common code for a prompt that is too long, so their words decide.
bool says_too_long(const UpstreamFailure& told) {
  if (told.code == "context_length_exceeded" || told.code == "exceed_context_size_error")
    return true;
  const auto message = to_lower(replace_invalid_utf8(told.message));
  static constexpr std::string_view kPhrases[] = {"maximum context length", "prompt is too long",
                                                  "input token count",      "context window",
                                                  "exceeds the context",    "exceed context limit"};
  return std::any_of(std::begin(kPhrases), std::end(kPhrases),
                     [&](auto phrase) { return message.find(phrase) != message.npos; });
}

std::string header_of(const HttpClientResponse& response, const char* name) {
  const auto it = response.headers.find(name);
  return it == response.headers.end() ? std::string() : it->second;
}

}  // namespace

UpstreamClient::UpstreamClient(const AiConfig& config, const WireFormat& format)
    : format_(format),
      proxies_(config.proxies),
      timeout_(config.timeout),
      connect_timeout_(std::min(config.connect_timeout, config.timeout)),
      first_byte_timeout_(config.first_byte_timeout),
      idle_timeout_(config.idle_timeout) {}

HttpClientRequest UpstreamClient::prepared(HttpClientRequest http) const {
  http.timeout = timeout_;
  http.connect_timeout = connect_timeout_;
  http.first_byte_timeout = first_byte_timeout_;
  http.idle_timeout = idle_timeout_;
  http.max_response_bytes = kMaxReplyBytes;
  http.proxy = proxy_for(proxies_, http.url);
  return http;
}

Result<Json> UpstreamClient::exchange(HttpClientRequest http, const CancelToken& cancel) const {
  const auto response = http_exchange(prepared(std::move(http)), cancel);
  if (!response) return transport_failure(response.error());
  if (response->status < 200 || response->status > 299) return status_failure(*response);
  auto body = parse_body(response->body);
  if (!body)
    return failure("The AI provider's answer is not valid JSON.", "parse", response->status, "");
  return std::move(*body);
}

Result<UpstreamClient::Streamed> UpstreamClient::stream(
    HttpClientRequest http, const CancelToken& cancel,
    const std::function<bool(const StreamEvent&)>& on_event) const {
  Streamed streamed;
  StreamReader reader(format_.framing());
  bool has_events = false, is_too_large = false;
  std::string body;
  std::size_t received = 0;
  const auto deliver = [&](const std::vector<StreamEvent>& events) {
    const bool goes_on = std::all_of(events.begin(), events.end(), on_event);
    streamed.was_stopped = !goes_on;
    return goes_on;
  };
  const auto on_head = [&](const HttpClientResponse& head) {
    const bool is_json = header_of(head, "content-type").starts_with("application/json");
    has_events = head.status >= 200 && head.status < 300 &&
                 (!is_json || format_.framing() == StreamFraming::Lines);
  };
  const auto on_data = [&](std::string_view piece) {
    received += piece.size();
    if (!has_events) body += piece;
    is_too_large = received > kMaxReplyBytes || reader.pending_bytes() > kMaxEventBytes;
    return !is_too_large && (!has_events || deliver(reader.feed(piece)));
  };

  const auto request = prepared(std::move(http));
  auto response = http_stream(request, cancel, on_data, on_head);
  if (!response) return transport_failure(response.error());
  if (is_too_large)
    return failure("The AI provider's answer is too large.", "too_large", response->status,
                   cat("More than ", kMaxReplyBytes, " bytes."));
  streamed.status = response->status;
  if (response->status < 200 || response->status > 299) {
    response->body = std::move(body);
    return status_failure(*response);
  }
  if (has_events) {
    if (!streamed.was_stopped) deliver(reader.finish());
    return streamed;
  }
  streamed.body = parse_body(body);
  if (!streamed.body)
    return failure("The AI provider's answer is not valid JSON.", "parse", response->status, "");
  return streamed;
}

std::string UpstreamClient::redacted(std::string_view text) const {
  const auto clean = replace_invalid_utf8(text);
  const auto& key = format_.upstream().api_key;
  const auto safe = key.empty() ? clean : replace_all(clean, key, "[redacted]");
  return std::string(prefix_at_grapheme(safe, kMaxUpstreamMessage));
}

Error UpstreamClient::failure(const std::string& what, const char* cause, int status,
                              std::string_view upstream) const {
  return make_error(Reason::AiProviderError, what,
                    {{"provider", format_.upstream().provider},
                     {"upstream_status", status},
                     {"upstream_message", redacted(upstream)},
                     {"cause", cause}});
}

Error UpstreamClient::transport_failure(const Error& error) const {
  if (error.reason == Reason::Cancelled) return error;
  if (error.reason == Reason::ValidationFailed) return error;  // a bad base URL, key or proxy
  if (error.reason == Reason::TooLarge)
    return failure("The AI provider's answer is too large.", "too_large", 200, error.message);
  if (error.reason != Reason::Timeout) {
    auto broken =
        failure("The AI provider cannot be reached or broke off.", "connect", 0, error.message);
    if (error.details.value("cause", "") == "connect") broken.details["was_sent"] = false;
    return broken;
  }
  auto timeout = failure("The AI provider did not answer in time.", "timeout", 0, error.message);
  timeout.details["limit"] = error.details.value("limit", "whole");
  return timeout;
}

std::string UpstreamClient::what_failed(int status) const {
  const auto& upstream = format_.upstream();
  if ((status == 401 || status == 403) && !upstream.key_variable.empty())
    return cat("The AI provider refuses the key (status ", status, "); check ",
               upstream.key_variable, ".");
  if (status == 404)
    return cat("The AI provider knows no model `", upstream.model,
               "` at its address (status 404); check the name of the model and the base URL.");
  if (status >= 300 && status < 400)
    return cat("The AI provider answered with a redirect (status ", status,
               "), which is not followed; set the base URL to where it leads.");
  return cat("The AI provider answered with status ", status, ".");
}

Error UpstreamClient::told_failure(const UpstreamFailure& told, int status) const {
  const auto code = told.status != 0 ? told.status : status;
  const bool is_about_request = code == 400 || code == 413 || code == 422;
  if (is_about_request && says_too_long(told))
    return make_error(
        Reason::AiInputTooLarge,
        "The prompt is too large for the model; lower ai.max_input_tokens.",
        {{"provider", format_.upstream().provider}, {"upstream_message", redacted(told.message)}});
  auto error = failure(what_failed(code), "status", code, told.message);
  if (!told.code.empty()) error.details["upstream_code"] = redacted(told.code);
  if (told.retry_after) error.details["retry_after_ms"] = told.retry_after->count();
  return error;
}

Error UpstreamClient::status_failure(const HttpClientResponse& response) const {
  const auto body = parse_body(response.body);
  auto told = body ? format_.read_failure(*body) : UpstreamFailure{};
  told.status = 0;  // the answer's own counts
  if (told.message.empty()) told.message = response.body;
  const auto now = SystemClock().now();
  if (const auto pause = parse_retry_after(header_of(response, "retry-after"), now))
    told.retry_after = pause;
  return told_failure(told, response.status);
}

std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view value, Timestamp now) {
  using std::chrono::milliseconds;
  const std::string text(trim(value));
  double seconds = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (failure == std::errc() && stop == text.data() + text.size() && seconds >= 0 && seconds < 1e9)
    return milliseconds(static_cast<std::int64_t>(seconds * 1000));

  static constexpr std::array<std::string_view, 12> kMonths = {
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  unsigned day = 0, hour = 0, minute = 0, second = 0;
  int year = 0;
  char month[4] = {};
  if (std::sscanf(text.c_str(), "%*3s, %2u %3s %4d %2u:%2u:%2u GMT", &day, month, &year, &hour,
                  &minute, &second) != 6)
    return std::nullopt;
  const auto* found = std::find(kMonths.begin(), kMonths.end(), month);
  const std::chrono::year_month_day date{
      std::chrono::year(year),
      std::chrono::month(static_cast<unsigned>(found - kMonths.begin()) + 1),
      std::chrono::day(day)};
  if (found == kMonths.end() || !date.ok() || hour > 23 || minute > 59 || second > 60)
    return std::nullopt;
  const Timestamp then = std::chrono::sys_days(date) + std::chrono::hours(hour) +
                         std::chrono::minutes(minute) + std::chrono::seconds(second);
  return std::max(milliseconds(0), then - now);
}

}  // namespace indx
