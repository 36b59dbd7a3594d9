#include "ai/provider.hpp"

#include "base/clock.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <thread>

namespace indx {
namespace {

/// Fails with the given errors in turn, then succeeds.
class FailingProvider : public Provider {
 public:
  explicit FailingProvider(std::vector<Error> errors) : errors_(std::move(errors)) {}
  int calls = 0;
  GenerateRequest last;
  std::string delta_before_failure;

  std::string name() const override { return "failing"; }
  std::string model() const override { return "m"; }
  bool can_generate() const override { return true; }
  Result<GenerateReply> generate(const GenerateRequest& request, const CancelToken&) override {
    const auto at = static_cast<std::size_t>(calls++);
    last = request;
    if (at < errors_.size()) return errors_[at];
    return GenerateReply{"ok", {}, {}, FinishReason::Stop};
  }
  Result<GenerateReply> generate_stream(const GenerateRequest& request, const CancelToken& cancel,
                                        const OnDelta& on_delta) override {
    if (!delta_before_failure.empty()) on_delta(delta_before_failure);
    return Provider::generate_stream(request, cancel, on_delta);
  }

 private:
  std::vector<Error> errors_;
};

Error status_failure(int status, Json more = Json::object()) {
  Json details{{"cause", "status"}, {"upstream_status", status}};
  details.update(more);
  return make_error(Reason::AiProviderError, "failed", details);
}

/// Time that passes only by waiting.
struct FakeTime {
  std::chrono::nanoseconds now{0};
  std::vector<std::int64_t> waits;

  RetryHooks hooks() {
    RetryHooks hooks;
    hooks.now = [this] { return now; };
    hooks.wait = [this](std::chrono::milliseconds time, const CancelToken&) {
      now += time;
      waits.push_back(time.count());
    };
    return hooks;
  }
};

}  // namespace

TEST_CASE("no provider and disabled AI give no provider object", "[ai][D8][D22]") {
  AiConfig config;
  CHECK(make_provider(config)->get() == nullptr);
  config.provider = "builtin";
  config.enabled = false;
  CHECK(make_provider(config)->get() == nullptr);
}

TEST_CASE("the builtin provider has a name and cannot generate", "[ai][D57]") {
  AiConfig config;
  config.provider = "builtin";
  const auto provider = *make_provider(config);
  REQUIRE(provider != nullptr);
  CHECK(provider->name() == "builtin");
  CHECK(provider->model() == "extractive");
  CHECK_FALSE(provider->can_generate());
  const auto reply = provider->generate({}, CancelToken());
  REQUIRE_FALSE(reply.has_value());
  CHECK(reply.error().name() == "ai_unavailable");
  CHECK(reply.error().details["required_role"] == "chat");
}

TEST_CASE("a provider without its model or key leaves AI off and unknown ones are refused",
          "[ai][D2][D8][D10]") {
  for (const char* name :
       {"openai", "ollama", "anthropic", "gemini", "vercel-ai-gateway", "replay"}) {
    CAPTURE(name);
    AiConfig config;
    config.provider = name;
    const auto without_model = make_provider(config);
    REQUIRE(without_model.has_value());
    CHECK(*without_model == nullptr);
    config.model = "m";
    const bool is_local = std::string_view(name) == "ollama" || std::string_view(name) == "replay";
    CHECK((make_provider(config)->get() != nullptr) == is_local);
    config.openai_api_key = config.anthropic_api_key = config.gemini_api_key =
        config.gateway_api_key = "k";
    const auto whole = *make_provider(config);
    REQUIRE(whole != nullptr);
    CHECK(whole->name() == name);
    CHECK(whole->model() == "m");
    CHECK(whole->can_generate());
    CHECK(whole->can_stream());
  }
  AiConfig config;
  config.provider = "nobody";
  CHECK(make_provider(config).error().name() == "validation_failed");
}

TEST_CASE("a server of one's own needs no key", "[ai]") {
  AiConfig config;
  config.provider = "openai";
  config.model = "m";
  config.openai_base_url = "http://127.0.0.1:1/v1";
  CHECK(*make_provider(config) != nullptr);
}

TEST_CASE("what the providers' APIs offer", "[ai][G4][G9]") {
  const auto traits_of = [](std::string_view id) {
    const auto& all = provider_traits();
    const auto it =
        std::find_if(all.begin(), all.end(), [&](const auto& row) { return row.id == id; });
    REQUIRE(it != all.end());
    return *it;
  };
  const auto ollama = traits_of("ollama"), openai = traits_of("openai"),
             anthropic = traits_of("anthropic"), gemini = traits_of("gemini");
  using enum Support;
  CHECK((!ollama.needs_key && ollama.embeddings == Yes && ollama.streaming == Yes &&
         ollama.tool_use == Partial && ollama.transcription == No && ollama.synthesis == No));
  CHECK((openai.needs_key && openai.embeddings == Yes && openai.streaming == Yes &&
         openai.tool_use == Yes && openai.transcription == Yes && openai.synthesis == Yes));
  CHECK((anthropic.needs_key && anthropic.embeddings == No && anthropic.streaming == Yes &&
         anthropic.tool_use == Yes && anthropic.transcription == No && anthropic.synthesis == No));
  CHECK((gemini.needs_key && gemini.embeddings == Yes && gemini.streaming == Yes &&
         gemini.tool_use == Yes && gemini.transcription == Partial && gemini.synthesis == Yes));
}

TEST_CASE("a provider that cannot stream gives its text as one delta", "[ai][D45]") {
  FailingProvider provider({});
  CHECK_FALSE(provider.can_stream());
  std::vector<std::string> deltas;
  const auto reply = provider.generate_stream(
      {}, CancelToken(), [&](std::string_view delta) { deltas.emplace_back(delta); });
  REQUIRE(reply.has_value());
  CHECK(deltas == std::vector<std::string>{"ok"});
  CHECK(*provider.list_models(CancelToken()) == std::vector<std::string>{"m"});
}

TEST_CASE("a model that was asked by words is asked once more, with what was wrong", "[ai]") {
  FakeTime time;
  const auto misfit = make_error(
      Reason::AiProviderError, "x",
      {{"cause", "schema"}, {"upstream_message", "/a: lacks b"}, {"may_ask_again", true}});
  FailingProvider once({misfit}), always({misfit, misfit});

  CHECK(generate_with_retry(once, {}, CancelToken(), time.hooks()).has_value());
  CHECK(once.calls == 2);
  REQUIRE(once.last.messages.size() == 1);
  CHECK(once.last.messages[0].role == "user");
  CHECK(once.last.messages[0].content.find("/a: lacks b") != std::string::npos);

  CHECK_FALSE(generate_with_retry(always, {}, CancelToken(), time.hooks()).has_value());
  CHECK(always.calls == 2);
  CHECK(time.waits.empty());
}

TEST_CASE("a streamed call is tried again before its first delta, or when its reader may forget",
          "[ai]") {
  FakeTime time;
  auto hooks = time.hooks();
  std::string text;
  hooks.on_delta = [&](std::string_view delta) { text += delta; };
  FailingProvider before({status_failure(500)});
  CHECK(generate_with_retry(before, {}, CancelToken(), hooks).has_value());
  CHECK(text == "ok");

  FailingProvider after({status_failure(500)});
  after.delta_before_failure = "half";
  CHECK_FALSE(generate_with_retry(after, {}, CancelToken(), hooks).has_value());
  CHECK(after.calls == 1);

  FailingProvider restarted({status_failure(500)});
  restarted.delta_before_failure = "half";
  int attempts = 0;
  hooks.may_restart = true;
  hooks.on_attempt = [&](int) -> Status {
    ++attempts;
    text.clear();
    return {};
  };
  CHECK(generate_with_retry(restarted, {}, CancelToken(), hooks)->came_whole);
  CHECK(attempts == 2);
  CHECK(text == "halfok");
}

TEST_CASE("transient failures are retried three times with growing waits", "[ai]") {
  FakeTime time;
  FailingProvider provider(
      {status_failure(500), status_failure(500), status_failure(500), status_failure(503)});

  const auto reply = generate_with_retry(provider, {}, CancelToken(), time.hooks());

  REQUIRE_FALSE(reply.has_value());
  CHECK(reply.error().details["upstream_status"] == 503);
  CHECK(provider.calls == 4);
  CHECK(time.waits == std::vector<std::int64_t>{500, 1000, 2000});
}

TEST_CASE("Retry-After is the least that is waited, and too long a wait is not begun", "[ai]") {
  FakeTime time;
  FailingProvider provider({status_failure(429, {{"retry_after_ms", 30000}}),
                            status_failure(429, {{"retry_after_ms", 29000}}),
                            status_failure(429, {{"retry_after_ms", 5000}})});

  const auto reply = generate_with_retry(provider, {}, CancelToken(), time.hooks());

  CHECK_FALSE(reply.has_value());
  CHECK(provider.calls == 3);
  CHECK(time.waits == std::vector<std::int64_t>{30000, 29000});
}

TEST_CASE("final failures are not retried", "[ai]") {
  for (const auto& error :
       {status_failure(401), make_error(Reason::AiProviderError, "x", {{"cause", "schema"}}),
        make_error(Reason::Cancelled, "x"), make_error(Reason::AiInputTooLarge, "x")}) {
    FakeTime time;
    FailingProvider provider({error});
    CHECK_FALSE(generate_with_retry(provider, {}, CancelToken(), time.hooks()).has_value());
    CHECK(provider.calls == 1);
  }
}

TEST_CASE("hooks see each attempt with its result and can stop the call", "[ai]") {
  FakeTime time;
  FailingProvider provider({status_failure(500)});
  auto hooks = time.hooks();
  std::vector<std::string> seen;
  hooks.on_attempt = [&](int attempt) -> Status {
    seen.push_back("try " + std::to_string(attempt));
    return {};
  };
  hooks.on_result = [&](int attempt, const Result<GenerateReply>& result) {
    seen.push_back((result ? "ok " : "failed ") + std::to_string(attempt));
  };
  CHECK(generate_with_retry(provider, {}, CancelToken(), hooks).has_value());
  CHECK(seen == std::vector<std::string>{"try 1", "failed 1", "try 2", "ok 2"});

  hooks.on_attempt = [](int) -> Status { return make_error(Reason::AiQuotaExceeded, "over"); };
  CHECK(generate_with_retry(provider, {}, CancelToken(), hooks).error().name() ==
        "ai_quota_exceeded");
  CHECK(provider.calls == 2);
}

TEST_CASE("a cancel during the wait ends the call at once", "[ai]") {
  const CancelToken cancel;
  FailingProvider provider({status_failure(500, {{"retry_after_ms", 50000}})});
  RetryHooks hooks;
  std::jthread canceller;
  hooks.on_result = [&](int, const Result<GenerateReply>&) {
    canceller = std::jthread([&] { cancel.cancel(CancelReason::Shutdown); });
  };
  const auto begin = std::chrono::steady_clock::now();

  const auto reply = generate_with_retry(provider, {}, cancel, hooks);

  CHECK(reply.error().name() == "cancelled");
  CHECK(provider.calls == 1);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
}

TEST_CASE("usage adds up and an unknown price stays unknown", "[ai][D55]") {
  AiUsage sum;
  sum += {10, 2, 0.5, "reported"};
  CHECK(
      to_json(sum) ==
      Json{{"input_tokens", 10}, {"output_tokens", 2}, {"cost_usd", 0.5}, {"source", "reported"}});
  sum += {};
  CHECK(sum.cost_usd == 0.5);
  sum += {1, 1, {}, "estimated"};
  CHECK(to_json(sum) == Json{{"input_tokens", 11},
                             {"output_tokens", 3},
                             {"cost_usd", nullptr},
                             {"source", "estimated"}});
}

TEST_CASE("a reply survives storage as JSON", "[ai]") {
  const GenerateReply reply{"t", Json{{"a", 1}}, {3, 4, 0.25, "reported"}, FinishReason::Length};
  const auto again = generate_reply_from_json(to_json(reply));
  REQUIRE(again.has_value());
  CHECK(to_json(*again) == to_json(reply));
  CHECK_FALSE(generate_reply_from_json(Json{{"text", 1}}).has_value());
  CHECK_FALSE(generate_reply_from_json(Json()).has_value());
}

TEST_CASE("tokens are estimated by script", "[ai]") {
  CHECK(estimate_tokens("") == 0);
  CHECK(estimate_tokens("abcdefgh") == 2);
  CHECK(estimate_tokens("abcde") == 2);
  CHECK(estimate_tokens("日本語") == 3);
  CHECK(estimate_tokens("привет") == 3);
}

TEST_CASE("what a provider repeats of the prompt is not told", "[ai][D70]") {
  class Parrot : public Provider {
   public:
    std::string name() const override { return "parrot"; }
    std::string model() const override { return "m"; }
    bool can_generate() const override { return true; }
    Result<GenerateReply> generate(const GenerateRequest& request, const CancelToken&) override {
      return make_error(Reason::AiProviderError, "The AI provider refused the request.",
                        {{"provider", "parrot"},
                         {"upstream_status", 400},
                         {"upstream_message",
                          "Bad input: " + request.messages[0].content.substr(6) + " (code 7)"},
                         {"cause", "status"}});
    }
  };
  Parrot parrot;
  GenerateRequest request;
  request.messages = {{"user", "Note: the launch code is tulip-99 and nobody knows."}};

  const auto failed = generate_with_retry(parrot, request, CancelToken(), {});

  REQUIRE_FALSE(failed);
  CHECK(failed.error().details["upstream_message"] == "Bad input[prompt] (code 7)");
}

}  // namespace indx
