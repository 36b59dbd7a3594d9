#include "ai/providers/ollama.hpp"

#include "ai/providers/upstream_client.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::int64_t kLeastContext = 4096;
constexpr std::chrono::milliseconds kDetectTimeout{500};

/// Tokens of context for the call. Ollama silently cuts a prompt that is longer than its context,
/// and loads the model anew when the context changes: so it is made long enough, in few sizes.
std::int64_t context_size(const GenerateRequest& request) {
  const auto needed = prompt_tokens(request) * 5 / 4 + request.max_output_tokens;
  auto size = kLeastContext;
  while (size < needed) size *= 2;
  return size;
}

class OllamaFormat : public WireFormat {
 public:
  using WireFormat::WireFormat;

  HttpClientRequest chat_call(const GenerateRequest& request, bool is_streamed) const override {
    Json messages = Json::array();
    if (!request.system.empty())
      messages.push_back({{"role", "system"}, {"content", request.system}});
    for (const auto& message : request.messages)
      messages.push_back({{"role", message.role}, {"content", message.content}});
    Json body{{"model", upstream().model},
              {"messages", std::move(messages)},
              {"stream", is_streamed},
              {"options",
               {{"temperature", request.temperature},
                {"seed", request.seed},
                {"num_predict", request.max_output_tokens},
                {"num_ctx", context_size(request)}}}};
    if (!request.json_schema.is_null()) body["format"] = request.json_schema;
    return post("/api/chat", body);
  }

  void read_answer(const Json& body, ModelAnswer& answer) const override {
    read_event(body, answer);
  }

  StreamFraming framing() const override { return StreamFraming::Lines; }

  void read_event(const Json& data, ModelAnswer& answer) const override {
    if (!member(data, "error").is_null()) answer.failure = read_failure(data);
    const auto& message = member(data, "message");
    if (!message.is_object()) return;
    answer.is_answer = true;
    answer.text += text_member(message, "content");
    const auto& calls = member(message, "tool_calls");
    if (calls.is_array() && !calls.empty() && !answer.has_tool_call) {
      answer.has_tool_call = true;
      const auto& arguments = member(member(calls[0], "function"), "arguments");
      answer.arguments = arguments.is_string() ? arguments.get<std::string>() : arguments.dump();
    }
    if (member(data, "done") != true) return;
    answer.is_complete = true;
    answer.finish =
        text_member(data, "done_reason") == "length" ? FinishReason::Length : FinishReason::Stop;
    answer.input_tokens = count_member(data, "prompt_eval_count");  // left out: it was cached
    answer.output_tokens = count_member(data, "eval_count");
  }

  UpstreamFailure read_failure(const Json& body) const override {
    UpstreamFailure told;
    told.message = text_member(body, "error");
    told.status = 500;
    return told;
  }

  HttpClientRequest models_call() const override { return get("/api/tags"); }
  std::vector<std::string> read_models(const Json& body) const override {
    std::vector<std::string> names;
    for (const auto& model : member(body, "models"))
      if (auto name = text_member(model, "name"); !name.empty()) names.push_back(std::move(name));
    return names;
  }

  HttpClientRequest embed_call(std::span<const std::string> texts) const override {
    return post("/api/embed",
                {{"model", upstream().model}, {"input", std::vector(texts.begin(), texts.end())}});
  }
  std::vector<Json> read_embeddings(const Json& body) const override {
    const auto& vectors = member(body, "embeddings");
    return vectors.is_array() ? std::vector<Json>(vectors.begin(), vectors.end())
                              : std::vector<Json>();
  }
  std::optional<std::int64_t> read_embedded_tokens(const Json& body) const override {
    return count_member(body, "prompt_eval_count");
  }
};

}  // namespace

std::unique_ptr<WireFormat> make_ollama_format(Upstream upstream) {
  return std::make_unique<OllamaFormat>(std::move(upstream));
}

std::optional<OllamaServer> detect_ollama(const AiConfig& config, const CancelToken& cancel) {
  const auto format = make_ollama_format({"ollama", config.ollama_base_url, "", "", ""});
  auto quick = config;
  quick.timeout = kDetectTimeout;
  const UpstreamClient client(quick, *format);
  HttpClientRequest version_call;
  version_call.url = config.ollama_base_url + "/api/version";
  const auto version = client.exchange(version_call, cancel);
  if (!version || text_member(*version, "version").empty()) return std::nullopt;
  OllamaServer server{text_member(*version, "version"), {}};
  if (const auto tags = client.exchange(format->models_call(), cancel))
    server.models = format->read_models(*tags);
  std::sort(server.models.begin(), server.models.end());
  return server;
}

}  // namespace indx
