#include "ai/providers/anthropic.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr const char* kApiVersion = "2023-06-01";

/// Models since Opus 4.7 refuse a temperature; these still take one, from 0 to 1.
bool takes_temperature(std::string_view model) {
  static constexpr std::string_view kOlder[] = {
      "claude-2",        "claude-3",        "claude-haiku-4",  "claude-sonnet-4", "claude-opus-4-0",
      "claude-opus-4-1", "claude-opus-4-2", "claude-opus-4-5", "claude-opus-4-6"};
  return std::any_of(std::begin(kOlder), std::end(kOlder),
                     [&](auto prefix) { return model.starts_with(prefix); });
}

std::optional<FinishReason> anthropic_finish(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (name == "end_turn" || name == "stop_sequence" || name == "tool_use")
    return FinishReason::Stop;
  if (name == "max_tokens" || name == "model_context_window_exceeded") return FinishReason::Length;
  if (name == "refusal") return FinishReason::ContentFilter;
  return FinishReason::Error;
}

class AnthropicFormat : public WireFormat {
 public:
  using WireFormat::WireFormat;

  HttpClientRequest chat_call(const GenerateRequest& request, bool is_streamed) const override {
    Json messages = Json::array();
    for (const auto& message : request.messages)
      messages.push_back({{"role", message.role}, {"content", message.content}});
    Json body{{"model", upstream().model},
              {"max_tokens", request.max_output_tokens},
              {"messages", std::move(messages)}};
    if (!request.system.empty()) body["system"] = request.system;
    if (takes_temperature(upstream().model))
      body["temperature"] = std::min(request.temperature, 1.0);
    if (!request.json_schema.is_null()) {
      const auto name = schema_name_of(request);
      body["tools"] = Json::array({{{"name", name},
                                    {"description", "Gives the answer."},
                                    {"input_schema", request.json_schema}}});
      body["tool_choice"] = {{"type", "tool"}, {"name", name}, {"disable_parallel_tool_use", true}};
    }
    if (is_streamed) body["stream"] = true;
    auto http = post("/v1/messages", body);
    http.headers.emplace_back("anthropic-version", kApiVersion);
    return http;
  }

  void read_answer(const Json& body, ModelAnswer& answer) const override {
    if (text_member(body, "type") == "error") answer.failure = read_failure(body);
    const auto& blocks = member(body, "content");
    if (!blocks.is_array()) return;
    answer.is_answer = true;
    for (const auto& block : blocks) {
      if (text_member(block, "type") == "text") answer.text += text_member(block, "text");
      if (text_member(block, "type") != "tool_use" || answer.has_tool_call) continue;
      answer.has_tool_call = true;
      answer.arguments = member(block, "input").dump();
    }
    answer.finish = anthropic_finish(text_member(body, "stop_reason"));
    read_usage(member(body, "usage"), answer);
  }

  void read_event(const Json& data, ModelAnswer& answer) const override {
    const auto type = text_member(data, "type");
    if (type == "error") answer.failure = read_failure(data);
    if (type == "message_start") {
      answer.is_answer = true;
      read_usage(member(member(data, "message"), "usage"), answer);
    }
    if (type == "content_block_start") {
      const auto& block = member(data, "content_block");
      answer.text += text_member(block, "text");
      if (text_member(block, "type") == "tool_use") answer.has_tool_call = true;
    }
    if (type == "content_block_delta") {
      const auto& delta = member(data, "delta");
      if (text_member(delta, "type") == "text_delta") answer.text += text_member(delta, "text");
      if (text_member(delta, "type") == "input_json_delta")
        answer.arguments += text_member(delta, "partial_json");
    }
    if (type == "message_delta") {
      answer.finish = anthropic_finish(text_member(member(data, "delta"), "stop_reason"));
      read_usage(member(data, "usage"), answer);
    }
    if (type == "message_stop") answer.is_complete = true;
  }

  UpstreamFailure read_failure(const Json& body) const override {
    const auto& error = member(body, "error");
    UpstreamFailure told;
    told.message = text_member(error, "message");
    told.code = text_member(error, "type");
    told.status = status_of_code(told.code);
    return told;
  }

  HttpClientRequest models_call() const override {
    auto http = get("/v1/models?limit=1000");
    http.headers.emplace_back("anthropic-version", kApiVersion);
    return http;
  }
  std::vector<std::string> read_models(const Json& body) const override {
    std::vector<std::string> names;
    for (const auto& model : member(body, "data"))
      if (auto name = text_member(model, "id"); !name.empty()) names.push_back(std::move(name));
    return names;
  }

 private:
  std::pair<std::string, std::string> authorization() const override {
    return {"x-api-key", upstream().api_key};
  }

  /// The counts of a later event stand for those of an earlier one.
  static void read_usage(const Json& usage, ModelAnswer& answer) {
    if (const auto input = count_member(usage, "input_tokens"))
      answer.input_tokens = *input +
                            count_member(usage, "cache_creation_input_tokens").value_or(0) +
                            count_member(usage, "cache_read_input_tokens").value_or(0);
    if (const auto output = count_member(usage, "output_tokens")) answer.output_tokens = output;
  }
};

}  // namespace

std::unique_ptr<WireFormat> make_anthropic_format(Upstream upstream) {
  return std::make_unique<AnthropicFormat>(std::move(upstream));
}

}  // namespace indx
