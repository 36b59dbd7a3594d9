#include "actors/path_patterns.hpp"

#include "base/text.hpp"

namespace indx {

PathPatterns::PathPatterns(const std::vector<std::string>& patterns) {
  for (const auto& pattern : patterns) {
    const auto [name, is_new] = names_.emplace(pattern, false);
    if (is_new && pattern.find_first_of("*?[{\\") != pattern.npos) globs_.push_back(name);
  }
}

bool PathPatterns::matches(std::string_view path) {
  bool is_named = false;
  // The path itself, then each folder that it is in.
  for (auto end = path.size(); end != path.npos && end > 0; end = path.rfind('/', end - 1)) {
    const auto name = names_.find(path.substr(0, end));
    if (name != names_.end()) is_named = name->second = true;
  }
  for (const auto& glob : globs_)
    if (glob_match(glob->first, path)) is_named = glob->second = true;
  return is_named;
}

std::vector<std::string> PathPatterns::unmatched() const {
  std::vector<std::string> left;
  for (const auto& [name, has_matched] : names_)
    if (!has_matched) left.push_back(name);
  return left;
}

}  // namespace indx
