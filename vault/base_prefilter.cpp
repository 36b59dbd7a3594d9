#include "vault/base_prefilter.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/base_evaluator.hpp"
#include "vault/base_reads.hpp"
#include "vault/link_resolver.hpp"

#include <algorithm>

namespace indx {
namespace {

using PartKind = BaseNode::Kind;
using By = BaseCondition::By;

/// Parts that are taken apart: each costs one byte for each file.
constexpr std::size_t kMaxPrefilterParts = 32;

bool is_file_method(const BaseNode& node, std::string_view name) {
  return node.kind == PartKind::Call && node.is_method && node.text == name &&
         node.children.size() > 1 && node.children[0].kind == PartKind::Name &&
         node.children[0].text == "file" &&
         std::all_of(node.children.begin() + 1, node.children.end(),
                     [](const BaseNode& child) { return child.kind == PartKind::Text; });
}

/// The keys of files that a link to `text` may mean, written as a link, path or name; empty: it
/// cannot be said.
std::vector<std::string> link_keys_of(const std::string& text) {
  const auto link = parse_base_link(text, "");
  const auto& target = link ? link->target : text;
  // Where nothing is reached, links are compared by what is written.
  const auto written = target_key(std::string_view(text).substr(0, text.find('#')));
  if (target.empty() || written.empty() || written.ends_with('/') || written == ".md") return {};
  return {name_key_of_path(target), name_key_of_path(written)};
}

}  // namespace

bool is_link_to_this(const BaseNode& node) {
  if (node.kind != PartKind::Call || !node.is_method || node.text != "hasLink" ||
      node.children.size() != 2)
    return false;
  const auto is_word = [](const BaseNode& word, std::string_view text) {
    return word.kind == PartKind::Name && word.text == text;
  };
  const auto& target = node.children[1];
  return is_word(node.children[0], "file") &&
         (is_word(target, "this") || (target.kind == PartKind::Member && target.text == "file" &&
                                      is_word(target.children[0], "this")));
}

/// Takes filters and the expressions in them apart, wherever only the truth of a part counts.
class BasePrefilter::Builder {
 public:
  explicit Builder(BasePrefilter& made) : made_(made) {
    for (const auto& [name, formula] : made.base_.formulas)
      if (formula.has_value()) formula_height_ += formula->height;
  }

  Part part_of(const BaseFilter& filter) {
    using Kind = BaseFilter::Kind;
    if (filter.kind == Kind::Expression) {
      // In the whole expression a part is nested deeper than alone: it must not be too deep there.
      if (filter.expression.height + formula_height_ >= kMaxBaseEvaluationDepth) return {};
      return part_of(filter.expression);
    }
    Part part;
    part.kind = filter.kind == Kind::And  ? Part::Kind::And
                : filter.kind == Kind::Or ? Part::Kind::Or
                                          : Part::Kind::Not;
    for (const auto& child : filter.children) part.children.push_back(part_of(child));
    return part;
  }

 private:
  Part part_of(const BaseNode& node) {
    if (parts_ >= kMaxPrefilterParts) return {};
    if (auto condition = condition_of(node)) return part_by(std::move(*condition));
    const bool is_and = node.kind == PartKind::Binary && node.text == "&&";
    const bool is_or = node.kind == PartKind::Binary && node.text == "||";
    const bool is_not = node.kind == PartKind::Unary && node.text == "!";
    Part part;
    if (!is_and && !is_or && !is_not) return part;
    part.kind = is_and ? Part::Kind::And : is_or ? Part::Kind::Or : Part::Kind::Not;
    for (const auto& child : node.children) part.children.push_back(part_of(child));
    return part;
  }

  /// Nullopt: it depends on more than one thing.
  std::optional<BaseCondition> condition_of(const BaseNode& node) const {
    BaseCondition condition;
    if (is_file_method(node, "hasTag")) {
      condition.by = By::Tags;
      for (auto child = node.children.begin() + 1; child != node.children.end(); ++child) {
        std::string_view tag = trim(child->text);
        if (tag.starts_with('#')) tag.remove_prefix(1);
        if (!tag.empty()) condition.tags.push_back(fold_case(tag));
      }
      return condition;
    }
    if (is_file_method(node, "hasProperty") && node.children.size() == 2) {
      condition.by = By::HasProperty;
      condition.names = {node.children[1].text};
      return condition;
    }
    if (is_file_method(node, "hasLink") && node.children.size() == 2) {
      condition.by = By::Links;
      condition.link_keys = link_keys_of(node.children[1].text);
      if (!condition.link_keys.empty()) return condition;
    }
    if (is_link_to_this(node) && !made_.this_path_.empty()) {
      condition.by = By::Links;
      condition.link_keys = {name_key_of_path(made_.this_path_)};
      return condition;
    }
    auto reads = base_reads(made_.base_, node);
    const auto things = !reads.names.empty() + reads.folder + reads.extension + reads.file;
    if (!reads.is_known || (things > 1 && !reads.names.empty())) return std::nullopt;
    condition.expression = &node;
    condition.names = std::move(reads.names);
    for (const auto& name : condition.names)
      if (fold_case(name) != fold_case(condition.names[0])) return std::nullopt;
    condition.by = things == 0       ? By::Nothing
                   : things > 1      ? By::File
                   : reads.folder    ? By::Folder
                   : reads.extension ? By::Extension
                   : reads.file      ? By::File
                                     : By::Property;
    return condition;
  }

  Part part_by(BaseCondition condition) {
    ++parts_;
    Part part;
    if (condition.by == By::Nothing) {
      part.fixed = made_.outcomes_alone(*condition.expression);
      return part;
    }
    if (!condition.names.empty()) condition.name_key = fold_case(condition.names[0]);
    part.kind = Part::Kind::Condition;
    part.condition = made_.conditions_.size();
    made_.conditions_.push_back(std::move(condition));
    return part;
  }

  BasePrefilter& made_;
  int formula_height_ = 0;
  std::size_t parts_ = 0;
};

BasePrefilter::BasePrefilter(const BaseDefinition& base, const BaseView& view,
                             const BaseClock& clock, std::string this_path)
    : base_(base), clock_(clock), this_path_(std::move(this_path)) {
  Builder builder(*this);
  root_.kind = Part::Kind::And;
  for (const auto* filter : {&base.filter, &view.filter})
    if (*filter) root_.children.push_back(builder.part_of(**filter));
}

BaseOutcomes BasePrefilter::outcomes_of(const Part& part, std::span<const BaseOutcomes> outcomes) {
  if (part.kind == Part::Kind::Fixed) return part.fixed;
  if (part.kind == Part::Kind::Condition) return outcomes[part.condition];
  // The first child that comes to `deciding`, or errs, ends the row: the rest is not evaluated.
  const auto deciding = part.kind == Part::Kind::And ? kBaseFails : kBaseHolds;
  const auto decided = part.kind == Part::Kind::Or ? kBaseHolds : kBaseFails;
  const auto otherwise =
      part.kind == Part::Kind::Or && !part.children.empty() ? kBaseFails : kBaseHolds;
  BaseOutcomes all = 0;
  for (const auto& child : part.children) {
    const auto one = outcomes_of(child, outcomes);
    if ((one & deciding) != 0) all |= decided;
    all |= one & kBaseErrs;
    if ((one & (kBaseHolds | kBaseFails) & ~deciding) == 0) return all;
  }
  return all | otherwise;
}

std::vector<std::vector<BaseOutcomes>> BasePrefilter::outcomes(
    std::span<const std::size_t> conditions, std::vector<BaseFileRow> rows) const {
  const BaseFiles files(std::move(rows));
  const BaseEnvironment environment{files, clock_, base_.formulas, std::nullopt, 0};
  BaseEvaluator evaluator(environment);
  std::vector<std::vector<BaseOutcomes>> all(conditions.size());
  for (std::size_t row = 0; row < files.rows().size(); ++row) {
    const bool is_known = !may_hold_link(files.row(row).properties);
    evaluator.set_row(row);
    for (std::size_t i = 0; i < conditions.size(); ++i)
      all[i].push_back(is_known ? evaluate(evaluator, *conditions_[conditions[i]].expression)
                                : kBaseUnknown);
  }
  return all;
}

BaseOutcomes BasePrefilter::outcomes_alone(const BaseNode& node) const {
  const BaseFiles files({BaseFileRow()});
  const BaseEnvironment environment{files, clock_, base_.formulas, std::nullopt, 0};
  BaseEvaluator evaluator(environment);
  evaluator.set_row(0);
  return evaluate(evaluator, node);
}

/// An outcome that took much work is unknown: all parts together might take too much.
BaseOutcomes BasePrefilter::evaluate(BaseEvaluator& evaluator, const BaseNode& node) const {
  const auto begin = evaluator.total_steps();
  const auto value = evaluator.evaluate(node);
  if (evaluator.total_steps() - begin > kMaxBaseSteps / 4 / kMaxPrefilterParts) return kBaseUnknown;
  if (value.is_error()) return kBaseErrs;
  return value.is_truthy() ? kBaseHolds : kBaseFails;
}

}  // namespace indx
