#include "store/base_candidates.hpp"

#include "store/columns.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace indx {
namespace {

using By = BaseCondition::By;
using Conditions = std::vector<std::size_t>;  // of the prefilter, by number

constexpr std::string_view kColumn =
    "SELECT file_id, value, name FROM properties WHERE name_key=?1";

/// Distinct keys, numbered in order of arrival, and the files that have them.
struct DistinctKeys {
  std::unordered_map<std::string, std::uint32_t> numbers;
  std::vector<std::pair<std::int64_t, std::uint32_t>> files;
  /// True: the key is new.
  bool add(std::int64_t file, std::string key) {
    const auto [it, is_new] =
        numbers.try_emplace(std::move(key), static_cast<std::uint32_t>(numbers.size()));
    files.emplace_back(file, it->second);
    return is_new;
  }
};

/// Files that are evaluated one by one.
struct Chunk {
  std::vector<std::int64_t> files;
  std::vector<BaseFileRow> rows;
};
constexpr std::size_t kChunk = 1000;

/// Whether a note writes the name as all conditions do: else it may have it in two ways.
class SpellingCheck {
 public:
  SpellingCheck(const BasePrefilter& prefilter, const Conditions& conditions) {
    for (const auto condition : conditions)
      for (const auto& name : prefilter.conditions()[condition].names)
        if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
  }
  bool is_as_written(std::string_view name) const {
    return names_.size() == 1 && names_[0] == name;
  }

 private:
  std::vector<std::string> names_;
};

/// What decides a condition by folder or extension: all from here on may be equal.
std::string_view path_key(By by, std::string_view path) {
  const auto slash = path.rfind('/');
  if (by == By::Folder) return slash == std::string_view::npos ? "" : path.substr(0, slash);
  const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? name : name.substr(dot);
}

class CandidateSearch {
 public:
  CandidateSearch(Database& db, const BasePrefilter& prefilter) : db_(db), prefilter_(prefilter) {}

  Result<std::vector<std::int64_t>> run() {
    size_ = static_cast<std::size_t>(INDX_TRY(max_file_id(db_))) + 1;
    const auto& conditions = prefilter_.conditions();
    outcomes_.assign(conditions.size() * size_, kBaseUnknown);
    std::map<std::string, Conditions> by_property;
    Conditions by_path, by_file;
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      const auto by = conditions[i].by;
      if (by == By::Tags)
        INDX_TRY(read_tags(i));
      else if (by == By::HasProperty)
        INDX_TRY(read_names(i));
      else if (by == By::Links)
        INDX_TRY(read_links(i));
      else if (by == By::Property)
        by_property[conditions[i].name_key].push_back(i);
      else
        (by == By::File ? by_file : by_path).push_back(i);
    }
    for (const auto& [name_key, ours] : by_property) INDX_TRY(read_column(name_key, ours));
    if (!by_path.empty()) INDX_TRY(read_paths(by_path));
    for (const auto& [name_key, ours] : late_) INDX_TRY(read_late_column(name_key, ours));
    if (!by_file.empty()) INDX_TRY(read_files(by_file));
    std::vector<std::int64_t> left;
    for (std::size_t id = 0; id < size_; ++id)
      if (!drops(id)) left.push_back(static_cast<std::int64_t>(id));
    return left;
  }

 private:
  BaseOutcomes* at(std::size_t condition, std::int64_t file) {
    return &outcomes_[static_cast<std::size_t>(file) * prefilter_.conditions().size() + condition];
  }
  bool drops(std::size_t id) {
    return prefilter_.drops({at(0, static_cast<std::int64_t>(id)), prefilter_.conditions().size()});
  }
  void set(const Conditions& conditions, std::int64_t file, BaseOutcomes outcome) {
    for (const auto condition : conditions) *at(condition, file) = outcome;
  }
  void fill(std::size_t condition, BaseOutcomes outcome) {
    for (std::size_t id = 0; id < size_; ++id)
      *at(condition, static_cast<std::int64_t>(id)) = outcome;
  }

  /// As if no file had the property.
  void fill_absent(const Conditions& conditions) {
    const auto absent = prefilter_.outcomes(conditions, {BaseFileRow()});
    for (std::size_t i = 0; i < conditions.size(); ++i) fill(conditions[i], absent[i][0]);
  }

  Status read_tags(std::size_t condition) {
    fill(condition, kBaseFails);
    for (const auto& tag : prefilter_.conditions()[condition].tags) {
      auto query = db_.prepare(
          "SELECT file_id FROM tags WHERE tag_key=?1 UNION ALL SELECT file_id FROM tags WHERE "
          "tag_key>=?2 AND tag_key<?3");  // `0` follows `/`: a range of what is below the tag
      query.bind(tag, tag + "/", tag + "0");
      while (INDX_TRY(query.step())) *at(condition, query.integer(0)) = kBaseHolds;
    }
    return {};
  }

  Status read_names(std::size_t condition) {
    fill(condition, kBaseFails);
    auto query = db_.prepare("SELECT file_id FROM properties WHERE name_key=?1");
    query.bind(prefilter_.conditions()[condition].name_key);
    while (INDX_TRY(query.step())) *at(condition, query.integer(0)) = kBaseHolds;
    return {};
  }

  Status read_links(std::size_t condition) {
    fill(condition, kBaseFails);
    for (const auto& key : prefilter_.conditions()[condition].link_keys) {
      auto query = db_.prepare(  // a file with the key may link to itself without its name
          "SELECT source_id FROM links WHERE name_key=?1 UNION ALL SELECT id FROM files WHERE "
          "name_key=?1");
      query.bind(key);
      while (INDX_TRY(query.step())) {
        const auto file = query.integer(0);
        if (*at(condition, file) != kBaseFails) continue;
        // Only to go through very many links can be too much work.
        auto many = db_.prepare("SELECT 1 FROM links WHERE source_id=?1 AND position=1000");
        *at(condition, file) =
            INDX_TRY(many.bind(file).step()) ? kBaseUnknown : kBaseHolds | kBaseFails;
      }
    }
    return {};
  }

  /// Evaluates for each distinct key and gives the outcomes to the files that have it.
  void settle(const Conditions& conditions, const DistinctKeys& keys,
              std::vector<BaseFileRow> rows) {
    const auto found = prefilter_.outcomes(conditions, std::move(rows));
    for (const auto& [file, number] : keys.files)
      for (std::size_t i = 0; i < conditions.size(); ++i)
        *at(conditions[i], file) = found[i][number];
  }

  /// A column that has hardly a value twice is left for later: there is nothing to share in it.
  Status read_column(const std::string& name_key, const Conditions& conditions) {
    constexpr std::size_t kLookedAt = 512;
    fill_absent(conditions);
    DistinctKeys keys;
    std::vector<BaseFileRow> rows;
    SpellingCheck spelling(prefilter_, conditions);
    auto query = db_.prepare(kColumn);
    query.bind(name_key);
    while (INDX_TRY(query.step())) {
      const auto file = query.integer(0);
      if (!spelling.is_as_written(query.text(2))) {
        set(conditions, file, kBaseUnknown);
        continue;
      }
      auto value = query.text(1);
      if (keys.add(file, value)) rows.push_back(row_with(query.text(2), value));
      if (keys.files.size() != kLookedAt || rows.size() < kLookedAt * 9 / 10) continue;
      for (const auto condition : conditions) fill(condition, kBaseUnknown);
      late_.emplace_back(name_key, conditions);
      return {};
    }
    settle(conditions, keys, std::move(rows));
    return {};
  }

  /// Only files that are not yet dropped are evaluated.
  Status read_late_column(const std::string& name_key, const Conditions& conditions) {
    fill_absent(conditions);
    SpellingCheck spelling(prefilter_, conditions);
    Chunk chunk;
    auto query = db_.prepare(kColumn);
    query.bind(name_key);
    while (INDX_TRY(query.step())) {
      const auto file = query.integer(0);
      set(conditions, file, kBaseUnknown);
      if (drops(static_cast<std::size_t>(file)) || !spelling.is_as_written(query.text(2))) continue;
      chunk.files.push_back(file);
      chunk.rows.push_back(row_with(query.text(2), query.text(1)));
      if (chunk.files.size() == kChunk) settle(conditions, chunk);
    }
    settle(conditions, chunk);
    return {};
  }

  static BaseFileRow row_with(const std::string& name, std::string_view value) {
    BaseFileRow row;
    append_property(row.properties, name, value);
    row.properties += '}';
    return row;
  }

  /// Evaluates what was gathered, which is gone then.
  void settle(const Conditions& conditions, Chunk& chunk) {
    const auto found = prefilter_.outcomes(conditions, std::exchange(chunk.rows, {}));
    for (std::size_t row = 0; row < chunk.files.size(); ++row)
      for (std::size_t i = 0; i < conditions.size(); ++i)
        *at(conditions[i], chunk.files[row]) = found[i][row];
    chunk.files.clear();
  }

  Status read_paths(const Conditions& conditions) {
    std::vector<DistinctKeys> keys(conditions.size());
    std::vector<std::vector<BaseFileRow>> rows(conditions.size());
    auto query = db_.prepare("SELECT id, path FROM files ORDER BY path");
    while (INDX_TRY(query.step())) {
      const auto file = query.integer(0);
      const auto path = query.text(1);
      for (std::size_t i = 0; i < conditions.size(); ++i)
        if (keys[i].add(file,
                        std::string(path_key(prefilter_.conditions()[conditions[i]].by, path))))
          rows[i].emplace_back().path = path;
    }
    for (std::size_t i = 0; i < conditions.size(); ++i)
      settle({conditions[i]}, keys[i], std::move(rows[i]));
    return {};
  }

  /// Only files that are not yet dropped are evaluated.
  Status read_files(const Conditions& conditions) {
    Chunk chunk;
    auto query = db_.prepare("SELECT id, path, size, mtime_ns FROM files");
    while (INDX_TRY(query.step())) {
      const auto file = query.integer(0);
      if (drops(static_cast<std::size_t>(file))) continue;
      chunk.files.push_back(file);
      auto& row = chunk.rows.emplace_back();
      row.path = query.text(1);
      row.size = static_cast<std::size_t>(query.integer(2));
      row.modified_ms = query.integer(3) / 1'000'000;
      if (chunk.files.size() == kChunk) settle(conditions, chunk);
    }
    settle(conditions, chunk);
    return {};
  }

  Database& db_;
  const BasePrefilter& prefilter_;
  std::size_t size_ = 0;
  std::vector<BaseOutcomes> outcomes_;  // by file, then condition
  std::vector<std::pair<std::string, Conditions>> late_;
};

}  // namespace

Result<std::int64_t> max_file_id(Database& db) {
  auto query = db.prepare("SELECT coalesce(max(id), 0) FROM files");
  INDX_TRY(query.step());
  return query.integer(0);
}

void append_property(std::string& object, const std::string& name, std::string_view value) {
  object += object.empty() ? '{' : ',';
  ((object += json_text(Json(name))) += ':') += value;
}

Result<std::vector<std::int64_t>> base_candidates(Database& db, const BasePrefilter& prefilter) {
  return CandidateSearch(db, prefilter).run();
}

}  // namespace indx
