#include "ai/relation.hpp"

#include "ai/json_shape.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

RelationNote relation_note(const std::string& path, const std::string& text) {
  return {path, "Title of " + path, etag_of(text), text};
}
RelationQuestion rose_question() {
  RelationQuestion question;
  question.source = relation_note("roses.md", "Roses are pruned in spring.");
  question.candidates = {relation_note("compost.md", "Compost warms the heap."),
                         relation_note("tulips.md", "Tulips are planted in autumn.")};
  question.labels = {"extends", "same_topic"};
  return question;
}
Json relation_row(const std::string& note, const std::string& relation, const Json& confidence) {
  return {{"note", note},
          {"relation", relation},
          {"confidence", confidence},
          {"rationale", "One. Two? Three."},
          {"citations", Json::array({{{"note", "source"}, {"snippet", "Roses are pruned"}},
                                     {{"note", note}, {"snippet", "the heap"}},
                                     {{"note", "else.md"}, {"snippet", "nothing"}}})}};
}
GenerateReply relations_of(Json rows) {
  GenerateReply reply;
  reply.structured = {{"relations", std::move(rows)}};
  return reply;
}

}  // namespace

TEST_CASE("the labels are those of the requirements", "[ai][C37]") {
  CHECK(relation_labels() == std::vector<std::string>{"extends", "summarizes", "cites",
                                                      "contradicts", "same_topic", "precedes",
                                                      "depends_on", "duplicates"});
}

TEST_CASE("a prompt about one source asks for the wanted relations only", "[ai][C37][C43][D39]") {
  const auto question = rose_question();

  const auto request = relation_prompt(question, AiConfig{}, 7, 99).value();

  const Json& item = request.json_schema["properties"]["relations"]["items"]["properties"];
  CHECK(item["relation"]["enum"] == Json({"extends", "same_topic", "none"}));
  CHECK(item["note"]["enum"] == Json({"n1", "n2"}));
  CHECK(item.contains("citations"));
  CHECK(request.seed == 7);
  CHECK(request.max_output_tokens == 99);
  CHECK(request.system.find("contradicts") == std::string::npos);
  REQUIRE(request.messages.size() == 1);
  for (const auto& text : {question.source.text, question.candidates[1].text}) {
    CHECK(request.system.find(text) == std::string::npos);
    CHECK(request.messages[0].content.find("<<<NOTE " + etag_of(text) + "\n" + text) !=
          std::string::npos);
  }
  CHECK(shape_errors(Json{{"relations", {relation_row("n1", "extends", 0.5)}}}, request.json_schema)
            .empty());
}

TEST_CASE("a prompt stays within the limit, however long and many the notes are",
          "[ai][C43][D12]") {
  AiConfig config;
  config.max_input_tokens = 3000;
  auto question = rose_question();
  question.source.text = std::string(100000, 'r');
  for (int i = 0; i < 20; ++i)
    question.candidates.push_back(
        relation_note(cat("n", i, ".md"), "\"" + std::string(50000, 'w') + "\xFF"));

  const auto request = relation_prompt(question, config, 0, 0).value();

  CHECK(estimate_tokens(request.system) + estimate_tokens(request.messages[0].content) <= 3000);
  for (const auto& candidate : question.candidates)
    CHECK(request.messages[0].content.find(candidate.path) != std::string::npos);
  config.max_input_tokens = 500;
  const auto refused = relation_prompt(question, config, 0, 0);
  CHECK(refused.error().reason == Reason::AiInputTooLarge);
  CHECK(refused.error().details["tokens"] > 500);
}

TEST_CASE("an answer gives at most one relation a candidate, of those that were asked for",
          "[ai][C37][C39]") {
  const auto question = rose_question();
  const auto claims = parse_relation_reply(
      question,
      relations_of(Json::array(
          {relation_row("n1", "contradicts", 1), relation_row("n1", "extends", 1.5),
           relation_row("n1", "same_topic", 0.3), relation_row("tulips.md", "same_topic", "high"),
           relation_row("source", "extends", 1), relation_row("n3", "extends", 1), 5,
           relation_row("n2", "none", 1)})));

  REQUIRE(claims);
  REQUIRE(claims->size() == 2);
  const auto& first = (*claims)[0];
  CHECK(first.path == "compost.md");
  CHECK(first.relation == "extends");
  CHECK(first.confidence == 1);
  CHECK(first.rationale == "One. Two?");
  CHECK(first.support == std::vector<Json>{{{"path", "roses.md"}, {"snippet", "Roses are pruned"}},
                                           {{"path", "compost.md"}, {"snippet", "the heap"}},
                                           {{"path", "else.md"}, {"snippet", "nothing"}}});
  CHECK((*claims)[1].path == "tulips.md");
  CHECK((*claims)[1].confidence == 0);
}

TEST_CASE("an answer without a list is an error of the provider", "[ai][D59]") {
  GenerateReply reply;
  for (const auto& structured : {Json(), Json("x"), Json{{"relations", 5}}, Json::object()}) {
    reply.structured = structured;
    const auto parsed = parse_relation_reply(rose_question(), reply);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().reason == Reason::AiProviderError);
    CHECK(parsed.error().details["cause"] == "schema");
  }
}

}  // namespace indx
