#include "vault/base_reads.hpp"

#include "base/unicode.hpp"

#include <algorithm>
#include <set>

namespace indx {
namespace {

using ReadKind = BaseNode::Kind;

class ReadsFinder {
 public:
  explicit ReadsFinder(const BaseDefinition& base) : base_(base) {}

  void read(const BaseNode& node) {
    if (!found.is_known) return;
    switch (node.kind) {
      case ReadKind::Name:
        return read_name(node.text);
      case ReadKind::Member:
        return read_member(node.children[0], node.text);
      case ReadKind::Index:
        if (node.children[1].kind == ReadKind::Text)
          return read_member(node.children[0], node.children[1].text);
        break;
      case ReadKind::Call:
        return read_call(node);
      default:
        break;
    }
    for (const auto& child : node.children) read(child);
  }

  BaseReads found;

 private:
  bool is_bound(std::string_view name) const {
    return std::find(bound_.begin(), bound_.end(), name) != bound_.end();
  }
  void add_name(const std::string& name) {
    if (std::find(found.names.begin(), found.names.end(), name) == found.names.end())
      found.names.push_back(name);
  }
  void read_name(const std::string& name) {
    if (is_bound(name)) return;
    // A file as such is compared by what other files there are, `note` is all properties.
    if (name == "file" || name == "note" || name == "this" || name == "formula")
      found.is_known = false;
    else
      add_name(name);
  }
  void read_member(const BaseNode& object, const std::string& name) {
    if (object.kind != ReadKind::Name || is_bound(object.text)) return read(object);
    if (object.text == "note") return add_name(name);
    if (object.text == "formula") return read_formula(name);
    if (object.text == "file") return read_file_field(name);
    read(object);
  }
  void read_file_field(std::string_view name) {
    if (name == "folder")
      found.folder = true;
    else if (name == "ext")
      found.extension = true;
    else if (name == "name" || name == "basename" || name == "path" || name == "size" ||
             name == "mtime")
      found.file = true;
    else
      found.is_known = false;
  }
  void read_formula(std::string_view name) {
    const auto key = fold_case(name);
    const auto it = base_.formulas.find(key);
    if (it == base_.formulas.end() || !it->second.has_value() || !formulas_.insert(key).second)
      return;
    const auto bound = std::exchange(bound_, {});
    read(*it->second);
    bound_ = bound;
  }
  void read_call(const BaseNode& call) {
    if (!call.is_method) {
      if (call.text == "random" || call.text == "file" || call.text == "link")
        found.is_known = false;
      for (const auto& argument : call.children) read(argument);
      return;
    }
    const auto& receiver = call.children[0];
    if (receiver.kind == ReadKind::Name && receiver.text == "file" && !is_bound("file")) {
      if (call.text == "inFolder")
        found.folder = true;
      else
        found.is_known = false;
    } else {
      read(receiver);
    }
    const auto kept = bound_.size();
    for (std::size_t i = 1; i < call.children.size(); ++i) {
      if (i == 1 && (call.text == "filter" || call.text == "map" || call.text == "reduce")) {
        bound_.insert(bound_.end(), {"value", "index"});
        if (call.text == "reduce") bound_.emplace_back("acc");
      }
      read(call.children[i]);
      bound_.resize(kept);
    }
  }

  const BaseDefinition& base_;
  std::set<std::string> formulas_;
  std::vector<std::string_view> bound_;
};

}  // namespace

BaseReads base_reads(const BaseDefinition& base, const BaseNode& expression) {
  ReadsFinder finder(base);
  finder.read(expression);
  return std::move(finder.found);
}

}  // namespace indx
