#pragma once
#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// A word or phrase of a query.
struct QueryText {
  std::vector<std::string>
      words;               ///< folded as the tokenizer does; empty: only punctuation or symbols
  bool is_prefix = false;  ///< the last word may go on
  std::vector<std::string>
      exact;  ///< folded pieces with punctuation that the raw text must hold (rule 7.5)
};

/// A parsed query (vault-rules 7.2).
struct QueryNode {
  enum class Kind : std::uint8_t { Text, Tag, Path, File, Property, And, Or, Not };

  Kind kind = Kind::And;
  QueryText text;           ///< Text
  std::string name, value;  ///< Tag, Path, File: `value` (folded); Property: folded name and value
  bool has_value = false;   ///< Property: `[name:value]`
  std::vector<QueryNode> children;  ///< And, Or; Not has one
};

inline constexpr std::size_t kMaxQueryBytes = 8192;
inline constexpr std::size_t kMaxQueryTerms = 256;

/// Words, "phrases", OR, -, parentheses, tag:, path:, file:, [prop], [prop:value], word*. What is
/// unknown or unbalanced is literal text. The result is an And. Fails with `validation_failed` when
/// empty or too long.
Result<QueryNode> parse_query(std::string_view q);

/// Whether the node needs words to be found in texts; false for pure filters.
bool has_text(const QueryNode& node);
/// The texts that a hit may show: all that are not negated.
void collect_texts(const QueryNode& node, std::vector<const QueryText*>& out);
/// As an FTS5 phrase; only for a text with words.
std::string fts_phrase(const QueryText& text);

}  // namespace indx
