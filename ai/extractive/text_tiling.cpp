#include "ai/extractive/text_tiling.hpp"

#include "ai/extractive/tokens.hpp"
#include "ai/note_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

namespace indx {
namespace {

constexpr std::size_t kSequenceWords = 20;
constexpr std::size_t kBlockSequences = 6;  ///< on each side of a gap
constexpr std::size_t kMinTileSequences = 3;
constexpr double kMinDepth = 0.1;  ///< shallower valleys are noise in a text about one thing

struct Valley {
  std::size_t sequence = 0;  ///< the first one behind it
  double depth = 0;
};

/// The words of one sequence that say something, as numbers.
using WordSequence = std::vector<std::uint32_t>;

std::vector<WordSequence> sequences_of(const std::vector<Token>& tokens) {
  std::vector<WordSequence> sequences;
  std::unordered_map<std::string, std::uint32_t> ids;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i % kSequenceWords == 0) sequences.emplace_back();
    const auto& token = tokens[i];
    if (token.is_stop || token.is_number) continue;
    const auto id = static_cast<std::uint32_t>(ids.size());
    sequences.back().push_back(ids.try_emplace(token.folded, id).first->second);
  }
  return sequences;
}

/// Cosine of the word counts of the blocks before and behind a gap.
double block_cosine(const std::vector<WordSequence>& sequences, std::size_t gap) {
  const auto first = gap - std::min(gap, kBlockSequences);
  const auto last = std::min(sequences.size(), gap + kBlockSequences);
  std::map<std::uint32_t, std::pair<double, double>> counts;
  for (auto i = first; i < last; ++i)
    for (const auto word : sequences[i]) (i < gap ? counts[word].first : counts[word].second) += 1;
  double product = 0, left = 0, right = 0;
  for (const auto& [word, count] : counts) {
    product += count.first * count.second;
    left += count.first * count.first;
    right += count.second * count.second;
  }
  return left > 0 && right > 0 ? product / std::sqrt(left * right) : 0;
}

/// One round of averaging with both neighbours.
std::vector<double> smoothed(const std::vector<double>& curve) {
  std::vector<double> result(curve.size());
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const auto from = i == 0 ? 0 : i - 1, to = std::min(curve.size(), i + 2);
    double sum = 0;
    for (auto at = from; at < to; ++at) sum += curve[at];
    result[i] = sum / static_cast<double>(to - from);
  }
  return result;
}

/// How far the curve rises on both sides of each place before it falls again.
std::vector<double> depths_of(const std::vector<double>& curve) {
  const auto count = curve.size();
  std::vector<double> left(curve), right(curve), depths(count);
  for (std::size_t i = 1; i < count; ++i)
    if (curve[i - 1] >= curve[i]) left[i] = left[i - 1];
  for (auto i = count; i-- > 1;)
    if (curve[i] >= curve[i - 1]) right[i - 1] = right[i];
  for (std::size_t i = 0; i < count; ++i) depths[i] = left[i] + right[i] - 2 * curve[i];
  return depths;
}

/// The valleys that are deep enough, deepest first.
std::vector<Valley> valleys_of(const std::vector<WordSequence>& sequences) {
  std::vector<double> curve;
  for (std::size_t gap = 1; gap < sequences.size(); ++gap)
    curve.push_back(block_cosine(sequences, gap));
  curve = smoothed(curve);
  const auto depths = depths_of(curve);
  double sum = 0, squares = 0;
  for (const auto depth : depths) sum += depth, squares += depth * depth;
  const auto mean = sum / static_cast<double>(depths.size());
  const auto deviation =
      std::sqrt(std::max(0.0, squares / static_cast<double>(depths.size()) - mean * mean));
  const auto cutoff = std::max(kMinDepth, mean - deviation / 2);
  std::vector<Valley> valleys;
  for (std::size_t i = 0; i < depths.size(); ++i) {
    const bool is_bottom =
        (i == 0 || curve[i] <= curve[i - 1]) && (i + 1 == curve.size() || curve[i] <= curve[i + 1]);
    if (is_bottom && depths[i] > cutoff) valleys.push_back({i + 1, depths[i]});
  }
  std::stable_sort(valleys.begin(), valleys.end(),
                   [](const Valley& a, const Valley& b) { return a.depth > b.depth; });
  return valleys;
}

/// The words that begin a paragraph, or a sentence where there is one paragraph only; not the
/// first word.
std::vector<std::size_t> possible_borders(std::string_view prose,
                                          const std::vector<Token>& tokens) {
  std::vector<std::size_t> paragraphs, sentences;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const auto gap = prose.substr(tokens[i - 1].end, tokens[i].begin - tokens[i - 1].end);
    const auto breaks =
        std::count_if(gap.begin(), gap.end(), [](char c) { return c == '\n' || c == kHardBreak; });
    if (breaks > 1) paragraphs.push_back(i);
    if (tokens[i].sentence != tokens[i - 1].sentence) sentences.push_back(i);
  }
  return paragraphs.empty() ? sentences : paragraphs;
}

std::size_t nearest_border(const std::vector<std::size_t>& borders, std::size_t word) {
  const auto behind = std::lower_bound(borders.begin(), borders.end(), word);
  if (behind == borders.begin()) return *behind;
  const auto before = *(behind - 1);
  return behind == borders.end() || word - before <= *behind - word ? before : *behind;
}

bool keeps_apart(const std::vector<std::size_t>& chosen, std::size_t border) {
  return std::all_of(chosen.begin(), chosen.end(), [&](std::size_t other) {
    const auto words = other < border ? border - other : other - border;
    return words >= kMinTileSequences * kSequenceWords;
  });
}

}  // namespace

std::vector<TextTile> text_tiles(std::string_view prose, std::size_t begin, std::size_t end,
                                 std::size_t most) {
  const auto text = prose.substr(begin, end - begin);
  const auto tokens = tokenize(text);
  if (tokens.empty() || most == 0) return {};
  const auto sequences = sequences_of(tokens);
  const auto borders = possible_borders(text, tokens);
  std::vector<std::size_t> chosen = {0, tokens.size()};  // words; no tile is too short at an end
  if (!borders.empty() && sequences.size() >= 2 * kMinTileSequences)
    for (const auto& valley : valleys_of(sequences)) {
      if (chosen.size() > most) break;
      const auto border = nearest_border(borders, valley.sequence * kSequenceWords);
      if (keeps_apart(chosen, border)) chosen.push_back(border);
    }
  std::sort(chosen.begin(), chosen.end());
  std::vector<TextTile> tiles;
  for (std::size_t i = 0; i + 1 < chosen.size(); ++i) {
    const bool is_last = i + 2 == chosen.size();
    tiles.push_back(
        {i == 0 ? begin : tiles.back().end, is_last ? end : begin + tokens[chosen[i + 1]].begin});
  }
  return tiles;
}

}  // namespace indx
