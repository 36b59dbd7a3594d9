#include "ai/providers/openai.hpp"

#include "ai/json_shape.hpp"
#include "base/http_client.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace indx {
namespace {

constexpr std::size_t kMaxUpstreamMessage = 300;
constexpr const char* kOpenAiName = "openai";

/// The member as text, empty when it is missing or of another type.
std::string text_member(const Json& object, const char* name) {
  const auto it = object.is_object() ? object.find(name) : object.end();
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

Json member(const Json& object, const char* name) {
  const auto it = object.is_object() ? object.find(name) : object.end();
  return it != object.end() ? *it : Json();
}

Json request_body(const AiConfig& config, const GenerateRequest& request) {
  Json messages = Json::array();
  if (!request.system.empty())
    messages.push_back({{"role", "system"}, {"content", request.system}});
  for (const auto& message : request.messages)
    messages.push_back({{"role", message.role}, {"content", message.content}});
  Json body{{"model", config.model},
            {"messages", std::move(messages)},
            {"temperature", request.temperature},
            {"seed", request.seed},
            {"max_tokens", std::min(request.max_output_tokens, config.max_output_tokens)}};
  if (!request.json_schema.is_null()) {
    Json schema{{"name", request.schema_name.empty() ? "reply" : request.schema_name},
                {"strict", true},
                {"schema", request.json_schema}};
    body["response_format"] = {{"type", "json_schema"}, {"json_schema", std::move(schema)}};
  }
  return body;
}

std::int64_t prompt_tokens(const GenerateRequest& request) {
  auto tokens = estimate_tokens(request.system);
  for (const auto& message : request.messages) tokens += estimate_tokens(message.content);
  return tokens;
}

FinishReason finish_reason_of(const std::string& name) {
  if (name == "length") return FinishReason::Length;
  if (name == "content_filter") return FinishReason::ContentFilter;
  if (name == "stop" || name.empty() || name == "eos") return FinishReason::Stop;
  return FinishReason::Error;
}

/// Some servers wrap JSON in a code fence although they were given a schema.
std::string_view without_fence(std::string_view text) {
  text = trim(text);
  if (!text.starts_with("```") || !text.ends_with("```") || text.size() < 6) return text;
  text.remove_suffix(3);
  text.remove_prefix(std::min(text.size(), text.find('\n')));
  return trim(text);
}

class OpenAiProvider : public Provider {
 public:
  explicit OpenAiProvider(AiConfig config) : config_(std::move(config)) {}
  std::string name() const override { return kOpenAiName; }
  std::string model() const override { return config_.model; }
  bool can_generate() const override { return true; }

  Result<GenerateReply> generate(const GenerateRequest& request,
                                 const CancelToken& cancel) override {
    const auto tokens = prompt_tokens(request);
    if (tokens > config_.max_input_tokens)
      return make_error(Reason::AiInputTooLarge,
                        cat("The prompt has about ", tokens, " tokens, but at most ",
                            config_.max_input_tokens, " are allowed (ai.max_input_tokens)."),
                        {{"tokens", tokens}});
    const auto response = http_exchange(http_request(request), cancel);
    if (!response) return transport_error(response.error());
    if (response->status < 200 || response->status > 299) return status_error(*response);
    return read_reply(request, *response);
  }

 private:
  HttpClientRequest http_request(const GenerateRequest& request) const {
    HttpClientRequest http;
    http.method = "POST";
    http.url = config_.openai_base_url + "/chat/completions";
    http.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
    if (!config_.openai_api_key.empty())
      http.headers.emplace_back("Authorization", "Bearer " + config_.openai_api_key);
    http.body = request_body(config_, request).dump(-1, ' ', false, Json::error_handler_t::replace);
    http.timeout = config_.timeout;
    http.connect_timeout = std::min(http.connect_timeout, config_.timeout);
    return http;
  }

  std::string redacted(std::string_view text) const {
    const auto clean = replace_invalid_utf8(text);
    const auto safe = config_.openai_api_key.empty()
                          ? clean
                          : replace_all(clean, config_.openai_api_key, "[redacted]");
    return std::string(prefix_at_grapheme(safe, kMaxUpstreamMessage));
  }

  Error provider_error(const std::string& what, const char* cause, int status,
                       std::string_view upstream) const {
    return make_error(Reason::AiProviderError, what,
                      {{"provider", kOpenAiName},
                       {"upstream_status", status},
                       {"upstream_message", redacted(upstream)},
                       {"cause", cause}});
  }

  Error transport_error(const Error& error) const {
    if (error.reason == Reason::Cancelled) return error;
    if (error.reason == Reason::Timeout)
      return provider_error("The AI provider did not answer in time.", "timeout", 0, error.message);
    if (error.reason == Reason::TooLarge)
      return provider_error("The AI provider's answer is too large.", "parse", 200, error.message);
    if (error.reason == Reason::ValidationFailed) return error;  // a bad base URL or key
    return provider_error("The AI provider cannot be reached or broke off.", "connect", 0,
                          error.message);
  }

  Error status_error(const HttpClientResponse& response) const {
    const auto body = parse_untrusted_json(response.body).value_or(Json());
    const auto upstream_error = member(body, "error");
    const auto code = text_member(upstream_error, "code");
    auto message = upstream_error.is_string() ? upstream_error.get<std::string>()
                                              : text_member(upstream_error, "message");
    if (message.empty()) message = response.body;
    if (code == "context_length_exceeded")
      return make_error(Reason::AiInputTooLarge,
                        "The prompt is too large for the model; lower ai.max_input_tokens.",
                        {{"provider", kOpenAiName}, {"upstream_message", redacted(message)}});
    auto error = provider_error(cat("The AI provider answered with status ", response.status, "."),
                                "status", response.status, message);
    if (!code.empty()) error.details["upstream_code"] = redacted(code);
    if (const auto it = response.headers.find("retry-after"); it != response.headers.end())
      if (const auto pause = parse_retry_after(it->second, SystemClock().now()))
        error.details["retry_after_ms"] = pause->count();
    return error;
  }

  AiUsage read_usage(const GenerateRequest& request, const Json& body,
                     const std::string& text) const {
    const auto usage = member(body, "usage");
    const auto input = member(usage, "prompt_tokens"), output = member(usage, "completion_tokens");
    if (input.is_number_integer() && output.is_number_integer())
      return {std::max<std::int64_t>(0, input.get<std::int64_t>()),
              std::max<std::int64_t>(0, output.get<std::int64_t>()),
              {},
              "reported"};
    return {prompt_tokens(request), estimate_tokens(text), {}, "estimated"};
  }

  Result<GenerateReply> read_reply(const GenerateRequest& request,
                                   const HttpClientResponse& response) const {
    const auto body = parse_untrusted_json(response.body);
    const auto choices = body ? member(*body, "choices") : Json();
    if (!choices.is_array() || choices.empty())
      return provider_error("The AI provider's answer is not a chat completion.", "parse",
                            response.status, "");
    const auto message = member(choices[0], "message");
    GenerateReply reply;
    reply.text = replace_invalid_utf8(text_member(message, "content"));
    reply.usage = read_usage(request, *body, reply.text);
    reply.finish_reason = finish_reason_of(text_member(choices[0], "finish_reason"));
    const auto fail = [&](const std::string& what, const char* cause, const std::string& upstream) {
      auto error = provider_error(what, cause, response.status, upstream);
      error.details["usage"] = to_json(reply.usage);
      return error;
    };
    if (const auto refusal = text_member(message, "refusal"); !refusal.empty())
      return fail("The model refused.", "refused", refusal);
    const bool wants_json = !request.json_schema.is_null();
    if (reply.finish_reason == FinishReason::ContentFilter && (wants_json || reply.text.empty()))
      return fail("The provider's content filter stopped the answer.", "refused", "");
    if (!wants_json) return reply;
    if (reply.finish_reason == FinishReason::Length)
      return fail("The model's answer was cut at the output limit; raise max_output_tokens.",
                  "parse", "");
    auto structured = parse_untrusted_json(without_fence(reply.text));
    if (!structured) return fail("The model's answer is not valid JSON.", "parse", "");
    if (const auto errors = shape_errors(*structured, request.json_schema); !errors.empty())
      return fail("The model's answer does not fit the schema.", "schema", join(errors, "; "));
    reply.structured = std::move(*structured);
    return reply;
  }

  const AiConfig config_;
};

}  // namespace

std::unique_ptr<Provider> make_openai_provider(const AiConfig& config) {
  return std::make_unique<OpenAiProvider>(config);
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
