#include "vault/base_needs.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <set>

namespace indx {
namespace {

using NeedKind = BaseNode::Kind;

class NeedsReader {
 public:
  NeedsReader(const BaseDefinition& base, const BaseView& view) : base_(base), view_(view) {}

  BaseRowNeeds run() {
    for (const auto* filter : {&base_.filter, &view_.filter})
      if (*filter) read(**filter);
    for (const auto& column : view_.order) read(column);
    for (const auto& sort : view_.sort) read(sort.column);
    if (view_.group_by) read(view_.group_by->column);
    for (const auto& summary : view_.summaries) {
      read(summary.column);
      const auto own = base_.summaries.find(fold_case(summary.name));
      if (own != base_.summaries.end() && own->second.has_value()) read(*own->second);
    }
    if (sees_others_) return needs_;
    for (const auto* filter : {&base_.filter, &view_.filter})
      if (*filter) push_down(**filter);
    return needs_;
  }

 private:
  void read(const BaseFilter& filter) {
    if (filter.kind == BaseFilter::Kind::Expression) read(filter.expression);
    for (const auto& child : filter.children) read(child);
  }
  void read(const BaseColumn& column) {
    if (column.kind == BaseColumn::Kind::Note) needs_.properties = true;
    if (column.kind == BaseColumn::Kind::File) read_field(column.name);
    if (column.kind == BaseColumn::Kind::Formula) read_formula(column.name);
  }
  void read_formula(std::string_view name) {
    const auto key = fold_case(name);
    if (!formulas_.insert(key).second) return;
    const auto it = base_.formulas.find(key);
    if (it != base_.formulas.end() && it->second.has_value()) read(*it->second);
  }
  void read_field(std::string_view name) {
    if (name == "tags") needs_.tags = true;
    if (name == "links" || name == "embeds" || name == "backlinks" || name == "hasLink")
      needs_.links = true;
    if (name == "backlinks") sees_others_ = true;
    if (name == "ctime") needs_.created = true;
    if (name == "properties" || name == "hasProperty") needs_.properties = true;
    if (name == "hasTag") needs_.tags = true;
  }
  /// Fields count whatever they are fields of: a file may come from anywhere.
  void read(const BaseNode& expression) {
    walk_base_expression(expression, [&](const BaseNode& node) {
      if (node.kind == NeedKind::Name) {
        if (node.text != "file" && node.text != "formula") needs_.properties = true;
        if (node.text == "this") sees_others_ = true;
      }
      if (node.kind == NeedKind::Member || node.kind == NeedKind::Call) read_field(node.text);
      if (node.kind == NeedKind::Call && (node.text == "file" || node.text == "asFile"))
        sees_others_ = true;
      if (node.kind == NeedKind::Member && is_word(node.children[0], "formula"))
        read_formula(node.text);
      if (node.kind != NeedKind::Index) return;
      if (node.children[1].kind == NeedKind::Text) {
        if (is_word(node.children[0], "formula")) read_formula(node.children[1].text);
        return read_field(node.children[1].text);
      }
      if (node.children[1].kind == NeedKind::Number) return;
      // A computed name may be any field or formula.
      needs_.properties = needs_.tags = needs_.links = needs_.created = sees_others_ = true;
      for (const auto& [name, formula] : base_.formulas) read_formula(name);
    });
  }

  void push_down(const BaseFilter& filter) {
    if (filter.kind == BaseFilter::Kind::Expression) return push_down(filter.expression);
    if (filter.kind == BaseFilter::Kind::And)
      for (const auto& child : filter.children) push_down(child);
  }
  void push_down(const BaseNode& node) {
    if (node.kind == NeedKind::Binary && node.text == "&&") {
      push_down(node.children[0]);
      push_down(node.children[1]);
    }
    if (node.kind == NeedKind::Binary && node.text == "==" &&
        node.children[0].kind == NeedKind::Member && node.children[0].text == "ext" &&
        is_word(node.children[0].children[0], "file") && node.children[1].kind == NeedKind::Text &&
        !node.children[1].text.empty())
      needs_.extension = node.children[1].text;
    if (node.kind != NeedKind::Call || !node.is_method || node.children.size() != 2 ||
        !is_word(node.children[0], "file") || node.children[1].kind != NeedKind::Text)
      return;
    std::string_view text = node.children[1].text;
    if (node.text == "hasTag") {
      text = trim(text);
      if (text.starts_with('#')) text.remove_prefix(1);
      if (!text.empty()) needs_.all_tags.push_back(fold_case(text));
    }
    if (node.text == "inFolder") {
      while (text.ends_with('/')) text.remove_suffix(1);
      while (text.starts_with('/')) text.remove_prefix(1);
      if (!text.empty()) needs_.folder = text;
    }
  }

  static bool is_word(const BaseNode& node, std::string_view word) {
    return node.kind == NeedKind::Name && node.text == word;
  }

  const BaseDefinition& base_;
  const BaseView& view_;
  BaseRowNeeds needs_;
  std::set<std::string> formulas_;
  bool sees_others_ = false;
};

}  // namespace

BaseRowNeeds base_row_needs(const BaseDefinition& base, const BaseView& view) {
  return NeedsReader(base, view).run();
}

}  // namespace indx
