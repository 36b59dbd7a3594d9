#include "store/search_explain.hpp"

#include "base/text.hpp"
#include "store/search_text.hpp"

namespace indx {
namespace {

constexpr std::size_t kMaxCounted = 10000;

}  // namespace

Status ScoreExplanation::read_words() {
  if (std::exchange(is_read_, true)) return {};
  for (const auto* text : texts_) {
    if (text->words.empty()) continue;
    Word word{text, {}};
    for (const auto& found : INDX_TRY(run_.scores(fts_phrase(*text))))
      word.scores.emplace(found.id, found.score);
    words_.push_back(std::move(word));
  }
  return {};
}

Result<Json> ScoreExplanation::of(std::int64_t id, double score) {
  INDX_TRY(read_words());
  auto query = db_.prepare("SELECT title, aliases, headings, body FROM notes WHERE id=?1");
  const bool is_there = INDX_TRY(query.bind(id).step());
  Json words = Json::array();
  for (const auto& word : words_) {
    const auto found = word.scores.find(id);
    Json in = Json::object();
    int column = 0;
    for (const auto* name : {"title", "aliases", "headings", "body"}) {
      const auto count =
          is_there ? find_texts(query.text(column), {word.text}, kMaxCounted).size() : 0;
      if (count > 0) in[name] = count;
      ++column;
    }
    words.push_back({{"text", join(word.text->words, " ") + (word.text->is_prefix ? "*" : "")},
                     {"score", found == word.scores.end() ? 0.0 : found->second},
                     {"in", std::move(in)}});
    if (shows_counts_) words.back()["notes"] = word.scores.size();
  }
  return Json{{"score", score},
              {"weights", {{"title", 5}, {"aliases", 3}, {"headings", 3}, {"body", 1}}},
              {"words", std::move(words)}};
}

}  // namespace indx
