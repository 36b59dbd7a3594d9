#include "tests/actors/engine_fixture.hpp"
#include "tests/support/metrics_text.hpp"
#include "tests/support/model_server.hpp"

#include <algorithm>
#include <filesystem>

namespace indx {
namespace {

/// A vault of two notes behind a model whose tokens cost a cent each.
struct CachedVault {
  explicit CachedVault(std::function<void(Config&)> the_configure = {})
      : configure(std::move(the_configure)) {
    folder.write("a.md", "# A\n\nCompost warms the compost heap.\n");
    folder.write("b.md", "# B\n\nGardens grow gardens in spring.\n");
    start();
  }
  void start() {
    served.reset();
    served = std::make_unique<ServedVault>(folder, [&](Config& config) {
      config.ai.provider = "openai";
      config.ai.model = "m";
      config.ai.openai_base_url = model.base_url();
      config.ai.prices = {{"openai/m", {10, 10}}};
      if (configure) configure(config);
    });
  }
  Answer tag(const std::string& path, Json more = Json::object()) const {
    more["scope"] = {{"kind", "note"}, {"path", path}};
    return served->call("ai_tag", more);
  }
  int calls() const { return model.counts()["calls"].get<int>(); }
  Json status() const { return served->call("ai_status", Json::object()).result.value(); }
  std::string cache_file() const { return folder.path() + "/.indx/ai-cache.db"; }

  TempFolder folder;
  ModelServer model;
  std::function<void(Config&)> configure;
  std::unique_ptr<ServedVault> served;
};

bool is_hit(const Answer& answer) {
  REQUIRE(answer.result);
  const auto& warnings = (*answer.result)["warnings"];
  return std::find(warnings.begin(), warnings.end(), Json("ai_cache_hit")) != warnings.end();
}

}  // namespace

TEST_CASE("the same question is answered from the cache, free of charge and word for word",
          "[actors][D18][D51][D52][D64][A77][C88][D68]") {
  CachedVault vault;
  const auto first = vault.tag("a.md");
  REQUIRE_FALSE(is_hit(first));
  CHECK((*first.result)["usage"]["cost_usd"].get<double>() > 0);
  vault.tag("b.md");
  CHECK(vault.calls() == 2);

  vault.start();  // another process
  const auto again = vault.tag("a.md");

  CHECK(vault.calls() == 2);
  CHECK(is_hit(again));
  const auto& usage = (*again.result)["usage"];
  CHECK(usage["input_tokens"] == 0);
  CHECK(usage["output_tokens"] == 0);
  CHECK(usage["cost_usd"] == 0.0);
  CHECK((*again.result)["suggestions"] == (*first.result)["suggestions"]);
  CHECK((*again.result)["citations"] == (*first.result)["citations"]);

  const auto status = vault.status();
  CHECK(status["cache"]["enabled"] == true);
  CHECK(status["cache"]["hits_24h"] == 1);
  CHECK(status["cache"]["size_bytes"].get<std::int64_t>() > 0);
  const auto whole = vault.served->call("vault_status", Json::object()).result.value()["ai"];
  CHECK(whole["invocations_today"] == 3);
  CHECK(whole["model_calls_today"] == 2);
  CHECK(whole["cache_hits_today"] == 1);
  CHECK(whole["cache_misses_today"] == 2);
  CHECK(whole["spend_today_usd"] == status["spend_today_usd"]);
  const auto metrics = test::parse_metrics(vault.served->dispatcher->metrics()->text());
  CHECK(metrics.value("indx_ai_cache_lookups_total", {{"outcome", "hit"}}) == 1);
}

TEST_CASE("an edit costs the answers about that note and no other", "[actors][D49]") {
  CachedVault vault([](Config& config) { config.watch = false; });
  const Json plain = {{"vocabulary", {{"use_existing", false}}}};
  vault.tag("a.md", plain);
  vault.tag("b.md", plain);
  const int before = vault.calls();
  const auto note = vault.served->call("note_read", {{"path", "a.md"}}).result.value();
  REQUIRE(vault.served->works(
      "note_write",
      {{"path", "a.md"}, {"body", "# A\n\nCompost warms gardens.\n"}, {"if_match", note["etag"]}}));

  CHECK_FALSE(is_hit(vault.tag("a.md", plain)));
  CHECK(vault.calls() == before + 1);
  CHECK(is_hit(vault.tag("b.md", plain)));
  CHECK(vault.calls() == before + 1);
}

TEST_CASE("what was suggested is applied without asking again", "[actors][D48]") {
  CachedVault vault;
  vault.tag("a.md");
  const auto applied = vault.tag("a.md", {{"apply", true}});
  CHECK(is_hit(applied));
  CHECK(vault.calls() == 1);
  CHECK((*applied.result)["applied"].size() == 1);
}

TEST_CASE("a call can pass the cache by, and a vault do without", "[actors][D18][D36]") {
  const bool is_off = GENERATE(true, false);
  CachedVault vault([&](Config& config) { config.ai.cache_enabled = !is_off; });
  const Json passing = is_off ? Json::object() : Json{{"cache", false}};

  CHECK_FALSE(is_hit(vault.tag("a.md", passing)));
  CHECK_FALSE(is_hit(vault.tag("a.md", passing)));

  CHECK(vault.calls() == 2);
  CHECK_FALSE(std::filesystem::exists(vault.cache_file()));
  CHECK(vault.status()["cache"]["enabled"] == !is_off);
}

TEST_CASE("an answer that was of no use is not kept", "[actors][D47]") {
  CachedVault vault;
  const Json useless = {
      {"tags", Json::array({{{"tag", "green"},
                             {"confidence", 0.9},
                             {"rationale", "r"},
                             {"quotes", Json::array({"This is not in the note."})}}})}};
  vault.model.script({{"reply", useless}});
  const auto failed = vault.tag("a.md");
  REQUIRE_FALSE(failed.result);
  CHECK(failed.result.error().reason == Reason::AiGroundingFailed);

  CHECK_FALSE(is_hit(vault.tag("a.md")));
  CHECK(vault.calls() == 2);
}

TEST_CASE("a job takes what is there and asks for the rest", "[actors][D47][D51]") {
  CachedVault vault;
  vault.tag("a.md");
  const auto both =
      vault.served->call("ai_tag", {{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}});
  REQUIRE(both.result);
  CHECK(vault.calls() == 2);
  CHECK_FALSE(is_hit(both));
  const auto& warnings = (*both.result)["warnings"];
  const auto told = std::find_if(warnings.begin(), warnings.end(), [](const Json& warning) {
    return warning.is_object() && warning["code"] == "ai_cache_hit";
  });
  REQUIRE(told != warnings.end());
  CHECK((*told)["hits"] == 1);
  CHECK((*told)["model_calls"] == 1);
  CHECK((*both.result)["usage"]["output_tokens"].get<int>() > 0);
}

TEST_CASE("no call is made that could pass the limit of the day", "[actors][D15][D54][D58]") {
  CachedVault vault([](Config& config) { config.ai.daily_cost_usd = 0.5; });

  const auto refused = vault.tag("a.md");

  REQUIRE_FALSE(refused.result);
  CHECK(refused.result.error().reason == Reason::AiQuotaExceeded);
  CHECK(refused.http_status == 429);
  const auto& details = refused.result.error().details;
  CHECK(details["limit"] == "daily_cost");
  CHECK(details["retry_after_s"].get<int>() <= 86400);
  CHECK(parse_time(details["reset_at"].get<std::string>()).has_value());
  CHECK(vault.calls() == 0);
  CHECK(vault.status()["daily_limit_usd"] == 0.5);
}

TEST_CASE("what a day may still cost is known after a restart, to jobs and to callers",
          "[actors][D54][G44]") {
  CachedVault vault([](Config& config) {
    config.ai.daily_cost_usd = 30;
    config.ai.max_output_tokens = 500;
  });
  const auto first = vault.tag("a.md");
  REQUIRE(first.result);
  const auto& usage = (*first.result)["usage"];
  const double tokens = usage["input_tokens"].get<double>() + usage["output_tokens"].get<double>();
  CHECK(usage["cost_usd"].get<double>() == Approx(tokens * 0.01));
  CHECK(vault.status()["spend_today_usd"].get<double>() == Approx(tokens * 0.01));

  vault.configure = [&](Config& config) {
    config.ai.daily_cost_usd = tokens * 0.01 + 0.1;
    config.ai.max_output_tokens = 500;
  };
  vault.start();

  CHECK(is_hit(vault.tag("a.md")));  // costs nothing
  const auto second = vault.tag("b.md");
  REQUIRE_FALSE(second.result);
  CHECK(second.result.error().details["spent_usd"].get<double>() == Approx(tokens * 0.01));
  const Json both = {{"scope", {{"kind", "paths"}, {"paths", {"a.md", "b.md"}}}}};
  const auto waited = vault.served->call("ai_tag", both);  // a job, for whom somebody waits
  REQUIRE_FALSE(waited.result);
  CHECK(waited.result.error().reason == Reason::AiQuotaExceeded);
  const JobId alone{vault.served->call("ai_tag", both, true).job_id};
  REQUIRE(
      comes_true([&] { return vault.served->engine->job(alone)->state == JobState::Sleeping; }));
  const Job slept = vault.served->engine->job(alone).value();
  CHECK(slept.progress.waits_for == "daily_cost");
  CHECK(to_millis(slept.run_at) % 86'400'000 == 0);
  CHECK(slept.attempts == 0);
  CHECK(vault.calls() == 1);
}

TEST_CASE("with a limit nothing is asked whose price nobody knows", "[actors][D15][G44]") {
  CachedVault vault([](Config& config) {
    config.ai.daily_cost_usd = 1;
    config.ai.prices.clear();
  });

  const auto refused = vault.tag("a.md");

  REQUIRE_FALSE(refused.result);
  CHECK(refused.result.error().reason == Reason::AiUnavailable);
  CHECK(refused.result.error().message.find("ai.prices") != std::string::npos);
  CHECK(vault.calls() == 0);
}

}  // namespace indx
