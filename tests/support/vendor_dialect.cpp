#include "tests/support/vendor_dialect.hpp"

#include "base/assert.hpp"
#include "base/text.hpp"

namespace indx {
namespace {

std::string sse(const Json& data) { return cat("data: ", data.dump(), "\n\n"); }
std::string named_event(const Json& data) {
  return cat("event: ", data.at("type").get<std::string>(), "\ndata: ", data.dump(), "\n\n");
}

class OpenAiDialect : public VendorDialect {
 public:
  explicit OpenAiDialect(bool is_gateway) : is_gateway_(is_gateway) {}
  std::string provider() const override { return is_gateway_ ? "vercel-ai-gateway" : "openai"; }
  void configure(AiConfig& config, const std::string& root) const override {
    config.model = is_gateway_ ? "openai/gpt-4.1-mini" : "gpt-4.1-mini";
    (is_gateway_ ? config.gateway_base_url : config.openai_base_url) = root + "/v1";
    (is_gateway_ ? config.gateway_api_key : config.openai_api_key) = kVendorKey;
  }
  bool is_streamed(const std::string&, const Json& body) const override {
    return body.value("stream", false);
  }
  bool is_models(const std::string& target) const override { return target == "/v1/models"; }
  bool is_embeddings(const std::string& target) const override {
    return target == "/v1/embeddings";
  }

  Json whole(const VendorReply& reply) const override {
    Json message{{"role", "assistant"}, {"content", reply.text}};
    if (reply.is_tool_call) {
      message["content"] = nullptr;
      message["tool_calls"] = Json::array({tool_call(reply, reply.text)});
    }
    if (!reply.refusal.empty()) message["content"] = nullptr, message["refusal"] = reply.refusal;
    Json choice{{"index", 0}, {"message", message}, {"finish_reason", finish_of(reply)}};
    Json body{{"id", "chatcmpl-1"}, {"object", "chat.completion"}};
    body["choices"] = Json::array({std::move(choice)});
    if (reply.has_usage) body["usage"] = usage();
    return body;
  }

  std::vector<std::string> stream(const VendorReply& reply,
                                  const std::vector<std::string>& deltas) const override {
    std::vector<std::string> events{": keep-alive\n\n",
                                    sse(chunk({{"role", "assistant"}, {"content", ""}}, nullptr))};
    for (const auto& delta : deltas) {
      Json part{{"content", delta}};
      if (reply.is_tool_call) {
        part = Json::object();
        part["tool_calls"] = Json::array({tool_call(reply, delta)});
      }
      events.push_back(sse(chunk(part, nullptr)));
    }
    if (!reply.refusal.empty()) events.push_back(sse(chunk({{"refusal", reply.refusal}}, nullptr)));
    events.push_back(sse(chunk(Json::object(), finish_of(reply))));
    if (reply.has_usage)
      events.push_back(sse(
          {{"object", "chat.completion.chunk"}, {"choices", Json::array()}, {"usage", usage()}}));
    events.push_back("data: [DONE]\n\n");
    return events;
  }

  Json failure(int status, const std::string& message) const override {
    return {{"error",
             {{"message", message},
              {"type", status == 429 ? "rate_limit_error" : "scripted_error"},
              {"code", nullptr}}}};
  }
  std::string failure_event(const std::string& message) const override {
    return sse({{"error", {{"message", message}, {"type", "overloaded_error"}}}});
  }
  Json models(const std::vector<std::string>& names) const override {
    Json data = Json::array();
    for (const auto& name : names) data.push_back({{"id", name}, {"object", "model"}});
    return {{"object", "list"}, {"data", std::move(data)}};
  }
  std::vector<std::string> texts(const Json& body) const override {
    return body.at("input").get<std::vector<std::string>>();
  }
  /// Last first: the places are told by their index.
  Json embeddings(const std::vector<std::vector<double>>& vectors) const override {
    Json data = Json::array();
    for (std::size_t i = vectors.size(); i-- > 0;)
      data.push_back({{"object", "embedding"}, {"index", i}, {"embedding", vectors[i]}});
    return {
        {"object", "list"},
        {"data", std::move(data)},
        {"usage", {{"prompt_tokens", kVendorInputTokens}, {"total_tokens", kVendorInputTokens}}}};
  }

 private:
  static Json usage() {
    return {{"prompt_tokens", kVendorInputTokens},
            {"completion_tokens", kVendorOutputTokens},
            {"total_tokens", kVendorInputTokens + kVendorOutputTokens}};
  }
  static std::string finish_of(const VendorReply& reply) {
    if (reply.finish == VendorFinish::Length) return "length";
    if (reply.finish == VendorFinish::Filter) return "content_filter";
    return reply.is_tool_call ? "tool_calls" : "stop";
  }
  static Json tool_call(const VendorReply& reply, const std::string& arguments) {
    return {{"index", 0},
            {"id", "call_1"},
            {"type", "function"},
            {"function", {{"name", reply.tool_name}, {"arguments", arguments}}}};
  }
  static Json chunk(const Json& delta, const Json& finish) {
    Json choice{{"index", 0}, {"delta", delta}, {"finish_reason", finish}};
    Json body{{"object", "chat.completion.chunk"}};
    body["choices"] = Json::array({std::move(choice)});
    return body;
  }

  const bool is_gateway_;
};

class OllamaDialect : public VendorDialect {
 public:
  std::string provider() const override { return "ollama"; }
  void configure(AiConfig& config, const std::string& root) const override {
    config.model = "llama3.2";
    config.ollama_base_url = root;
  }
  bool can_refuse() const override { return false; }  // its models refuse in plain text
  bool is_streamed(const std::string&, const Json& body) const override {
    return body.value("stream", true);
  }
  bool is_models(const std::string& target) const override { return target == "/api/tags"; }
  bool is_embeddings(const std::string& target) const override { return target == "/api/embed"; }

  Json whole(const VendorReply& reply) const override {
    auto body = event(reply, reply.text);
    body.update(ending(reply));
    return body;
  }
  std::vector<std::string> stream(const VendorReply& reply,
                                  const std::vector<std::string>& deltas) const override {
    std::vector<std::string> events;
    if (reply.is_tool_call) {
      events.push_back(event(reply, reply.text).dump() + "\n");
    } else {
      for (const auto& delta : deltas) events.push_back(event(reply, delta).dump() + "\n");
    }
    Json last{{"model", "llama3.2"}, {"message", {{"role", "assistant"}, {"content", ""}}}};
    last.update(ending(reply));
    events.push_back(last.dump() + "\n");
    return events;
  }
  std::string stream_type() const override { return "application/x-ndjson"; }
  Json failure(int, const std::string& message) const override { return {{"error", message}}; }
  std::string failure_event(const std::string& message) const override {
    return Json{{"error", message}}.dump() + "\n";
  }
  Json models(const std::vector<std::string>& names) const override {
    Json models = Json::array();
    for (const auto& name : names) models.push_back({{"name", name}, {"size", 1}});
    return {{"models", std::move(models)}};
  }
  std::vector<std::string> texts(const Json& body) const override {
    return body.at("input").get<std::vector<std::string>>();
  }
  Json embeddings(const std::vector<std::vector<double>>& vectors) const override {
    return {{"model", "nomic-embed-text"},
            {"embeddings", vectors},
            {"prompt_eval_count", kVendorInputTokens}};
  }

 private:
  static Json event(const VendorReply& reply, const std::string& text) {
    Json message{{"role", "assistant"}, {"content", text}};
    if (reply.is_tool_call) {
      message["content"] = "";
      Json call;
      call["function"] = {{"name", reply.tool_name},
                          {"arguments", Json::parse(text, nullptr, false)}};
      message["tool_calls"] = Json::array({std::move(call)});
    }
    return {{"model", "llama3.2"}, {"message", std::move(message)}, {"done", false}};
  }
  static Json ending(const VendorReply& reply) {
    Json end{{"done", true},
             {"done_reason", reply.finish == VendorFinish::Length ? "length" : "stop"}};
    if (reply.has_usage) {
      end["prompt_eval_count"] = kVendorInputTokens;
      end["eval_count"] = kVendorOutputTokens;
    }
    return end;
  }
};

class AnthropicDialect : public VendorDialect {
 public:
  std::string provider() const override { return "anthropic"; }
  void configure(AiConfig& config, const std::string& root) const override {
    config.model = "claude-haiku-4-5-20251001";
    config.anthropic_base_url = root;
    config.anthropic_api_key = kVendorKey;
  }
  bool has_embeddings() const override { return false; }
  bool is_streamed(const std::string&, const Json& body) const override {
    return body.value("stream", false);
  }
  bool is_models(const std::string& target) const override {
    return target.starts_with("/v1/models");
  }
  bool is_embeddings(const std::string&) const override { return false; }

  Json whole(const VendorReply& reply) const override {
    Json content = Json::array();
    if (reply.is_tool_call)
      content.push_back({{"type", "tool_use"},
                         {"id", "toolu_1"},
                         {"name", reply.tool_name},
                         {"input", Json::parse(reply.text, nullptr, false)}});
    else if (reply.refusal.empty())
      content.push_back({{"type", "text"}, {"text", reply.text}});
    Json body{{"id", "msg_1"},
              {"type", "message"},
              {"role", "assistant"},
              {"content", std::move(content)},
              {"stop_reason", stop_of(reply)}};
    if (reply.has_usage)
      body["usage"] = {{"input_tokens", kVendorInputTokens},
                       {"output_tokens", kVendorOutputTokens}};
    return body;
  }

  std::vector<std::string> stream(const VendorReply& reply,
                                  const std::vector<std::string>& deltas) const override {
    Json message{{"id", "msg_1"}, {"type", "message"}, {"content", Json::array()}};
    if (reply.has_usage)
      message["usage"] = {{"input_tokens", kVendorInputTokens}, {"output_tokens", 1}};
    std::vector<std::string> events{named_event({{"type", "message_start"}, {"message", message}}),
                                    named_event({{"type", "ping"}})};
    Json block{{"type", "text"}, {"text", ""}};
    if (reply.is_tool_call)
      block = {{"type", "tool_use"},
               {"id", "toolu_1"},
               {"name", reply.tool_name},
               {"input", Json::object()}};
    if (reply.refusal.empty())
      events.push_back(
          named_event({{"type", "content_block_start"}, {"index", 0}, {"content_block", block}}));
    for (const auto& delta : deltas) {
      const Json part = reply.is_tool_call
                            ? Json{{"type", "input_json_delta"}, {"partial_json", delta}}
                            : Json{{"type", "text_delta"}, {"text", delta}};
      events.push_back(
          named_event({{"type", "content_block_delta"}, {"index", 0}, {"delta", part}}));
    }
    if (reply.refusal.empty())
      events.push_back(named_event({{"type", "content_block_stop"}, {"index", 0}}));
    Json end{{"type", "message_delta"}, {"delta", {{"stop_reason", stop_of(reply)}}}};
    if (reply.has_usage) end["usage"] = Json{{"output_tokens", kVendorOutputTokens}};
    events.push_back(named_event(end));
    events.push_back(named_event({{"type", "message_stop"}}));
    return events;
  }

  Json failure(int status, const std::string& message) const override {
    const char* type = status == 429   ? "rate_limit_error"
                       : status == 401 ? "authentication_error"
                       : status == 529 ? "overloaded_error"
                                       : "api_error";
    return {{"type", "error"}, {"error", {{"type", type}, {"message", message}}}};
  }
  std::string failure_event(const std::string& message) const override {
    return named_event(failure(529, message));
  }
  Json models(const std::vector<std::string>& names) const override {
    Json data = Json::array();
    for (const auto& name : names) data.push_back({{"type", "model"}, {"id", name}});
    return {{"data", std::move(data)}, {"has_more", false}};
  }
  std::vector<std::string> texts(const Json&) const override { return {}; }
  Json embeddings(const std::vector<std::vector<double>>&) const override { return {}; }

 private:
  static std::string stop_of(const VendorReply& reply) {
    if (!reply.refusal.empty() || reply.finish == VendorFinish::Filter) return "refusal";
    if (reply.finish == VendorFinish::Length) return "max_tokens";
    return reply.is_tool_call ? "tool_use" : "end_turn";
  }
};

class GeminiDialect : public VendorDialect {
 public:
  std::string provider() const override { return "gemini"; }
  void configure(AiConfig& config, const std::string& root) const override {
    config.model = "gemini-2.5-flash";
    config.gemini_base_url = root + "/v1beta";
    config.gemini_api_key = kVendorKey;
  }
  bool is_streamed(const std::string& target, const Json&) const override {
    return target.ends_with(":streamGenerateContent?alt=sse");
  }
  bool tells_embedded_tokens() const override { return false; }
  bool is_models(const std::string& target) const override {
    return target.starts_with("/v1beta/models?");
  }
  bool is_embeddings(const std::string& target) const override {
    return target.ends_with(":batchEmbedContents");
  }

  Json whole(const VendorReply& reply) const override {
    if (!reply.refusal.empty()) return {{"promptFeedback", {{"blockReason", reply.refusal}}}};
    auto body = chunk(reply, reply.text, true);
    return body;
  }
  std::vector<std::string> stream(const VendorReply& reply,
                                  const std::vector<std::string>& deltas) const override {
    if (!reply.refusal.empty()) return {windows_sse(whole(reply))};
    if (reply.is_tool_call || deltas.empty()) return {windows_sse(chunk(reply, reply.text, true))};
    std::vector<std::string> events;
    for (std::size_t i = 0; i < deltas.size(); ++i)
      events.push_back(windows_sse(chunk(reply, deltas[i], i + 1 == deltas.size())));
    return events;
  }
  Json failure(int status, const std::string& message) const override {
    return {{"error",
             {{"code", status},
              {"message", message},
              {"status", status == 429 ? "RESOURCE_EXHAUSTED" : "INTERNAL"}}}};
  }
  std::string failure_event(const std::string& message) const override {
    return windows_sse(failure(503, message));
  }
  Json models(const std::vector<std::string>& names) const override {
    Json models = Json::array();
    for (const auto& name : names) models.push_back({{"name", "models/" + name}});
    return {{"models", std::move(models)}};
  }
  std::vector<std::string> texts(const Json& body) const override {
    std::vector<std::string> texts;
    for (const auto& request : body.at("requests"))
      texts.push_back(request.at("content").at("parts").at(0).at("text").get<std::string>());
    return texts;
  }
  Json embeddings(const std::vector<std::vector<double>>& vectors) const override {
    Json list = Json::array();
    for (const auto& vector : vectors) list.push_back({{"values", vector}});
    return {{"embeddings", std::move(list)}};
  }

 private:
  static std::string windows_sse(const Json& data) {
    return cat("data: ", data.dump(), "\r\n\r\n");
  }
  static Json chunk(const VendorReply& reply, const std::string& text, bool is_last) {
    Json part{{"text", text}};
    if (reply.is_tool_call)
      part = {{"functionCall",
               {{"name", reply.tool_name}, {"args", Json::parse(text, nullptr, false)}}}};
    Json content{{"role", "model"}};
    content["parts"] = Json::array();
    content["parts"].push_back({{"text", "Let me think."}, {"thought", true}});
    content["parts"].push_back(std::move(part));
    Json candidate{{"index", 0}, {"content", std::move(content)}};
    if (is_last)
      candidate["finishReason"] = reply.finish == VendorFinish::Length   ? "MAX_TOKENS"
                                  : reply.finish == VendorFinish::Filter ? "SAFETY"
                                                                         : "STOP";
    Json body;
    body["candidates"] = Json::array({std::move(candidate)});
    if (reply.has_usage)
      body["usageMetadata"] = {{"promptTokenCount", kVendorInputTokens},
                               {"candidatesTokenCount", kVendorOutputTokens - 2},
                               {"thoughtsTokenCount", 2}};
    return body;
  }
};

}  // namespace

const std::vector<std::string>& vendor_names() {
  static const auto* const names =
      new std::vector<std::string>{"openai", "ollama", "anthropic", "gemini", "vercel-ai-gateway"};
  return *names;
}

std::unique_ptr<VendorDialect> make_vendor_dialect(const std::string& provider) {
  if (provider == "ollama") return std::make_unique<OllamaDialect>();
  if (provider == "anthropic") return std::make_unique<AnthropicDialect>();
  if (provider == "gemini") return std::make_unique<GeminiDialect>();
  INDX_ASSERT(provider == "openai" || provider == "vercel-ai-gateway");
  return std::make_unique<OpenAiDialect>(provider == "vercel-ai-gateway");
}

}  // namespace indx
