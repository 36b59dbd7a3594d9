#include "ai/providers/replay.hpp"

#include "ai/remote_embedder.hpp"
#include "base/text.hpp"
#include "tests/ai/provider_contract.hpp"
#include "tests/support/temp_dir.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace indx {
namespace {

std::vector<std::string> fixture_texts(const std::string& folder) {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return texts;
}

AiConfig replaying(AiConfig config) {
  config.test_record = false;
  config.test_replay = true;
  // where nobody listens: a call would fail
  config.openai_base_url = config.ollama_base_url = config.anthropic_base_url =
      config.gemini_base_url = config.gateway_base_url = "http://127.0.0.1:1";
  return config;
}

}  // namespace

TEST_CASE("what was recorded of any provider is replayed without a call, streamed and not",
          "[ai][contract][D21]") {
  const auto vendor = GENERATE(from_range(vendor_names()));
  CAPTURE(vendor);
  const TempDir folder;
  VendorServer server(vendor);
  VendorPlan text, json;
  text.reply.text = kContractText;
  json.reply.text = kContractJson;
  server.plan(text);
  server.plan(json);
  auto config = server.config();
  config.test_record = true;
  config.fixtures_dir = folder.path();
  const auto recorder = contract_provider(config);
  const auto first = recorder->generate(contract_question(), CancelToken());
  const auto second =
      recorder->generate_stream(contract_json_question(), CancelToken(), [](std::string_view) {});
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  const auto fixtures = fixture_texts(folder.path());
  CHECK(fixtures.size() == 2);
  for (const auto& fixture : fixtures) CHECK(fixture.find(kVendorKey) == std::string::npos);

  const auto player = contract_provider(replaying(config));

  CHECK(player->name() == vendor);
  for (const bool is_streamed : {false, true, false}) {
    const auto call = contract_call(*player, contract_question(), is_streamed);
    REQUIRE(call.reply.has_value());
    CHECK(to_json(*call.reply) == to_json(*first));
    if (is_streamed) CHECK(call.deltas == kContractText);
    const auto structured = contract_call(*player, contract_json_question(), is_streamed);
    REQUIRE(structured.reply.has_value());
    CHECK(to_json(*structured.reply) == to_json(*second));
  }
  CHECK(server.requests().size() == 2);

  auto by_name = replaying(config);
  by_name.provider = "replay";
  const auto named = contract_call(*contract_provider(by_name), contract_question(), false);
  REQUIRE(named.reply.has_value());
  CHECK(to_json(*named.reply) == to_json(*first));
}

TEST_CASE("a call that was not recorded is an error that names its fixture", "[ai][D21]") {
  const TempDir folder;
  const auto player = make_replay_provider("openai", "m", folder.path());

  const auto reply = player->generate(contract_question(), CancelToken());

  REQUIRE_FALSE(reply.has_value());
  CHECK(reply.error().name() == "ai_provider_error");
  CHECK(reply.error().details["cause"] == "replay");
  CHECK_FALSE(is_transient(reply.error()));
  const auto key = reply.error().details["fixture"].get<std::string>();
  CHECK(reply.error().message.find(key) != std::string::npos);
  CHECK(reply.error().to_json().dump().find("Second?") == std::string::npos);

  std::ofstream(cat(folder.path(), '/', key, ".json")) << "{\"reply\": ";
  CHECK(player->generate(contract_question(), CancelToken()).error().details["cause"] == "replay");
}

TEST_CASE("every part of a request is part of its fixture's key", "[ai][D21]") {
  const TempDir folder;
  const auto key_of = [&](const GenerateRequest& request, const std::string& model = "m") {
    const auto player = make_replay_provider("openai", model, folder.path());
    return player->generate(request, CancelToken()).error().details["fixture"].get<std::string>();
  };
  const auto base = contract_json_question();
  auto system = base, message = base, schema = base, limit = base, seed = base, temperature = base;
  system.system += '!';
  message.messages.back().content += '!';
  schema.json_schema["description"] = "x";
  limit.max_output_tokens += 1;
  seed.seed += 1;
  temperature.temperature = 0.5;

  CHECK(key_of(base) == key_of(base));
  CHECK(key_of(base) != key_of(base, "other"));
  for (const auto& other : {system, message, schema, limit, seed, temperature})
    CHECK(key_of(base) != key_of(other));
}

TEST_CASE("failures are not recorded", "[ai][D21]") {
  const TempDir folder;
  VendorServer server("openai");
  VendorPlan failed;
  failed.status = 500;
  server.plan(failed);
  auto config = server.config();
  config.test_record = true;
  config.fixtures_dir = folder.path();
  CHECK_FALSE(contract_provider(config)->generate(contract_question(), CancelToken()).has_value());
  CHECK(fixture_texts(folder.path()).empty());
}

TEST_CASE("a reply that cannot be kept is an error, not a silent gap", "[ai][D21]") {
  const TempDir folder;
  std::ofstream(folder.path() + "/file") << "x";
  VendorServer server("openai");
  auto config = server.config();
  config.test_record = true;
  config.fixtures_dir = folder.path() + "/file/below";
  const auto reply = contract_provider(config)->generate(contract_question(), CancelToken());
  REQUIRE_FALSE(reply.has_value());
  CHECK(reply.error().name() == "internal");
}

TEST_CASE("vectors are recorded and replayed text by text", "[ai][D21]") {
  const TempDir folder;
  VendorServer server("ollama");
  auto config = server.config();
  config.test_record = true;
  config.fixtures_dir = folder.path();
  const std::vector<std::string> texts{"one", "", "three"}, turned{"three", "one"};
  const auto recorded = (*make_remote_embedder(config))->embed(texts, CancelToken());
  REQUIRE(recorded.has_value());

  const auto player = *make_remote_embedder(replaying(config));
  const auto replayed = player->embed(turned, CancelToken());

  CHECK(player->model_id() == "ollama/nomic-embed-text");
  REQUIRE(replayed.has_value());
  CHECK((*replayed)[0] == (*recorded)[2]);
  CHECK((*replayed)[1] == (*recorded)[0]);
  CHECK(player->dimension() == 4);
  const std::vector<std::string> blank{"three", " "};
  CHECK(player->embed(blank, CancelToken())->at(1) == std::vector<float>(4, 0.0F));
  const std::vector<std::string> unknown{"two"};
  CHECK(player->embed(unknown, CancelToken()).error().details["cause"] == "replay");
}

}  // namespace indx
