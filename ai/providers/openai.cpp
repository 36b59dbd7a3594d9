#include "ai/providers/openai.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr int kMaxSchemaDepth = 64;

FinishReason openai_finish(const std::string& name) {
  if (name == "length") return FinishReason::Length;
  if (name == "content_filter") return FinishReason::ContentFilter;
  static constexpr std::string_view kStops[] = {"stop", "eos", "tool_calls", "function_call"};
  return std::find(std::begin(kStops), std::end(kStops), name) != std::end(kStops)
             ? FinishReason::Stop
             : FinishReason::Error;
}

/// These take neither a temperature nor max_tokens.
bool is_reasoning_model(std::string_view model) {
  model = model.substr(model.rfind('/') + 1);  // npos + 1 is 0
  return model.starts_with("o1") || model.starts_with("o3") || model.starts_with("o4") ||
         model.starts_with("gpt-5");
}

bool is_strict(const Json& schema, int depth) {
  if (!schema.is_object()) return true;
  if (depth > kMaxSchemaDepth) return false;
  static constexpr const char* kRefused[] = {
      "allOf", "oneOf", "not", "if", "dependentRequired", "dependentSchemas", "patternProperties"};
  if (std::any_of(std::begin(kRefused), std::end(kRefused),
                  [&](const char* keyword) { return schema.contains(keyword); }))
    return false;
  const auto& properties = member(schema, "properties");
  if (schema.value("type", Json()) == "object" || properties.is_object()) {
    if (member(schema, "additionalProperties") != false) return false;
    const auto& required = member(schema, "required");
    for (const auto& [name, property] : properties.items())
      if (std::find(required.begin(), required.end(), name) == required.end() ||
          !is_strict(property, depth + 1))
        return false;
  }
  for (const char* parts : {"anyOf", "$defs"})
    for (const auto& part : member(schema, parts))
      if (!is_strict(part, depth + 1)) return false;
  return is_strict(member(schema, "items"), depth + 1);
}

class OpenAiFormat : public WireFormat {
 public:
  OpenAiFormat(Upstream upstream, std::string structured_output)
      : WireFormat(std::move(upstream)), structured_output_(std::move(structured_output)) {}

  HttpClientRequest chat_call(const GenerateRequest& request, bool is_streamed) const override {
    Json messages = Json::array();
    if (const auto system = system_text(request); !system.empty())
      messages.push_back({{"role", "system"}, {"content", system}});
    for (const auto& message : request.messages)
      messages.push_back({{"role", message.role}, {"content", message.content}});
    Json body{{"model", upstream().model}, {"messages", std::move(messages)}};
    if (is_reasoning_model(upstream().model)) {
      body["max_completion_tokens"] = request.max_output_tokens;
    } else {
      body["temperature"] = request.temperature;
      body["seed"] = request.seed;
      body["max_tokens"] = request.max_output_tokens;
    }
    if (!request.json_schema.is_null()) ask_for_json(request, body);
    if (is_streamed) {
      body["stream"] = true;
      body["stream_options"] = {{"include_usage", true}};
    }
    return post("/chat/completions", body);
  }

  void read_answer(const Json& body, ModelAnswer& answer) const override {
    if (!member(body, "error").is_null()) answer.failure = read_failure(body);
    const auto& choices = member(body, "choices");
    if (!choices.is_array() || choices.empty()) return;
    read_choice(choices[0], "message", answer);
    read_usage(body, answer);
  }

  bool is_end(const StreamEvent& event) const override { return trim(event.data) == "[DONE]"; }

  void read_event(const Json& data, ModelAnswer& answer) const override {
    if (!member(data, "error").is_null()) answer.failure = read_failure(data);
    const auto& choices = member(data, "choices");
    if (choices.is_array() && !choices.empty()) read_choice(choices[0], "delta", answer);
    read_usage(data, answer);
  }

  UpstreamFailure read_failure(const Json& body) const override {
    const auto& error = member(body, "error");
    UpstreamFailure told;
    told.message = error.is_string() ? error.get<std::string>() : text_member(error, "message");
    const auto& code = member(error, "code");
    told.code = code.is_number_integer() ? code.dump() : text_member(error, "code");
    if (told.code.empty()) told.code = text_member(error, "type");
    told.status = status_of_code(told.code);
    return told;
  }

  bool asks_by_words() const override { return structured_output_ == "json_object"; }

  HttpClientRequest models_call() const override { return get("/models"); }
  std::vector<std::string> read_models(const Json& body) const override {
    std::vector<std::string> names;
    for (const auto& model : member(body, "data"))
      if (auto name = text_member(model, "id"); !name.empty()) names.push_back(std::move(name));
    return names;
  }

  HttpClientRequest embed_call(std::span<const std::string> texts) const override {
    return post("/embeddings", {{"model", upstream().model},
                                {"input", std::vector(texts.begin(), texts.end())},
                                {"encoding_format", "float"}});
  }
  std::vector<Json> read_embeddings(const Json& body) const override {
    const auto& data = member(body, "data");
    std::vector<Json> vectors(data.is_array() ? data.size() : 0);
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      const auto place = static_cast<std::size_t>(
          count_member(data[i], "index").value_or(static_cast<std::int64_t>(i)));
      if (place >= vectors.size() || !vectors[place].is_null()) return {};
      vectors[place] = member(data[i], "embedding");
    }
    return vectors;
  }
  std::optional<std::int64_t> read_embedded_tokens(const Json& body) const override {
    return count_member(member(body, "usage"), "prompt_tokens");
  }

 private:
  std::string system_text(const GenerateRequest& request) const {
    if (request.json_schema.is_null() || !asks_by_words()) return request.system;
    return cat(request.system, request.system.empty() ? "" : "\n\n",
               "Answer with one JSON object and nothing else. It must fit this JSON Schema: ",
               request.json_schema.dump());
  }

  void ask_for_json(const GenerateRequest& request, Json& body) const {
    const auto name = schema_name_of(request);
    const bool strict = fits_strict_mode(request.json_schema);
    if (structured_output_ == "json_object") {
      body["response_format"] = {{"type", "json_object"}};
    } else if (structured_output_ == "tool_call") {
      const Json function{{"name", name},
                          {"description", "Gives the answer."},
                          {"parameters", request.json_schema}};
      body["tools"] = Json::array({{{"type", "function"}, {"function", function}}});
      body["tool_choice"] = {{"type", "function"}, {"function", {{"name", name}}}};
    } else {
      body["response_format"] = {
          {"type", "json_schema"},
          {"json_schema", {{"name", name}, {"strict", strict}, {"schema", request.json_schema}}}};
    }
  }

  static void read_choice(const Json& choice, const char* part, ModelAnswer& answer) {
    answer.is_answer = true;
    const auto& message = member(choice, part);
    const auto& content = member(message, "content");
    if (content.is_string()) answer.text += content.get_ref<const std::string&>();
    for (const auto& piece : content.is_array() ? content : Json::array())
      answer.text += text_member(piece, "text");
    answer.refusal += text_member(message, "refusal");
    const auto& calls = member(message, "tool_calls");
    if (calls.is_array() && !calls.empty() && count_member(calls[0], "index").value_or(0) == 0) {
      answer.has_tool_call = true;
      const auto& arguments = member(member(calls[0], "function"), "arguments");
      if (arguments.is_string())
        answer.arguments += arguments.get_ref<const std::string&>();
      else if (arguments.is_object())
        answer.arguments += arguments.dump();
    }
    if (const auto name = text_member(choice, "finish_reason"); !name.empty())
      answer.finish = openai_finish(name);
  }

  static void read_usage(const Json& body, ModelAnswer& answer) {
    const auto& usage = member(body, "usage");
    if (!usage.is_object()) return;
    answer.input_tokens = count_member(usage, "prompt_tokens");
    answer.output_tokens = count_member(usage, "completion_tokens");
  }

  const std::string structured_output_;
};

}  // namespace

bool fits_strict_mode(const Json& schema) {
  return schema.is_object() && schema.value("type", Json()) == "object" && is_strict(schema, 0);
}

std::unique_ptr<WireFormat> make_openai_format(Upstream upstream,
                                               const std::string& structured_output) {
  return std::make_unique<OpenAiFormat>(std::move(upstream), structured_output);
}

}  // namespace indx
