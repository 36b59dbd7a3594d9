#include "store/list_index.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/columns.hpp"
#include "store/note_filter.hpp"
#include "store/tokenizer.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_map>

namespace indx {
namespace {

constexpr int kMaxRows = 1000;

Error damaged_cursor() {
  return invalid("The cursor is damaged; start again without it.", {{"field", "cursor"}});
}

/// A page position of two parts, a number and a text.
struct ListPosition {
  std::int64_t number = 0;
  std::string text;
};
Result<std::optional<ListPosition>> read_position(const std::string& cursor,
                                                  const std::string& hash) {
  if (cursor.empty()) return std::optional<ListPosition>();
  const auto json = INDX_TRY(decode_cursor(cursor, hash));
  const auto number = json.value("n", Json()), text = json.value("k", Json());
  if (!number.is_number_integer() || !text.is_string()) return damaged_cursor();
  return std::optional(ListPosition{number.get<std::int64_t>(), text.get<std::string>()});
}
std::string write_position(std::int64_t number, const std::string& text, const std::string& hash) {
  return encode_cursor({{"n", number}, {"k", text}}, hash);
}

/// Which files the caller may see, asked once for each.
class VisibleFiles {
 public:
  VisibleFiles(Database& db, const FilterCheck& check) : db_(db), check_(check) {}
  Result<bool> shows(std::int64_t id) {
    if (const auto known = seen_.find(id); known != seen_.end()) return known->second;
    bool is_shown = INDX_TRY(check_.allows_id(id));
    if (is_shown && check_.needs_path()) {
      auto query = db_.prepare("SELECT path FROM files WHERE id=?1");
      is_shown = INDX_TRY(query.bind(id).step()) && check_.allows_path(query.text(0));
    }
    seen_.emplace(id, is_shown);
    return is_shown;
  }

 private:
  Database& db_;
  const FilterCheck& check_;
  std::unordered_map<std::int64_t, bool> seen_;
};

/// One page of rows that were counted whole: most used first, ties by their key.
template <typename Row>
Page<Row> page_of(std::vector<std::pair<std::string, Row>> rows,
                  const std::optional<ListPosition>& after, int limit, const std::string& hash) {
  const auto comes_before = [](const auto& a, const auto& b) {
    return std::tie(b.second.count, a.first) < std::tie(a.second.count, b.first);
  };
  std::sort(rows.begin(), rows.end(), comes_before);
  auto at = rows.begin();
  if (after) {
    std::pair<std::string, Row> last{after->text, Row()};
    last.second.count = after->number;
    at = std::upper_bound(rows.begin(), rows.end(), last, comes_before);
  }
  Page<Row> page;
  std::string last_key;
  for (; at != rows.end(); ++at) {
    if (page.rows.size() == static_cast<std::size_t>(limit)) {
      page.next_cursor = write_position(page.rows.back().count, last_key, hash);
      break;
    }
    last_key = at->first;
    page.rows.push_back(std::move(at->second));
  }
  return page;
}

/// As the index keeps times; those out of its reach become the first or the last that it can hold.
std::int64_t nanoseconds_of(Timestamp time) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max() / 1'000'000;
  return std::clamp(to_millis(time), -kLast, kLast) * 1'000'000;
}

bool is_unfiltered(const NoteFilter& filter) {
  return filter.path_glob.empty() && filter.tags.empty() && filter.frontmatter.empty() &&
         !filter.scope.restricts() && !filter.narrower.restricts() && !filter.only;
}

}  // namespace

Result<Page<TaskRow>> ListIndex::tasks(const TaskFilter& filter, int limit,
                                       const std::string& cursor) {
  INDX_TRY(check_limit(limit, kMaxRows));
  const auto hash = filter_hash(
      filter.notes,
      {{"tasks", static_cast<int>(filter.state)}, {"mark", filter.mark}, {"text", filter.text}});
  const auto after = INDX_TRY(read_position(cursor, hash));
  const auto wanted = fold_for_search(trim(filter.text));
  const auto db = INDX_TRY(pool_.take());
  const auto check = INDX_TRY(FilterCheck::make(*db, filter.notes));
  const auto& prefix = check.path_prefix();
  Page<TaskRow> page;
  // Walks the files that have tasks in path order and ends with the page.
  auto query = db->prepare(
      "SELECT f.id, f.path, t.line, t.mark, t.text, t.heading FROM files f CROSS JOIN tasks t ON "
      "t.file_id=f.id WHERE f.task_count>0 AND f.path>=?1 ORDER BY f.path, t.position");
  query.bind(std::max(after ? after->text : std::string(), prefix));
  std::string path;
  bool is_shown = false;
  while (INDX_TRY(query.step())) {
    if (auto next = query.text(1); next != path) {
      path = std::move(next);
      if (!path.starts_with(prefix)) break;
      is_shown = check.allows_path(path) && INDX_TRY(check.allows_id(query.integer(0)));
    }
    if (!is_shown) continue;
    const auto line = query.integer(2);
    if (after && path == after->text && line <= after->number) continue;
    TaskRow row{path, query.text(3), query.text(4), false, static_cast<int>(line), query.text(5)};
    row.is_done = row.mark != " ";
    if (filter.state != TaskState::Any && row.is_done != (filter.state == TaskState::Done))
      continue;
    if (!filter.mark.empty() && row.mark != filter.mark) continue;
    if (!wanted.empty() && fold_for_search(row.text).find(wanted) == std::string::npos) continue;
    if (page.rows.size() == static_cast<std::size_t>(limit)) {
      page.next_cursor = write_position(page.rows.back().line, page.rows.back().path, hash);
      break;
    }
    page.rows.push_back(std::move(row));
  }
  return page;
}

Result<Page<PropertySummary>> ListIndex::properties(const PathScope& scope,
                                                    const std::string& prefix, int limit,
                                                    const std::string& cursor) {
  INDX_TRY(check_limit(limit, kMaxRows));
  NoteFilter filter;
  filter.scope = scope;
  const auto start = fold_case(prefix);
  const auto hash = filter_hash(filter, {{"properties", start}});
  const auto after = INDX_TRY(read_position(cursor, hash));
  const auto db = INDX_TRY(pool_.take());
  const auto check = INDX_TRY(FilterCheck::make(*db, filter));
  VisibleFiles visible(*db, check);
  const bool sees_all = is_unfiltered(filter);

  std::vector<std::pair<std::string, PropertySummary>> rows;
  std::map<std::string, std::int64_t> spellings;
  const auto end_row = [&] {
    if (rows.empty()) return;
    std::int64_t most = 0;
    for (const auto& [name, count] : spellings)
      if (count > most) most = count, rows.back().second.name = name;
    if (rows.back().second.count == 0) rows.pop_back();
    spellings.clear();
  };
  auto query = db->prepare(
      sees_all ? "SELECT name_key, name, type, count(*), 0 FROM properties WHERE name_key>=?1 "
                 "GROUP BY name_key, name, type"
               : "SELECT name_key, name, type, 1, file_id FROM properties WHERE name_key>=?1 ORDER "
                 "BY name_key");
  query.bind(start);
  while (INDX_TRY(query.step())) {
    auto key = query.text(0);
    if (!key.starts_with(start)) break;
    if (rows.empty() || rows.back().first != key) {
      end_row();
      rows.emplace_back(std::move(key), PropertySummary());
    }
    if (!sees_all && !INDX_TRY(visible.shows(query.integer(4)))) continue;
    auto& row = rows.back().second;
    row.count += query.integer(3);
    row.types[query.text(2)] += query.integer(3);
    spellings[query.text(1)] += query.integer(3);
  }
  end_row();
  return page_of(std::move(rows), after, limit, hash);
}

Result<Page<PropertyValue>> ListIndex::values(const std::string& name, const NoteFilter& filter,
                                              int limit, const std::string& cursor) {
  INDX_TRY(check_limit(limit, kMaxRows));
  const auto key = fold_case(name);
  const auto hash = filter_hash(filter, {{"values", key}});
  const auto after = INDX_TRY(read_position(cursor, hash));
  const auto db = INDX_TRY(pool_.take());
  const auto check = INDX_TRY(FilterCheck::make(*db, filter));
  VisibleFiles visible(*db, check);
  const bool sees_all = is_unfiltered(filter);
  std::unordered_map<std::string, std::int64_t> counts;  // by the value's JSON
  const auto add = [&](const std::string& value, std::int64_t count) {
    if (!value.starts_with('[')) {
      counts[value] += count;
      return;
    }
    std::set<std::string> items;  // an item counts once a note
    for (const auto& item : json_value(value)) items.insert(json_text(item));
    for (const auto& item : items) counts[item] += count;
  };
  auto query = db->prepare(sees_all ? "SELECT value, count(*), 0 FROM properties WHERE name_key=?1 "
                                      "GROUP BY value"
                                    : "SELECT value, 1, file_id FROM properties WHERE name_key=?1");
  query.bind(key);
  while (INDX_TRY(query.step()))
    if (sees_all || INDX_TRY(visible.shows(query.integer(2)))) add(query.text(0), query.integer(1));
  std::vector<std::pair<std::string, PropertyValue>> rows;
  for (auto& [text, count] : counts) {
    auto value = json_value(text);
    const std::string type(property_type("", value));
    rows.emplace_back(text, PropertyValue{std::move(value), type, count});
  }
  return page_of(std::move(rows), after, limit, hash);
}

Result<Page<NoteRow>> ListIndex::recent(const NoteFilter& filter, const TimeSpan& span, int limit,
                                        const std::string& cursor) {
  INDX_TRY(check_limit(limit, kMaxRows));
  const auto hash =
      filter_hash(filter, {{"recent", to_millis(span.since)}, {"until", to_millis(span.until)}});
  const auto after = INDX_TRY(read_position(cursor, hash));
  const auto db = INDX_TRY(pool_.take());
  const auto check = INDX_TRY(FilterCheck::make(*db, filter));
  Page<NoteRow> page;
  std::int64_t last = 0;
  auto query = db->prepare(cat(kNoteRowColumns,
                               "WHERE kind=1 AND mtime_ns>=?1 AND (mtime_ns, path)<(?2, ?3) ORDER "
                               "BY mtime_ns DESC, path DESC"));
  query.bind(nanoseconds_of(span.since), after ? after->number : nanoseconds_of(span.until),
             after ? after->text : std::string());
  while (INDX_TRY(query.step())) {
    if (!check.allows_path(query.text(1)) || !INDX_TRY(check.allows_id(query.integer(0)))) continue;
    if (page.rows.size() == static_cast<std::size_t>(limit)) {
      page.next_cursor = write_position(last, page.rows.back().path, hash);
      break;
    }
    last = query.integer(5);
    page.rows.push_back(INDX_TRY(note_row_of(*db, query)));
  }
  return page;
}

}  // namespace indx
