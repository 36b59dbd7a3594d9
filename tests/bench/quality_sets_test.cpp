// The sets of bench/quality are what docs/quality.md says that they are.
#include "bench/quality/sets.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace indx::quality {
namespace {

std::string words_of_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text;
  for (std::string word; in >> word;) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST_CASE("the questions are many, half of them paraphrases, and none stands twice", "[bench]") {
  const auto questions = retrieval_questions();

  std::set<std::string> ids, texts;
  std::map<std::string, int> kinds, packs;
  int marked = 0;
  for (const auto& question : questions) {
    CHECK(ids.insert(question.id).second);
    CHECK(texts.insert(question.text).second);
    CHECK_FALSE(question.relevant.empty());
    ++kinds[question.kind];
    ++packs[question.pack];
    marked += question.answer.empty() ? 0 : 1;
  }
  CHECK(questions.size() >= 250);
  CHECK(kinds.size() == 2);
  CHECK(2 * kinds["paraphrase"] >= static_cast<int>(questions.size()));
  CHECK(packs.size() == 3);
  CHECK(marked >= 60);
}

TEST_CASE("what a question names in the sample vault is there, and so is a marked answer",
          "[bench]") {
  const std::filesystem::path vault = INDX_QUALITY_SAMPLE_VAULT;
  int seen = 0;
  for (const auto& question : retrieval_questions()) {
    if (question.pack != "sample-vault") continue;
    INFO(question.id);
    bool is_answered = question.answer.empty();
    for (const auto& path : question.relevant) {
      CHECK(std::filesystem::exists(vault / path));
      is_answered =
          is_answered || words_of_file(vault / path).find(question.answer) != std::string::npos;
    }
    CHECK(is_answered);
    ++seen;
  }
  CHECK(seen >= 60);
}

TEST_CASE("each vault has questions that it cannot answer", "[bench]") {
  std::map<std::string, int> packs;
  const auto questions = unanswerable_questions();
  for (const auto& question : questions) ++packs[question.pack];

  CHECK(packs.size() == 3);
  for (const auto& [pack, count] : packs) CHECK(count >= 60);
}

TEST_CASE("at least forty notes have three tags or more", "[bench]") {
  const auto cases = tag_cases();

  CHECK(cases.size() >= 40);
  CHECK(std::all_of(cases.begin(), cases.end(),
                    [](const auto& one) { return one.tags.size() >= 3; }));
}

}  // namespace
}  // namespace indx::quality
