#include "store/index_check.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace indx {
namespace {

Error check_stopped() { return make_error(Reason::Cancelled, "The check was cancelled."); }

Result<std::vector<std::string>> names_of(Database& db, std::string_view sql) {
  auto query = db.prepare(sql);
  std::vector<std::string> names;
  while (INDX_TRY(query.step())) names.push_back(query.text(0));
  return names;
}

/// Every table but those that SQLite and FTS5 keep for themselves; `meta` says which index it is,
/// and vectors come from a model, not from the files.
Result<std::vector<std::string>> plain_tables(Database& db) {
  return names_of(
      db,
      "SELECT name FROM pragma_table_list WHERE schema='main' AND type='table' AND "
      "name NOT LIKE 'sqlite_%' AND name NOT IN ('meta', 'embedding_models', 'embeddings') "
      "ORDER BY name");
}

/// How a table is read so that two indexes can be compared: by paths instead of ids.
struct TableReading {
  std::string sql;                   ///< gives the path, then the columns, in order of paths
  std::string loose_sql;             ///< counts rows that belong to no file; empty: not asked
  std::vector<std::string> columns;  ///< without the path
};

/// A table belongs to files through a column `file_id`, `source_id` or, with one row a file, `id`;
/// `target_id` is a file as well.
Result<TableReading> reading_of(Database& db, const std::string& table) {
  std::vector<std::pair<std::string, std::int64_t>> all;  // name, place in the primary key or 0
  {
    auto query = db.prepare("SELECT name, pk FROM pragma_table_info(?1)");
    query.bind(table);
    while (INDX_TRY(query.step())) all.emplace_back(query.text(0), query.integer(1));
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return (a.second == 0 ? 99 : a.second) < (b.second == 0 ? 99 : b.second);
  });
  const auto owner = std::find_if(all.begin(), all.end(), [](const auto& column) {
    return column.first == "file_id" || column.first == "source_id" || column.first == "id";
  });
  TableReading reading;
  const bool is_files = table == "files";
  std::vector<std::string> selected, order;
  selected.push_back(is_files ? "t.path" : owner == all.end() ? "''" : "f.path");
  order.push_back("1");
  for (auto column = all.begin(); column != all.end(); ++column) {
    const auto& [name, key] = *column;
    if (column == owner || (is_files && name == "path")) continue;
    reading.columns.push_back(name);
    selected.push_back(name == "target_id" ? "(SELECT path FROM files WHERE id=t.target_id)"
                                           : cat("t.\"", name, "\""));
    if (key != 0 || owner == all.end()) order.push_back(std::to_string(selected.size()));
  }
  std::string from = cat("\"", table, "\" t");
  if (!is_files && owner != all.end()) {
    // Files first where their rows can be looked up, so that nothing has to be sorted.
    const auto on = cat("f.id=t.\"", owner->first, "\"");
    from = owner->second == 1 ? cat("files f CROSS JOIN ", from, " ON ", on)
                              : cat(from, " JOIN files f ON ", on);
    reading.loose_sql = cat("SELECT count(*) FROM \"", table, "\" t WHERE t.\"", owner->first,
                            "\" NOT IN (SELECT id FROM files)");
  }
  reading.sql =
      cat("SELECT ", join(selected, ", "), " FROM ", from, " ORDER BY ", join(order, ", "));
  return reading;
}

using CheckedRow = std::vector<std::optional<std::string>>;

/// The rows of one table, those of one path at a time.
class RowsByPath {
 public:
  RowsByPath(Database& db, const TableReading& reading)
      : query_(db.prepare(reading.sql)), columns_(static_cast<int>(reading.columns.size())) {}

  /// Moves to the next path; false at the end.
  Result<bool> next() {
    if (!is_started_) has_row_ = INDX_TRY(query_.step());
    is_started_ = true;
    rows_.clear();
    if (!has_row_) return false;
    path_ = query_.text(0);
    while (has_row_ && query_.text(0) == path_) {
      auto& row = rows_.emplace_back();
      for (int i = 1; i <= columns_; ++i) row.push_back(query_.optional_text(i));
      has_row_ = INDX_TRY(query_.step());
    }
    return true;
  }
  const std::string& path() const { return path_; }
  const std::vector<CheckedRow>& rows() const { return rows_; }

 private:
  Database::Statement query_;
  int columns_;
  bool is_started_ = false, has_row_ = false;
  std::string path_;
  std::vector<CheckedRow> rows_;
};

/// `3 rows instead of 4; first other: text`
std::string describe(const std::vector<CheckedRow>& is, const std::vector<CheckedRow>& must,
                     const TableReading& reading) {
  std::string out;
  if (is.size() != must.size()) out = cat(is.size(), " rows instead of ", must.size());
  const auto count = std::min(is.size(), must.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (is[i] == must[i]) continue;
    std::vector<std::string> names;
    for (std::size_t k = 0; k < reading.columns.size(); ++k)
      if (is[i][k] != must[i][k]) names.push_back(reading.columns[k]);
    return cat(out, out.empty() ? "" : "; ", "other values in ", join(names, ", "),
               is.size() > 1 ? cat(" of row ", i + 1) : "");
  }
  return out;
}

class TableComparison {
 public:
  TableComparison(const CancelToken& cancel, std::set<std::string>& one_sided,
                  const std::function<void(IndexDifference)>& visit)
      : cancel_(cancel), one_sided_(one_sided), visit_(visit) {}

  Status run(Database& actual, Database& expected, const std::string& table) {
    using Kind = IndexDifference::Kind;
    const auto reading = INDX_TRY(reading_of(expected, table));
    RowsByPath is(actual, reading), must(expected, reading);
    bool has_is = INDX_TRY(is.next()), has_must = INDX_TRY(must.next());
    while (has_is || has_must) {
      if (cancel_.is_cancelled()) return check_stopped();
      const bool takes_is = has_is && (!has_must || is.path() <= must.path());
      const bool takes_must = has_must && (!has_is || must.path() <= is.path());
      const auto& path = takes_is ? is.path() : must.path();
      const auto kind = !takes_is ? Kind::Missing : !takes_must ? Kind::Extra : Kind::Changed;
      if (table == "files" && kind != Kind::Changed) {
        one_sided_.insert(path);
        visit_({kind, path, table, ""});
      } else if (!one_sided_.contains(path)) {
        static const std::vector<CheckedRow> kNone;
        const auto &rows = takes_is ? is.rows() : kNone, &wanted = takes_must ? must.rows() : kNone;
        if (rows != wanted) visit_({Kind::Changed, path, table, describe(rows, wanted, reading)});
      }
      if (takes_is) has_is = INDX_TRY(is.next());
      if (takes_must) has_must = INDX_TRY(must.next());
    }
    if (reading.loose_sql.empty()) return {};
    auto loose = actual.prepare(reading.loose_sql);
    INDX_TRY(loose.step());
    if (loose.integer(0) > 0)
      visit_({Kind::Loose, "", table, cat(loose.integer(0), " rows belong to no file")});
    return {};
  }

 private:
  const CancelToken& cancel_;
  std::set<std::string>& one_sided_;
  const std::function<void(IndexDifference)>& visit_;
};

}  // namespace

Result<std::vector<std::string>> database_problems(Database& db) {
  std::vector<std::string> problems;
  auto whole = db.prepare("PRAGMA integrity_check(100)");
  while (INDX_TRY(whole.step()))
    if (auto line = whole.text(0); line != "ok") problems.push_back(std::move(line));
  auto keys = db.prepare("PRAGMA foreign_key_check");
  while (problems.size() < 100 && INDX_TRY(keys.step()))
    problems.push_back(
        cat("a row of ", keys.text(0), " names a row of ", keys.text(2), " that is not there"));
  return problems;
}

Status copy_index(const std::string& dir, const std::string& path) {
  auto db = INDX_TRY(Database::open(
      dir + "/index.db", {.read_only = true, .durability = Durability::Normal, .cache_kib = 4000}));
  auto copy = db.prepare("VACUUM INTO ?1");
  INDX_TRY(copy.bind(path).run());
  return {};
}

Result<std::vector<std::string>> full_text_problems(Database& copy) {
  std::vector<std::string> problems;
  const auto tables =
      INDX_TRY(names_of(copy,
                        "SELECT name FROM sqlite_master WHERE type='table' AND sql LIKE '%USING "
                        "fts5(%' ORDER BY name"));
  for (const auto& table : tables) {
    const auto checked = copy.execute(
        cat("INSERT INTO \"", table, "\"(\"", table, "\", rank) VALUES ('integrity-check', 1)"));
    if (!checked.has_value()) problems.push_back(cat(table, ": ", checked.error().message));
  }
  return problems;
}

Status compare_indexes(Database& actual, Database& expected, const CancelToken& cancel,
                       const std::function<void(IndexDifference)>& visit) {
  auto tables = INDX_TRY(plain_tables(expected));
  const auto there = INDX_TRY(plain_tables(actual));
  // Files first: of one that only one side knows, the other tables say nothing new.
  std::stable_partition(tables.begin(), tables.end(),
                        [](const std::string& name) { return name == "files"; });
  std::set<std::string> one_sided;
  TableComparison comparison(cancel, one_sided, visit);
  for (const auto& table : tables) {
    if (std::find(there.begin(), there.end(), table) == there.end())
      visit({IndexDifference::Kind::Loose, "", table, "the table is missing"});
    else
      INDX_TRY(comparison.run(actual, expected, table));
  }
  return {};
}

}  // namespace indx
