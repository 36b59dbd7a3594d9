#include "store/file_index.hpp"

#include "base/unicode.hpp"
#include "store/note_filter.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr int kMaxFileRows = 1000;

bool has_extension(const std::string& path, const std::vector<std::string>& extensions) {
  if (extensions.empty()) return true;
  const auto dot = path.rfind('.');
  if (dot == path.npos || path.find('/', dot) != path.npos) return false;
  return std::find(extensions.begin(), extensions.end(), to_lower(path.substr(dot + 1))) !=
         extensions.end();
}

}  // namespace

Result<Page<FileIndex::Row>> FileIndex::list(const NoteFilter& filter,
                                             const std::vector<std::string>& extensions, int limit,
                                             const std::string& cursor) {
  INDX_TRY(check_limit(limit, kMaxFileRows));
  const auto hash = filter_hash(filter, {{"files", extensions}});
  std::string after;
  if (!cursor.empty()) {
    const auto position = INDX_TRY(decode_cursor(cursor, hash)).value("k", Json());
    if (!position.is_string())
      return invalid("The cursor is damaged; start again without it.", {{"field", "cursor"}});
    after = position.get<std::string>();
  }
  const auto db = INDX_TRY(pool_.take());
  const auto check = INDX_TRY(FilterCheck::make(*db, filter));
  Page<Row> page;
  auto query = db->prepare(
      "SELECT path, etag, size, mtime_ns FROM files WHERE kind<>1 AND path>?1 AND path>=?2 ORDER "
      "BY path");
  query.bind(after, check.path_prefix());
  while (INDX_TRY(query.step())) {
    auto path = query.text(0);
    if (!path.starts_with(check.path_prefix())) break;
    if (!check.allows_path(path) || !has_extension(path, extensions)) continue;
    if (page.rows.size() == static_cast<std::size_t>(limit)) {
      page.next_cursor = encode_cursor({{"k", page.rows.back().path}}, hash);
      break;
    }
    page.rows.push_back({std::move(path), query.text(1), query.integer(2),
                         from_millis(query.integer(3) / 1'000'000)});
  }
  return page;
}

Result<std::optional<std::string>> FileIndex::etag(const std::string& path, std::int64_t size,
                                                   std::int64_t mtime_ns) {
  const auto db = INDX_TRY(pool_.take());
  auto query =
      db->prepare("SELECT etag FROM files WHERE path=?1 AND size=?2 AND mtime_ns=?3 AND etag<>''");
  query.bind(path, size, mtime_ns);
  if (!INDX_TRY(query.step())) return std::optional<std::string>();
  return std::optional<std::string>(query.text(0));
}

}  // namespace indx
