#include "store/base_candidates.hpp"

#include "store/columns.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace indx {
namespace {

using By = BaseCondition::By;

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
    std::map<std::string, std::vector<std::size_t>> by_property;
    std::vector<std::size_t> by_path, by_file;
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      const auto by = conditions[i].by;
      if (by == By::Tags)
        INDX_TRY(read_tags(i));
      else if (by == By::HasProperty)
        INDX_TRY(read_names(i));
      else if (by == By::Property)
        by_property[conditions[i].name_key].push_back(i);
      else
        (by == By::File ? by_file : by_path).push_back(i);
    }
    for (const auto& [name_key, ours] : by_property) INDX_TRY(read_column(name_key, ours));
    if (!by_path.empty()) INDX_TRY(read_paths(by_path));
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
  void fill(std::size_t condition, BaseOutcomes outcome) {
    for (std::size_t id = 0; id < size_; ++id)
      *at(condition, static_cast<std::int64_t>(id)) = outcome;
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

  /// Evaluates for each distinct key and gives the outcomes to the files that have it.
  void settle(const std::vector<std::size_t>& conditions, const DistinctKeys& keys,
              std::vector<BaseFileRow> rows) {
    const auto found = prefilter_.outcomes(conditions, std::move(rows));
    for (const auto& [file, number] : keys.files)
      for (std::size_t i = 0; i < conditions.size(); ++i)
        *at(conditions[i], file) = found[i][number];
  }

  Status read_column(const std::string& name_key, const std::vector<std::size_t>& conditions) {
    const auto absent = prefilter_.outcomes(conditions, {BaseFileRow()});
    for (std::size_t i = 0; i < conditions.size(); ++i) fill(conditions[i], absent[i][0]);
    DistinctKeys keys;
    std::vector<BaseFileRow> rows;
    auto query = db_.prepare("SELECT file_id, value, name FROM properties WHERE name_key=?1");
    query.bind(name_key);
    std::string spelling;  // that was compared last
    bool is_sure = true;
    while (INDX_TRY(query.step())) {
      const auto file = query.integer(0);
      auto value = query.text(1);
      if (auto name = query.text(2); name != spelling) {
        spelling = std::move(name);
        is_sure = all_write(conditions, spelling);
      }
      if (!is_sure) {
        for (const auto condition : conditions) *at(condition, file) = kBaseUnknown;
        continue;
      }
      if (!keys.add(file, value)) continue;
      auto& object = rows.emplace_back().properties;
      append_property(object, spelling, value);
      object += '}';
    }
    settle(conditions, keys, std::move(rows));
    return {};
  }

  /// False: a condition writes the name in another way, which the note may have beside this one.
  bool all_write(const std::vector<std::size_t>& conditions, const std::string& spelling) const {
    for (const auto condition : conditions)
      for (const auto& name : prefilter_.conditions()[condition].names)
        if (name != spelling) return false;
    return true;
  }

  Status read_paths(const std::vector<std::size_t>& conditions) {
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

  /// These have nothing to share: only files that are not yet dropped are evaluated.
  Status read_files(const std::vector<std::size_t>& conditions) {
    constexpr std::size_t kAtOnce = 1000;
    std::vector<std::int64_t> files;
    std::vector<BaseFileRow> rows;
    const auto settle_rows = [&] {
      const auto found = prefilter_.outcomes(conditions, std::exchange(rows, {}));
      for (std::size_t row = 0; row < files.size(); ++row)
        for (std::size_t i = 0; i < conditions.size(); ++i)
          *at(conditions[i], files[row]) = found[i][row];
      files.clear();
    };
    auto query = db_.prepare("SELECT id, path, size, mtime_ns FROM files");
    while (INDX_TRY(query.step())) {
      const auto file = query.integer(0);
      if (drops(static_cast<std::size_t>(file))) continue;
      files.push_back(file);
      auto& row = rows.emplace_back();
      row.path = query.text(1);
      row.size = static_cast<std::size_t>(query.integer(2));
      row.modified_ms = query.integer(3) / 1'000'000;
      if (files.size() == kAtOnce) settle_rows();
    }
    settle_rows();
    return {};
  }

  Database& db_;
  const BasePrefilter& prefilter_;
  std::size_t size_ = 0;
  std::vector<BaseOutcomes> outcomes_;  // by file, then condition
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
