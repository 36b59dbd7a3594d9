#pragma once
#include "vault/base_definition.hpp"
#include "vault/base_rows.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace indx {

/// What a condition may come to for a file: a set of these.
using BaseOutcomes = std::uint8_t;
inline constexpr BaseOutcomes kBaseHolds = 1, kBaseFails = 2, kBaseErrs = 4;
inline constexpr BaseOutcomes kBaseUnknown = kBaseHolds | kBaseFails | kBaseErrs;

/// A part of a filter that depends on one thing of a file only.
struct BaseCondition {
  enum class By : std::uint8_t {
    Nothing,      ///< not among the conditions of a prefilter
    Property,     ///< the value of one property
    Folder,       ///< the folder of the file
    Extension,    ///< what follows the last dot of its path
    File,         ///< path, size and time of change
    Tags,         ///< fails unless the file has one of `tags`, or one below it, and then holds
    HasProperty,  ///< holds if the file has the property, else fails
    Links         ///< fails unless the file, or what it links to, has one of `link_keys`
  };
  By by = By::File;
  std::vector<std::string> names;        ///< of the property: each way in which it is written
  std::string name_key;                  ///< `names` folded
  std::vector<std::string> tags;         ///< folded, without `#`
  std::vector<std::string> link_keys;    ///< as `name_key_of_path`
  const BaseNode* expression = nullptr;  ///< null for Tags, HasProperty and Links
};

/// The filters of a view, taken apart so that most files can be ruled out by what the index knows
/// of them in one column. Conditions are evaluated as the query itself does, once for each distinct
/// value, and what cannot be known this way counts as unknown: a file that is dropped fails the
/// filters and causes no warning. The exception is work: a query that drops files may do more.
class BasePrefilter {
 public:
  /// Base and view must outlive it.
  BasePrefilter(const BaseDefinition& base, const BaseView& view, const BaseClock& clock,
                std::string this_path);

  /// Empty: it rules nothing out.
  const std::vector<BaseCondition>& conditions() const { return conditions_; }
  /// Outcomes of these conditions, each with an expression, for each of the rows: first by
  /// condition. Of a row only what the conditions depend on has to be filled in.
  std::vector<std::vector<BaseOutcomes>> outcomes(std::span<const std::size_t> conditions,
                                                  std::vector<BaseFileRow> rows) const;
  /// Whether a file with these outcomes, one for each condition, cannot matter.
  bool drops(std::span<const BaseOutcomes> outcomes) const {
    return outcomes_of(root_, outcomes) == kBaseFails;
  }

 private:
  struct Part {
    enum class Kind : std::uint8_t { Fixed, Condition, And, Or, Not };
    Kind kind = Kind::Fixed;
    BaseOutcomes fixed = kBaseUnknown;
    std::size_t condition = 0;
    std::vector<Part> children;
  };
  class Builder;
  static BaseOutcomes outcomes_of(const Part& part, std::span<const BaseOutcomes> outcomes);
  /// Of a node that depends on nothing.
  BaseOutcomes outcomes_alone(const BaseNode& node) const;
  BaseOutcomes evaluate(BaseEvaluator& evaluator, const BaseNode& node) const;

  const BaseDefinition& base_;
  BaseClock clock_;
  std::string this_path_;
  std::vector<BaseCondition> conditions_;
  Part root_;
};

/// `file.hasLink(this)` or `file.hasLink(this.file)`: of the file that `this` means it looks at the
/// path only.
bool is_link_to_this(const BaseNode& node);

}  // namespace indx
