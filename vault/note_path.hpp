#pragma once
#include "base/result.hpp"

#include <compare>
#include <string>
#include <string_view>

namespace indx {

/// A normalised vault-relative path that cannot point outside the vault: `/` separators, NFC, no
/// leading slash, no `.` or `..` segment, never empty (vault-rules 1.3, 1.4).
class NotePath {
 public:
  /// The only way to make one from input. Fails with `validation_failed`.
  static Result<NotePath> parse(std::string_view input);

  const std::string& str() const { return path_; }
  std::string_view name() const;       ///< last segment: `Plan.md`
  std::string_view stem() const;       ///< `Plan` for notes, the full name for other files
  std::string_view folder() const;     ///< `a/b`, empty at the root
  std::string_view extension() const;  ///< lower-case is not applied: `md`, empty if none
  bool is_note() const;                ///< ends in `.md`, in any case
  /// Whether rule 1.7 hides it: dot segments, node_modules, editor temp files…
  bool is_ignored() const;
  /// Rule 1.5: whether a file of this name may be created or moved to. The error names the bad
  /// part.
  Status check_creatable() const;

  auto operator<=>(const NotePath&) const = default;

 private:
  explicit NotePath(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Rule 1.7 for one path segment.
bool is_ignored_segment(std::string_view segment);

}  // namespace indx
