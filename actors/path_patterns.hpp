#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Which files a list of files, folders and globs names. A long list of names costs no more than a
/// short one; each glob is tried on each path.
class PathPatterns {
 public:
  explicit PathPatterns(const std::vector<std::string>& patterns);

  /// Remembers which patterns named something.
  bool matches(std::string_view path);
  /// Those that named nothing so far, sorted.
  std::vector<std::string> unmatched() const;

 private:
  using Names = std::map<std::string, bool, std::less<>>;  // whether it named something
  Names names_;                                            // a name may look like a glob
  std::vector<Names::iterator> globs_;
};

}  // namespace indx
