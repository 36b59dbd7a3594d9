#include "ai/extractive/answerer.hpp"

#include "ai/extractive/question.hpp"
#include "ai/extractive/sentences.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace indx {
namespace {

constexpr std::size_t kMaxPassages = 3;
constexpr std::size_t kMaxCandidates = 400;
constexpr std::size_t kMinCandidatePoints = 8, kMaxCandidatePoints = 600;
constexpr std::size_t kMaxListBytes = 2000;
constexpr double kPassageLambda = 0.7;
constexpr double kOverlapWeight = 0.5, kHeadingWeight = 0.3, kTypeBonus = 0.1;
constexpr double kRankWeight = 0.2;      ///< the first chunk that was found, falling to 0
constexpr double kPointerPenalty = 0.2;  ///< "For more, see [[x]]" answers nothing
constexpr double kNearBest = 0.6;        ///< of the best score: what else is worth showing
/// A vault is about one thing more often than not, and then any question about it has a sentence
/// near by. So how near one must be depends on what its chunk lacks of the question: less where it
/// holds every word, more by the rarest word that is missing, and by a name or a number. Set on one
/// half of the questions of bench/quality and checked on the other (docs/quality.md).
constexpr double kNeedsLess = 0.2, kMissingNeeds = 0.4, kNameNeeds = 0.2;
constexpr double kMeaningShare = 0.3;   ///< of the question in a sentence and its headings
constexpr double kWordGate = 0.6;       ///< share of the question in a sentence and its headings
constexpr double kSentenceShare = 0.3;  ///< and in the sentence alone
constexpr double kSureAbove = 0.15;     ///< above the gate

bool points_elsewhere(std::string_view text) {
  const auto folded = fold_case(text);
  return folded.find("see [") != folded.npos || folded.find("for more") != folded.npos ||
         folded.find("for full details") != folded.npos;
}

double sentence_cosine(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(),
                            a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())),
                            b.begin(), 0.0);
}

/// Share of words that two sets have in common (Jaccard).
double word_likeness(const std::set<std::string>& a, const std::set<std::string>& b) {
  if (a.empty() || b.empty()) return 0;
  const auto shared =
      std::count_if(a.begin(), a.end(), [&](const std::string& word) { return b.contains(word); });
  return static_cast<double>(shared) /
         (static_cast<double>(a.size() + b.size()) - static_cast<double>(shared));
}

std::string plain_sentence(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (std::string_view("*_~=`[]#>").find(c) == std::string_view::npos)
      out += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  return out;
}

/// The lines of a list with numbers around the byte: items, what is indented below them, and blank
/// lines between.
std::pair<std::size_t, std::size_t> steps_around(std::string_view bytes, std::size_t at) {
  const auto line_at = [&](std::size_t place) {
    const auto stop = bytes.find('\n', place);
    return bytes.substr(place, stop == bytes.npos ? bytes.npos : stop - place);
  };
  const auto belongs = [](std::string_view line) {
    const bool is_indented = line.starts_with("  ") || line.starts_with('\t');
    return is_numbered_item(trim(line)) || (is_indented && !trim(line).empty());
  };
  const auto start = bytes.rfind('\n', at);
  auto begin = start == bytes.npos ? 0 : start + 1;
  for (auto place = begin; place > 0;) {
    const auto stop = place - 1;
    const auto before = stop == 0 ? bytes.npos : bytes.rfind('\n', stop - 1);
    place = before == bytes.npos ? 0 : before + 1;
    const auto line = line_at(place);
    if (trim(line).empty()) continue;
    if (!belongs(line) || at - place > kMaxListBytes) break;
    if (is_numbered_item(trim(line))) begin = place;
  }
  auto end = begin;
  for (auto place = begin; place < bytes.size();) {
    const auto line = line_at(place);
    if (!trim(line).empty() && !belongs(line)) break;
    if (place + line.size() - begin > kMaxListBytes && end > at) break;
    if (!trim(line).empty()) end = place + line.size();
    place += line.size() + 1;
  }
  while (end > begin && (bytes[end - 1] == '\r' || bytes[end - 1] == ' ')) --end;
  while (begin < end && bytes[begin] == ' ') ++begin;
  return {begin, end};
}

}  // namespace

struct AnswerCandidate {
  std::size_t note = 0, chunk = 0;
  std::size_t sentence = 0;  ///< index among those of the note
  std::size_t begin = 0, end = 0;
  bool is_step = false;
  double overlap = 0, heading_overlap = 0, shown_overlap = 0;
  double needs = 0;  ///< how much nearer than the gate it must be; see kNeedsLess
  bool fits_type = false, is_pointer = false;
};

struct ExtractiveAnswerer::Impl {
  explicit Impl(const AnswerTask& given) : task(given), question(given.question, *given.corpus) {
    for (const auto& note : task.notes) {
      notes.emplace_back(note.bytes);
      sentences.push_back(note_sentences(note.bytes, notes.back()));
    }
    texts.push_back(task.question);
    for (std::size_t i = 0; i < task.chunks.size(); ++i) add_chunk(i);
  }

  void add_chunk(std::size_t index) {
    const auto& chunk = task.chunks[index];
    const auto& note = task.notes[chunk.note];
    const auto headings = cat(note.title, "\n", join(chunk.heading_path, "\n"));
    const double heading_overlap = question.overlap(headings);
    const auto whole = cat(
        headings, "\n", std::string_view(note.bytes).substr(chunk.begin, chunk.end - chunk.begin));
    const double needs = kMissingNeeds * question.missing(whole) +
                         (question.lacks_name(whole) ? kNameNeeds : 0) - kNeedsLess;
    const auto& all = sentences[chunk.note];
    for (std::size_t i = 0; i < all.size() && candidates.size() < kMaxCandidates; ++i) {
      if (all[i].is_heading || all[i].begin < chunk.begin || all[i].begin >= chunk.end) continue;
      AnswerCandidate one;
      one.note = chunk.note;
      one.chunk = index;
      one.sentence = i;
      one.begin = all[i].begin;
      one.end = all[i].end;
      one.is_step = all[i].is_numbered;
      const auto text = std::string_view(note.bytes).substr(one.begin, one.end - one.begin);
      const auto points = count_code_points(text);
      if (points < kMinCandidatePoints || points > kMaxCandidatePoints) continue;
      if (!is_valid_utf8(text)) continue;                       // no answer can quote it
      if (!seen.emplace(one.note, one.begin).second) continue;  // chunks may lap over
      one.overlap = question.overlap(text);
      one.heading_overlap = heading_overlap;
      one.needs = needs;
      one.shown_overlap = question.overlap(cat(text, "\n", headings));
      one.is_pointer = points_elsewhere(text);
      one.fits_type = question.is_answered_by(text, one.is_step);
      texts.push_back(plain_sentence(text));
      candidates.push_back(one);
    }
  }

  std::vector<double> cosines(std::span<const std::vector<float>> vectors) const {
    std::vector<double> values;
    for (std::size_t i = 0; i < candidates.size(); ++i)
      values.push_back(sentence_cosine(vectors[0], vectors[i + 1]));
    return values;
  }

  double score(const AnswerCandidate& one, double cosine) const {
    const auto rank = static_cast<double>(one.chunk) / static_cast<double>(task.chunks.size());
    return cosine + kOverlapWeight * one.overlap + kHeadingWeight * one.heading_overlap +
           kRankWeight * (1 - rank) + (one.fits_type ? kTypeBonus : 0) -
           (one.is_pointer ? kPointerPenalty : 0);
  }

  /// The sentence behind it in the same block of text, else the one in front.
  std::pair<std::size_t, std::size_t> with_neighbour(const AnswerCandidate& one) const {
    const auto& all = sentences[one.note];
    const auto& chunk = task.chunks[one.chunk];
    const std::string_view bytes = task.notes[one.note].bytes;
    const auto is_near = [&](std::size_t first, std::size_t second) {
      if (all[first].is_heading || all[second].is_heading) return false;
      const auto gap = bytes.substr(all[first].end, all[second].begin - all[first].end);
      return gap.size() < 20 && all[second].begin < chunk.end && all[first].begin >= chunk.begin;
    };
    if (one.sentence + 1 < all.size() && is_near(one.sentence, one.sentence + 1))
      return {one.begin, all[one.sentence + 1].end};
    if (one.sentence > 0 && is_near(one.sentence - 1, one.sentence))
      return {all[one.sentence - 1].begin, one.end};
    return {one.begin, one.end};
  }

  AnswerPassage passage(const AnswerCandidate& one, double value) const {
    const std::string_view bytes = task.notes[one.note].bytes;
    AnswerPassage found;
    found.note = one.note;
    found.score = value;
    const bool is_list = one.is_step && question.kind() == Question::Kind::HowTo;
    const auto [begin, end] =
        is_list ? steps_around(bytes, one.begin) : std::pair(one.begin, one.end);
    found.evidence = notes[one.note].evidence(begin, end);
    const auto [from, to] = is_list ? std::pair(begin, end) : with_neighbour(one);
    found.text = std::string(bytes.substr(from, to - from));
    const auto& headings = task.chunks[one.chunk].heading_path;
    if (!headings.empty()) found.heading = headings.back();
    return found;
  }

  const AnswerTask& task;
  const Question question;
  std::vector<NoteText> notes;
  std::vector<std::vector<NoteSentence>> sentences;  ///< by note
  std::vector<AnswerCandidate> candidates;
  std::vector<std::string> texts;
  std::set<std::pair<std::size_t, std::size_t>> seen;
};

ExtractiveAnswerer::ExtractiveAnswerer(const AnswerTask& task)
    : impl_(std::make_unique<const Impl>(task)) {}
ExtractiveAnswerer::~ExtractiveAnswerer() = default;

const std::vector<std::string>& ExtractiveAnswerer::texts() const { return impl_->texts; }

ExtractiveAnswer ExtractiveAnswerer::answer(std::span<const std::vector<float>> vectors) const {
  const auto& candidates = impl_->candidates;
  const bool by_meaning = vectors.size() == impl_->texts.size() && !candidates.empty();
  const auto cosines =
      by_meaning ? impl_->cosines(vectors) : std::vector<double>(candidates.size(), 0);
  const auto passes = [&](std::size_t i) {
    const auto& one = candidates[i];
    if (by_meaning)
      return cosines[i] >= impl_->task.gate + one.needs && one.shown_overlap >= kMeaningShare;
    return one.shown_overlap >= kWordGate && one.overlap >= kSentenceShare;
  };

  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (passes(i)) order.push_back(i);
  ExtractiveAnswer answer;
  if (order.empty()) return answer;
  const auto value = [&](std::size_t i) { return impl_->score(candidates[i], cosines[i]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return value(a) > value(b); });

  const double best = value(order.front());
  std::vector<std::size_t> chosen;
  const auto likeness = [&](std::size_t a, std::size_t b) {
    if (by_meaning) return sentence_cosine(vectors[a + 1], vectors[b + 1]);
    return word_likeness(word_keys(impl_->texts[a + 1]), word_keys(impl_->texts[b + 1]));
  };
  while (chosen.size() < kMaxPassages) {
    std::optional<std::size_t> next;
    double next_value = 0;
    for (const auto i : order) {
      if (value(i) < kNearBest * best || std::find(chosen.begin(), chosen.end(), i) != chosen.end())
        continue;
      double nearest = 0;
      for (const auto other : chosen) nearest = std::max(nearest, likeness(i, other));
      const double gain = kPassageLambda * value(i) - (1 - kPassageLambda) * nearest;
      if (next && gain <= next_value) continue;
      next = i;
      next_value = gain;
    }
    if (!next) break;
    chosen.push_back(*next);
  }
  for (const auto i : chosen) {
    auto passage = impl_->passage(candidates[i], value(i));
    const bool is_shown =
        std::any_of(answer.passages.begin(), answer.passages.end(), [&](const auto& other) {
          return other.note == passage.note && other.evidence.begin <= passage.evidence.begin &&
                 passage.evidence.end <= other.evidence.end;
        });
    if (!is_shown) answer.passages.push_back(std::move(passage));
  }
  const auto& first = candidates[chosen.front()];
  answer.is_sure = by_meaning ? cosines[chosen.front()] >= impl_->task.gate + kSureAbove &&
                                    first.shown_overlap >= 0.5
                              : first.overlap >= 0.8;
  return answer;
}

}  // namespace indx
