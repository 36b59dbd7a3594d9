#include "vault/base_query.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/base_needs.hpp"
#include "vault/base_prefilter.hpp"
#include "vault/base_summary.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kCancelEvery = 256;
constexpr std::size_t kMaxWarnings = 20;

/// One file of the result, under one group.
struct ResultRow {
  std::size_t file = 0;
  BaseSortKey group;
  std::size_t group_value = 0;  ///< index into the values of groups
  std::vector<BaseSortKey> keys;
};

/// Equal messages counted, with the first file they came from.
class WarningList {
 public:
  void add(const std::string& message, const std::string& path) {
    auto& entry = counts_[message];
    if (entry.first++ == 0) entry.second = path;
  }
  std::vector<std::string> take() const {
    std::vector<std::string> all;
    for (const auto& [message, entry] : counts_) {
      if (all.size() == kMaxWarnings) break;
      all.push_back(entry.first == 1
                        ? cat(message, " (", entry.second, ")")
                        : cat(message, " (", entry.first, " files, first ", entry.second, ")"));
    }
    return all;
  }

 private:
  std::map<std::string, std::pair<std::size_t, std::string>> counts_;
};

class QueryRun {
 public:
  QueryRun(const BaseDefinition& base, const BaseView& view, const BaseQuestion& question,
           const BaseFiles& files)
      : base_(base),
        view_(view),
        question_(question),
        environment_{files, question.clock, base.formulas,
                     question.this_path.empty() ? std::nullopt : files.find(question.this_path),
                     question.seed},
        evaluator_(environment_),
        columns_(view.order) {
    if (columns_.empty()) columns_.push_back(BaseColumn::parse("file.name"));
  }

  Result<BaseAnswer> run() {
    INDX_TRY(filter_files());
    INDX_TRY(sum_up());
    INDX_TRY(sort_rows());
    if (view_.limit && rows_.size() > *view_.limit) rows_.resize(*view_.limit);
    answer_.total = rows_.size();
    list_groups();
    INDX_TRY(fill_page());
    for (const auto& column : columns_)
      answer_.columns.push_back({column.id, display_name(column)});
    answer_.view = view_.name;
    answer_.type = view_.type;
    for (const auto& [name, formula] : base_.formulas)
      if (!formula.has_value()) answer_.warnings.push_back(formula.error().message);
    for (auto& warning : warnings_.take()) answer_.warnings.push_back(std::move(warning));
    return std::move(answer_);
  }

 private:
  const BaseFiles& files() const { return environment_.files; }

  Status check_work() {
    if (evaluator_.total_steps() > kMaxBaseQuerySteps)
      return make_error(Reason::TooLarge,
                        "The expressions of this base do too much work; make them simpler or "
                        "filter by tag or folder first.");
    if (question_.cancel != nullptr && ++since_check_ % kCancelEvery == 0 &&
        question_.cancel->is_cancelled())
      return make_error(Reason::Cancelled, "The query was cancelled.");
    return {};
  }

  /// Nullopt: an error, which is warned of.
  std::optional<bool> holds(const BaseFilter& filter) {
    using Kind = BaseFilter::Kind;
    if (filter.kind == Kind::Expression) {
      const auto value = evaluator_.evaluate(filter.expression);
      if (!value.is_error()) return value.is_truthy();
      warnings_.add(cat("The filter `", prefix_at_grapheme(filter.source, 100),
                        "` fails: ", value.failure().message),
                    evaluator_.source_path());
      return std::nullopt;
    }
    const bool ends_with = filter.kind != Kind::And;  // the value of a child that decides
    for (const auto& child : filter.children) {
      const auto value = holds(child);
      if (!value) return std::nullopt;
      if (*value == ends_with) return filter.kind == Kind::Or;
    }
    return filter.kind != Kind::Or || filter.children.empty();
  }

  Status filter_files() {
    for (std::size_t i = 0; i < files().rows().size(); ++i) {
      if (!files().row(i).is_candidate) continue;
      evaluator_.set_row(i);
      INDX_TRY(check_work());
      if (base_.filter && !holds(*base_.filter).value_or(false)) continue;
      if (view_.filter && !holds(*view_.filter).value_or(false)) continue;
      matches_.push_back(i);
    }
    return {};
  }

  Status sum_up() {
    for (const auto& summary : view_.summaries) {
      std::vector<BaseValue> values;
      for (const auto file : matches_) {
        evaluator_.set_row(file);
        INDX_TRY(check_work());
        values.push_back(evaluator_.evaluate(summary.column));
      }
      auto value = base_summary(evaluator_, base_, summary.name, std::move(values));
      answer_.summaries.push_back({summary.column.id, summary.name, evaluator_.to_json(value)});
    }
    return {};
  }

  /// Tells groups apart whose values sort alike, such as `a` and `A`. It stands in cursors: short.
  static std::string group_mark(const std::string& identity) {
    constexpr std::size_t kMaxBytes = 200;
    if (identity.size() <= kMaxBytes) return identity;
    return cat(prefix_at_grapheme(identity, kMaxBytes), ' ', sha256_hex(identity));
  }

  /// The groups of one file: one for each item of a list, without repeats.
  std::vector<BaseValue> groups_of(const BaseValue& value) {
    if (value.is_empty() || value.is_error()) return {BaseValue()};
    if (!value.is(BaseValue::Type::List)) return {value};
    std::vector<BaseValue> groups;
    std::set<std::string> seen;
    for (const auto& item : value.list().items)
      if (seen.insert(evaluator_.identity(item)).second) groups.push_back(item);
    return groups;
  }

  Status sort_rows() {
    std::map<std::string, std::size_t> group_indexes;
    std::vector<BaseSortKey> group_keys;
    rows_.reserve(matches_.size());
    for (const auto file : matches_) {
      evaluator_.set_row(file);
      INDX_TRY(check_work());
      ResultRow row;
      row.file = file;
      for (const auto& sort : view_.sort)
        row.keys.push_back(base_sort_key(evaluator_, evaluator_.evaluate(sort.column)));
      if (!view_.group_by) {
        rows_.push_back(std::move(row));
        continue;
      }
      for (auto& value : groups_of(evaluator_.evaluate(view_.group_by->column))) {
        const auto [it, is_new] =
            group_indexes.emplace(evaluator_.identity(value), group_values_.size());
        if (is_new) {
          // Links to one file may be written in many ways: the first stands for the group.
          group_keys.push_back(base_sort_key(evaluator_, value));
          group_marks_.push_back(group_mark(it->first));
          group_values_.push_back(std::move(value));
        }
        row.group = group_keys[it->second];
        row.group_value = it->second;
        rows_.push_back(row);
      }
    }
    if (view_.sort.empty() && !view_.group_by) return {};  // files are in order of their paths
    join_empty_checkboxes();
    std::sort(rows_.begin(), rows_.end(), [&](const ResultRow& a, const ResultRow& b) {
      const int order = order_of_keys(a, b);
      return order != 0 ? order < 0 : a.file < b.file;
    });
    return {};
  }

  /// Rule 8.10: where all other values are checkboxes, none sorts as not checked.
  void join_empty_checkboxes() {
    using Rank = BaseSortKey::Rank;
    for (std::size_t i = 0; i < view_.sort.size(); ++i) {
      bool has_checkbox = false, has_other = false;
      for (const auto& row : rows_) {
        has_checkbox = has_checkbox || row.keys[i].rank == Rank::Boolean;
        has_other =
            has_other || (row.keys[i].rank != Rank::Boolean && row.keys[i].rank != Rank::Empty);
      }
      if (!has_checkbox || has_other) continue;
      for (auto& row : rows_)
        if (row.keys[i].rank == Rank::Empty) row.keys[i].rank = Rank::Boolean;
    }
  }

  int order_of_keys(const ResultRow& a, const ResultRow& b) const {
    if (view_.group_by) {
      if (const int order = compare_sort_keys(a.group, b.group, view_.group_by->is_descending))
        return order;
      if (a.group_value != b.group_value)
        if (const int order = group_marks_[a.group_value].compare(group_marks_[b.group_value]))
          return order;
    }
    for (std::size_t i = 0; i < view_.sort.size(); ++i)
      if (const int order = compare_sort_keys(a.keys[i], b.keys[i], view_.sort[i].is_descending))
        return order;
    return 0;
  }

  void list_groups() {
    if (!view_.group_by) return;
    std::vector<std::optional<std::size_t>> places(group_values_.size());
    for (const auto& row : rows_) {
      auto& place = places[row.group_value];
      if (!place) {
        place = answer_.groups.size();
        const auto& value = group_values_[row.group_value];
        answer_.groups.push_back(
            {evaluator_.to_json(value), value.is_empty() ? "None" : evaluator_.to_text(value), 0});
      }
      ++answer_.groups[*place].count;
    }
  }

  Result<std::size_t> first_of_page() {
    if (question_.after.is_null()) return std::size_t{0};
    const auto bad = [] {
      return invalid("The cursor does not belong to this query; start again without it.",
                     {{"field", "cursor"}});
    };
    ResultRow last;
    const auto& after = question_.after;
    if (!after.is_object() || !after.contains("p") || !after["p"].is_string() ||
        !after.contains("g") || !after.contains("k") || !after["k"].is_array() ||
        after["k"].size() != view_.sort.size())
      return bad();
    const auto group = BaseSortKey::from_json(after["g"]);
    if (!group) return bad();
    last.group = *group;
    if (view_.group_by) {
      if (!after.contains("m") || !after["m"].is_string()) return bad();
      last.group_value = group_marks_.size();
      group_marks_.push_back(after["m"].get<std::string>());
    }
    for (const auto& json : after["k"]) {
      auto key = BaseSortKey::from_json(json);
      if (!key) return bad();
      last.keys.push_back(std::move(*key));
    }
    const auto path = after["p"].get<std::string>();
    const auto it = std::partition_point(rows_.begin(), rows_.end(), [&](const ResultRow& row) {
      const int order = order_of_keys(row, last);
      return order != 0 ? order < 0 : files().row(row.file).path <= path;
    });
    return static_cast<std::size_t>(it - rows_.begin());
  }

  Status fill_page() {
    const auto first = INDX_TRY(first_of_page());
    const auto end = std::min(rows_.size(), first + question_.limit);
    for (auto i = first; i < end; ++i) {
      evaluator_.set_row(rows_[i].file);
      INDX_TRY(check_work());
      BaseAnswerRow row;
      row.path = files().row(rows_[i].file).path;
      for (const auto& column : columns_)
        row.cells[column.id] = evaluator_.to_json(evaluator_.evaluate(column));
      if (view_.group_by) row.group = evaluator_.to_json(group_values_[rows_[i].group_value]);
      answer_.rows.push_back(std::move(row));
    }
    if (end == rows_.size() || end == first) return {};
    const auto& last = rows_[end - 1];
    Json keys = Json::array();
    for (const auto& key : last.keys) keys.push_back(key.to_json());
    answer_.next = {{"g", last.group.to_json()}, {"k", keys}, {"p", files().row(last.file).path}};
    if (view_.group_by) answer_.next["m"] = group_marks_[last.group_value];
    return {};
  }

  std::string display_name(const BaseColumn& column) const {
    for (const auto& id : {column.id, "note." + column.name})
      if (const auto it = base_.display_names.find(id); it != base_.display_names.end())
        if (id == column.id || column.kind == BaseColumn::Kind::Note) return it->second;
    if (column.kind == BaseColumn::Kind::Note)
      if (const auto it = base_.display_names.find(column.name); it != base_.display_names.end())
        return it->second;
    return column.name;
  }

  const BaseDefinition& base_;
  const BaseView& view_;
  const BaseQuestion& question_;
  BaseEnvironment environment_;
  BaseEvaluator evaluator_;
  std::vector<BaseColumn> columns_;
  WarningList warnings_;
  std::vector<std::size_t> matches_;
  std::vector<ResultRow> rows_;
  std::vector<BaseValue> group_values_;
  std::vector<std::string> group_marks_;  ///< of the values, and of the last row before the page
  BaseAnswer answer_;
  std::size_t since_check_ = 0;
};

Result<const BaseView*> view_named(const BaseDefinition& base, const BaseQuestion& question) {
  if (!question.view) return &base.views.front();
  std::vector<std::string> names;
  for (const auto& view : base.views) {
    if (view.name == *question.view) return &view;
    names.push_back(view.name);
  }
  return not_found(cat("The base has no view `", *question.view, "`."),
                   {{"view", *question.view}, {"views", names}});
}

}  // namespace

Result<BaseAnswer> run_base_query(const BaseDefinition& base, const BaseQuestion& question,
                                  const BaseRowSource& source) {
  const auto* view = INDX_TRY(view_named(base, question));
  std::vector<BaseFileRow> rows;
  auto needs = base_row_needs(base, *view);
  const BasePrefilter prefilter(base, *view, question.clock, question.this_path);
  if (needs.others != BaseRowNeeds::Others::All && !prefilter.conditions().empty())
    needs.prefilter = &prefilter;
  INDX_TRY(source(needs, [&](BaseFileRow row) { rows.push_back(std::move(row)); }));
  const BaseFiles files(std::move(rows));
  return QueryRun(base, *view, question, files).run();
}

}  // namespace indx
