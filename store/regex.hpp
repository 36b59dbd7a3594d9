#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace indx {

/// A regular expression in RE2's syntax: time is linear in the text, whatever the pattern. Upper
/// and lower case differ; `^` and `$` are borders of the text unless `(?m)`.
class Regex {
 public:
  /// nullptr for a pattern that RE2 does not know or finds too large.
  static std::shared_ptr<const Regex> compile(std::string_view pattern);
  ~Regex();
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  bool matches(std::string_view text) const;
  /// First match at or after `from`: begin and end.
  std::optional<std::pair<std::size_t, std::size_t>> find(std::string_view text,
                                                          std::size_t from) const;

 private:
  struct Impl;
  explicit Regex(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace indx
