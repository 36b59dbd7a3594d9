#include "vault/base_needs.hpp"

#include "base/unicode.hpp"
#include "vault/base_prefilter.hpp"

#include <algorithm>
#include <set>

namespace indx {
namespace {

using NeedKind = BaseNode::Kind;
using Others = BaseRowNeeds::Others;

class NeedsReader {
 public:
  NeedsReader(const BaseDefinition& base, const BaseView& view) : base_(base), view_(view) {}

  BaseRowNeeds run() {
    needs_.others = Others::Linked;
    needs_.property_names.emplace();
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
    return std::move(needs_);
  }

 private:
  void read(const BaseFilter& filter) {
    if (filter.kind == BaseFilter::Kind::Expression) read(filter.expression);
    for (const auto& child : filter.children) read(child);
  }
  void read(const BaseColumn& column) {
    if (column.kind == BaseColumn::Kind::Note) read_property(column.name);
    if (column.kind == BaseColumn::Kind::File) read_field(column.name);
    if (column.kind == BaseColumn::Kind::Formula) read_formula(column.name);
  }
  void read_formula(std::string_view name) {
    const auto key = fold_case(name);
    if (!formulas_.insert(key).second) return;
    const auto it = base_.formulas.find(key);
    if (it != base_.formulas.end() && it->second.has_value()) read(*it->second);
  }
  void read_property(const std::string& name) {
    needs_.properties = true;
    auto& names = needs_.property_names;
    if (names && std::find(names->begin(), names->end(), name) == names->end())
      names->push_back(name);
  }
  void read_all_properties() {
    needs_.properties = true;
    needs_.property_names.reset();
  }
  void look_at(Others others) { needs_.others = std::max(needs_.others, others); }

  /// Fields and methods count whatever they are of: a file may come from anywhere.
  void read_field(std::string_view name) {
    if (name == "tags" || name == "hasTag") needs_.tags = true;
    if (name == "links" || name == "embeds" || name == "hasLink") {
      needs_.links = true;
      look_at(Others::Paths);
    }
    if (name == "backlinks") {
      needs_.links = true;
      look_at(Others::All);
    }
    if (name == "file" || name == "asLink" || name == "linksTo") look_at(Others::Paths);
    if (name == "asFile") look_at(Others::All);
    if (name == "ctime") needs_.created = true;
    if (name == "size" || name == "mtime") needs_.size_and_time = true;
    if (name == "properties") read_all_properties();
  }

  void read(const BaseNode& node) {
    switch (node.kind) {
      case NeedKind::Name:
        return read_word(node.text);
      case NeedKind::Member:
        return read_member(node.children[0], node.text);
      case NeedKind::Index:
        if (node.children[1].kind == NeedKind::Text)
          return read_member(node.children[0], node.children[1].text);
        if (node.children[1].kind != NeedKind::Number) read_anything();
        break;
      case NeedKind::Call:
        return read_call(node);
      default:
        break;
    }
    for (const auto& child : node.children) read(child);
  }
  void read_word(const std::string& word) {
    if (word == "note") return read_all_properties();
    if (word == "file") return look_at(Others::Paths);
    if (word == "this") return look_at(Others::All);
    if (word != "formula") read_property(word);
  }
  void read_member(const BaseNode& object, const std::string& name) {
    if (object.kind != NeedKind::Name) {
      read_field(name);
      return read(object);
    }
    if (object.text == "note") return read_property(name);
    if (object.text == "formula") return read_formula(name);
    read_field(name);
    if (object.text == "file") return;
    read_word(object.text);
    if (object.text != "this" || name == "file") return;
    if (name == "note") return read_all_properties();
    read_property(name);
  }
  void read_call(const BaseNode& call) {
    if (is_link_to_this(call)) return read_field(call.text);
    std::size_t first = 0;
    if (call.is_method) {
      read_field(call.text);
      const auto& receiver = call.children[0];
      if (receiver.kind == NeedKind::Name && receiver.text == "file") first = 1;
      if (call.text == "hasProperty") {
        if (call.children.size() == 2 && call.children[1].kind == NeedKind::Text)
          read_property(call.children[1].text);
        else
          read_all_properties();
      }
    } else if (call.text == "file") {
      look_at(Others::All);
    } else if (call.text == "link") {
      look_at(Others::Paths);
    }
    for (std::size_t i = first; i < call.children.size(); ++i) read(call.children[i]);
  }
  /// A computed name may be any field or formula.
  void read_anything() {
    read_all_properties();
    needs_.tags = needs_.links = needs_.created = needs_.size_and_time = true;
    look_at(Others::All);
    for (const auto& [name, formula] : base_.formulas) read_formula(name);
  }

  const BaseDefinition& base_;
  const BaseView& view_;
  BaseRowNeeds needs_;
  std::set<std::string> formulas_;
};

}  // namespace

BaseRowNeeds base_row_needs(const BaseDefinition& base, const BaseView& view) {
  return NeedsReader(base, view).run();
}

bool may_hold_link(std::string_view json) {
  for (std::size_t at = 0; (at = json.find_first_of("[]", at)) < json.size(); ++at) {
    const auto pair = json.substr(at, 2);
    if (pair == "[[" || pair == "](" || pair == "]:") return true;
  }
  return false;
}

}  // namespace indx
