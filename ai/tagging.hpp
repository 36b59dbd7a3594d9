#pragma once
#include "ai/evidence.hpp"
#include "ai/provider.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

using TagEvidence = Evidence;
/// A tag for one note with the lines that support it.
struct TagSuggestion {
  std::string tag;        ///< normalised, without `#`
  double confidence = 0;  ///< 0..1
  bool is_new = false;    ///< not yet used in the vault
  std::string rationale;  ///< one sentence; `extractive: …` names the method
  std::vector<TagEvidence> evidence;
};

/// What a tagger may know of one note and its vault.
struct VocabularyTag {
  std::string tag;  ///< vault spelling
  int count = 0;
};
struct Neighbour {
  std::string path;
  double similarity = 0;  ///< cosine of TF-IDF vectors, 0..1
  std::vector<std::string> tags;
};
struct TagOptions {
  bool use_existing = true, allow_new = true;
  std::vector<std::string> candidates, forbid;
  std::string namespace_prefix;  ///< new tags become `<namespace>/<tag>`
  int max_per_note = 5;
  double min_confidence = 0.6;
  std::string language;  ///< empty: that of the note
};
struct TagTask {
  std::string path, title;
  std::string bytes;  ///< the whole file
  std::vector<std::string> current_tags;
  std::vector<VocabularyTag> vocabulary;
  std::optional<std::vector<Neighbour>> neighbours;  ///< nullopt: the nearest of all notes
  TagOptions options;
};

/// What came out, with a warning for each dropped suggestion (`tag_invalid`,
/// `tag_below_threshold`), and from a model for each false quote (`citation_invalid`) and tag
/// without a true one (`ungrounded_dropped`).
struct TagReply {
  std::vector<TagSuggestion> tags;  ///< best first
  std::vector<Json> warnings;       ///< `{code, path, key?, reason}`
  std::string source = "model";     ///< model | extractive
};

/// Rule C54: strips `#`, lowers unless the vault spells it in mixed case, checks the characters;
/// empty: no tag.
std::string normalize_tag(std::string_view raw, const std::vector<VocabularyTag>& vocabulary);

/// Applies the options to raw suggestions: normalises, drops tags that are on the note, forbidden,
/// outside the candidates or below the threshold, sorts and cuts.
TagReply select_tags(const TagTask& task, std::vector<TagSuggestion> suggestions,
                     std::vector<Json> warnings = {});

/// The prompt for a model and the reading of its answer. Quotes that are not in the note are
/// dropped with their tag's evidence; a tag outside `candidates` (when given) is dropped.
GenerateRequest tagging_prompt(const TagTask& task, const AiConfig& config, std::int64_t seed,
                               int max_tokens = 0);
Result<TagReply> parse_tagging_reply(const TagTask& task, const GenerateReply& reply);

}  // namespace indx
