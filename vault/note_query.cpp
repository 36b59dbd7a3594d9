#include "vault/note_query.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace indx {

bool PathScope::allows(std::string_view path) const {
  const auto matches = [&](const std::string& glob) { return glob_match(glob, path); };
  if (std::any_of(none_of.begin(), none_of.end(), matches)) return false;
  return any_of.empty() || std::any_of(any_of.begin(), any_of.end(), matches);
}

}  // namespace indx
