#pragma once
#include "ai/extractive/corpus.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace indx {

/// The words that say something, each in a form that inflections of it share: `pruned`, `pruning`
/// and `prunes` are `prun`.
std::set<std::string> word_keys(std::string_view text);

/// A question: its words with what each weighs, and the kind of thing that it asks for.
class Question {
 public:
  enum class Kind : std::uint8_t { Other, When, Who, HowMany, HowTo };

  Question(std::string_view text, const Corpus& corpus);
  Kind kind() const { return kind_; }
  /// The share of the question, weighted by IDF, whose words the text holds: 0 to 1.
  double overlap(std::string_view text) const;
  /// What of the question the text lacks: the weight of the rarest word that it does not hold, as a
  /// share of that of a word that no note holds; 0: it holds all of them, 1: nobody speaks of it.
  double missing(std::string_view text) const;
  /// Whether the question names something, by a capital inside it or by a number, that the text
  /// does not hold.
  bool lacks_name(std::string_view text) const;
  /// Whether the text has what is asked for: a date, a name, a number, a step.
  bool is_answered_by(std::string_view text, bool is_step) const;

 private:
  Kind kind_ = Kind::Other;
  std::map<std::string, double> weights_;  ///< by key; sorted, so that sums come out the same
  double total_ = 0;
  double unheard_ = 0;           ///< the weight of a word that no note holds
  std::set<std::string> names_;  ///< keys of words with a capital that do not begin the question
  std::set<std::string> numbers_;
};

}  // namespace indx
