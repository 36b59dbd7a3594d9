#include "ai/rate_limit.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

namespace indx {
namespace {

constexpr RateLimiter::Time kAtOnce{0};

Error refused_with(int status, const Json& more = Json::object()) {
  Json details{{"cause", "status"}, {"upstream_status", status}};
  details.update(more);
  return make_error(Reason::AiProviderError, "refused", details);
}

}  // namespace

TEST_CASE("no minute holds more starts than its limit, and none is left unused", "[ai]") {
  RateLimiter limiter({.requests_per_minute = 60});
  std::vector<RateLimiter::Time> lanes(16), starts;  // lanes: when each asks next
  for (;;) {
    auto& lane = *std::min_element(lanes.begin(), lanes.end());
    if (lane >= std::chrono::minutes(10)) break;
    const auto place = limiter.take(lane, 0, RateLimiter::kWindow);
    REQUIRE(place.id != 0);
    if (place.at < std::chrono::minutes(10)) starts.push_back(place.at);
    lane = place.at + std::chrono::milliseconds(200);  // the call
  }
  CHECK(starts.size() == 600);
  for (std::size_t i = 60; i < starts.size(); ++i)
    REQUIRE(starts[i] - starts[i - 60] >= std::chrono::minutes(1));
}

TEST_CASE("tokens of a minute are bounded, at first by the estimate and then by what was used",
          "[ai]") {
  RateLimiter limiter({.tokens_per_minute = 1000});
  const auto first = limiter.take(kAtOnce, 300, kAtOnce);
  const auto second = limiter.take(kAtOnce, 300, kAtOnce);
  REQUIRE(limiter.take(kAtOnce, 300, kAtOnce).id != 0);
  const auto refused = limiter.take(kAtOnce, 300, std::chrono::seconds(5));
  CHECK(refused.id == 0);
  CHECK(refused.at == std::chrono::minutes(1));
  CHECK(name(refused.why) == "tokens_per_minute");

  limiter.settle(first.id, 50);
  CHECK(limiter.take(std::chrono::seconds(1), 300, kAtOnce).at == std::chrono::seconds(1));

  limiter.settle(second.id, 900);  // more than was thought
  CHECK(limiter.take(std::chrono::seconds(2), 100, RateLimiter::kWindow).at ==
        std::chrono::minutes(1));
}

TEST_CASE("a call of more tokens than a minute allows starts when that minute is empty", "[ai]") {
  RateLimiter limiter({.tokens_per_minute = 1000});
  REQUIRE(limiter.take(kAtOnce, 400, kAtOnce).id != 0);
  const auto large = limiter.take(std::chrono::seconds(1), 5000, RateLimiter::kWindow);
  CHECK(large.id != 0);
  CHECK(large.at == std::chrono::minutes(1));
  CHECK(limiter.take(std::chrono::minutes(1), 1, RateLimiter::kWindow).at ==
        std::chrono::minutes(2));
}

TEST_CASE("small calls do not overtake a large one for ever", "[ai]") {
  RateLimiter limiter({.tokens_per_minute = 1000});
  REQUIRE(limiter.take(kAtOnce, 800, kAtOnce).id != 0);
  REQUIRE(limiter.take(kAtOnce, 900, RateLimiter::kWindow).at == std::chrono::minutes(1));
  const auto small = limiter.take(std::chrono::seconds(1), 100, RateLimiter::kWindow);
  CHECK(small.at == std::chrono::minutes(1));
  CHECK(name(small.why) == "tokens_per_minute");
}

TEST_CASE("the place of a call that is not made is free again", "[ai]") {
  RateLimiter limiter({.requests_per_minute = 1, .tokens_per_minute = 10});
  limiter.give_back(limiter.take(kAtOnce, 10, kAtOnce).id);
  const auto place = limiter.take(kAtOnce, 10, kAtOnce);
  CHECK(place.id != 0);
  const auto refused = limiter.take(kAtOnce, 10, kAtOnce);
  CHECK(refused.id == 0);
  CHECK(name(refused.why) == "requests_per_minute");
  limiter.give_back(refused.id);
  CHECK(limiter.take(std::chrono::seconds(59), 0, kAtOnce).id == 0);
  CHECK(limiter.take(std::chrono::seconds(60), 0, kAtOnce).id != 0);
}

TEST_CASE("nobody starts while the provider asks to be left alone, also without limits", "[ai]") {
  RateLimiter limiter(RateLimits{});
  CHECK(limiter.take(kAtOnce, 1'000'000, kAtOnce).id != 0);
  limiter.hold(std::chrono::seconds(10));
  limiter.hold(std::chrono::seconds(5));
  const auto refused = limiter.take(std::chrono::seconds(6), 1, std::chrono::seconds(1));
  CHECK(refused.id == 0);
  CHECK(refused.at == std::chrono::seconds(10));
  CHECK(name(refused.why) == "retry_after");
  CHECK(limiter.take(std::chrono::seconds(10), 1, kAtOnce).at == std::chrono::seconds(10));
}

TEST_CASE("what a call uses is estimated from its prompt and corrected by its reply", "[ai]") {
  GenerateRequest request;
  request.system = std::string(400, 'a');
  request.messages = {{"user", std::string(800, 'b')}};
  request.max_output_tokens = 50;
  CHECK(estimate_call_tokens(request) == 350);
  request.json_schema = {{"type", "object"}};
  CHECK(estimate_call_tokens(request) > 350);

  GenerateReply reply;
  reply.usage = {.input_tokens = 7, .output_tokens = 5, .cost_usd = {}, .source = "reported"};
  CHECK(used_tokens(reply) == 12);
  CHECK(used_tokens(refused_with(429)) == 0);
  CHECK(used_tokens(make_error(Reason::AiProviderError, "x",
                               {{"cause", "parse"}, {"usage", to_json(reply.usage)}})) == 12);
  CHECK(used_tokens(make_error(Reason::AiProviderError, "x", {{"cause", "timeout"}})) ==
        std::nullopt);
  CHECK(used_tokens(make_error(Reason::AiProviderError, "x", {{"cause", "connect"}})) ==
        std::nullopt);  // it may have broken off behind the question
  CHECK(used_tokens(make_error(Reason::AiProviderError, "x",
                               {{"cause", "connect"}, {"was_sent", false}})) == 0);
}

TEST_CASE("a provider asks to be left alone with a 429 or a Retry-After", "[ai]") {
  CHECK(asks_to_wait(refused_with(429)));
  CHECK(asks_to_wait(refused_with(503, {{"retry_after_ms", 1000}})));
  CHECK_FALSE(asks_to_wait(refused_with(503)));
  CHECK_FALSE(asks_to_wait(refused_with(400, {{"retry_after_ms", 1000}})));
  CHECK_FALSE(asks_to_wait(refused_with(429, {{"upstream_code", "insufficient_quota"}})));
  CHECK_FALSE(asks_to_wait(make_error(Reason::Unavailable, "x", {{"retry_after_ms", 1000}})));
}

}  // namespace indx
