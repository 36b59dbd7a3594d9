#include "vault/property_text.hpp"

#include "base/text.hpp"
#include "vault/frontmatter.hpp"
#include "vault/yaml_tree.hpp"

#include <algorithm>

namespace indx {
namespace {

Json with_new_texts(const Json& value, const TextRewrite& rewrite) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const auto edits = rewrite(text);
    return edits.empty() ? value : Json(apply_edits(text, edits));
  }
  Json result = value;
  for (auto& item : result)
    if (item.is_string() || item.is_structured()) item = with_new_texts(item, rewrite);
  return result;
}

/// How a text looks between the quotes of its scalar.
std::string escaped(std::string_view text, char quote) {
  if (quote == '\'') return replace_all(text, "'", "''");
  if (quote == '"') {
    const std::string json = Json(std::string(text)).dump();
    return json.substr(1, json.size() - 2);
  }
  return std::string(text);
}

/// One scalar whose text changes.
struct ChangedScalar {
  std::size_t begin = 0, end = 0;  ///< in the file
  std::string old_text, new_text;
  std::vector<TextEdit> edits;  ///< of old_text
};

/// Edits of the source that change no more than the changed pieces; nullopt when a piece does not
/// stand there as it reads.
std::optional<std::vector<TextEdit>> edits_in_place(std::string_view bytes,
                                                    const ChangedScalar& scalar) {
  const char first = bytes[scalar.begin];
  const char quote = first == '"' || first == '\'' ? first : '\0';
  std::vector<TextEdit> edits;
  std::size_t from = scalar.begin;
  for (const auto& edit : scalar.edits) {
    const auto piece =
        escaped(std::string_view(scalar.old_text).substr(edit.begin, edit.end - edit.begin), quote);
    const auto at = bytes.substr(0, scalar.end).find(piece, from);
    if (at == std::string_view::npos || piece.empty()) return std::nullopt;
    edits.push_back({at, at + piece.size(), escaped(edit.text, quote)});
    from = at + piece.size();
  }
  return edits;
}

bool reads_back(std::string_view bytes, const std::vector<TextEdit>& edits, const Json& expected) {
  if (!are_applicable(edits, bytes.size())) return false;
  const Frontmatter block = parse_frontmatter(apply_edits(bytes, edits));
  return block.exists && !block.error && block.values == expected;
}

}  // namespace

Result<std::vector<TextEdit>> rewrite_property_texts(std::string_view bytes,
                                                     const TextRewrite& rewrite) {
  const std::vector<TextEdit> nothing;
  const Frontmatter block = parse_frontmatter(bytes);
  if (!block.exists || block.error || block.values.empty()) return nothing;
  const Json expected = with_new_texts(block.values, rewrite);
  if (expected == block.values) return nothing;
  const YamlTree tree =
      read_yaml(bytes.substr(block.content_begin, block.content_end - block.content_begin));
  std::vector<bool> is_key(tree.nodes.size());
  for (const auto& node : tree.nodes)
    if (node.kind == YamlNode::Kind::Mapping)
      for (std::size_t i = 0; i < node.children.size(); i += 2)
        is_key[static_cast<std::size_t>(node.children[i])] = true;
  std::vector<ChangedScalar> changed;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const auto& node = tree.nodes[i];
    if (node.kind != YamlNode::Kind::Scalar || is_key[i]) continue;
    auto edits = rewrite(node.text);
    if (edits.empty()) continue;
    changed.push_back({block.content_begin + node.begin, block.content_begin + node.end, node.text,
                       apply_edits(node.text, edits), std::move(edits)});
  }
  std::sort(changed.begin(), changed.end(),
            [](const ChangedScalar& a, const ChangedScalar& b) { return a.begin < b.begin; });

  for (const bool in_place : {true, false}) {
    std::vector<TextEdit> all;
    for (const auto& scalar : changed) {
      const auto few = in_place ? edits_in_place(bytes, scalar) : std::nullopt;
      if (few)
        all.insert(all.end(), few->begin(), few->end());
      else
        all.push_back({scalar.begin, scalar.end, cat('"', escaped(scalar.new_text, '"'), '"')});
    }
    if (reads_back(bytes, all, expected)) return all;
  }
  return make_error(Reason::ParseFailed,
                    "A property cannot be edited without changing others; edit it by hand.");
}

}  // namespace indx
