#include "ai/prices.hpp"
#include "ai/rate_limit.hpp"
#include "base/text.hpp"
#include "ops/operations.hpp"
#include "tests/support/fake_context.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// Three notes and a model that is never to be asked.
struct UnaskedModel : FakeWorld {
  UnaskedModel() {
    can_generate = true;
    model_name = "gpt-4.1-mini";
    files["a.md"] = "---\ntags: [garden]\n---\n# Roses\n\nRoses are pruned in early spring.\n";
    files["b.md"] = "# Compost\n\nCompost warms the heap in winter. Owner: Ana\n";
    files["c.md"] = "# Tools\n\nThe spade is in the shed.\n";
    generate = [](const GenerateRequest&, const std::string&) -> Result<GenerateReply> {
      FAIL("an estimate asked the model");
      return make_error(Reason::Internal, "");
    };
  }
};

struct EstimateCase {
  Operation operation;
  Json input;
};
/// Every AI operation over all notes, with what it needs besides.
std::vector<EstimateCase> estimate_cases() {
  const Json scope{{"kind", "glob"}, {"path_glob", "**"}};
  const Json fields = Json::array({{{"key", "owner"}, {"type", "string"}}});
  const Json schema{{"type", "object"}, {"properties", {{"owner", {{"type", "string"}}}}}};
  return {{ai_summarize(), {{"scope", scope}}},
          {ai_tag(), {{"scope", scope}, {"apply", true}}},
          {ai_metadata(), {{"scope", scope}, {"fields", fields}, {"apply", true}}},
          {ai_extract(),
           {{"scope", scope},
            {"schema", schema},
            {"destination", "frontmatter"},
            {"destination_key", "record"},
            {"apply", true}}}};
}
Json as_estimate(Json input) {
  input["estimate"] = true;
  return input;
}

/// What was asked of the model when the call was made.
struct AskedTokens {
  std::int64_t calls = 0, input = 0, output = 0;
};
AskedTokens asked_of(const FakeWorld& world) {
  AskedTokens asked;
  for (const auto& request : world.requests) {
    ++asked.calls;
    asked.input += estimate_call_tokens(request) - request.max_output_tokens;
    asked.output += request.max_output_tokens;
  }
  return asked;
}

}  // namespace

TEST_CASE("an estimate asks no model, writes nothing and tells of no call", "[ops][estimate]") {
  for (const auto& [operation, input] : estimate_cases()) {
    INFO(operation.name);
    UnaskedModel world;
    const auto files = world.files;

    const auto answer = run_operation(world, operation, as_estimate(input), true);

    REQUIRE(answer);
    const Json estimate = answer->value("estimate", Json());
    REQUIRE(estimate.is_object());
    CHECK(estimate["provider"] == "openai");
    CHECK(estimate["model"] == "gpt-4.1-mini");
    CHECK(estimate["notes"] == 3);
    CHECK(estimate["calls"] == (operation.name == "ai_summarize" ? 1 : 3));
    const auto in = estimate["input_tokens"].get<std::int64_t>(),
               out = estimate["output_tokens"].get<std::int64_t>();
    CHECK(in > 0);
    CHECK(out == estimate["calls"].get<int>() * world.config.ai.max_output_tokens);
    CHECK(estimate["cost_usd"].get<double>() ==
          Approx(*cost_of("openai", "gpt-4.1-mini", in, out)));
    CHECK(estimate["prompt_cost_usd"].get<double>() ==
          Approx(*cost_of("openai", "gpt-4.1-mini", in, 0)));
    CHECK((*answer)["scope_resolved"]["paths"] == Json({"a.md", "b.md", "c.md"}));
    CHECK(world.requests.empty());
    CHECK(world.writes.empty());
    CHECK(world.files == files);
    CHECK(world.events.empty());
    CHECK(world.steps.empty());
  }
}

TEST_CASE("the prompts of an estimate are those of the call", "[ops][estimate]") {
  for (const auto& [operation, input] : estimate_cases()) {
    INFO(operation.name);
    UnaskedModel world;
    const Json estimate = (*run_operation(world, operation, as_estimate(input)))["estimate"];
    world.generate = [](const GenerateRequest&, const std::string&) -> Result<GenerateReply> {
      return make_error(Reason::AiProviderError, "broken", {{"cause", "parse"}});
    };

    static_cast<void>(run_operation(world, operation, input));  // it fails, but it asks

    const auto asked = asked_of(world);
    CHECK(estimate["calls"] == asked.calls);
    CHECK(estimate["input_tokens"] == asked.input);
    CHECK(estimate["output_tokens"] == asked.output);
  }
}

TEST_CASE("the estimate of a long summary holds its reductions", "[ops][estimate]") {
  UnaskedModel world;
  world.config.ai.max_input_tokens = 2500;
  for (char name = 'a'; name <= 'h'; ++name) {
    std::string text = cat("# Note ", name, "\n\n");
    for (int i = 0; i < 60; ++i)
      text += cat("Sentence ", i, " of the note ", name, " says what it says.\n\n");
    world.files[std::string(1, name) + ".md"] = text;
  }
  const Json call{{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}, {"cite", false}};
  const Json estimate = (*run_operation(world, ai_summarize(), as_estimate(call)))["estimate"];
  int reductions = 0;
  world.generate = [&](const GenerateRequest& request, const std::string&) {
    if (request.system.starts_with("You join")) ++reductions;
    GenerateReply reply;
    reply.structured = {{"tldr", "T"},
                        {"text", "S"},
                        {"key_points", Json::array()},
                        {"open_questions", Json::array()}};
    return Result<GenerateReply>(reply);
  };

  REQUIRE(run_operation(world, ai_summarize(), call));

  const auto asked = asked_of(world);
  REQUIRE(reductions > 0);
  CHECK(estimate["notes"] == 8);
  CHECK(estimate["calls"].get<std::int64_t>() >= asked.calls);
  CHECK(estimate["input_tokens"].get<std::int64_t>() >= asked.input);
  CHECK(estimate["output_tokens"].get<std::int64_t>() >= asked.output);
}

TEST_CASE("the price of an unknown model is unknown, that of no model is nothing",
          "[ops][estimate]") {
  for (const auto& [operation, input] : estimate_cases()) {
    INFO(operation.name);
    UnaskedModel unknown;
    unknown.model_name = "of-our-own";
    const Json told = (*run_operation(unknown, operation, as_estimate(input)))["estimate"];
    CHECK(told["cost_usd"].is_null());
    CHECK(told["prompt_cost_usd"].is_null());
    CHECK(told["calls"] > 0);

    UnaskedModel builtin;
    builtin.can_generate = false;
    const Json answer = *run_operation(builtin, operation, as_estimate(input));
    CHECK(answer["estimate"]["notes"] == 3);
    CHECK(answer["estimate"]["calls"] == 0);
    CHECK(answer["estimate"]["input_tokens"] == 0);
    CHECK(answer["estimate"]["cost_usd"] == 0);
    CHECK(answer["source"] == "extractive");
  }
}

TEST_CASE("an estimate reckons with the prices that the configuration gives", "[ops][estimate]") {
  UnaskedModel world;
  world.model_name = "of-our-own";
  world.config.ai.prices = {{"openai/of-our-own", {0.5, 2}}};  // for a thousand tokens
  const Json input{{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}};

  const Json estimate = (*run_operation(world, ai_tag(), as_estimate(input)))["estimate"];

  const auto prompts = estimate["input_tokens"].get<double>() * 0.0005;
  CHECK(estimate["prompt_cost_usd"].get<double>() == Approx(prompts));
  CHECK(estimate["cost_usd"].get<double>() ==
        Approx(prompts + estimate["output_tokens"].get<double>() * 0.002));
}

TEST_CASE("an estimate is answered in place, however many notes it is about", "[ops][estimate]") {
  for (const auto& [operation, input] : estimate_cases()) {
    INFO(operation.name);
    UnaskedModel world;
    FakeContext context(world);
    CHECK(*operation.size(context, *validate(operation.input, input)) == 3);
    CHECK(*operation.size(context, *validate(operation.input, as_estimate(input))) == 1);
  }
}

TEST_CASE("an estimate fails as the call would, and tells of notes that AI may not read",
          "[ops][estimate]") {
  UnaskedModel world;
  const Json missing{{"scope", {{"kind", "note"}, {"path", "none.md"}}}};
  const auto none = run_operation(world, ai_tag(), as_estimate(missing));
  REQUIRE_FALSE(none);
  CHECK(none.error().reason == Reason::NotFound);
  const Json unkeyed{{"scope", {{"kind", "note"}, {"path", "a.md"}}},
                     {"schema", {{"type", "object"}}},
                     {"destination", "frontmatter"}};
  const auto refused = run_operation(world, ai_extract(), as_estimate(unkeyed));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().reason == Reason::ValidationFailed);

  world.config.ai.deny_globs = {"b.md"};
  const Json all{{"scope", {{"kind", "glob"}, {"path_glob", "**"}}}};
  const Json answer = *run_operation(world, ai_tag(), as_estimate(all));
  CHECK(answer["estimate"]["notes"] == 2);
  CHECK(answer["scope_resolved"]["excluded"] == Json({"b.md"}));
  CHECK(answer["warnings"][0]["code"] == "globs_excluded");
}

}  // namespace indx
