#pragma once
#include "vault/base_expression.hpp"
#include "vault/base_files.hpp"
#include "vault/base_value.hpp"

#include <map>
#include <random>
#include <set>

namespace indx {

/// What the expressions of one query share.
struct BaseEnvironment {
  const BaseFiles& files;
  BaseClock clock;
  std::map<std::string, Result<BaseNode>> formulas;  ///< by folded name; an Error where unreadable
  std::optional<std::size_t> this_row;
  std::uint64_t seed = 0;  ///< of `random()`
};

/// What a property, field or formula is called in `order`, `sort`, `groupBy` and summaries.
struct BaseColumn {
  enum class Kind : std::uint8_t { Note, File, Formula };
  Kind kind = Kind::Note;
  std::string name;
  std::string id;  ///< as written: the key of cells
  static BaseColumn parse(std::string_view written);
};

/// Evaluates expressions for one file at a time. Never fails as a whole: what goes wrong is an
/// error value. Steps, text and lists of one evaluation are bounded. One thread at a time.
class BaseEvaluator {
 public:
  explicit BaseEvaluator(const BaseEnvironment& environment);

  /// Steps of all evaluations so far.
  std::uint64_t total_steps() const { return total_steps_; }
  void set_row(std::size_t row);
  BaseValue evaluate(const BaseNode& node);
  BaseValue evaluate(const BaseColumn& column);
  /// The node with `values` bound, for summaries.
  BaseValue evaluate_summary(const BaseNode& node, BaseValue values);

  // For functions.
  const BaseEnvironment& environment() const { return environment_; }
  const BaseFiles& files() const { return environment_.files; }
  /// Path of the file that is looked at; empty where there is none.
  std::string source_path() const {
    return row_ < files().rows().size() ? files().row(row_).path : std::string();
  }
  BaseValue run(const BaseNode& node);  ///< part of a running evaluation
  /// Counts work; false once this evaluation has used up what it may.
  bool charge(std::size_t steps);
  /// Counts a text that was made or read through.
  bool charge_text(std::size_t bytes) { return charge(bytes / 64 + 1); }
  /// `body` with names bound, in a list function.
  using Bindings = std::vector<std::pair<std::string_view, BaseValue>>;
  BaseValue run_with(const BaseNode& body, Bindings bindings);
  double random();

  bool equals(const BaseValue& a, const BaseValue& b);  ///< rules 8.8, 8.9; loose as JavaScript's
  /// Less than zero, zero or more; nullopt: nothing that has an order.
  std::optional<int> compare(const BaseValue& a, const BaseValue& b);
  /// The file a value stands for: itself, or what a link or path reaches.
  std::optional<std::size_t> file_of(const BaseValue& value);
  /// A text that is equal for equal values.
  std::string identity(const BaseValue& value);
  BaseValue field(const BaseValue& value, std::string_view name);
  BaseValue property(std::size_t row, std::string_view name);
  BaseValue all_properties(std::size_t row);
  std::string to_text(const BaseValue& value);
  /// What a cell shows: rule 8.12; numbers, texts, booleans and lists as such, dates as texts,
  /// other types as objects with `type`.
  Json to_json(const BaseValue& value);

 private:
  BaseValue run_name(const BaseNode& node);
  BaseValue run_member(const BaseNode& object, std::string_view name, bool* is_done);
  BaseValue run_index(const BaseNode& node);
  BaseValue run_unary(const BaseNode& node);
  BaseValue run_binary(const BaseNode& node);
  BaseValue add_values(const BaseValue& a, const BaseValue& b);
  BaseValue subtract_values(const BaseValue& a, const BaseValue& b);
  BaseValue scale_values(char op, const BaseValue& a, const BaseValue& b);
  BaseValue formula(std::string_view name);
  BaseValue file_field(std::size_t row, std::string_view name);
  const BaseValue* binding(std::string_view name) const;
  void reset();

  const BaseEnvironment& environment_;
  std::size_t row_ = 0;
  int depth_ = 0;
  std::size_t steps_ = 0;
  std::uint64_t total_steps_ = 0;
  Bindings bindings_;
  std::map<std::string, BaseValue> formulas_done_;  ///< of this row
  std::set<std::string> formulas_running_;
  std::mt19937_64 random_;
};

inline constexpr int kMaxBaseEvaluationDepth = 600;               ///< formulas included
inline constexpr std::size_t kMaxBaseSteps = 200'000;             ///< of one evaluation
inline constexpr std::uint64_t kMaxBaseQuerySteps = 100'000'000;  ///< of one query

}  // namespace indx
