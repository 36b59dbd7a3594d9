#pragma once
#include "ai/evidence.hpp"
#include "ai/provider.hpp"
#include "ops/ai/ai_scope.hpp"
#include "ops/define.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// What the answers of AI operations have in common (rows C51, C61, D38, D55).

struct AiCitation {
  std::string path, etag;
  std::optional<std::string> anchor;
  std::optional<int> line;
  std::vector<std::size_t> span;
  std::string snippet;
  static Fields<AiCitation> fields();
};
AiCitation to_citation(const Evidence& evidence, const std::string& path, const std::string& etag);

/// The call of note_patch that would do what the operation found.
struct AiProposedPatch {
  std::string path, if_match;
  std::vector<JsonObject> ops;
  static Fields<AiProposedPatch> fields();
};

struct AiScopeView {
  std::string kind;
  std::size_t count = 0;
  std::vector<std::string> paths, excluded;
  std::optional<std::int64_t> total_tokens;
  static Fields<AiScopeView> fields();
};
AiScopeView to_view(const AiScope& asked, const ResolvedScope& found);

struct AiUsageView {
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::optional<double> cost_usd;
  std::string source = "estimated";
  /// Not shown: calls of the model, and answers that needed none for they were kept.
  std::int64_t model_calls = 0, cache_hits = 0;
  static Fields<AiUsageView> fields();
};

/// `{code, path, reason}`, as every warning about a note.
Json ai_warning(std::string_view code, const std::string& path, const std::string& reason);

/// An answer by note as a text for who watches: a line `- path: text` for each row with a text.
template <typename Row, typename TextOf>
std::string told_rows(const std::vector<Row>& rows, const TextOf& text_of) {
  std::string lines;
  for (const auto& row : rows) {
    const std::string text = text_of(row);
    if (text.empty()) continue;
    if (!lines.empty()) lines += '\n';
    lines += "- " + row.path + ": " + text;
  }
  return lines;
}
/// A value in such a line: a text as it is, else JSON.
std::string shown_value(const Json& value);

/// What one note, or one part of the work, cost; stored with its step, so that a resumed job counts
/// each call once.
struct AiCost {
  AiUsageView usage;
  int model_calls = 0;
  int cache_hits = 0;  ///< answers that needed no call
  static Fields<AiCost> fields();
  void add(const AiUsage& one);
};
/// The roll-up over all parts; `source` is `estimated` as soon as one part is. Where every answer
/// was kept, nothing was spent, which is known (row D51).
class AiTotal {
 public:
  void add(const AiCost& cost);
  const AiUsageView& usage() const { return usage_; }
  std::int64_t model_calls() const { return usage_.model_calls; }

 private:
  AiUsageView usage_;
  bool has_any_ = false;
};

}  // namespace indx
