#include "ai/prices.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("a call costs its tokens by the list price", "[ai][D56][G44]") {
  // 1,000,000 tokens in at 1 and 500,000 out at 5 dollars a million
  CHECK(cost_of("anthropic", "claude-haiku-4-5", 1'000'000, 500'000) == Approx(3.5));
  CHECK(cost_of("openai", "gpt-4o-mini", 1000, 1000) == Approx(0.00075));
  CHECK(cost_of("openai", "text-embedding-3-small", 1000, 0) == Approx(0.00002));
  CHECK(cost_of("anthropic", "claude-haiku-4-5", 0, 0) == 0.0);
}

TEST_CASE("an unknown model costs unknown, not nothing", "[ai][D56]") {
  for (const char* provider :
       {"openai", "anthropic", "gemini", "vercel-ai-gateway", "nobody", "as_of", "note"})
    CHECK_FALSE(cost_of(provider, "no-such-model", 1000, 1000).has_value());
  CHECK_FALSE(cost_of("openai", "gpt-4o-mini-something", 1, 1).has_value());
  CHECK_FALSE(cost_of("openai", "", 1, 1).has_value());
}

TEST_CASE("models of a local server cost nothing, those it only passes on are unknown",
          "[ai][G44]") {
  CHECK(cost_of("ollama", "llama3.2", 1000, 1000) == 0.0);
  CHECK(cost_of("builtin", "extractive", 1000, 1000) == 0.0);
  CHECK_FALSE(cost_of("ollama", "gpt-oss:120b-cloud", 1000, 1000).has_value());
}

TEST_CASE("dates, latest and a gateway's names find the price of the model", "[ai]") {
  CHECK(price_of("anthropic", "claude-haiku-4-5-20251001")->output == 5);
  CHECK(price_of("anthropic", "claude-sonnet-4-6-latest")->input == 3);
  CHECK(price_of("openai", "gpt-4o-2024-11-20")->input == 2.5);
  CHECK(price_of("vercel-ai-gateway", "anthropic/claude-haiku-4.5")->input == 1);
  CHECK(price_of("vercel-ai-gateway", "anthropic/claude-haiku-4-5")->input == 1);
  CHECK(price_of("vercel-ai-gateway", "google/gemini-2.5-flash")->output == 2.5);
  CHECK_FALSE(price_of("vercel-ai-gateway", "gpt-4o").has_value());
  CHECK_FALSE(price_of("openai", "gpt-4o-99-11-20").has_value());
}

TEST_CASE("the price list has a day", "[ai]") {
  CHECK(prices_as_of().size() == 10);
  CHECK(prices_as_of().starts_with("20"));
}

TEST_CASE("a price of the configuration stands before the list", "[ai][G44]") {
  AiConfig config;
  config.prices["openai/gpt-4o-mini"] = {0.5, 2};
  config.prices["openai/ours"] = {0.001, 0.002};

  CHECK(cost_at(price_of(config, "openai", "gpt-4o-mini"), 2000, 500) == Approx(2.0));
  CHECK(cost_at(price_of(config, "openai", "ours"), 1000, 1000) == Approx(0.003));
  CHECK(cost_at(price_of(config, "openai", "gpt-4o"), 1'000'000, 0) == Approx(2.5));
  CHECK(cost_at(price_of(config, "ollama", "llama3"), 1000, 1000) == 0.0);
  CHECK_FALSE(cost_at(price_of(config, "openai", "nobody-knows"), 1, 1));
}

}  // namespace indx
