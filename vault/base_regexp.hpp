#pragma once
#include "base/result.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace indx {

/// A regular expression of a base, in JavaScript's syntax as far as it can be matched in linear
/// time: look-around and references to groups are refused. A value; copies share the program.
class BaseRegexp {
 public:
  /// `flags`: any of `g i m s u y`. Fails with `validation_failed`.
  static Result<BaseRegexp> compile(std::string_view pattern, std::string_view flags);

  const std::string& pattern() const;
  const std::string& flags() const;
  bool matches(std::string_view text) const;  ///< anywhere in the text
  /// JavaScript's replace: the first match, or all with the flag `g`; `$1`, `$&` and `$$` work in
  /// `replacement`. Stops with `too_large` above `max_bytes`.
  Result<std::string> replace(std::string_view text, std::string_view replacement,
                              std::size_t max_bytes) const;

 private:
  struct Program;
  explicit BaseRegexp(std::shared_ptr<const Program> program);
  std::shared_ptr<const Program> program_;  // shared: values that hold it are copied
};

}  // namespace indx
