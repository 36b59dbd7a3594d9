#pragma once
#include "base/result.hpp"
#include "store/regex.hpp"
#include "vault/list_query.hpp"

#include <memory>
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
  std::vector<std::string> spelled;  ///< `words` as written
  bool has_case = false;             ///< the raw text must hold `spelled`
  bool is_body_only = false;         ///< not in titles, aliases and headings
};

/// A parsed query (vault-rules 7.2).
struct QueryNode {
  /// Line to Task: one such piece of the note holds all children. Pattern: the text matches.
  enum class Kind : std::uint8_t {
    Text,
    Tag,
    Path,
    File,
    Property,
    And,
    Or,
    Not,
    Line,
    Block,
    Section,
    Task,
    Pattern
  };
  enum class Compare : std::uint8_t { Holds, Less, LessOrEqual, Greater, GreaterOrEqual };

  Kind kind = Kind::And;
  QueryText text;           ///< Text
  std::string name, value;  ///< Tag, Path, File: `value` (folded); Property: folded name and value
  bool has_value = false;   ///< Property: `[name:value]`
  Compare compare = Compare::Holds;      ///< Property
  TaskState tasks = TaskState::Any;      ///< Task
  std::shared_ptr<const Regex> pattern;  ///< Pattern, Path, File; shared: nodes are copied
  std::vector<QueryNode> children;       ///< And, Or, Line to Task; Not has one
};

inline constexpr std::size_t kMaxQueryBytes = 8192;
inline constexpr std::size_t kMaxQueryTerms = 256;

/// Words, "phrases", OR, -, parentheses, word*, /regex/, [prop], [prop:value], [prop:<5] and the
/// operators tag: path: file: content: line: block: section: task: task-todo: task-done:
/// match-case: ignore-case:. What is unknown or unbalanced is literal text. The result is an And.
/// A pattern that Regex does not take is literal text too, and then `*has_bad_pattern` is set.
/// Fails with `validation_failed` when empty or too long.
Result<QueryNode> parse_query(std::string_view q, bool* has_bad_pattern = nullptr);

/// Whether the node needs words to be found in texts; false for pure filters.
bool has_text(const QueryNode& node);
/// Whether it asks for one piece of a note: a line, block, section or task.
bool is_piece(const QueryNode& node);
/// Whether all that it asks for is about names (`path:`, `file:`), so that files without text can
/// be found; what is negated may be anything.
bool asks_only_names(const QueryNode& node);
/// The texts that a hit may show: all that are not negated.
void collect_texts(const QueryNode& node, std::vector<const QueryText*>& out);
/// As an FTS5 phrase; only for a text with words.
std::string fts_phrase(const QueryText& text);

}  // namespace indx
