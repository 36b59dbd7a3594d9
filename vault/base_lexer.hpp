#pragma once
#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Internal to `vault/base_*`: one token of an expression.
struct BaseToken {
  enum class Kind : std::uint8_t { End, Number, Text, Regexp, Name, Symbol };
  Kind kind = Kind::End;
  std::string text;  ///< of a Text unescaped, of a Regexp the pattern
  std::string flags;
  double number = 0;
  std::size_t at = 0;
};

/// The tokens, ended by one of kind End.
Result<std::vector<BaseToken>> lex_base_expression(std::string_view source);

/// `validation_failed` with {offset, line, column} of a place in the source.
Error base_syntax_error(std::string_view source, std::size_t at, std::string message);

}  // namespace indx
