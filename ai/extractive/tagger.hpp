#pragma once
#include "ai/extractive/corpus.hpp"
#include "ai/tagging.hpp"

namespace indx {

/// Tags without a model (builtin-ai.md section 4): the vault's own vocabulary first, by the
/// similarity-weighted vote of the nearest notes and by phrases that match an existing tag; then
/// new tags from phrases ranked by YAKE (Campos et al. 2020) fused with TF-IDF by reciprocal rank.
/// Deterministic; every tag is supported by quoted text.
TagReply extractive_tags(const TagTask& task, const Corpus& corpus);

/// A phrase of one to three words between stop words, with its score (smaller is better) and first
/// position.
struct Keyphrase {
  std::string text;  ///< as first written
  std::string folded;
  double score = 0;
  std::size_t begin = 0, end = 0;  ///< bytes in `text`
};
std::vector<Keyphrase> yake_keyphrases(std::string_view text, std::size_t limit);

}  // namespace indx
