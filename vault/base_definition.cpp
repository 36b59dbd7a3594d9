#include "vault/base_definition.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/yaml_tree.hpp"

#include <charconv>

namespace indx {
namespace {

constexpr int kMaxFilterDepth = 40;
constexpr std::size_t kMaxParts = 1000;  ///< of any list in a base

class DefinitionReader {
 public:
  explicit DefinitionReader(std::string_view yaml) : yaml_(yaml), tree_(read_yaml(yaml)) {}

  Result<BaseDefinition> run() {
    if (tree_.error)
      return invalid(cat("The base is no valid YAML: ", tree_.error->message),
                     {{"line", tree_.error->line}, {"column", tree_.error->column}});
    BaseDefinition base;
    if (tree_.root >= 0) {
      const int root = target(tree_.root);
      if (at(root).kind == YamlNode::Kind::Mapping) {
        std::string error;
        yaml_value(tree_, root, &error);
        if (!error.empty()) return wrong(root, "the base", error);
        INDX_TRY(read_root(root, base));
      } else if (!is_null(root)) {
        return wrong(root, "the base", "must be a mapping");
      }
    }
    if (base.views.empty()) base.views.emplace_back();
    return base;
  }

 private:
  const YamlNode& at(int node) const { return tree_.nodes[static_cast<std::size_t>(node)]; }
  int target(int node) const {
    while (node >= 0 && at(node).kind == YamlNode::Kind::Alias) node = at(node).target;
    return node;
  }
  bool is_null(int node) const {
    return at(node).kind == YamlNode::Kind::Scalar && at(node).plain &&
           plain_yaml_scalar(at(node).text).is_null();
  }
  /// The value of a key; -1: missing or null.
  int child(int mapping, std::string_view key) const {
    const auto& children = at(mapping).children;
    for (std::size_t i = 0; i + 1 < children.size(); i += 2)
      if (at(target(children[i])).text == key) {
        const int value = target(children[i + 1]);
        return value < 0 || is_null(value) ? -1 : value;
      }
    return -1;
  }
  Json place(std::size_t offset) const {
    const auto before = yaml_.substr(0, std::min(offset, yaml_.size()));
    std::size_t line = 1, begin = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (before[i] == '\n') {
        ++line;
        begin = i + 1;
      }
    return {{"line", line}, {"column", before.size() - begin + 1}};
  }
  Error wrong(int node, const std::string& where, std::string_view what) const {
    Json details = place(at(node).begin);
    details["where"] = where;
    return invalid(cat("In the base, ", where, " ", what, "."), std::move(details));
  }

  Result<std::string> scalar(int node, const std::string& where) const {
    if (at(node).kind != YamlNode::Kind::Scalar) return wrong(node, where, "must be a text");
    return at(node).text;
  }
  Result<std::vector<int>> items(int node, const std::string& where) const {
    if (at(node).kind != YamlNode::Kind::Sequence) return wrong(node, where, "must be a list");
    if (at(node).children.size() > kMaxParts) return wrong(node, where, "has too many items");
    std::vector<int> all;
    for (const int item : at(node).children) all.push_back(target(item));
    return all;
  }
  struct Entry {
    std::string key;
    int value = -1;
  };
  Result<std::vector<Entry>> entries(int node, const std::string& where) const {
    if (at(node).kind != YamlNode::Kind::Mapping) return wrong(node, where, "must be a mapping");
    if (at(node).children.size() > 2 * kMaxParts) return wrong(node, where, "has too many keys");
    std::vector<Entry> all;
    const auto& children = at(node).children;
    for (std::size_t i = 0; i + 1 < children.size(); i += 2)
      all.push_back({at(target(children[i])).text, target(children[i + 1])});
    return all;
  }

  /// The error of an expression with its place in the file: exact where the text stands as it is.
  Error placed(Error error, int node, const std::string& where) const {
    const auto& scalar_node = at(node);
    const auto offset = error.details.value("offset", std::size_t{0});
    const auto raw = yaml_.substr(scalar_node.begin, scalar_node.end - scalar_node.begin);
    const std::size_t quote = scalar_node.plain ? 0 : 1;
    const bool is_literal = raw.size() >= scalar_node.text.size() + quote &&
                            raw.substr(quote, scalar_node.text.size()) == scalar_node.text;
    Json details = place(scalar_node.begin + (is_literal ? quote + offset : 0));
    details["where"] = where;
    details["expression"] = scalar_node.text;
    details["offset"] = offset;
    return invalid(cat("In ", where, ", at character ", offset + 1, ": ", error.message),
                   std::move(details));
  }

  Result<BaseFilter> filter(int node, const std::string& where, int depth) {
    if (depth > kMaxFilterDepth) return wrong(node, where, "is nested too deeply");
    if (++filters_ > kMaxParts) return wrong(node, where, "has too many conditions");
    BaseFilter result;
    if (at(node).kind == YamlNode::Kind::Scalar) {
      auto expression = parse_base_expression(at(node).text);
      if (!expression.has_value()) return placed(expression.error(), node, where);
      result.expression = std::move(expression).value();
      result.source = at(node).text;
      return result;
    }
    if (at(node).kind != YamlNode::Kind::Mapping)
      return wrong(node, where, "must be an expression, or one of `and`, `or`, `not`");
    const auto keys = INDX_TRY(entries(node, where));
    std::vector<std::string> names;
    for (const auto& entry : keys) names.push_back("`" + entry.key + "`");
    if (keys.size() != 1)
      return wrong(node, where,
                   cat("must have exactly one of `and`, `or`, `not`; it has ",
                       names.empty() ? "none" : join(names, ", ")));
    const auto& key = keys[0].key;
    if (key == "and")
      result.kind = BaseFilter::Kind::And;
    else if (key == "or")
      result.kind = BaseFilter::Kind::Or;
    else if (key == "not")
      result.kind = BaseFilter::Kind::Not;
    else
      return wrong(node, where, cat("must have one of `and`, `or`, `not`, not ", names[0]));
    if (is_null(keys[0].value)) return result;
    const auto inner = cat(where, ".", key);
    if (at(keys[0].value).kind != YamlNode::Kind::Sequence) {
      result.children.push_back(INDX_TRY(filter(keys[0].value, inner, depth + 1)));
      return result;
    }
    std::size_t index = 0;
    for (const int item : INDX_TRY(items(keys[0].value, inner)))
      result.children.push_back(INDX_TRY(filter(item, cat(inner, "[", index++, "]"), depth + 1)));
    return result;
  }

  Status read_expressions(int root, const char* part,
                          std::map<std::string, Result<BaseNode>>& into) {
    const int node = child(root, part);
    if (node < 0) return {};
    for (const auto& entry : INDX_TRY(entries(node, part))) {
      const auto where = cat(part, ".", entry.key);
      const auto source = INDX_TRY(scalar(entry.value, where));
      auto expression = parse_base_expression(source);
      if (!expression.has_value())
        into.emplace(fold_case(entry.key), placed(expression.error(), entry.value, where));
      else
        into.emplace(fold_case(entry.key), std::move(expression));
    }
    return {};
  }

  Status read_root(int root, BaseDefinition& base) {
    if (const int node = child(root, "filters"); node >= 0)
      base.filter = INDX_TRY(filter(node, "filters", 0));
    INDX_TRY(read_expressions(root, "formulas", base.formulas));
    INDX_TRY(read_expressions(root, "summaries", base.summaries));
    if (const int node = child(root, "properties"); node >= 0)
      for (const auto& entry : INDX_TRY(entries(node, "properties"))) {
        if (at(entry.value).kind != YamlNode::Kind::Mapping) continue;
        const int name = child(entry.value, "displayName");
        if (name >= 0) base.display_names[entry.key] = INDX_TRY(scalar(name, "displayName"));
      }
    const int views = child(root, "views");
    if (views < 0) return {};
    std::size_t index = 0;
    for (const int node : INDX_TRY(items(views, "views")))
      base.views.push_back(INDX_TRY(view(node, cat("views[", index++, "]"))));
    return {};
  }

  Result<BaseView> view(int node, const std::string& where) {
    INDX_TRY(entries(node, where));
    BaseView result;
    if (const int name = child(node, "name"); name >= 0)
      result.name = INDX_TRY(scalar(name, where + ".name"));
    if (const int type = child(node, "type"); type >= 0)
      result.type = INDX_TRY(scalar(type, where + ".type"));
    if (const int filters = child(node, "filters"); filters >= 0)
      result.filter = INDX_TRY(filter(filters, where + ".filters", 0));
    if (const int order = child(node, "order"); order >= 0)
      for (const int item : INDX_TRY(items(order, where + ".order")))
        result.order.push_back(BaseColumn::parse(INDX_TRY(scalar(item, where + ".order"))));
    if (const int sort = child(node, "sort"); sort >= 0)
      for (const int item : INDX_TRY(items(sort, where + ".sort")))
        result.sort.push_back(INDX_TRY(sort_of(item, where + ".sort")));
    if (const int group = child(node, "groupBy"); group >= 0)
      result.group_by = INDX_TRY(sort_of(group, where + ".groupBy"));
    if (const int limit = child(node, "limit"); limit >= 0) {
      const auto value = plain_yaml_scalar(INDX_TRY(scalar(limit, where + ".limit")));
      if (!value.is_number() || value.get<double>() < 0 || value.get<double>() > 1e9)
        return wrong(limit, where + ".limit", "must be a number of rows");
      result.limit = static_cast<std::size_t>(value.get<double>());
    }
    if (const int summaries = child(node, "summaries"); summaries >= 0)
      for (const auto& entry : INDX_TRY(entries(summaries, where + ".summaries"))) {
        auto text = INDX_TRY(scalar(entry.value, where + ".summaries"));
        result.summaries.push_back({BaseColumn::parse(entry.key), std::move(text)});
      }
    return result;
  }

  Result<BaseSort> sort_of(int node, const std::string& where) {
    if (at(node).kind == YamlNode::Kind::Scalar)
      return BaseSort{BaseColumn::parse(at(node).text), false};
    INDX_TRY(entries(node, where));
    int property = child(node, "property");
    if (property < 0) property = child(node, "column");
    if (property < 0) return wrong(node, where, "needs a `property`");
    BaseSort sort{BaseColumn::parse(INDX_TRY(scalar(property, where + ".property"))), false};
    if (const int direction = child(node, "direction"); direction >= 0) {
      const auto name = to_lower(INDX_TRY(scalar(direction, where + ".direction")));
      if (name != "asc" && name != "desc")
        return wrong(direction, where + ".direction", "must be `ASC` or `DESC`");
      sort.is_descending = name == "desc";
    }
    return sort;
  }

  std::string_view yaml_;
  YamlTree tree_;
  std::size_t filters_ = 0;
};

}  // namespace

Result<BaseDefinition> parse_base_definition(std::string_view yaml) {
  if (yaml.size() > kMaxFrontmatterBytes) return invalid("The base is too large (1 MB at most).");
  if (!is_valid_utf8(yaml)) return invalid("The base is not UTF-8.");
  if (yaml.starts_with("\xEF\xBB\xBF")) yaml.remove_prefix(3);
  return DefinitionReader(yaml).run();
}

}  // namespace indx
