#pragma once
#include "ai/provider.hpp"
#include "ops/ai/ai_scope.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// The first step of a question: what may be read and cited for its answer.

/// A note that the search found.
struct AskHit {
  std::string path;
  double score = 0;
  std::vector<std::string> matched_in;
  static Fields<AskHit> fields();
};
/// A piece of a note at a version, bytes [begin, end).
struct AskChunk {
  std::string path, etag;
  std::size_t begin = 0, end = 0;
  std::vector<std::string> heading_path;
  static Fields<AskChunk> fields();
};
struct AskContext {
  std::string mode_used = "lexical";
  std::vector<AskHit> hits;      ///< best first
  std::vector<AskChunk> chunks;  ///< of them, those that matter most first
  std::vector<Json> warnings;
  static Fields<AskContext> fields();
};

struct AskCall {
  std::string question;
  std::vector<ChatMessage> history;  ///< oldest first
  std::string style, language;
  std::int64_t seed = 0;
  int max_tokens = 0;
  bool cite = true;
  AiScope scope;  ///< without `kind`: the whole vault
  std::string mode = "hybrid";
  std::size_t top_k = 8;
  Json filters = Json::object();
  Json key;  ///< what decides about the answer besides the context
};

/// The stored step `retrieve`: searches what AI and the caller may read, and chooses pieces of the
/// notes found, of each note its best ones. Notes that the scope names and the search did not find
/// join behind, as far as `top_k` goes. Without vectors it goes by words, with the warning
/// `embeddings_unavailable`; notes that would have been found but are hidden from AI are in
/// `globs_excluded`.
Result<AskContext> find_context(Context& ctx, const AskCall& call);

/// The words of a question, without what a search would take for an operator; empty: none.
std::string plain_question(std::string_view question);

}  // namespace indx
