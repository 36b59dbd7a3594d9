#include "ai/providers/openai.hpp"

#include "ai/providers/upstream_client.hpp"
#include "ai/rate_limit.hpp"
#include "base/hash.hpp"
#include "base/http_client.hpp"
#include "base/text.hpp"
#include "tests/support/model_server.hpp"
#include "tests/support/raw_server.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

constexpr const char* kKey = "sk-canary-1234567890";

AiConfig config_for(const std::string& base_url) {
  AiConfig config;
  config.provider = "openai";
  config.model = "test-model";
  config.openai_base_url = base_url;
  config.openai_api_key = kKey;
  config.timeout = milliseconds(5000);
  return config;
}

std::unique_ptr<Provider> openai_provider(const AiConfig& config) {
  auto made = make_provider(config);
  REQUIRE(made.has_value());
  return std::move(*made);
}

GenerateRequest tags_request(const std::string& text) {
  GenerateRequest request;
  request.system = "System text.";
  request.messages = {{"user", text}};
  request.schema_name = "tags";
  request.json_schema = Json::parse(
      R"({"type": "object", "required": ["tags"], "additionalProperties": false,
    "properties": {"tags": {"type": "array", "items": {"type": "object", "required": ["tag"],
    "properties": {"tag": {"type": "string"}}}}}})");
  request.seed = 7;
  return request;
}

GenerateRequest free_request(const std::string& text) {
  GenerateRequest request;
  request.messages = {{"user", text}};
  return request;
}

/// The error of one call that meets the scripted fault.
Error error_after(const Json& fault,
                  const GenerateRequest& request = tags_request("Gardening gardening.")) {
  ModelServer server;
  server.script(fault);
  const auto provider = openai_provider(config_for(server.base_url()));
  const auto reply = provider->generate(request, CancelToken());
  REQUIRE_FALSE(reply.has_value());
  CHECK(server.counts()["calls"] == 1);
  CHECK(reply.error().to_json().dump().find(kKey) == std::string::npos);
  return reply.error();
}

}  // namespace

TEST_CASE(
    "a call carries model, messages, temperature, seed, limit, schema and the key in one header",
    "[ai][D9][D14][D35][D39]") {
  ModelServer server;
  auto config = config_for(server.base_url());
  config.max_output_tokens = 100;
  auto request = tags_request("The gardening note: gardening is gardening in greenhouses.");
  request.temperature = 0.25;
  auto& item = request.json_schema["properties"]["tags"]["items"];
  item["required"] = {"tag", "confidence", "rationale", "quotes"};
  item["additionalProperties"] = false;
  item["properties"] = {{"tag", {{"type", "string"}}},
                        {"confidence", {{"type", "number"}}},
                        {"rationale", {{"type", "string"}}},
                        {"quotes", {{"type", "array"}, {"items", {{"type", "string"}}}}}};

  const auto reply = openai_provider(config)->generate(request, CancelToken());

  REQUIRE(reply.has_value());
  CHECK(reply->finish_reason == FinishReason::Stop);
  CHECK(reply->structured["tags"][0]["tag"] == "gardening");
  CHECK(reply->usage.source == "reported");
  CHECK(reply->usage.input_tokens > 0);
  const auto sent = server.requests()[0];
  CHECK(sent["model"] == "test-model");
  CHECK(sent["messages"][0] == Json{{"role", "system"}, {"content", "System text."}});
  CHECK(sent["temperature"] == 0.25);
  CHECK(sent["seed"] == 7);
  CHECK(sent["max_tokens"] == 100);
  CHECK(sent["response_format"]["type"] == "json_schema");
  CHECK(sent["response_format"]["json_schema"]["strict"] == true);
  CHECK(server.last_head().find(cat("Authorization: Bearer ", kKey, "\r\n")) != std::string::npos);
  CHECK(sent.dump().find(kKey) == std::string::npos);
}

TEST_CASE("a schema is asked for strictly only where it is strict in every part", "[ai][D39]") {
  const auto strict = [](const char* text) { return fits_strict_mode(Json::parse(text)); };
  CHECK(strict(R"({"type": "object", "properties": {}, "additionalProperties": false})"));
  CHECK(strict(R"({"type": "object", "properties": {"a": {"type": "array", "items":
      {"type": "object", "properties": {"b": {}}, "required": ["b"], "additionalProperties": false}}},
      "required": ["a"], "additionalProperties": false})"));
  CHECK_FALSE(strict(R"({"type": "object", "properties": {"a": {}}})"));
  CHECK_FALSE(strict(R"({"type": "array"})"));
  CHECK_FALSE(
      strict(R"({"type": "object", "properties": {"a": {}}, "additionalProperties": false})"));
  CHECK_FALSE(strict(R"({"type": "object", "properties": {"a": {"anyOf": [{"type": "object"}]}},
      "required": ["a"], "additionalProperties": false})"));
  CHECK_FALSE(strict(R"({"type": "object", "properties": {"a": {"items": {"type": "object"}}},
      "required": ["a"], "additionalProperties": false})"));
  CHECK(strict(R"({"type": "object", "properties": {}, "additionalProperties": false,
      "$defs": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}})"));
  CHECK_FALSE(strict(R"({"type": "object", "properties": {}, "additionalProperties": false,
      "$defs": {"a": {"type": "object"}}})"));
  for (const char* keyword : {"allOf", "oneOf", "not", "if", "patternProperties"})
    CHECK_FALSE(
        strict(cat(R"({"type": "object", "properties": {}, "additionalProperties": false, ")",
                   keyword, "\": {}}")
                   .c_str()));
}

TEST_CASE("free text comes back with its finish reason", "[ai][D9]") {
  ModelServer server;
  server.script({{"reply", "Hello."}});
  server.script({{"fault", "length"}, {"reply", "Hello."}});
  const auto provider = openai_provider(config_for(server.base_url()));

  const auto whole = provider->generate(free_request("x"), CancelToken());
  const auto cut = provider->generate(free_request("x"), CancelToken());

  REQUIRE(whole.has_value());
  CHECK(whole->text == "Hello.");
  CHECK(whole->structured.is_null());
  REQUIRE(cut.has_value());
  CHECK(cut->text == "Hel");
  CHECK(cut->finish_reason == FinishReason::Length);
}

TEST_CASE("without reported usage it is estimated, and a fenced reply is understood", "[ai][D55]") {
  RawServer server([](RawConnection& connection) {
    connection.read_request();
    const auto body =
        Json{{"choices", {{{"message", {{"content", "```json\n{\"tags\": []}\n```"}}}}}}}.dump();
    connection.send(cat("HTTP/1.1 200 OK\r\nContent-Length: ", body.size(), "\r\n\r\n", body));
  });

  const auto reply = openai_provider(config_for(server.url("")))
                         ->generate(tags_request("12345678"), CancelToken());

  REQUIRE(reply.has_value());
  CHECK(reply->structured == Json{{"tags", Json::array()}});
  CHECK(reply->usage.source == "estimated");
  CHECK(reply->usage.input_tokens == 5);
}

TEST_CASE("429 is transient and tells how long to wait", "[ai][D59]") {
  const auto error = error_after({{"fault", "status"},
                                  {"status", 429},
                                  {"retry_after", "7"},
                                  {"message", cat("Slow down, ", kKey)}});

  CHECK(error.name() == "ai_provider_error");
  CHECK(error.details["provider"] == "openai");
  CHECK(error.details["upstream_status"] == 429);
  CHECK(error.details["upstream_message"] == "Slow down, [redacted]");
  CHECK(error.details["cause"] == "status");
  CHECK(is_transient(error));
  CHECK(retry_after(error) == milliseconds(7000));
}

TEST_CASE("a 429 for a spent quota is final", "[ai]") {
  CHECK_FALSE(is_transient(
      error_after({{"fault", "status"}, {"status", 429}, {"code", "insufficient_quota"}})));
}

TEST_CASE("500 is transient, 401 is not, and long messages are cut", "[ai][D59]") {
  const auto error =
      error_after({{"fault", "status"}, {"status", 500}, {"message", std::string(1000, 'x')}});
  CHECK(error.details["upstream_message"].get<std::string>().size() == 300);
  CHECK(is_transient(error));
  CHECK_FALSE(retry_after(error).has_value());
  CHECK_FALSE(is_transient(error_after({{"fault", "status"}, {"status", 401}})));
}

TEST_CASE("a prompt that the model cannot take is ai_input_too_large, as is one over our own limit",
          "[ai][D12][D61]") {
  CHECK(error_after({{"fault", "status"}, {"status", 400}, {"code", "context_length_exceeded"}})
            .name() == "ai_input_too_large");

  ModelServer server;
  auto config = config_for(server.base_url());
  config.max_input_tokens = 10;
  const auto reply =
      openai_provider(config)->generate(tags_request(std::string(100, 'x')), CancelToken());
  REQUIRE_FALSE(reply.has_value());
  CHECK(reply.error().name() == "ai_input_too_large");
  CHECK(reply.error().details["tokens"] == 28);
  CHECK(server.counts()["calls"] == 0);
}

TEST_CASE("broken JSON, a broken or cut answer and a schema break are told apart", "[ai][D59]") {
  CHECK(error_after({{"fault", "broken_json"}}).details["cause"] == "parse");
  CHECK(error_after({{"fault", "broken_content"}}).details["cause"] == "parse");
  CHECK(error_after({{"fault", "length"}}).details["cause"] == "parse");
  const auto schema = error_after({{"fault", "schema_break"}});
  CHECK(schema.details["cause"] == "schema");
  CHECK(schema.details["upstream_message"] == "/tags/0/tag: must be string");
  CHECK(schema.details["usage"]["source"] == "reported");
  CHECK_FALSE(is_transient(schema));
}

TEST_CASE("a refusal and a content filter are refusals", "[ai][D9]") {
  const auto refusal = error_after({{"fault", "refusal"}});
  CHECK(refusal.details["cause"] == "refused");
  CHECK(refusal.details["upstream_message"] == "I cannot help with that.");
  CHECK(error_after({{"fault", "content_filter"}}).details["cause"] == "refused");
}

TEST_CASE("a connection that breaks before or inside the answer is transient", "[ai]") {
  for (const char* fault : {"disconnect", "disconnect_mid_body"}) {
    const auto error = error_after({{"fault", fault}});
    CHECK(error.details["cause"] == "connect");
    CHECK(used_tokens(error) == std::nullopt);
    CHECK(is_transient(error));
  }
}

TEST_CASE("an answer of 50 MB is refused and not retried", "[ai]") {
  const auto error = error_after({{"fault", "huge"}});
  CHECK(error.details["cause"] == "too_large");
  CHECK_FALSE(is_transient(error));
}

TEST_CASE("a provider that never answers is a timeout", "[ai][D19]") {
  const SilentServer server;
  auto config = config_for(cat("http://127.0.0.1:", server.port(), "/v1"));
  config.timeout = milliseconds(80);

  const auto reply = openai_provider(config)->generate(tags_request("x"), CancelToken());

  REQUIRE_FALSE(reply.has_value());
  CHECK(reply.error().name() == "ai_provider_error");
  CHECK(reply.error().details["cause"] == "timeout");
  CHECK(is_transient(reply.error()));
}

TEST_CASE("cancel ends a hanging call within a second", "[ai][D46]") {
  const CancelToken cancel;
  RawServer server([&](RawConnection& connection) {
    connection.read_request();
    cancel.cancel(CancelReason::Requested);
    connection.wait_for_close();
  });
  const auto begin = std::chrono::steady_clock::now();

  const auto reply =
      openai_provider(config_for(server.url("")))->generate(tags_request("x"), cancel);

  REQUIRE_FALSE(reply.has_value());
  CHECK(reply.error().name() == "cancelled");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
}

TEST_CASE("an unreachable provider is a connect error without the key", "[ai]") {
  int port = 0;
  {
    const SilentServer server;
    port = server.port();
  }
  const auto reply = openai_provider(config_for(cat("http://127.0.0.1:", port)))
                         ->generate(tags_request("x"), CancelToken());
  REQUIRE_FALSE(reply.has_value());
  CHECK(reply.error().details["cause"] == "connect");
  CHECK(used_tokens(reply) == 0);  // so nothing is set aside for it
  CHECK(reply.error().to_json().dump().find(kKey) == std::string::npos);
}

TEST_CASE("Retry-After is read as seconds and as a date", "[ai]") {
  const auto now = *parse_time("2026-03-16T10:00:00.000Z");
  CHECK(parse_retry_after("2", now) == milliseconds(2000));
  CHECK(parse_retry_after(" 0.5 ", now) == milliseconds(500));
  CHECK(parse_retry_after("Mon, 16 Mar 2026 10:00:30 GMT", now) == milliseconds(30000));
  CHECK(parse_retry_after("Mon, 16 Mar 2026 09:00:00 GMT", now) == milliseconds(0));
  for (const char* bad :
       {"", "soon", "-1", "Mon, 40 Mar 2026 10:00:30 GMT", "Mon, 16 Foo 2026 10:00:30 GMT", "1e99"})
    CHECK_FALSE(parse_retry_after(bad, now).has_value());
}

TEST_CASE("the model server counts calls by note and is scripted over HTTP", "[ai]") {
  ModelServer server;
  const auto provider = openai_provider(config_for(server.base_url()));
  const auto root = cat("http://127.0.0.1:", server.port());
  HttpClientRequest script;
  script.method = "POST";
  script.url = root + "/script";
  script.body =
      R"({"responses": [{"fault": "status", "status": 503, "times": 2, "if_contains": "roses"}]})";
  REQUIRE(http_exchange(script, CancelToken())->status == 200);

  CHECK(provider->generate(free_request("tulips"), CancelToken()).has_value());
  CHECK_FALSE(provider->generate(free_request("roses"), CancelToken()).has_value());
  CHECK_FALSE(provider->generate(free_request("roses"), CancelToken()).has_value());
  CHECK(provider->generate(free_request("a\n<<<NOTE 1\nroses\nNOTE 1>>>\nb"), CancelToken())
            .has_value());

  HttpClientRequest count;
  count.url = root + "/count";
  const auto counts = Json::parse(http_exchange(count, CancelToken())->body);
  CHECK(counts["calls"] == 4);
  CHECK(counts["by_content"][sha256_hex("roses")] == 3);
  CHECK(counts["by_content"][sha256_hex("tulips")] == 1);
}

}  // namespace indx
