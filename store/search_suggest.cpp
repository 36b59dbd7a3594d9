#include "store/search_suggest.hpp"

#include "base/edit_distance.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <tuple>

namespace indx {
namespace {

constexpr std::size_t kMaxSuggestions = 5, kMaxChecked = 30, kMaxMissing = 4;
constexpr std::size_t kMinLength = 3, kMaxLength = 40;

struct NearWord {
  std::size_t distance = 0;
  std::int64_t notes = 0;
  std::string word;
  bool operator<(const NearWord& other) const {
    return std::tie(distance, other.notes, word) < std::tie(other.distance, notes, other.word);
  }
};

/// Typing errors seldom hit the first letter: only words that begin alike are looked at, so that
/// one letter's part of the vocabulary is read.
Result<std::vector<NearWord>> near_words(Database& db, const std::string& word) {
  const auto first = word.substr(0, decode_at(word, 0).length);
  const std::size_t most = word.size() <= 4 ? 1 : 2;
  std::vector<NearWord> near;
  auto query = db.prepare("SELECT term, doc FROM notes_vocab WHERE term>=?1 AND term<=?2");
  query.bind(first, first + "\xF4\x8F\xBF\xBF");
  while (INDX_TRY(query.step())) {
    auto term = query.text(0);
    if (term.size() + most < word.size() || term.size() > word.size() + most) continue;
    const auto distance = edit_distance(word, term);
    if (distance > 0 && distance <= most)
      near.push_back({distance, query.integer(1), std::move(term)});
  }
  return near;
}

Result<bool> is_visible(Database& db, const FilterCheck& check, const std::string& word) {
  auto query = db.prepare(
      "SELECT f.id, f.path FROM notes_fts JOIN files f ON f.id=notes_fts.rowid WHERE notes_fts "
      "MATCH "
      "?1");
  query.bind(cat('"', word, '"'));
  while (INDX_TRY(query.step()))
    if (check.allows_path(query.text(1)) && INDX_TRY(check.allows_id(query.integer(0))))
      return true;
  return false;
}

}  // namespace

Result<std::vector<std::string>> suggest_words(Database& db, SearchRun& run,
                                               const std::vector<const QueryText*>& texts,
                                               const FilterCheck& check) {
  std::vector<NearWord> near;
  std::size_t missing = 0;
  for (const auto* text : texts) {
    for (const auto& word : text->words) {
      if (word.size() < kMinLength || word.size() > kMaxLength || missing >= kMaxMissing) continue;
      QueryNode alone;
      alone.kind = QueryNode::Kind::Text;
      alone.text.words = {word};
      if (!INDX_TRY(run.ids_of(alone)).empty()) continue;
      ++missing;
      auto some = INDX_TRY(near_words(db, word));
      std::move(some.begin(), some.end(), std::back_inserter(near));
    }
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> suggestions;
  for (std::size_t i = 0; i < near.size() && i < kMaxChecked; ++i) {
    if (suggestions.size() == kMaxSuggestions) break;
    const auto& word = near[i].word;
    if (std::find(suggestions.begin(), suggestions.end(), word) == suggestions.end() &&
        INDX_TRY(is_visible(db, check, word)))
      suggestions.push_back(word);
  }
  return suggestions;
}

}  // namespace indx
