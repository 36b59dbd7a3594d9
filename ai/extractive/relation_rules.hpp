#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// What is known of a pair of notes without a model. `source` and `other`: their names (file name
/// without `.md`) and the texts of their bodies.
struct RelationClues {
  std::string source_name, other_name;
  std::string source_folder, other_folder;
  std::string_view source_text, other_text;
  double similarity = 0;               ///< 0..1
  double words = 0;                    ///< cosine of TF-IDF vectors, 0..1
  std::vector<std::string> link_keys;  ///< properties of the source that link to the other
  bool links_to = false;               ///< the source's body links to the other
  bool names_it = false;               ///< the source names the other without a link
};
struct GuessedRelation {
  std::string relation;
  double confidence = 0;  ///< 0..1, fixed by the rule
  std::string rationale;  ///< one sentence; `extractive: …` names the rule
};

/// The relation that a rule gives with the most confidence, of those that may be given; nullopt:
/// none applies. Rules: a property such as `depends_on` that links (.95); texts that are equal or
/// nearly so (their cosine); a link in the body (.8); numbers or dates in otherwise equal names
/// (.7); a short text whose words nearly all stand in one three times as long (.6); a name that
/// begins with the other's, or a folder of its name (.6); a mention (.6); else the same topic (.3 +
/// .6 similarity). Only a property makes a contradiction. Confidences order the rules; they are no
/// measured probabilities.
std::optional<GuessedRelation> guess_relation(const RelationClues& clues,
                                              const std::vector<std::string>& labels);

}  // namespace indx
