#pragma once
#include "ai/provider.hpp"

#include <string>
#include <vector>

namespace indx {

/// How one note stands to another (row C37): `extends` says that the first extends the second.
const std::vector<std::string>& relation_labels();

/// A note in the question which relations there are.
struct RelationNote {
  std::string path, title;
  std::string id;    ///< hash of bytes that the text is part of
  std::string text;  ///< its beginning, as far as the caller lets it
};
/// A source with all its candidates: one call of the model.
struct RelationQuestion {
  RelationNote source;
  std::vector<RelationNote> candidates;
  std::vector<std::string> labels;  ///< those that may be given
  std::string language;             ///< of rationales; empty: that of the source
};

/// Texts are cut so that the prompt stays within ai.max_input_tokens; `ai_input_too_large` with
/// details {tokens} where even 32 tokens of each note do not fit.
Result<GenerateRequest> relation_prompt(const RelationQuestion& question, const AiConfig& config,
                                        std::int64_t seed, int max_tokens);

/// What a model says of one candidate.
struct ClaimedRelation {
  std::string path;           ///< of the candidate
  std::string relation;       ///< one of the asked labels
  double confidence = 0;      ///< 0..1
  std::string rationale;      ///< one or two sentences
  std::vector<Json> support;  ///< {path, snippet}
};
/// At most one a candidate, the first that fits; `none`, other labels and notes that were not asked
/// about are left out. `ai_provider_error` when the answer holds no list.
Result<std::vector<ClaimedRelation>> parse_relation_reply(const RelationQuestion& question,
                                                          const GenerateReply& reply);

}  // namespace indx
