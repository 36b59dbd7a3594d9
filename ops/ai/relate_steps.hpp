#pragma once
#include "ops/ai/ai_notes.hpp"
#include "ops/ai/relate_pool.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

/// One source with the notes that are related with it, as the checkpointed step stores it.

/// Why a note is a candidate, from the index.
struct RelateReason {
  std::string kind;                ///< words | meaning | links | linked | mention | tags | folder
  std::vector<std::string> items;  ///< words, notes between the two, tags, the folder
  std::optional<double> value;     ///< cosine of words or meaning, Adamic-Adar of links
  static Fields<RelateReason> fields();
};
struct RelatedEdge {
  std::string src_path, dst_path;
  double similarity = 0;
  std::optional<std::string> relation;
  std::optional<double> confidence;
  std::optional<std::string> rationale;
  std::vector<AiCitation> evidence;
  std::vector<RelateReason> reasons;
  double score = 0;
  static Fields<RelatedEdge> fields();
};
/// By confidence, similarity (both falling), path of the other note, path of the source (row C45).
bool edge_comes_first(const RelatedEdge& a, const RelatedEdge& b);

/// A draft; the runtime never applies it.
struct RelatePatch {
  std::string path, if_match;
  std::vector<JsonObject> ops;
  std::string reason;
  std::vector<std::string> related_to;
  static Fields<RelatePatch> fields();
};

struct RelateCall {
  RelateMode mode = RelateMode::Hybrid;
  std::size_t top_k = 10;
  bool labels = true;  ///< relations are wanted: of the model, or of rules where there is none
  std::vector<std::string> relations;  ///< those that may be given
  std::optional<double> threshold;
  bool propose_links = false, cite = true;
  std::string language;
  std::int64_t seed = 0;
  int max_tokens = 0;  ///< 0: as configured
};
struct RelateResult {
  std::vector<RelatedEdge> edges;  ///< sorted
  std::optional<RelatePatch> patch;
  std::vector<Json> warnings;
  AiCost cost;
  static Fields<RelateResult> fields();
};

/// The notes related with one source: candidates from the index, then one model call about all of
/// them, or rules (rows C42, C43). Runs in a lane. Reads the source and at most `top_k` other
/// notes.
Result<RelateResult> relate_note(Context& lane, const ScopedNote& scoped, const RelateCall& call,
                                 const RelateGround& ground);

}  // namespace indx
