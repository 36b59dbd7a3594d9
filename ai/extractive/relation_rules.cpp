#include "ai/extractive/relation_rules.hpp"

#include "ai/extractive/corpus.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace indx {
namespace {

constexpr double kDuplicateCosine = 0.95, kDuplicateLength = 0.8;
constexpr double kSummaryShare = 0.8;
constexpr std::size_t kSummaryWords = 8, kSummaryTimes = 3;
constexpr std::size_t kMaxComparedBytes = 256U << 10U;

struct KeyRelation {
  const char* key;
  const char* relation;
};
/// Property keys that say which relation a link is.
constexpr std::array kKeyRelations = {
    KeyRelation{"extends", "extends"},         KeyRelation{"derived_from", "extends"},
    KeyRelation{"summarizes", "summarizes"},   KeyRelation{"cites", "cites"},
    KeyRelation{"contradicts", "contradicts"}, KeyRelation{"same_topic", "same_topic"},
    KeyRelation{"see_also", "same_topic"},     KeyRelation{"related", "same_topic"},
    KeyRelation{"precedes", "precedes"},       KeyRelation{"next", "precedes"},
    KeyRelation{"depends_on", "depends_on"},   KeyRelation{"requires", "depends_on"},
    KeyRelation{"duplicates", "duplicates"},   KeyRelation{"same_as", "duplicates"}};

std::string squeezed_text(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') out += c;
  return out;
}

bool is_as_long(std::string_view a, std::string_view b) {
  const auto [less, more] = std::minmax({a.size(), b.size()});
  return static_cast<double>(less) >= kDuplicateLength * static_cast<double>(more);
}

bool is_numeral(char c) { return c >= '0' && c <= '9'; }

/// Compares numbers of any length.
bool is_smaller_number(std::string_view a, std::string_view b) {
  while (a.size() > 1 && a.front() == '0') a.remove_prefix(1);
  while (b.size() > 1 && b.front() == '0') b.remove_prefix(1);
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

/// Whether two names are the same but for numbers, the first of which that differs is the smaller
/// in `a`: `Part 2` and `Part 10`, `2026-01-31` and `2026-02-01`.
bool comes_before(std::string_view a, std::string_view b) {
  std::size_t i = 0, k = 0;
  std::optional<bool> is_before;
  while (i < a.size() && k < b.size()) {
    if (!is_numeral(a[i]) || !is_numeral(b[k])) {
      if (a[i++] != b[k++]) return false;
      continue;
    }
    const auto from_a = i, from_b = k;
    while (i < a.size() && is_numeral(a[i])) ++i;
    while (k < b.size() && is_numeral(b[k])) ++k;
    const auto left = a.substr(from_a, i - from_a), right = b.substr(from_b, k - from_b);
    if (!is_before && is_smaller_number(left, right)) is_before = true;
    if (!is_before && is_smaller_number(right, left)) is_before = false;
  }
  return i == a.size() && k == b.size() && is_before.value_or(false);
}

bool begins_with_name(const std::string& name, const std::string& start) {
  return count_code_points(start) >= 3 && name.size() > start.size() && name.starts_with(start) &&
         !is_word_character(decode_at(name, start.size()).value);
}

bool is_summary_of(std::string_view text, std::string_view longer) {
  if (longer.size() < kSummaryTimes * text.size()) return false;
  const auto words = content_words(text.substr(0, kMaxComparedBytes));
  const std::set<std::string> own(words.begin(), words.end());
  if (own.size() < kSummaryWords) return false;
  const auto others = content_words(longer.substr(0, kMaxComparedBytes));
  const std::set<std::string> there(others.begin(), others.end());
  const auto shared = std::count_if(own.begin(), own.end(),
                                    [&](const std::string& word) { return there.contains(word); });
  return static_cast<double>(shared) >= kSummaryShare * static_cast<double>(own.size());
}

class RelationRules {
 public:
  RelationRules(const RelationClues& clues, const std::vector<std::string>& labels)
      : clues_(clues), labels_(labels) {}

  std::optional<GuessedRelation> best() {
    look_at_properties();
    look_at_texts();
    look_at_names();
    if (clues_.links_to) offer("cites", 0.8, "a link in its text leads there");
    if (clues_.names_it) offer("cites", 0.6, "it names the other note");
    if (clues_.similarity > 0)
      offer("same_topic", 0.3 + 0.6 * clues_.similarity, "they have words, meaning or links alike");
    return std::move(best_);
  }

 private:
  /// The first of equally sure ones stays.
  void offer(const char* relation, double confidence, const std::string& why) {
    if (std::find(labels_.begin(), labels_.end(), relation) == labels_.end()) return;
    if (best_ && best_->confidence >= confidence) return;
    best_ = GuessedRelation{relation, std::min(1.0, confidence), cat("extractive: ", why, ".")};
  }

  void look_at_properties() {
    for (const auto& key : clues_.link_keys) {
      const auto plain = replace_all(replace_all(fold_case(key), "-", "_"), " ", "_");
      for (const auto& [name, relation] : kKeyRelations)
        if (plain == name) offer(relation, 0.95, cat("its property `", name, "` links there"));
    }
  }

  void look_at_texts() {
    const auto source = clues_.source_text, other = clues_.other_text;
    if (trim(source).empty() || trim(other).empty()) return;
    if (is_as_long(source, other)) {
      if (squeezed_text(source) == squeezed_text(other))
        offer("duplicates", 1, "both texts are the same");
      else if (clues_.words >= kDuplicateCosine)
        offer("duplicates", clues_.words, "both texts have nearly the same words");
    }
    if (is_summary_of(source, other))
      offer("summarizes", 0.6, "nearly all of its words stand in the other note, which is longer");
  }

  void look_at_names() {
    const auto source = fold_case(clues_.source_name), other = fold_case(clues_.other_name);
    if (clues_.source_folder == clues_.other_folder && comes_before(source, other))
      offer("precedes", 0.7, "its number or date comes before that of the other note");
    const auto folder = fold_case(
        std::string_view(clues_.source_folder).substr(clues_.source_folder.rfind('/') + 1));
    if (begins_with_name(source, other))
      offer("extends", 0.6, "its name begins with that of the other note");
    else if (!folder.empty() && folder == other)
      offer("extends", 0.6, "its folder has the name of the other note");
  }

  const RelationClues& clues_;
  const std::vector<std::string>& labels_;
  std::optional<GuessedRelation> best_;
};

}  // namespace

std::optional<GuessedRelation> guess_relation(const RelationClues& clues,
                                              const std::vector<std::string>& labels) {
  return RelationRules(clues, labels).best();
}

}  // namespace indx
