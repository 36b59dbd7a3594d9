#pragma once
#include "ai/evidence.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace indx {

/// Which notes are related with a note, without a model: plain functions over what the index tells.

enum class RelateMode : std::uint8_t { Semantic, Lexical, Hybrid };

/// A note that may be related with the source.
struct RelateCandidate {
  std::string path;
  double words = 0;               ///< cosine of log-TF-IDF vectors, 0..1
  std::optional<double> meaning;  ///< cosine of embeddings, -1..1; nullopt: not among the nearest
  double links = 0;               ///< Adamic-Adar over links in either direction
  bool is_mentioned = false;      ///< one of the two names the other without a link
  bool is_same_folder = false;
};
struct RankedCandidate {
  std::size_t index = 0;
  double score = 0;       ///< the mix; comparable within one source only
  double similarity = 0;  ///< 0..1: the larger of the cosines that the mode looks at
};

/// Hybrid: z(words) + .3 z(meaning) + .5 z(links), each standardised over the candidates, + 1 for a
/// mention + .5 for a note of the same folder. The first three weights were set by link prediction
/// on 173 notes, the others on two vaults of 205; standardising over some hundred candidates
/// instead of the whole vault cost nothing there, and keeps the scale when the vault grows. A
/// candidate that is not among the nearest counts as near as the last that is. Lexical leaves
/// meaning out; semantic goes by meaning alone. Best first, ties by path, at most `most`.
/// Adamic-Adar: Adamic and Adar 2003, Liben-Nowell and Kleinberg 2007.
std::vector<RankedCandidate> rank_related(const std::vector<RelateCandidate>& candidates,
                                          RelateMode mode, std::size_t most);

/// What two notes have in common as neighbours in the graph of links.
struct LinkOverlap {
  double value = 0;              ///< sum of 1 / ln(degree) over the shared neighbours
  std::vector<std::string> via;  ///< them, those that count most first, ties by path
};
/// For every other note with a neighbour that the source has too. `links`: all links of the
/// source's neighbours, in any direction and order. O(links · log).
std::map<std::string, LinkOverlap> adamic_adar(
    const std::string& source, const std::vector<std::pair<std::string, std::string>>& links);

/// Names of notes, to be found in a text as whole words whatever the case.
class NoteNames {
 public:
  /// Ignored when it would stand in any text: shorter than three characters, or a stop word.
  void add(const std::string& path, std::string_view name);
  /// Paths of the notes that the text names, sorted; a name that more than three notes have tells
  /// nothing. O(words · longest name), whatever the number
  /// of names. In a script without spaces a run counts as one word.
  std::vector<std::string> find(std::string_view text) const;

 private:
  std::unordered_map<std::string, std::vector<std::string>> paths_;  ///< by folded words
  std::size_t longest_ = 0;                                          ///< words
};

/// The sentence of the note's prose that holds most of the words, those listed first counting more;
/// nullopt: it holds none. Words as `content_words` gives them.
std::optional<Evidence> sentence_with(std::string_view bytes,
                                      const std::vector<std::string>& words);

}  // namespace indx
