#include "ai/extractive/summarizer.hpp"

#include "ai/extractive/sentences.hpp"
#include "ai/note_text.hpp"
#include "ai/provider.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace indx {
namespace {

constexpr double kMmrLambda = 0.7;
/// Least worth of a further sentence as a share of the first one's, in a summary of this length; in
/// a longer one, of which more is asked, in proportion less. A short one is better left shorter
/// than filled with what happens to fit.
constexpr double kGistShare = 0.6, kGistTokens = 50;
constexpr double kAlikeLeads = 0.5;  ///< cosine from which two leads count as one
constexpr double kLexRankEdge = 0.1, kLexRankDamping = 0.85;
constexpr int kLexRankRounds = 50;
constexpr std::size_t kMaxSentencesOfNote = 400;
constexpr std::size_t kMaxQuestions = 10;
constexpr std::size_t kMinSentencePoints = 15, kMaxSentencePoints = 600;
constexpr double kLambdaBefore = -0.2, kLambdaAfter = 1;  ///< PacSum: what follows counts

/// Sorted, so that sums come out the same wherever it runs.
using Vector = std::map<std::string, double>;

struct Sentence {
  std::size_t note = 0, begin = 0, end = 0;
  int section = 0;  ///< 0: before the first heading, or below the first one when it is first
  int place = 0;    ///< in its section
  int words = 0;
  bool is_item = false;  ///< of a list
  bool is_question = false;
  Vector vector;
  double score = 0;
};

double cosine(const Vector& a, const Vector& b) {
  const Vector& small = a.size() < b.size() ? a : b;
  const Vector& large = a.size() < b.size() ? b : a;
  double sum = 0;
  for (const auto& [word, weight] : small)
    if (const auto it = large.find(word); it != large.end()) sum += weight * it->second;
  return sum;
}

Sentence to_sentence(std::string_view bytes, const NoteSentence& found) {
  Sentence sentence;
  sentence.begin = found.begin;
  sentence.end = found.end;
  sentence.words = static_cast<int>(found.words.size());
  sentence.is_item = found.is_item;
  const auto written = bytes.substr(found.begin, found.end - found.begin);
  sentence.is_question = written.find('?') != written.npos || written.ends_with("？");
  for (const auto& word : found.words)
    if (!word.is_stop) sentence.vector[phrase_key(word.folded)] += 1;
  return sentence;
}

/// Sentences of one note in order that may stand in a summary, each with its place.
std::vector<Sentence> placed_sentences(std::string_view bytes, std::size_t note) {
  std::vector<Sentence> sentences;
  int section = 0, place = 0;
  bool has_heading = false;
  for (const auto& found : note_sentences(bytes, NoteText(bytes))) {
    if (found.is_heading) {
      const bool is_first = sentences.empty() && section == 0 && !has_heading;
      has_heading = true;
      if (!is_first) ++section;
      place = 0;
      continue;
    }
    const auto written = bytes.substr(found.begin, found.end - found.begin);
    const auto points = count_code_points(written);
    const bool is_fit = points >= kMinSentencePoints && points <= kMaxSentencePoints &&
                        is_valid_utf8(written);  // else no answer can quote it
    if (!is_fit || sentences.size() == kMaxSentencesOfNote) continue;
    sentences.push_back(to_sentence(bytes, found));
    sentences.back().note = note;
    sentences.back().section = section;
    sentences.back().place = place++;
  }
  return sentences;
}

/// Log-TF-IDF over all sentences, unit length.
void weigh(std::vector<Sentence>& sentences) {
  std::unordered_map<std::string, int> counts;
  for (const auto& sentence : sentences)
    for (const auto& [word, count] : sentence.vector) ++counts[word];
  const auto all = static_cast<double>(sentences.size());
  for (auto& sentence : sentences) {
    double norm = 0;
    for (auto& [word, weight] : sentence.vector) {
      weight = (1 + std::log(weight)) * (std::log((1 + all) / (1 + counts[word])) + 1);
      norm += weight * weight;
    }
    for (auto& [word, weight] : sentence.vector) weight /= std::sqrt(norm);
  }
}

/// To 0..1 by the least and greatest of them.
std::vector<double> scaled(std::vector<double> values) {
  if (values.empty()) return values;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double low = *least, range = *most - *least;
  for (auto& value : values) value = range > 0 ? (value - low) / range : 0.5;
  return values;
}

std::vector<double> directed_centrality(const std::vector<Sentence>& sentences) {
  std::vector<double> sums(sentences.size());
  for (std::size_t i = 0; i < sentences.size(); ++i)
    for (std::size_t j = i + 1; j < sentences.size(); ++j) {
      const double alike = cosine(sentences[i].vector, sentences[j].vector);
      sums[i] += kLambdaAfter * alike;
      sums[j] += kLambdaBefore * alike;
    }
  return scaled(std::move(sums));
}

std::vector<double> lex_rank(const std::vector<Sentence>& sentences) {
  const auto count = sentences.size();
  std::vector<std::vector<std::size_t>> edges(count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j)
      if (i != j && cosine(sentences[i].vector, sentences[j].vector) > kLexRankEdge)
        edges[i].push_back(j);
  const auto even = 1 / static_cast<double>(count);
  std::vector<double> rank(count, even);
  for (int round = 0; round < kLexRankRounds; ++round) {
    std::vector<double> next(count, (1 - kLexRankDamping) * even);
    for (std::size_t i = 0; i < count; ++i)
      for (const auto j : edges[i])
        next[j] += kLexRankDamping * rank[i] / static_cast<double>(edges[i].size());
    rank = std::move(next);
  }
  return scaled(std::move(rank));
}

/// 1 within the usual length of a sentence that says something.
double length_score(int words) {
  if (words < 6) return words / 6.0;
  return words <= 40 ? 1 : 40.0 / words;
}

double position_score(const Sentence& sentence) {
  if (sentence.section == 0) return sentence.place == 0 ? 1 : 0.75;
  const double start = sentence.place == 0 ? 0.45 : 0.3;
  return start / (1 + 0.15 * (sentence.section - 1));
}

double title_score(const Sentence& sentence, const std::set<std::string>& title) {
  if (title.empty()) return 0;
  const auto shared = std::count_if(title.begin(), title.end(), [&](const std::string& word) {
    return sentence.vector.contains(word);
  });
  return static_cast<double>(shared) / static_cast<double>(title.size());
}

/// The sentences of one note that may stand in its summary, scored.
std::vector<Sentence> scored_candidates(std::vector<Sentence> sentences, const std::string& title) {
  std::set<std::string> words;
  for (const auto& token : tokenize(title))
    if (!token.is_stop) words.insert(phrase_key(token.folded));
  const bool has_lead = std::any_of(sentences.begin(), sentences.end(), [](const Sentence& one) {
    return one.section == 0 && one.place == 0 && !one.is_item;
  });
  if (!has_lead) {
    if (sentences.empty()) return sentences;
    const auto ranks = lex_rank(sentences);
    for (std::size_t i = 0; i < sentences.size(); ++i)
      sentences[i].score = 0.6 * ranks[i] + 0.2 * title_score(sentences[i], words) +
                           0.1 * length_score(sentences[i].words) + 0.1 / (1 + sentences[i].place);
    return sentences;
  }
  std::erase_if(sentences, [](const Sentence& one) { return one.place > 1; });
  const auto central = directed_centrality(sentences);
  for (std::size_t i = 0; i < sentences.size(); ++i)
    sentences[i].score = 0.45 * position_score(sentences[i]) + 0.25 * central[i] +
                         0.2 * title_score(sentences[i], words) +
                         0.1 * length_score(sentences[i].words);
  return sentences;
}

/// Indexes of the best sentence of each note, of those that are alike only the best, best first.
std::vector<std::size_t> cluster_leads(const std::vector<Sentence>& candidates) {
  std::map<std::size_t, std::size_t> best;  // by note
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto [it, is_new] = best.try_emplace(candidates[i].note, i);
    if (!is_new && candidates[i].score > candidates[it->second].score) it->second = i;
  }
  std::vector<std::size_t> order;
  for (const auto& [note, index] : best) order.push_back(index);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return candidates[a].score > candidates[b].score;
  });
  std::vector<std::size_t> leads;
  for (const auto index : order) {
    const bool is_alike = std::any_of(leads.begin(), leads.end(), [&](std::size_t lead) {
      return cosine(candidates[index].vector, candidates[lead].vector) > kAlikeLeads;
    });
    if (!is_alike) leads.push_back(index);
  }
  return leads;
}

class Selection {
 public:
  Selection(const std::vector<Sentence>& candidates, const std::vector<SummaryNote>& notes,
            std::int64_t max_tokens)
      : candidates_(candidates),
        notes_(notes),
        max_tokens_(max_tokens),
        nearest_(candidates.size(), 0),
        is_out_(candidates.size(), false) {}

  std::vector<std::size_t> run() {
    const auto leads = cluster_leads(candidates_);
    if (notes_.size() > 1)
      for (const auto lead : leads) take(lead);
    const double least_share =
        kGistShare *
        std::min(1.0, kGistTokens / static_cast<double>(std::max<std::int64_t>(1, max_tokens_)));
    std::optional<double> first_value;
    for (;;) {
      std::size_t best = candidates_.size();
      double best_value = 0;
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if (is_out_[i]) continue;
        const double value = kMmrLambda * candidates_[i].score - (1 - kMmrLambda) * nearest_[i];
        if (best < candidates_.size() && value <= best_value) continue;
        best = i;
        best_value = value;
      }
      if (best == candidates_.size()) break;
      if (!first_value) first_value = best_value;
      if (!chosen_.empty() && best_value < least_share * *first_value) break;
      take(best);
      if (tokens_ >= max_tokens_) break;
    }
    std::sort(chosen_.begin(), chosen_.end(), [&](std::size_t a, std::size_t b) {
      const auto& x = candidates_[a];
      const auto& y = candidates_[b];
      return x.note != y.note ? x.note < y.note : x.begin < y.begin;
    });
    return chosen_;
  }

 private:
  /// Takes the sentence if there is still room; it is out of the question afterwards either way.
  void take(std::size_t index) {
    if (is_out_[index]) return;
    is_out_[index] = true;
    const auto& one = candidates_[index];
    const auto tokens = estimate_tokens(
        std::string_view(notes_[one.note].bytes).substr(one.begin, one.end - one.begin));
    if (!chosen_.empty() && tokens_ + tokens > max_tokens_) return;
    tokens_ += tokens;
    chosen_.push_back(index);
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (!is_out_[i])
        nearest_[i] = std::max(nearest_[i], cosine(candidates_[i].vector, one.vector));
  }

  const std::vector<Sentence>& candidates_;
  const std::vector<SummaryNote>& notes_;
  const std::int64_t max_tokens_;
  std::int64_t tokens_ = 0;
  std::vector<double> nearest_;  ///< cosine to the nearest chosen sentence
  std::vector<bool> is_out_;
  std::vector<std::size_t> chosen_;
};

}  // namespace

ExtractiveSummary extractive_summary(const std::vector<SummaryNote>& notes,
                                     std::int64_t max_tokens) {
  std::vector<Sentence> all;
  for (std::size_t i = 0; i < notes.size(); ++i)
    for (auto& sentence : placed_sentences(notes[i].bytes, i)) all.push_back(std::move(sentence));
  weigh(all);
  std::vector<Sentence> candidates;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(),
                                   [&](const Sentence& one) { return one.note != first->note; });
    const auto note = first->note;
    for (auto& one : scored_candidates({first, last}, notes[note].title))
      candidates.push_back(std::move(one));
    first = last;
  }
  ExtractiveSummary summary;
  const auto to_chosen = [&](const Sentence& one) {
    return ChosenSentence{one.note, NoteText(notes[one.note].bytes).evidence(one.begin, one.end),
                          one.score};
  };
  for (const auto index : Selection(candidates, notes, max_tokens).run())
    summary.sentences.push_back(to_chosen(candidates[index]));
  for (const auto& one : all)
    if (one.is_question && summary.questions.size() < kMaxQuestions)
      summary.questions.push_back(to_chosen(one));
  return summary;
}

}  // namespace indx
