#include "ai/providers/http_provider.hpp"

#include "ai/json_shape.hpp"
#include "ai/prices.hpp"
#include "ai/providers/upstream_client.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>

namespace indx {
namespace {

/// Some servers wrap JSON in a code fence although they were given a schema.
std::string_view without_fence(std::string_view text) {
  text = trim(text);
  if (!text.starts_with("```") || !text.ends_with("```") || text.size() < 6) return text;
  text.remove_suffix(3);
  text.remove_prefix(std::min(text.size(), text.find('\n')));
  return trim(text);
}

class HttpProvider : public Provider {
 public:
  HttpProvider(const AiConfig& config, std::unique_ptr<WireFormat> format)
      : max_input_tokens_(config.max_input_tokens),
        max_output_tokens_(config.max_output_tokens),
        format_(std::move(format)),
        price_(price_of(config, format_->upstream().provider, format_->upstream().model)),
        client_(config, *format_) {}

  std::string name() const override { return format_->upstream().provider; }
  std::string model() const override { return format_->upstream().model; }
  bool can_generate() const override { return true; }
  bool can_stream() const override { return true; }

  Result<GenerateReply> generate(const GenerateRequest& request,
                                 const CancelToken& cancel) override {
    const auto limited = INDX_TRY(within_limits(request));
    const auto body = INDX_TRY(client_.exchange(format_->chat_call(limited, false), cancel));
    ModelAnswer answer;
    format_->read_answer(body, answer);
    return reply_of(limited, answer);
  }

  Result<GenerateReply> generate_stream(const GenerateRequest& request, const CancelToken& cancel,
                                        const OnDelta& on_delta) override {
    const auto limited = INDX_TRY(within_limits(request));
    ModelAnswer answer;
    bool is_broken = false;
    const auto on_event = [&](const StreamEvent& event) {
      if (format_->is_end(event)) {
        answer.is_complete = true;
        return false;
      }
      const auto data = parse_body(event.data);
      is_broken = !data;
      if (is_broken) return false;
      const auto text = answer.text.size(), arguments = answer.arguments.size();
      format_->read_event(*data, answer);
      if (answer.text.size() > text) on_delta(std::string_view(answer.text).substr(text));
      if (answer.arguments.size() > arguments)
        on_delta(std::string_view(answer.arguments).substr(arguments));
      return !answer.is_complete && !answer.failure;
    };
    auto streamed = client_.stream(format_->chat_call(limited, true), cancel, on_event);
    if (!streamed) return with_usage(std::move(streamed.error()), limited, answer);
    if (is_broken)
      return with_usage(client_.failure("An event of the AI provider's stream is not valid JSON.",
                                        "parse", streamed->status, ""),
                        limited, answer);
    if (streamed->body) {
      format_->read_answer(*streamed->body, answer);
      if (!answer.text.empty()) on_delta(answer.text);
      if (!answer.arguments.empty()) on_delta(answer.arguments);
      auto reply = reply_of(limited, answer);
      if (reply) reply->came_whole = true;
      return reply;
    }
    if (!answer.is_complete && !answer.finish && !answer.failure)
      return with_usage(client_.failure("The AI provider's stream ended before its answer did.",
                                        "connect", streamed->status, ""),
                        limited, answer);
    return reply_of(limited, answer);
  }

  Result<std::vector<std::string>> list_models(const CancelToken& cancel) override {
    const auto body = INDX_TRY(client_.exchange(format_->models_call(), cancel));
    auto models = format_->read_models(body);
    if (models.empty() && !body.is_object())
      return client_.failure("The AI provider's answer is not a list of models.", "parse", 200, "");
    std::sort(models.begin(), models.end());
    return models;
  }

 private:
  /// The request with the output limit in force; or why it is not sent.
  Result<GenerateRequest> within_limits(const GenerateRequest& request) const {
    const auto tokens = prompt_tokens(request);
    if (tokens > max_input_tokens_)
      return make_error(Reason::AiInputTooLarge,
                        cat("The prompt has about ", tokens, " tokens, but at most ",
                            max_input_tokens_, " are allowed (ai.max_input_tokens)."),
                        {{"tokens", tokens}});
    auto limited = request;
    limited.max_output_tokens = std::min(request.max_output_tokens, max_output_tokens_);
    return limited;
  }

  AiUsage usage_of(const GenerateRequest& request, const ModelAnswer& answer) const {
    const bool is_reported = answer.input_tokens && answer.output_tokens;
    AiUsage usage;
    usage.input_tokens = answer.input_tokens.value_or(prompt_tokens(request));
    usage.output_tokens =
        answer.output_tokens.value_or(estimate_tokens(answer.text + answer.arguments));
    usage.source = is_reported ? "reported" : "estimated";
    usage.cost_usd = cost_at(price_, usage.input_tokens, usage.output_tokens);
    return usage;
  }

  /// A stream that breaks off was billed all the same.
  Error with_usage(Error error, const GenerateRequest& request, const ModelAnswer& answer) const {
    const bool has_begun = !answer.text.empty() || !answer.arguments.empty() || answer.input_tokens;
    if (has_begun && error.reason == Reason::AiProviderError)
      error.details["usage"] = to_json(usage_of(request, answer));
    return error;
  }

  Result<GenerateReply> reply_of(const GenerateRequest& request, const ModelAnswer& answer) const {
    if (answer.failure)
      return with_usage(client_.told_failure(*answer.failure, 500), request, answer);
    if (!answer.is_answer)
      return client_.failure("The AI provider's answer is not a chat completion.", "parse", 200,
                             "");
    GenerateReply reply;
    reply.text = answer.text;
    reply.usage = usage_of(request, answer);
    reply.finish_reason = answer.finish.value_or(FinishReason::Stop);
    const auto fail = [this, usage = to_json(reply.usage)](
                          const std::string& what, const char* cause, std::string_view upstream) {
      auto error = client_.failure(what, cause, 200, upstream);
      error.details["usage"] = usage;
      return error;
    };
    if (!answer.refusal.empty()) return fail("The model refused.", "refused", answer.refusal);
    const bool wants_json = !request.json_schema.is_null();
    if (reply.finish_reason == FinishReason::ContentFilter && (wants_json || reply.text.empty()))
      return fail("The provider's content filter stopped the answer.", "refused", "");
    if (!wants_json) return reply;
    if (reply.finish_reason == FinishReason::Length)
      return fail("The model's answer was cut at the output limit; raise max_output_tokens.",
                  "parse", "");
    return structured(request, answer, std::move(reply), fail);
  }

  template <typename Fail>
  Result<GenerateReply> structured(const GenerateRequest& request, const ModelAnswer& answer,
                                   GenerateReply reply, const Fail& fail) const {
    const auto ask_again = [&](Error error) {
      if (format_->asks_by_words()) error.details["may_ask_again"] = true;
      return error;
    };
    const std::string_view text = !answer.has_tool_call      ? without_fence(answer.text)
                                  : answer.arguments.empty() ? std::string_view("{}")
                                                             : trim(answer.arguments);
    auto json = parse_untrusted_json(text);
    if (!json) return ask_again(fail("The model's answer is not valid JSON.", "parse", ""));
    if (const auto errors = shape_errors(*json, request.json_schema); !errors.empty())
      return ask_again(
          fail("The model's answer does not fit the schema.", "schema", join(errors, "; ")));
    reply.text = json_text(*json);
    reply.structured = std::move(*json);
    return reply;
  }

  const int max_input_tokens_, max_output_tokens_;
  const std::unique_ptr<WireFormat> format_;
  const std::optional<ModelPrice> price_;
  const UpstreamClient client_;
};

}  // namespace

std::unique_ptr<Provider> make_http_provider(const AiConfig& config,
                                             std::unique_ptr<WireFormat> format) {
  return std::make_unique<HttpProvider>(config, std::move(format));
}

}  // namespace indx
