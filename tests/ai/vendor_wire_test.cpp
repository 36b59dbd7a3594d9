// What each provider is sent, by its vendor's documentation.
#include "ai/providers/ollama.hpp"
#include "base/text.hpp"
#include "tests/ai/provider_contract.hpp"

namespace indx {
namespace {

/// The one request that a call makes.
VendorRequest sent_by(const std::string& vendor, const GenerateRequest& request, bool is_streamed,
                      const std::function<void(AiConfig&)>& change = {}) {
  VendorServer server(vendor);
  VendorPlan plan;
  if (!request.json_schema.is_null()) plan.reply.text = kContractJson;
  server.plan(plan);
  auto config = server.config();
  if (change) change(config);
  const auto call = contract_call(*contract_provider(config), request, is_streamed);
  REQUIRE(call.reply.has_value());
  return server.requests().at(0);
}

bool has_header(const VendorRequest& request, const std::string& line) {
  return cat(request.head, "\r\n").find(cat("\r\n", line, "\r\n")) != std::string::npos;
}

}  // namespace

TEST_CASE("openai is sent messages, limits, seed and a strict schema", "[ai][D14][D35][G5]") {
  const auto sent = sent_by("openai", contract_json_question(), false);
  CHECK(sent.target == "/v1/chat/completions");
  CHECK(has_header(sent, cat("Authorization: Bearer ", kVendorKey)));
  CHECK(sent.body["model"] == "gpt-4.1-mini");
  CHECK(sent.body["messages"] == Json::parse(R"([{"role": "system", "content": "Be brief."},
            {"role": "user", "content": "First?"}, {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": "Second?"}])"));
  CHECK(sent.body["temperature"] == 0);
  CHECK(sent.body["seed"] == 7);
  CHECK(sent.body["max_tokens"] == 50);
  CHECK(sent.body["response_format"]["json_schema"]["strict"] == true);
  CHECK_FALSE(sent.body.contains("stream"));

  const auto streamed = sent_by("openai", contract_question(), true);
  CHECK(streamed.body["stream"] == true);
  CHECK(streamed.body["stream_options"]["include_usage"] == true);
}

TEST_CASE("reasoning models are sent the limit by its other name and no temperature", "[ai]") {
  const auto sent = sent_by("openai", contract_question(), false,
                            [](AiConfig& config) { config.model = "gpt-5-mini"; });
  CHECK(sent.body["max_completion_tokens"] == 50);
  for (const char* name : {"max_tokens", "temperature", "seed"})
    CHECK_FALSE(sent.body.contains(name));
}

TEST_CASE("a compatible server is asked for JSON by a tool or by words where it is set so",
          "[ai][D39]") {
  const auto by_tool = sent_by("openai", contract_json_question(), false, [](AiConfig& config) {
    config.openai_structured_output = "tool_call";
  });
  CHECK(by_tool.body["tools"][0]["function"]["name"] == "reply");
  CHECK(by_tool.body["tools"][0]["function"]["parameters"] == contract_json_question().json_schema);
  CHECK(by_tool.body["tool_choice"]["function"]["name"] == "reply");

  const auto by_words = sent_by("openai", contract_json_question(), false, [](AiConfig& config) {
    config.openai_structured_output = "json_object";
  });
  CHECK(by_words.body["response_format"] == Json{{"type", "json_object"}});
  const auto system = by_words.body["messages"][0]["content"].get<std::string>();
  CHECK(system.starts_with("Be brief.\n\n"));
  CHECK(system.find(contract_json_question().json_schema.dump()) != std::string::npos);
}

TEST_CASE("a model that is asked by words gets a second try with what was wrong", "[ai]") {
  VendorServer server("openai");
  VendorPlan bad, good;
  bad.reply.text = R"({"title": "t"})";
  good.reply.text = kContractJson;
  server.plan(bad);
  server.plan(good);
  auto config = server.config();
  config.openai_structured_output = "json_object";

  const auto reply =
      generate_with_retry(*contract_provider(config), contract_json_question(), CancelToken(), {});

  REQUIRE(reply.has_value());
  CHECK(reply->structured["kind"] == "a");
  const auto messages = server.requests().at(1).body["messages"];
  CHECK(messages.size() == 5);
  CHECK(messages.back()["content"].get<std::string>().find("lacks count") != std::string::npos);
}

TEST_CASE("ollama is sent a context that holds the prompt and the answer", "[ai]") {
  auto request = contract_json_question();
  const auto sent = sent_by("ollama", request, false);
  CHECK(sent.target == "/api/chat");
  CHECK_FALSE(cat("\r\n", sent.head).find("Authorization") != std::string::npos);
  CHECK(sent.body["stream"] == false);
  CHECK(sent.body["format"] == request.json_schema);
  CHECK(sent.body["messages"].size() == 4);
  CHECK(sent.body["options"] ==
        Json{{"temperature", 0.0}, {"seed", 7}, {"num_predict", 50}, {"num_ctx", 4096}});

  request.messages[0].content.assign(40000, 'x');  // about 10,000 tokens
  CHECK(sent_by("ollama", request, true).body["options"]["num_ctx"] == 16384);
}

TEST_CASE("anthropic is sent the system text apart and a tool that must be called", "[ai]") {
  const auto sent = sent_by("anthropic", contract_json_question(), true);
  CHECK(sent.target == "/v1/messages");
  CHECK(has_header(sent, cat("x-api-key: ", kVendorKey)));
  CHECK(has_header(sent, "anthropic-version: 2023-06-01"));
  CHECK(sent.body["system"] == "Be brief.");
  CHECK(sent.body["messages"].size() == 3);
  CHECK(sent.body["max_tokens"] == 50);
  CHECK(sent.body["temperature"] == 0);
  CHECK(sent.body["stream"] == true);
  CHECK(sent.body["tools"][0]["name"] == "reply");
  CHECK(sent.body["tools"][0]["input_schema"] == contract_json_question().json_schema);
  CHECK(sent.body["tool_choice"]["type"] == "tool");
  CHECK(sent.body["tool_choice"]["name"] == "reply");

  const auto newer = sent_by("anthropic", contract_question(), false,
                             [](AiConfig& config) { config.model = "claude-opus-4-8"; });
  CHECK_FALSE(newer.body.contains("temperature"));
  CHECK_FALSE(newer.body.contains("tools"));
}

TEST_CASE("gemini is sent contents, a system instruction and a schema, the key in a header",
          "[ai]") {
  const auto sent = sent_by("gemini", contract_json_question(), false);
  CHECK(sent.target == "/v1beta/models/gemini-2.5-flash:generateContent");
  CHECK(has_header(sent, cat("x-goog-api-key: ", kVendorKey)));
  CHECK(sent.body["systemInstruction"]["parts"][0]["text"] == "Be brief.");
  CHECK(sent.body["contents"].size() == 3);
  CHECK(sent.body["contents"][1]["role"] == "model");
  CHECK(sent.body["contents"][1]["parts"] == Json::parse(R"([{"text": "Yes."}])"));
  const auto& generation = sent.body["generationConfig"];
  CHECK(generation["maxOutputTokens"] == 50);
  CHECK(generation["seed"] == 7);
  CHECK(generation["temperature"] == 0);
  CHECK(generation["responseMimeType"] == "application/json");
  CHECK(generation["responseJsonSchema"] == contract_json_question().json_schema);
  CHECK(sent_by("gemini", contract_question(), true).target ==
        "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
}

TEST_CASE("gemini tells in the body how long to wait", "[ai]") {
  RawServer server([](RawConnection& connection) {
    connection.read_request();
    const std::string body =
        R"({"error": {"code": 429, "message": "Quota.", "status": "RESOURCE_EXHAUSTED", "details": [
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2.5s"}]}})";
    connection.send(
        cat("HTTP/1.1 429 Too Many\r\nContent-Length: ", body.size(), "\r\n\r\n", body));
  });
  AiConfig config;
  config.provider = "gemini";
  config.model = "m";
  config.gemini_base_url = server.url("");
  const auto reply = contract_provider(config)->generate(contract_question(), CancelToken());
  REQUIRE_FALSE(reply.has_value());
  CHECK(retry_after(reply.error()) == milliseconds(2500));
}

TEST_CASE("the output limit of the configuration holds for every provider", "[ai][D13]") {
  const auto vendor = GENERATE(from_range(vendor_names()));
  CAPTURE(vendor);
  const auto sent = sent_by(vendor, contract_question(), false,
                            [](AiConfig& config) { config.max_output_tokens = 33; });
  CHECK(sent.body.dump().find(":33") != std::string::npos);
  CHECK(sent.body.dump().find(":50") == std::string::npos);
}

TEST_CASE("Ollama is found where it is and nowhere else", "[ai]") {
  RawServer server([](RawConnection& connection) {
    const auto request = connection.read_request();
    const std::string body = request.starts_with("GET /api/version ")
                                 ? R"({"version": "0.12.3"})"
                                 : R"({"models": [{"name": "b"}, {"name": "a"}]})";
    connection.send(cat("HTTP/1.1 200 OK\r\nContent-Length: ", body.size(), "\r\n\r\n", body));
  });
  AiConfig config;
  config.ollama_base_url = server.url("");
  const auto found = detect_ollama(config, CancelToken());
  REQUIRE(found.has_value());
  CHECK(found->version == "0.12.3");
  CHECK(found->models == std::vector<std::string>{"a", "b"});

  VendorServer other("openai");  // some other program there
  other.plan({});
  config.ollama_base_url = other.config().openai_base_url;
  CHECK_FALSE(detect_ollama(config, CancelToken()).has_value());
  const SilentServer silent;
  config.ollama_base_url = cat("http://127.0.0.1:", silent.port());
  CHECK_FALSE(detect_ollama(config, CancelToken()).has_value());
}

}  // namespace indx
