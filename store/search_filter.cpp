#include "store/search_filter.hpp"

#include <algorithm>
#include <optional>

namespace indx {
namespace {

/// From here on, one walk over all paths is cheaper than to look each up.
constexpr std::size_t kManyFound = 5000;

}  // namespace

Result<std::string> path_of(Database& db, std::int64_t id) {
  auto query = db.prepare("SELECT path FROM files WHERE id=?1");
  if (!INDX_TRY(query.bind(id).step())) return std::string();
  return query.text(0);
}

Result<FileIds> allowed_files(Database& db, const FilterCheck& check) {
  FileIds ids;
  auto query = db.prepare("SELECT id, path FROM files WHERE path>=?1 ORDER BY path");
  query.bind(check.path_prefix());
  while (INDX_TRY(query.step())) {
    const auto path = query.text(1);
    if (!path.starts_with(check.path_prefix())) break;
    if (check.allows_path(path)) ids.push_back(query.integer(0));
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Status apply_filter(Database& db, const FilterCheck& check, std::vector<Found>& found) {
  if (check.allows_everything()) return {};
  std::optional<FileIds> allowed;
  if (check.needs_path() && found.size() >= kManyFound)
    allowed = INDX_TRY(allowed_files(db, check));
  const auto is_allowed = [&](const Found& one) -> Result<bool> {
    if (!INDX_TRY(check.allows_id(one.id))) return false;
    if (allowed) return std::binary_search(allowed->begin(), allowed->end(), one.id);
    return !check.needs_path() || check.allows_path(INDX_TRY(path_of(db, one.id)));
  };
  auto kept = found.begin();
  for (const auto& one : found)
    if (INDX_TRY(is_allowed(one))) *kept++ = one;
  found.erase(kept, found.end());
  return {};
}

}  // namespace indx
