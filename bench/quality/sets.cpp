#include "bench/quality/sets.hpp"

#include "bench/support.hpp"

#include <cstdio>
#include <cstdlib>

namespace indx::quality {
namespace {

/// The objects of a file of JSON Lines.
std::vector<Json> rows(const char* name) {
  const char* folder = std::getenv("INDX_QUALITY_SETS");
  const auto path =
      std::filesystem::path(folder != nullptr ? folder : INDX_QUALITY_SETS_DEFAULT) / name;
  std::ifstream in(path);
  std::vector<Json> result;
  for (std::string line; std::getline(in, line);) {
    auto row = Json::parse(line, nullptr, false);
    if (row.is_discarded()) {
      std::fprintf(stderr, "quality_bench: a line of %s is no JSON\n", path.c_str());
      std::exit(1);
    }
    result.push_back(std::move(row));
  }
  if (result.empty()) {
    std::fprintf(stderr, "quality_bench: no set at %s\n", path.c_str());
    std::exit(1);
  }
  return result;
}

Question question(const Json& row) {
  Question result{row["id"], row["pack"], row.value("kind", ""), row["question"], {}, {}};
  for (const auto& path : row.value("relevant", Json::array())) result.relevant.insert(path);
  result.answer = row.value("answer", "");
  return result;
}

std::vector<Question> questions(const char* name) {
  std::vector<Question> result;
  for (const auto& row : rows(name)) result.push_back(question(row));
  return result;
}

}  // namespace

std::vector<Question> retrieval_questions() { return questions("retrieval.jsonl"); }
std::vector<Question> unanswerable_questions() { return questions("unanswerable.jsonl"); }

std::vector<TagCase> tag_cases() {
  std::vector<TagCase> result;
  for (const auto& row : rows("tags.jsonl")) {
    TagCase one{row["id"], row["pack"], row["path"], {}};
    for (const auto& tag : row["tags"]) one.tags.insert(tag);
    result.push_back(std::move(one));
  }
  return result;
}

}  // namespace indx::quality
