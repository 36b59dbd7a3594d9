#include "vault/conflict_copy.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>

namespace indx {
namespace {

bool has_digit_run(std::string_view text, std::size_t length) {
  std::size_t run = 0;
  for (const char c : text) {
    run = c >= '0' && c <= '9' ? run + 1 : 0;
    if (run >= length) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> original_of_conflict_copy(std::string_view path) {
  const auto slash = path.rfind('/');
  const auto folder = slash == path.npos ? std::string_view() : path.substr(0, slash + 1);
  const auto name = path.substr(folder.size());
  const auto dot = name.rfind('.');
  const auto stem = name.substr(0, dot);
  const auto extension = dot == name.npos ? std::string_view() : name.substr(dot);

  if (const auto at = stem.find(".sync-conflict-"); at != stem.npos && at > 0) {
    const auto rest = stem.substr(at + std::string_view(".sync-conflict-").size());
    if (rest.size() >= 15 && has_digit_run(rest.substr(0, 8), 8) && rest[8] == '-')
      return cat(folder, stem.substr(0, at), extension);
  }
  const auto open = stem.rfind('(');
  if (open == stem.npos || open == 0 || !stem.ends_with(')')) return std::nullopt;
  const auto inside = to_lower(stem.substr(open + 1));
  // A year tells the mark of a tool from a title such as `Notes (conflict)`.
  if ((inside.starts_with("conflict") || inside.find("conflicted copy") != inside.npos) &&
      has_digit_run(inside, 4))
    return cat(folder, trim(stem.substr(0, open)), extension);
  return std::nullopt;
}

}  // namespace indx
