#include "vault/frontmatter.hpp"

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/markdown.hpp"
#include "vault/yaml_tree.hpp"

#include <algorithm>
#include <unordered_set>

namespace indx {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

/// Where the line that starts at `at` ends, and where the next one begins.
struct LineEnd {
  std::size_t end = 0, next = 0;
};
LineEnd line_end_at(std::string_view bytes, std::size_t at) {
  const std::size_t end = std::min(bytes.find_first_of("\r\n", at), bytes.size());
  if (end == bytes.size()) return {end, end};
  return {end, end + (bytes.substr(end, 2) == "\r\n" ? 2 : 1)};
}

bool is_fence_line(std::string_view line) {
  return line.substr(0, 3) == "---" && line.find_first_not_of(" \t", 3) == std::string_view::npos;
}

/// First byte of the closing fence; npos if there is none.
std::size_t find_closing_fence(std::string_view bytes, std::size_t from) {
  for (std::size_t at = bytes.find("---", from); at != std::string_view::npos;
       at = bytes.find("---", at + 1)) {
    const bool at_line_start = at == from || bytes[at - 1] == '\n' || bytes[at - 1] == '\r';
    if (at_line_start && is_fence_line(bytes.substr(at, line_end_at(bytes, at).end - at)))
      return at;
  }
  return std::string_view::npos;
}

/// Row A41: `id`, `created` and `updated` are texts, spelled as in the source.
Json top_level_value(const YamlTree& tree, int index, std::string_view key, std::string* error) {
  const YamlNode& node = tree.nodes[static_cast<std::size_t>(index)];
  Json value = yaml_value(tree, index, error);
  if (value.is_number() && node.kind == YamlNode::Kind::Scalar && is_text_only_key(key))
    return node.text;
  return value;
}

Json block_values(const YamlTree& tree, std::string* error) {
  const YamlNode& root = tree.nodes[static_cast<std::size_t>(tree.root)];
  if (root.kind == YamlNode::Kind::Scalar && root.plain && root.text.empty()) return Json::object();
  if (root.kind != YamlNode::Kind::Mapping) {
    *error = "is no mapping of keys to values";
    return Json::object();
  }
  Json values = yaml_value(tree, tree.root, error);
  if (!error->empty()) return Json::object();
  for (std::size_t i = 0; i + 1 < root.children.size(); i += 2) {
    const YamlNode& key = tree.nodes[static_cast<std::size_t>(root.children[i])];
    if (!is_text_only_key(key.text)) continue;
    if (const auto it = values.find(key.text); it != values.end())
      *it = top_level_value(tree, root.children[i + 1], key.text, error);
  }
  return values;
}

/// The values that may hold a link, where they stand in `bytes`.
std::vector<PropertyText> link_texts_of(const YamlTree& tree, std::string_view bytes,
                                        std::size_t content_begin) {
  std::vector<PropertyText> texts;
  const auto add = [&](int index) {
    const YamlNode& place = tree.nodes[static_cast<std::size_t>(index)];
    const bool is_alias = place.kind == YamlNode::Kind::Alias && place.target >= 0;
    const YamlNode& value = is_alias ? tree.nodes[static_cast<std::size_t>(place.target)] : place;
    if (value.kind != YamlNode::Kind::Scalar || !is_link_text(value.text)) return;
    std::size_t begin = content_begin + place.begin;
    if (is_alias && bytes[begin - 1] == '*') --begin;  // the name alone is marked
    texts.push_back({value.text, begin, content_begin + place.end});
  };
  for (const YamlNode& node : tree.nodes) {
    const bool is_mapping = node.kind == YamlNode::Kind::Mapping;
    if (!is_mapping && node.kind != YamlNode::Kind::Sequence) continue;
    for (std::size_t i = is_mapping ? 1 : 0; i < node.children.size(); i += is_mapping ? 2 : 1)
      add(node.children[i]);
  }
  std::sort(texts.begin(), texts.end(),
            [](const PropertyText& a, const PropertyText& b) { return a.begin < b.begin; });
  return texts;
}

int count_lines_before(std::string_view bytes, std::size_t end) {
  int lines = 0;
  for (std::size_t at = 0; at < end; at = line_end_at(bytes, at).next) ++lines;
  return lines;
}

/// The items of a list-like property: its texts, split on commas and white space where `legacy`
/// asks for it.
std::vector<std::string> text_items(const Json& value, bool split_texts,
                                    std::vector<std::string>* other) {
  std::vector<std::string> items;
  const auto add = [&](const Json& item) {
    if (item.is_null()) return;
    if (!item.is_string()) {
      if (other != nullptr) other->push_back(json_text(item));
      return;
    }
    const auto& text = item.get_ref<const std::string&>();
    if (!split_texts) {
      items.push_back(text);
      return;
    }
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find_first_of(", \t\r\n", begin), text.size());
      if (end > begin) items.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  };
  if (value.is_array()) {
    for (const Json& item : value) add(item);
  } else {
    add(value);
  }
  return items;
}

/// Every value whose key is `name`, or `singular` in legacy mode, without regard to case.
std::vector<const Json*> special_values(const Json& values, std::string_view name,
                                        std::string_view singular, bool legacy) {
  std::vector<const Json*> found;
  if (!values.is_object()) return found;
  for (const auto& [key, value] : values.items()) {
    const std::string folded = fold_case(key);
    if (folded == name || (legacy && folded == singular)) found.push_back(&value);
  }
  return found;
}

}  // namespace

Frontmatter parse_frontmatter(std::string_view bytes) {
  Frontmatter block;
  const std::size_t start = bytes.substr(0, kBom.size()) == kBom ? kBom.size() : 0;
  block.begin = block.content_begin = block.content_end = block.body_begin = start;
  if (bytes.substr(start, 3) != "---") return block;
  const LineEnd first = line_end_at(bytes, start);
  if (!is_fence_line(bytes.substr(start, first.end - start)) || first.next == first.end)
    return block;
  const std::size_t close = find_closing_fence(bytes, first.next);
  if (close == std::string_view::npos) return block;

  block.exists = true;
  block.content_begin = first.next;
  block.content_end = close;
  block.body_begin = line_end_at(bytes, close).next;
  const YamlTree tree =
      read_yaml(bytes.substr(block.content_begin, block.content_end - block.content_begin));
  if (tree.error) {
    block.error = tree.error;
    block.error->line += 1;
    return block;
  }
  if (tree.root < 0) return block;
  std::string error;
  Json values = block_values(tree, &error);
  if (error.empty()) {
    block.values = std::move(values);
    block.link_texts = link_texts_of(tree, bytes, block.content_begin);
  } else {
    block.error = FrontmatterError{count_lines_before(bytes, block.content_begin) + 1, 1,
                                   cat("The property block ", error, ".")};
  }
  return block;
}

bool is_link_text(std::string_view text) {
  return text.find("[[") != std::string_view::npos || text.find("](") != std::string_view::npos;
}

const Json* find_property(const Json& values, std::string_view name) {
  if (!values.is_object()) return nullptr;
  if (const auto it = values.find(std::string(name)); it != values.end()) return &*it;
  const std::string folded = fold_case(name);
  for (const auto& [key, value] : values.items())
    if (fold_case(key) == folded) return &value;
  return nullptr;
}

std::vector<std::string> property_tags(const Json& values, bool legacy,
                                       std::vector<std::string>* invalid) {
  std::vector<std::string> tags;
  std::unordered_set<std::string> seen;
  for (const Json* value : special_values(values, "tags", "tag", legacy)) {
    for (const std::string& item : text_items(*value, legacy, invalid)) {
      std::string tag = item.substr(!item.empty() && item[0] == '#' ? 1 : 0);
      if (!is_valid_tag(tag)) {
        if (invalid != nullptr) invalid->push_back(item);
      } else if (seen.insert(fold_case(tag)).second) {
        tags.push_back(std::move(tag));
      }
    }
  }
  return tags;
}

std::vector<std::string> property_aliases(const Json& values, bool legacy) {
  std::vector<std::string> aliases;
  for (const Json* value : special_values(values, "aliases", "alias", legacy)) {
    if (legacy && value->is_string()) {  // the old form: one text, split on commas only, since
                                         // names hold spaces
      for (const std::string& part : split(value->get_ref<const std::string&>(), ','))
        if (!trim(part).empty()) aliases.emplace_back(trim(part));
      continue;
    }
    std::vector<std::string> other;
    for (std::string& item : text_items(*value, false, &other))
      if (!trim(item).empty()) aliases.emplace_back(trim(item));
  }
  return aliases;
}

}  // namespace indx
