// What every remote embedder keeps: the same cases for each wire format that has embeddings.
#include "ai/remote_embedder.hpp"
#include "base/text.hpp"
#include "tests/ai/provider_contract.hpp"

#include <cmath>

namespace indx {
namespace {

std::vector<std::string> embedding_vendors() {
  std::vector<std::string> names;
  for (const auto& name : vendor_names())
    if (make_vendor_dialect(name)->has_embeddings()) names.push_back(name);
  return names;
}

std::unique_ptr<Embedder> embedder_for(const AiConfig& config) {
  auto made = make_remote_embedder(config);
  REQUIRE(made.has_value());
  REQUIRE(*made != nullptr);
  return std::move(*made);
}

/// As the server makes it, at length 1.
std::vector<float> expected_vector(const std::string& text) {
  std::vector<double> raw{static_cast<double>(text.size()),
                          static_cast<double>(static_cast<unsigned char>(text.front())), 1, 1};
  double sum = 0;
  for (const auto value : raw) sum += value * value;
  std::vector<float> unit;
  for (const auto value : raw) unit.push_back(static_cast<float>(value / std::sqrt(sum)));
  return unit;
}

}  // namespace

TEST_CASE("embedder contract: texts come back in order as vectors of length 1, in batches of 32",
          "[ai][contract][G23]") {
  const auto vendor = GENERATE(from_range(embedding_vendors()));
  CAPTURE(vendor);
  VendorServer server(vendor);
  const auto embedder = embedder_for(server.config());
  CHECK(embedder->dimension() == 0);
  CHECK(embedder->model_id() == cat(vendor, '/', usual_embedding_model(vendor)));
  std::vector<std::string> texts;
  for (int i = 0; i < 70; ++i) texts.push_back(std::string(static_cast<std::size_t>(i + 1), 'a'));
  texts[3] = "東京 👋🏽";

  const auto vectors = embedder->embed(texts, CancelToken());

  REQUIRE(vectors.has_value());
  REQUIRE(vectors->size() == 70);
  for (std::size_t i = 0; i < texts.size(); ++i) CHECK((*vectors)[i] == expected_vector(texts[i]));
  CHECK(embedder->dimension() == 4);
  std::vector<std::size_t> batches;
  for (const auto& request : server.requests())
    batches.push_back(server.dialect().texts(request.body).size());
  CHECK(batches == std::vector<std::size_t>{32, 32, 6});
}

TEST_CASE("embedder contract: texts that hold nothing are zeros and are not sent",
          "[ai][contract]") {
  const auto vendor = GENERATE(from_range(embedding_vendors()));
  CAPTURE(vendor);
  VendorServer server(vendor);
  const auto embedder = embedder_for(server.config());

  const std::vector<std::string> texts{"", "word", " \n\t"};
  const auto vectors = embedder->embed(texts, CancelToken());
  const auto none = embedder->embed({}, CancelToken());

  REQUIRE(vectors.has_value());
  CHECK((*vectors)[0] == std::vector<float>(4, 0.0F));
  CHECK((*vectors)[1] == expected_vector("word"));
  CHECK((*vectors)[2] == std::vector<float>(4, 0.0F));
  CHECK(none->empty());
  REQUIRE(server.requests().size() == 1);
  CHECK(server.dialect().texts(server.requests()[0].body) == std::vector<std::string>{"word"});
}

TEST_CASE("embedder contract: failures are those of every call, without the key",
          "[ai][contract][D59]") {
  const auto vendor = GENERATE(from_range(embedding_vendors()));
  CAPTURE(vendor);
  VendorServer server(vendor);
  VendorPlan limited, hang, broken;
  limited.status = 429;
  limited.headers = "Retry-After: 3\r\n";
  if (vendor != "ollama") limited.message = cat("Slow down, ", kVendorKey);  // it has no key
  hang.fault = VendorFault::Hang;
  broken.fault = VendorFault::BrokenJson;
  server.plan(limited);
  server.plan(hang);
  server.plan(broken);
  auto config = server.config();
  config.first_byte_timeout = milliseconds(80);
  const auto embedder = embedder_for(config);
  const std::vector<std::string> texts{"word"};

  const auto first = embedder->embed(texts, CancelToken());
  const auto second = embedder->embed(texts, CancelToken());
  const auto third = embedder->embed(texts, CancelToken());

  REQUIRE_FALSE(first.has_value());
  CHECK(is_transient(first.error()));
  CHECK(retry_after(first.error()) == milliseconds(3000));
  CHECK(first.error().to_json().dump().find(kVendorKey) == std::string::npos);
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().details["cause"] == "timeout");
  REQUIRE_FALSE(third.has_value());
  CHECK(third.error().details["cause"] == "parse");
}

TEST_CASE("embedder contract: a vector too few and a change of dimension are refused",
          "[ai][contract]") {
  const auto vendor = GENERATE(from_range(embedding_vendors()));
  CAPTURE(vendor);
  VendorServer server(vendor);
  VendorPlan few, other;
  few.loses_a_vector = true;
  other.vector_size = 5;
  server.plan(few);
  server.plan({});
  server.plan(other);
  const auto embedder = embedder_for(server.config());
  const std::vector<std::string> texts{"one", "two"};

  CHECK(embedder->embed(texts, CancelToken()).error().details["cause"] == "parse");
  CHECK(embedder->embed(texts, CancelToken()).has_value());
  CHECK(embedder->embed(texts, CancelToken()).error().details["cause"] == "parse");
  CHECK(embedder->dimension() == 4);
}

TEST_CASE("embedder contract: each call tells what it used, also one whose answer is no good",
          "[ai][contract][D55][G7]") {
  const auto vendor = GENERATE(from_range(embedding_vendors()));
  CAPTURE(vendor);
  VendorServer server(vendor);
  VendorPlan few;
  few.loses_a_vector = true;
  server.plan({});
  server.plan(few);
  const auto embedder = embedder_for(server.config());
  REQUIRE(embedder->remote() != nullptr);
  const std::vector<std::string> texts{"four", "texts of some length"};

  const auto good = embedder->remote()->embed_batch(texts, CancelToken());
  const auto bad = embedder->remote()->embed_batch(texts, CancelToken());

  REQUIRE(good.has_value());
  const bool is_told = server.dialect().tells_embedded_tokens();
  CHECK(good->usage.source == (is_told ? "reported" : "estimated"));
  CHECK(good->usage.input_tokens ==
        (is_told ? kVendorInputTokens : estimate_tokens(texts[0]) + estimate_tokens(texts[1])));
  CHECK(good->usage.output_tokens == 0);
  REQUIRE(good->usage.cost_usd.has_value());
  CHECK((*good->usage.cost_usd == 0) == (vendor == "ollama"));
  REQUIRE_FALSE(bad.has_value());
  CHECK(bad.error().details["usage"]["input_tokens"] == good->usage.input_tokens);
}

TEST_CASE("embedder contract: cancel ends a call", "[ai][contract][D46]") {
  const auto vendor = GENERATE(from_range(embedding_vendors()));
  CAPTURE(vendor);
  VendorServer server(vendor);
  const CancelToken cancel;
  cancel.cancel(CancelReason::Requested);
  const std::vector<std::string> texts{"word"};
  CHECK(embedder_for(server.config())->embed(texts, cancel).error().name() == "cancelled");
  CHECK(server.requests().empty());
}

TEST_CASE("who has no embeddings is refused, and nobody is asked where none are configured",
          "[ai][D2][D20]") {
  AiConfig config;
  CHECK(*make_remote_embedder(config) == nullptr);
  config.embeddings_provider = "builtin";
  CHECK(*make_remote_embedder(config) == nullptr);
  config.embeddings_provider = "openai";
  CHECK(*make_remote_embedder(config) == nullptr);  // no key
  config.embeddings_provider = "anthropic";
  CHECK(make_remote_embedder(config).error().name() == "validation_failed");
  config.embeddings_provider = "nobody";
  CHECK(make_remote_embedder(config).error().name() == "validation_failed");
  config.embeddings_provider = "ollama";
  CHECK((*make_remote_embedder(config))->model_id() == "ollama/nomic-embed-text");
  config.embeddings_model = "mxbai-embed-large";
  CHECK((*make_remote_embedder(config))->model_id() == "ollama/mxbai-embed-large");
  config.enabled = false;
  CHECK(*make_remote_embedder(config) == nullptr);
}

}  // namespace indx
