#pragma once
#include "base/result.hpp"
#include "vault/base_regexp.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// One node of an expression of a base (vault-rules 8.6).
struct BaseNode {
  enum class Kind : std::uint8_t {
    Null,
    Boolean,  ///< `number` is 0 or 1
    Number,   ///< never negative: a minus is a Unary
    Text,
    Regexp,  ///< `text` is the pattern, `flags` its flags
    List,    ///< children: items
    Object,  ///< children: values; `keys` belong to them
    Name,    ///< a bare word
    Unary,   ///< `text` is `!` or `-`
    Binary,  ///< `text` is the operator
    Member,  ///< children: object; `text` is the field
    Index,   ///< children: object, key
    Call     ///< children: arguments, after the receiver if `is_method`; `text` is the function
  };
  Kind kind = Kind::Null;
  bool is_method = false;
  double number = 0;
  std::string text, flags;
  std::vector<std::string> keys;
  std::optional<BaseRegexp> regexp;
  std::size_t at = 0;  ///< byte offset in the source
  int height = 1;      ///< levels of the tree from here
  std::vector<BaseNode> children;

  /// Equal in meaning: positions do not count.
  bool operator==(const BaseNode& other) const;
};

inline constexpr std::size_t kMaxBaseExpressionBytes = 64U << 10U;
inline constexpr int kMaxBaseDepth = 100;   ///< of parentheses, lists and arguments
inline constexpr int kMaxBaseHeight = 400;  ///< of the tree: chains of operators and fields

/// Reads one expression. Fails with `validation_failed` and details {offset, line, column} (line
/// and column from 1, column in bytes), also for a function that no type has and for a regular
/// expression that cannot be compiled.
Result<BaseNode> parse_base_expression(std::string_view source);

/// A source that parses to an equal tree.
std::string print_base_expression(const BaseNode& node);

/// Whether a text can stand as a bare name or after a dot.
bool is_base_identifier(std::string_view text);

/// Calls `visit` for the node and everything below it.
template <typename Visit>
void walk_base_expression(const BaseNode& node, const Visit& visit) {
  visit(node);
  for (const auto& child : node.children) walk_base_expression(child, visit);
}

}  // namespace indx
