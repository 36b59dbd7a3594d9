#include "ai/extractive/tagger.hpp"

#include "ai/extractive/tokens.hpp"
#include "ai/note_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace indx {
namespace {

constexpr std::size_t kNeighbours = 15;
constexpr std::size_t kMaxPhrases = 60;
constexpr std::size_t kMaxTagWords = 4;
constexpr std::size_t kMaxProseBytes = 256U << 10U;
constexpr double kRankOffset =
    60;  // Cormack, Clarke, Buettcher 2009: the k of reciprocal rank fusion
constexpr double kReportedFrom = 0.3;    // weaker suggestions are not even worth a warning
constexpr double kStrongSupport = 0.35;  // summed similarity of the notes that vote for a tag

/// Every run of one to four words of the note, by phrase key.
struct Mention {
  std::size_t begin = 0, end = 0;  ///< the first, in the file
  int count = 0;
  bool in_heading = false, in_title = false;
};

/// A phrase that may name the note, best first.
struct Ranked {
  Keyphrase phrase;
  std::string key;
  double fused = 0, rarity = 0;  ///< rarity: mean IDF of its words, 0..1
};

class Tagger {
 public:
  Tagger(const TagTask& task, const Corpus& corpus)
      : task_(task), corpus_(corpus), note_(task.bytes) {}

  TagReply run() {
    const auto tokens = tokenize(prose());
    const bool has_words = std::any_of(tokens.begin(), tokens.end(),
                                       [](const Token& t) { return !t.is_stop && !t.is_number; });
    if (!has_words) return finish({});
    collect_mentions(tokens);
    rank_phrases();
    is_settled_ = has_own_topic();
    std::vector<TagSuggestion> suggestions;
    const auto& options = task_.options;
    if (options.use_existing || !options.candidates.empty()) suggestions = known_tags();
    const bool fits =
        std::any_of(suggestions.begin(), suggestions.end(),
                    [&](const TagSuggestion& s) { return s.confidence >= options.min_confidence; });
    if (!fits && !is_settled_ && options.allow_new && options.candidates.empty())
      for (auto& suggestion : new_tags()) suggestions.push_back(std::move(suggestion));
    return finish(std::move(suggestions));
  }

 private:
  /// Enough of a long note to tell its topics.
  std::string_view prose() const {
    const std::string_view all = note_.prose();
    auto end = std::min(all.size(), kMaxProseBytes);
    while (end < all.size() && (static_cast<unsigned char>(all[end]) & 0xC0U) == 0x80U) --end;
    return all.substr(0, end);
  }

  TagReply finish(std::vector<TagSuggestion> suggestions) const {
    std::erase_if(suggestions,
                  [&](const TagSuggestion& s) { return s.confidence < reported_from(); });
    auto reply = select_tags(task_, std::move(suggestions));
    const auto most = static_cast<std::size_t>(std::max(0, task_.options.max_per_note));
    if (reply.warnings.size() > most) reply.warnings.resize(most);
    reply.source = "extractive";
    return reply;
  }

  /// Who asks for less than what is worth a warning gets it, known tags and new ones alike.
  double reported_from() const { return std::min(kReportedFrom, task_.options.min_confidence); }

  /// Whether a tag of the note is one that its text names: then it needs no new one.
  bool has_own_topic() const {
    return std::any_of(task_.current_tags.begin(), task_.current_tags.end(),
                       [&](const std::string& tag) {
                         std::string key;
                         return find_mention(tag, &key) != nullptr;
                       });
  }

  void collect_mentions(const std::vector<Token>& tokens) {
    for_each_run(tokens, [&](const std::string& key, const Token& first, const Token& last) {
      auto& mention = mentions_[key];
      if (mention.count++ == 0) mention.begin = first.begin, mention.end = last.end;
      mention.in_heading = mention.in_heading || note_.is_heading(first.begin);
    });
    for_each_run(tokenize(task_.title), [&](const std::string& key, const Token&, const Token&) {
      mentions_[key].in_title = true;
    });
  }

  template <typename Use>
  static void for_each_run(const std::vector<Token>& tokens, Use use) {
    std::vector<std::string> keys;
    for (const auto& token : tokens) keys.push_back(phrase_key(token.folded));
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string key;
      for (std::size_t at = i;
           at < tokens.size() && at < i + kMaxTagWords && (at == i || !tokens[at].breaks_before);
           ++at) {
        if (at > i) key += ' ';
        key += keys[at];
        use(key, tokens[i], tokens[at]);
      }
    }
  }

  /// YAKE and TF-IDF, fused by reciprocal rank; of phrases inside one another one stays.
  void rank_phrases() {
    const auto phrases = yake_keyphrases(prose(), kMaxPhrases);
    const double rarest = std::log(1.0 + static_cast<double>(corpus_.size())) + 1;
    std::vector<std::size_t> by_tf_idf(phrases.size());
    std::vector<double> tf_idf(phrases.size());
    std::vector<Ranked> all;
    for (std::size_t i = 0; i < phrases.size(); ++i) {
      const auto words = content_words(phrases[i].text);
      double idf = 0;
      for (const auto& word : words) idf += corpus_.inverse_document_frequency(word);
      idf /= std::max<double>(1, static_cast<double>(words.size()));
      all.push_back({phrases[i], phrase_key(phrases[i].folded),
                     1 / (kRankOffset + static_cast<double>(i) + 1), idf / rarest});
      tf_idf[i] = (1 + std::log(std::max(1, mentions_[all[i].key].count))) * idf *
                  std::sqrt(static_cast<double>(words.size()));
      by_tf_idf[i] = i;
    }
    std::stable_sort(by_tf_idf.begin(), by_tf_idf.end(),
                     [&](std::size_t a, std::size_t b) { return tf_idf[a] > tf_idf[b]; });
    for (std::size_t rank = 0; rank < by_tf_idf.size(); ++rank)
      all[by_tf_idf[rank]].fused += 1 / (kRankOffset + static_cast<double>(rank) + 1);
    std::stable_sort(all.begin(), all.end(),
                     [](const Ranked& a, const Ranked& b) { return a.fused > b.fused; });
    for (const auto& one : all)
      if (!one.key.empty() && std::none_of(all.begin(), all.end(), [&](const Ranked& other) {
            return yields_to(one, other);
          }))
        ranked_.push_back(one);
  }

  /// Whether `one` is left out for the sake of `other`, when one holds the other's words: a short
  /// phrase that is used hardly but in the long one goes, a long one used once goes before a short
  /// one used more, else the worse goes.
  bool yields_to(const Ranked& one, const Ranked& other) const {
    if (one.key == other.key) return one.phrase.begin > other.phrase.begin;
    const bool is_inside = holds(other.key, one.key), is_around = holds(one.key, other.key);
    if (!is_inside && !is_around) return false;
    const auto count = mentions_.at(one.key).count, other_count = mentions_.at(other.key).count;
    const auto short_count = is_inside ? count : other_count,
               long_count = is_inside ? other_count : count;
    if (long_count > 1 && 2 * short_count <= 3 * long_count) return is_inside;
    if (long_count == 1 && short_count > 1) return is_around;
    return one.fused != other.fused ? one.fused < other.fused : is_inside;
  }

  static bool holds(const std::string& phrase, const std::string& part) {
    return cat(' ', phrase, ' ').find(cat(' ', part, ' ')) != std::string::npos;
  }

  /// 1 for the best phrase of the note down to 0 for words that are in none.
  double salience(const std::string& key) const {
    for (std::size_t i = 0; i < ranked_.size(); ++i)
      if (holds(ranked_[i].key, key))
        return 1 - static_cast<double>(i) / static_cast<double>(ranked_.size());
    return 0;
  }

  struct Vote {
    double support = 0;
    int voters = 0;
    std::string best_path;
  };

  /// Tags of the vault, or the candidates, that the nearest notes have or that the note names.
  std::vector<TagSuggestion> known_tags() {
    const auto neighbours = task_.neighbours ? *task_.neighbours
                                             : corpus_.nearest(cat(task_.title, '\n', prose()),
                                                               kNeighbours, task_.path);
    std::map<std::string, Vote> votes;
    double all_support = 0;
    for (std::size_t i = 0; i < std::min(kNeighbours, neighbours.size()); ++i) {
      const auto& neighbour = neighbours[i];
      if (neighbour.path == task_.path) continue;
      all_support += neighbour.tags.empty() ? 0 : neighbour.similarity;
      std::unordered_set<std::string> own;
      for (const auto& tag : neighbour.tags) {
        if (!own.insert(fold_case(tag)).second) continue;
        auto& vote = votes[fold_case(tag)];
        vote.support += neighbour.similarity;
        if (vote.voters++ == 0) vote.best_path = neighbour.path;
      }
    }
    is_settled_ =
        is_settled_ || std::any_of(task_.current_tags.begin(), task_.current_tags.end(),
                                   [&](const auto& tag) { return votes.contains(fold_case(tag)); });
    // Rule C84: what one run adds must not make the next run add more, through votes or a grown
    // vocabulary.
    if (is_settled_ && task_.options.candidates.empty()) return {};
    std::vector<TagSuggestion> suggestions;
    for (const auto& tag : known_names(votes)) {
      const auto vote = votes.find(fold_case(tag));
      const auto voted = vote == votes.end() ? Vote{} : vote->second;
      if (auto suggestion = judge(tag, voted, all_support))
        suggestions.push_back(std::move(*suggestion));
    }
    return suggestions;
  }

  std::vector<std::string> known_names(const std::map<std::string, Vote>& votes) const {
    if (!task_.options.candidates.empty()) return task_.options.candidates;
    std::vector<std::string> names;
    std::unordered_set<std::string> seen;
    for (const auto& entry : task_.vocabulary)
      if (seen.insert(fold_case(entry.tag)).second) names.push_back(entry.tag);
    for (const auto& [folded, vote] : votes)
      if (seen.insert(folded).second) names.push_back(folded);
    return names;
  }

  std::optional<TagSuggestion> judge(const std::string& tag, const Vote& vote,
                                     double all_support) const {
    // Vote: the share of the neighbourhood that has the tag, trusted as far as the neighbourhood is
    // near.
    const double share = all_support > 0 ? vote.support / all_support : 0;
    const double voted = 0.95 * std::sqrt(share) *
                         (1 - std::exp(-2 * vote.support / kStrongSupport)) *
                         (vote.voters > 1 ? 1 : 0.7);
    std::string key;
    const auto* mention = find_mention(tag, &key);
    double named = 0;
    if (mention != nullptr) {
      named = 0.4 + (mention->in_heading || mention->in_title ? 0.25 : 0) +
              0.15 * std::min(1.0, std::max(0, mention->count - 1) / 3.0) + 0.2 * salience(key);
      if (key != phrase_key(tag)) named *= 0.9;  // only the last part of a nested tag
    }
    TagSuggestion suggestion;
    suggestion.tag = tag;
    suggestion.confidence = 1 - (1 - voted) * (1 - named);
    if (suggestion.confidence < reported_from() || suggestion.confidence <= 0) return std::nullopt;
    if (mention != nullptr) suggestion.evidence.push_back(evidence_of(*mention));
    if (vote.voters > 0)
      if (auto shared = shared_evidence(vote.best_path);
          shared && (suggestion.evidence.empty() || shared->line != suggestion.evidence[0].line))
        suggestion.evidence.push_back(*shared);
    if (suggestion.evidence.empty()) return std::nullopt;
    suggestion.rationale = rationale(vote, mention);
    return suggestion;
  }

  const Mention* find_mention(const std::string& tag, std::string* key) const {
    const auto slash = tag.rfind('/');
    for (const auto& name : {tag, slash == tag.npos ? tag : tag.substr(slash + 1)}) {
      *key = phrase_key(name);
      if (const auto it = mentions_.find(*key); it != mentions_.end()) return &it->second;
    }
    return nullptr;
  }

  TagEvidence evidence_of(const Mention& mention) const {
    if (mention.count > 0) return note_.sentence_around(mention.begin, mention.end);
    return {task_.title, 0, "", 0, 0};
  }

  /// A sentence of the note with a word that makes it like the note at `path`.
  std::optional<TagEvidence> shared_evidence(const std::string& path) const {
    for (const auto& word : corpus_.shared_words(prose(), path, 5))
      if (const auto it = mentions_.find(phrase_key(word));
          it != mentions_.end() && it->second.count > 0)
        return evidence_of(it->second);
    if (ranked_.empty()) return std::nullopt;
    return note_.sentence_around(ranked_[0].phrase.begin, ranked_[0].phrase.end);
  }

  static std::string rationale(const Vote& vote, const Mention* mention) {
    auto text = std::string("extractive: ");
    if (mention != nullptr)
      text += cat("the note names it", mention->in_title     ? " in its title"
                                       : mention->in_heading ? " in a heading"
                                                             : "");
    if (mention != nullptr && vote.voters > 0) text += "; ";
    if (vote.voters > 0)
      text += cat(vote.voters, vote.voters == 1 ? " similar note has" : " similar notes have",
                  " this tag, first ", vote.best_path);
    return text + ".";
  }

  std::vector<TagSuggestion> new_tags() const {
    std::vector<TagSuggestion> suggestions;
    double most = 1;
    for (const auto& one : ranked_) most = std::max<double>(most, mentions_.at(one.key).count);
    for (std::size_t i = 0; i < ranked_.size(); ++i) {
      const auto& one = ranked_[i];
      const auto& mention = mentions_.at(one.key);
      if (!is_good_name(one.phrase.folded)) continue;
      TagSuggestion suggestion;
      suggestion.tag = one.phrase.folded;
      // At most 0.95: a known tag that is named and voted for ranks above any new one.
      const double place = mention.in_title ? 0.15 : mention.in_heading ? 0.12 : 0;
      const double repeated =
          mention.count > 1 ? 0.17 * std::sqrt(static_cast<double>(mention.count) / most) : 0;
      suggestion.confidence = 0.3 + 0.2 * std::max(0.0, 1 - static_cast<double>(i) / 8) + place +
                              repeated + 0.13 * std::min(1.0, one.rarity);
      suggestion.evidence.push_back(note_.sentence_around(one.phrase.begin, one.phrase.end));
      suggestion.rationale =
          cat("extractive: phrase ", i + 1, " of the note by YAKE and TF-IDF, used ",
              std::max(1, mention.count), mention.count > 1 ? " times." : " time.");
      suggestions.push_back(std::move(suggestion));
    }
    return suggestions;
  }

  static bool is_good_name(const std::string& name) {
    const auto points = count_code_points(name);
    const bool is_latin = decode_at(name, 0).value < 0x250;
    return points >= (is_latin ? 3 : 2) && points <= 40 && !normalize_tag(name, {}).empty();
  }

  const TagTask& task_;
  const Corpus& corpus_;
  const NoteText note_;
  std::unordered_map<std::string, Mention> mentions_;
  std::vector<Ranked> ranked_;
  bool is_settled_ = false;  ///< the note has a tag that fits it
};

}  // namespace

TagReply extractive_tags(const TagTask& task, const Corpus& corpus) {
  return Tagger(task, corpus).run();
}

}  // namespace indx
