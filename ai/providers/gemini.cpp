#include "ai/providers/gemini.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace indx {
namespace {

constexpr std::string_view kModelsPrefix = "models/";

FinishReason gemini_finish(const std::string& name) {
  if (name == "STOP") return FinishReason::Stop;
  if (name == "MAX_TOKENS") return FinishReason::Length;
  static constexpr std::string_view kFilters[] = {"SAFETY",      "RECITATION",         "BLOCKLIST",
                                                  "SPII",        "PROHIBITED_CONTENT", "LANGUAGE",
                                                  "IMAGE_SAFETY"};
  return std::find(std::begin(kFilters), std::end(kFilters), name) != std::end(kFilters)
             ? FinishReason::ContentFilter
             : FinishReason::Error;
}

/// `3.5s` of a RetryInfo.
std::optional<std::chrono::milliseconds> parse_delay(std::string_view text) {
  if (!text.ends_with('s')) return std::nullopt;
  text.remove_suffix(1);
  double seconds = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (failure != std::errc() || stop != text.data() + text.size() || seconds < 0 || seconds > 1e9)
    return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

class GeminiFormat : public WireFormat {
 public:
  using WireFormat::WireFormat;

  HttpClientRequest chat_call(const GenerateRequest& request, bool is_streamed) const override {
    Json contents = Json::array();
    for (const auto& message : request.messages)
      contents.push_back({{"role", message.role == "assistant" ? "model" : "user"},
                          {"parts", parts_of(message.content)}});
    Json generation{{"temperature", request.temperature},
                    {"maxOutputTokens", request.max_output_tokens},
                    // an int32 there
                    {"seed", request.seed % std::numeric_limits<std::int32_t>::max()}};
    if (!request.json_schema.is_null()) {
      generation["responseMimeType"] = "application/json";
      generation["responseJsonSchema"] = request.json_schema;
    }
    Json body{{"contents", std::move(contents)}, {"generationConfig", std::move(generation)}};
    if (!request.system.empty()) body["systemInstruction"] = {{"parts", parts_of(request.system)}};
    return post(model_path(is_streamed ? ":streamGenerateContent?alt=sse" : ":generateContent"),
                body);
  }

  void read_answer(const Json& body, ModelAnswer& answer) const override {
    read_event(body, answer);
  }

  void read_event(const Json& data, ModelAnswer& answer) const override {
    if (!member(data, "error").is_null()) answer.failure = read_failure(data);
    if (const auto reason = text_member(member(data, "promptFeedback"), "blockReason");
        !reason.empty()) {
      answer.is_answer = answer.is_complete = true;
      answer.refusal = cat("The prompt was blocked: ", reason, ".");
    }
    const auto& candidates = member(data, "candidates");
    if (candidates.is_array() && !candidates.empty()) read_candidate(candidates[0], answer);
    read_usage(member(data, "usageMetadata"), answer);
  }

  UpstreamFailure read_failure(const Json& body) const override {
    const auto& error = member(body, "error");
    UpstreamFailure told;
    told.message = text_member(error, "message");
    told.code = text_member(error, "status");
    const auto code = count_member(error, "code").value_or(0);
    told.status = code >= 400 && code < 600 ? static_cast<int>(code) : status_of_code(told.code);
    for (const auto& detail : member(error, "details"))
      if (const auto delay = parse_delay(text_member(detail, "retryDelay")))
        told.retry_after = delay;
    return told;
  }

  HttpClientRequest models_call() const override { return get("/models?pageSize=1000"); }
  std::vector<std::string> read_models(const Json& body) const override {
    std::vector<std::string> names;
    for (const auto& model : member(body, "models")) {
      auto name = text_member(model, "name");
      if (name.starts_with(kModelsPrefix)) name.erase(0, kModelsPrefix.size());
      if (!name.empty()) names.push_back(std::move(name));
    }
    return names;
  }

  HttpClientRequest embed_call(std::span<const std::string> texts) const override {
    Json requests = Json::array();
    for (const auto& text : texts)
      requests.push_back(
          {{"model", cat(kModelsPrefix, bare_model())}, {"content", {{"parts", parts_of(text)}}}});
    return post(model_path(":batchEmbedContents"), {{"requests", std::move(requests)}});
  }
  std::vector<Json> read_embeddings(const Json& body) const override {
    std::vector<Json> vectors;
    for (const auto& embedding : member(body, "embeddings"))
      vectors.push_back(member(embedding, "values"));
    return vectors;
  }
  std::optional<std::int64_t> read_embedded_tokens(const Json& body) const override {
    return count_member(member(body, "usageMetadata"), "promptTokenCount");
  }

 private:
  std::pair<std::string, std::string> authorization() const override {
    return {"x-goog-api-key", upstream().api_key};  // not in the URL, which others log
  }

  static Json parts_of(const std::string& text) { return Json::array({{{"text", text}}}); }

  std::string bare_model() const {
    const auto& model = upstream().model;
    return model.starts_with(kModelsPrefix) ? model.substr(kModelsPrefix.size()) : model;
  }
  std::string model_path(const char* method) const {
    return cat("/models/", percent_encode(bare_model()), method);
  }

  static void read_candidate(const Json& candidate, ModelAnswer& answer) {
    answer.is_answer = true;
    for (const auto& part : member(member(candidate, "content"), "parts")) {
      if (member(part, "thought") != true) answer.text += text_member(part, "text");
      const auto& call = member(part, "functionCall");
      if (!call.is_object() || answer.has_tool_call) continue;
      answer.has_tool_call = true;
      answer.arguments = member(call, "args").dump();
    }
    if (const auto reason = text_member(candidate, "finishReason"); !reason.empty())
      answer.finish = gemini_finish(reason);
  }

  static void read_usage(const Json& usage, ModelAnswer& answer) {
    const auto input = count_member(usage, "promptTokenCount");
    if (!input) return;
    answer.input_tokens = input;
    answer.output_tokens = count_member(usage, "candidatesTokenCount").value_or(0) +
                           count_member(usage, "thoughtsTokenCount").value_or(0);
  }
};

}  // namespace

std::unique_ptr<WireFormat> make_gemini_format(Upstream upstream) {
  return std::make_unique<GeminiFormat>(std::move(upstream));
}

}  // namespace indx
