#include "ai/answer_key.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <set>

namespace indx {
namespace {

AnswerKey sample_key() {
  AnswerKey key;
  key.operation = "ai_tag";
  key.provider = "openai";
  key.model = "m";
  key.request.system = "You tag notes.";
  key.request.messages = {{"user", "A note."}};
  key.request.json_schema = {{"type", "object"}};
  key.request.schema_name = "tags";
  key.input = {{"language", "en"}, {"cite", true}};
  key.content = {{"a.md", "e1"}, {"b.md", "e2"}};
  return key;
}

}  // namespace

TEST_CASE("each part of a question makes it another one", "[ai][D47][C78]") {
  const std::vector<std::function<void(AnswerKey&)>> changes = {
      [](AnswerKey& key) { key.operation = "ai_extract"; },
      [](AnswerKey& key) { key.provider = "ollama"; },
      [](AnswerKey& key) { key.model = "m2"; },
      [](AnswerKey& key) { key.request.temperature = 0.5; },
      [](AnswerKey& key) { key.request.seed = 1; },
      [](AnswerKey& key) { key.request.max_output_tokens = 7; },
      [](AnswerKey& key) { key.request.json_schema["required"] = Json::array({"x"}); },
      [](AnswerKey& key) { key.request.schema_name = "labels"; },
      [](AnswerKey& key) { key.request.system += " "; },
      [](AnswerKey& key) { key.request.messages[0].content += " "; },
      [](AnswerKey& key) { key.request.messages[0].role = "assistant"; },
      [](AnswerKey& key) { key.input["language"] = "ja"; },
      [](AnswerKey& key) { key.input["schema_id"] = "invoice"; },
      [](AnswerKey& key) { key.input["conversation_id"] = "c1"; },
      [](AnswerKey& key) { key.content[0].second = "e3"; },
      [](AnswerKey& key) { key.content[0].first = "c.md"; },
      [](AnswerKey& key) { key.content.pop_back(); }};
  std::set<std::string> hashes = {sample_key().hash()};

  for (const auto& change : changes) {
    auto key = sample_key();
    change(key);
    hashes.insert(key.hash());
  }

  CHECK(hashes.size() == changes.size() + 1);
  CHECK(sample_key().hash().size() == 64);
}

TEST_CASE("how a call is made and what is done with its answer make no other question",
          "[ai][D48][D49]") {
  const auto same = sample_key().hash();
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, Json>>{{"idempotency_key", "k"},
                                                 {"cache", true},
                                                 {"cache_ttl_seconds", 5},
                                                 {"stream", true},
                                                 {"apply", true},
                                                 {"if_match", {{"a.md", "e1"}}}}) {
    auto key = sample_key();
    key.input[name] = value;
    INFO(name);
    CHECK(key.hash() == same);
  }
  auto other_order = sample_key();
  std::swap(other_order.content[0], other_order.content[1]);
  other_order.input = {{"cite", true}, {"language", "en"}};
  CHECK(other_order.hash() == same);
}

}  // namespace indx
