#include "cli/answer_view.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

Json cited_line(const std::string& path, int line, const std::string& snippet) {
  return {{"path", path}, {"etag", "e"}, {"line", line}, {"span", {0, 4}}, {"snippet", snippet}};
}
Json known_usage(const Json& cost) {
  return {
      {"input_tokens", 1200}, {"output_tokens", 30}, {"cost_usd", cost}, {"source", "estimated"}};
}

}  // namespace

TEST_CASE("a summary reads as a text with its sources below", "[cli]") {
  const Json data = {
      {"scope_resolved", {{"kind", "note"}, {"count", 1}}},
      {"summary",
       {{"text", "# T\n\nA **b**."},
        {"tldr", "Short."},
        {"key_points", {"one", "two"}},
        {"outline", Json::array({{{"heading", "H"}, {"line", 3}, {"path", "a.md"}}})}}},
      {"citations", Json::array({cited_line("a.md", 3, "due\n1 Jan")})},
      {"usage", known_usage(0.00123)},
      {"source", "model"},
      {"warnings",
       {"ai_cache_hit", {{"code", "globs_excluded"}, {"reason", "x"}, {"paths", {"p.md"}}}}}};

  CHECK(answer_text(data, 70, false) ==
        "In short: Short.\n"
        "\n"
        "# T\n"
        "\n"
        "A b.\n"
        "\n"
        "Key points\n"
        "  • one\n"
        "  • two\n"
        "\n"
        "Outline\n"
        "  a.md:3  H\n"
        "\n"
        "Sources\n"
        "  a.md:3  due 1 Jan\n"
        "\n"
        "! ai_cache_hit\n"
        "! globs_excluded: x (p.md)\n"
        "\n"
        "1 note · 1200 + 30 tokens (estimated) · $0.0012 · from the cache\n");
}

TEST_CASE("suggested tags stand by note, with evidence and the change that they would make",
          "[cli]") {
  const Json data = {
      {"scope_resolved", {{"count", 2}}},
      {"suggestions",
       Json::array(
           {{{"path", "a.md"},
             {"etag", "e"},
             {"tags", Json::array({{{"tag", "project/alpha"},
                                    {"confidence", 0.8234},
                                    {"is_new", true},
                                    {"rationale", "It says so."},
                                    {"evidence", Json::array({cited_line("a.md", 3, "alpha")})}},
                                   {{"tag", "b"},
                                    {"confidence", 1.0},
                                    {"is_new", false},
                                    {"evidence", Json::array()}}})}},
            {{"path", "b.md"}, {"etag", "e"}, {"tags", Json::array()}}})},
      {"proposed_patches",
       Json::array({{{"path", "a.md"},
                     {"if_match", "e"},
                     {"ops", Json::array({{{"op", "set_frontmatter"},
                                           {"key", "tags"},
                                           {"value", {"project/alpha", "b"}}}})}}})},
      {"citations", Json::array({cited_line("a.md", 3, "alpha")})},
      {"usage", known_usage(Json())},
      {"source", "extractive"},
      {"warnings", Json::array()}};

  CHECK(answer_text(data, 70, false) ==
        "Suggestions\n"
        "  a.md\n"
        "    tag            confidence  is_new\n"
        "    project/alpha  0.823       yes\n"
        "      It says so.\n"
        "      a.md:3  alpha\n"
        "    b              1           no\n"
        "  b.md\n"
        "\n"
        "Proposed patches\n"
        "  a.md\n"
        "    + tags: [\"project/alpha\",\"b\"]\n"
        "\n"
        "2 notes · no model asked\n");
}

TEST_CASE("found properties are a row each, beside what the note says now", "[cli]") {
  const Json data = {
      {"results",
       Json::array(
           {{{"path", "a.md"},
             {"etag", "e"},
             {"fields",
              {{"due", {{"value", "2026-01-01"}, {"confidence", 0.9}, {"existing", "soon"}}},
               {"owner", {{"value", nullptr}, {"confidence", 0.0}}}}}}})},
      {"usage", known_usage(2.5)},
      {"warnings", Json::array()}};

  CHECK(answer_text(data, 70, false) ==
        "Results\n"
        "  a.md\n"
        "    fields:\n"
        "      key    value       confidence  existing\n"
        "      due    2026-01-01  0.9         soon\n"
        "      owner              0\n"
        "\n"
        "1200 + 30 tokens (estimated) · $2.50\n");
}

TEST_CASE("an estimate says what a call takes at most, and what nobody knows", "[cli]") {
  Json estimate = {{"provider", "openai"}, {"model", "m"},
                   {"notes", 3},           {"calls", 1},
                   {"input_tokens", 100},  {"output_tokens", 300},
                   {"cost_usd", 0.02},     {"prompt_cost_usd", 0.00001}};
  const auto shown = [&] {
    return answer_text({{"summary", {{"text", ""}}}, {"estimate", estimate}}, 200, false);
  };

  CHECK(shown() ==
        "3 notes · 1 call of openai m · at most 100 + 300 tokens · at most $0.0200 (prompts less "
        "than $0.0001)\n");
  estimate["cost_usd"] = estimate["prompt_cost_usd"] = nullptr;
  CHECK(shown() == "3 notes · 1 call of openai m · at most 100 + 300 tokens · price unknown\n");
  estimate["calls"] = 0;
  CHECK(shown() == "3 notes · no model call · $0\n");
}

TEST_CASE("no field of an answer steers the terminal", "[cli]") {
  const std::string bad = "x\x1b[2J\x07";
  const Json data = {
      {bad, bad},
      {"answer", bad},
      {"results", Json::array({{{"path", bad},
                                {"data", {{bad, {bad, 1}}, {"n", Json::array({{{bad, bad}}})}}},
                                {"rationale", bad}}})},
      {"citations", Json::array({cited_line(bad, 1, bad)})},
      {"proposed_patches", Json::array({{{"path", bad},
                                         {"reason", bad},
                                         {"ops", Json::array({{{"op", bad}, {"text", bad}}})}}})},
      {"warnings", {bad, {{"code", bad}, {"path", bad}, {"reason", bad}}}}};

  const auto text = answer_text(data, 60, false);

  INFO(text);
  CHECK(text.find('\x1b') == text.npos);
  CHECK(text.find('\x07') == text.npos);
  CHECK(text.find("x\xEF\xBF\xBD[2J") != text.npos);
}

}  // namespace indx
