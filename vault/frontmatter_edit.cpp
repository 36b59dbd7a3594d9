#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/frontmatter.hpp"
#include "vault/line_ends.hpp"
#include "vault/property_spelling.hpp"
#include "vault/yaml_tree.hpp"

#include <algorithm>
#include <cmath>

namespace indx {
namespace {

constexpr int kMaxValueDepth = 32;

// --- what may be written ---

Status check_value(const Json& value, int depth) {
  if (depth > kMaxValueDepth) return invalid("The property value is nested too deeply.");
  if (value.is_string() && !is_valid_utf8(value.get_ref<const std::string&>()))
    return invalid("The property value is not valid UTF-8.");
  if (value.is_number_float() && !std::isfinite(value.get<double>()))
    return invalid("The property value is not a finite number.");
  if (!value.is_structured()) return {};
  for (const auto& [key, item] : value.items()) {
    if (value.is_object() && (key.empty() || !is_valid_utf8(key)))
      return invalid("A key inside the property value is empty or not UTF-8.");
    Status inner = check_value(item, depth + 1);
    if (!inner) return inner;
  }
  return {};
}

Status check_key(std::string_view key) {
  if (key.empty() || key.size() > 255 || trim(key).size() != key.size() || !is_valid_utf8(key))
    return invalid("A property key needs 1 to 255 bytes of UTF-8 without spaces around it.",
                   Json{{"key", replace_invalid_utf8(key)}});
  for (const char c : key)
    if (static_cast<unsigned char>(c) < 0x20 || c == '\x7F')
      return invalid("A property key holds no control characters.");
  return {};
}

Error unsafe_edit(std::string_view key, std::string_view why) {
  return make_error(Reason::ParseFailed,
                    cat("The property `", key, "` cannot be edited safely: ", why, "."),
                    Json{{"key", key}});
}

/// The block of a text that may be edited, or why it may not.
Result<Frontmatter> editable_block(std::string_view bytes) {
  if (!is_valid_utf8(bytes))
    return make_error(Reason::NotUtf8,
                      "The note is not valid UTF-8; it can be read but not edited.");
  Frontmatter block = parse_frontmatter(bytes);
  if (!block.error) return block;
  return make_error(Reason::ParseFailed,
                    cat("The property block is invalid at line ", block.error->line, ": ",
                        block.error->message, " Correct it first."),
                    Json{{"line", block.error->line}, {"column", block.error->column}});
}

// --- where things stand ---

/// One top-level key; offsets are bytes in the whole file.
struct Entry {
  std::string key;
  std::size_t line_begin = 0;  ///< of the key's line
  std::size_t after_colon = 0;
  std::size_t value_end =
      0;  ///< after the last byte of the value; `after_colon` for an empty value
  std::size_t last_line_end = 0;  ///< where the value's last line ends, before its line end
  YamlNode value;
};

struct Layout {
  YamlTree tree;
  std::vector<Entry> entries;
  std::size_t indent = 0;  ///< of top-level keys
};

Result<Layout> block_layout(std::string_view bytes, const Frontmatter& block) {
  Layout layout;
  layout.tree =
      read_yaml(bytes.substr(block.content_begin, block.content_end - block.content_begin));
  if (layout.tree.root < 0) return layout;
  const YamlNode& root = layout.tree.nodes[static_cast<std::size_t>(layout.tree.root)];
  for (std::size_t i = 0; i + 1 < root.children.size(); i += 2) {
    const YamlNode& key = layout.tree.nodes[static_cast<std::size_t>(root.children[i])];
    Entry entry;
    entry.key = key.text;
    entry.value = layout.tree.nodes[static_cast<std::size_t>(root.children[i + 1])];
    if (root.flow) {  // rewritten as a whole, so positions do not matter
      layout.entries.push_back(std::move(entry));
      continue;
    }
    const std::size_t key_begin = block.content_begin + key.begin;
    entry.line_begin = line_begin_of(bytes, key_begin);
    const std::string_view before = bytes.substr(entry.line_begin, key_begin - entry.line_begin);
    const std::size_t colon = bytes.find_first_not_of(" \t", block.content_begin + key.end);
    if (key.decorated || key.end <= key.begin ||
        before.find_first_not_of(' ') != std::string_view::npos || colon >= block.content_end ||
        bytes[colon] != ':')
      return unsafe_edit(key.text, "its key is spelled in an unusual way");
    if (layout.entries.empty()) layout.indent = before.size();
    entry.after_colon = colon + 1;
    entry.value_end = std::max(entry.after_colon, block.content_begin + entry.value.end);
    if (entry.value.end == entry.value.begin) entry.value_end = entry.after_colon;
    entry.last_line_end = line_end_of(bytes, entry.value_end);
    layout.entries.push_back(std::move(entry));
  }
  return layout;
}

const Entry* find_entry(const Layout& layout, std::string_view key) {
  for (const Entry& entry : layout.entries)
    if (entry.key == key) return &entry;
  const std::string folded = fold_case(key);
  for (const Entry& entry : layout.entries)
    if (fold_case(entry.key) == folded) return &entry;
  return nullptr;
}

bool is_flow_root(const Layout& layout) {
  return layout.tree.root >= 0 &&
         layout.tree.nodes[static_cast<std::size_t>(layout.tree.root)].flow;
}

std::string splice(std::string_view bytes, std::size_t begin, std::size_t end,
                   std::string_view text) {
  std::string out;
  out.reserve(bytes.size() + text.size());
  out.append(bytes.substr(0, begin)).append(text).append(bytes.substr(end));
  return out;
}

/// The proof of an edit: the properties are exactly `expected` and the body is what it was.
bool reads_as(std::string_view after, const Json& expected, std::string_view body) {
  const Frontmatter block = parse_frontmatter(after);
  return !block.error && block.exists && block.values == expected &&
         after.substr(block.body_begin) == body;
}

bool is_list_key(std::string_view key) {
  const std::string folded = fold_case(key);
  return folded == "tags" || folded == "aliases" || folded == "cssclasses";
}

/// The text that replaces everything from after the colon to the end of the old value.
std::string value_text(std::string_view bytes, const Entry& entry, const Json& value,
                       std::size_t indent, std::string_view line_end) {
  const YamlNode& old = entry.value;
  const bool was_one_line =
      bytes.substr(entry.after_colon, entry.value_end - entry.after_colon).find_first_of("\r\n") ==
      std::string_view::npos;
  if (value.is_array() && !value.empty() && old.kind == YamlNode::Kind::Sequence && old.flow &&
      was_one_line)
    return " " + PropertyWriter::flow(value);
  return PropertyWriter(line_end).after_mark(value, indent, false);
}

std::string replace_value(std::string_view bytes, const Entry& entry, const Json& value,
                          std::size_t indent, std::string_view line_end) {
  std::string text = value_text(bytes, entry, value, indent, line_end);
  const bool new_one_line = text.find_first_of("\r\n") == std::string::npos;
  const bool old_one_line =
      bytes.substr(entry.after_colon, entry.value_end - entry.after_colon).find_first_of("\r\n") ==
      std::string_view::npos;
  const bool ends_in_block_scalar = text.find("|-") != std::string::npos && !new_one_line;
  // A comment after the old value stays where it can: behind a value of one line, or behind the
  // last line of a list.
  const bool keeps_comment = new_one_line || (!old_one_line && !ends_in_block_scalar);
  std::size_t end = keeps_comment ? entry.value_end : entry.last_line_end;
  if (keeps_comment && entry.value.block_scalar) end = entry.last_line_end;
  return splice(bytes, entry.after_colon, end, text);
}

/// The block as a whole in block style: for a JSON block one key of which is set.
Result<std::string> rewrite_json_block(std::string_view bytes, const Frontmatter& block,
                                       const Json& values, std::string_view key) {
  const std::string_view content =
      bytes.substr(block.content_begin, block.content_end - block.content_begin);
  if (!Json::accept(content)) return unsafe_edit(key, "the block is YAML in braces but no JSON");
  const std::string eol(dominant_line_end(bytes));
  if (values.empty()) return splice(bytes, block.begin, block.body_begin, "");
  return splice(bytes, block.content_begin, block.content_end, render_frontmatter(values, eol));
}

std::string insert_key(std::string_view bytes, const Frontmatter& block, const Layout& layout,
                       std::string_view line, std::string_view eol, bool at_end) {
  if (at_end || layout.entries.empty())
    return splice(bytes, block.content_end, block.content_end, cat(line, eol));
  const std::size_t at = next_line_of(bytes, layout.entries.back().last_line_end);
  return splice(bytes, at, at, cat(line, eol));
}

/// Lines of the entry that hold nothing but a comment; they outlive the key.
std::string comments_inside(std::string_view bytes, std::size_t content_begin, const Layout& layout,
                            const Entry& entry) {
  std::string kept;
  for (std::size_t at = next_line_of(bytes, line_end_of(bytes, entry.line_begin));
       at < entry.last_line_end;) {
    const std::size_t end = line_end_of(bytes, at), next = next_line_of(bytes, end);
    const std::size_t first = bytes.find_first_not_of(" \t", at);
    if (first < end && bytes[first] == '#') {
      const bool in_scalar = std::any_of(
          layout.tree.nodes.begin(), layout.tree.nodes.end(), [&](const YamlNode& node) {
            return node.kind == YamlNode::Kind::Scalar && content_begin + node.begin <= first &&
                   first < content_begin + node.end;
          });
      if (!in_scalar) kept.append(bytes.substr(at, next - at));
    }
    at = next;
  }
  return kept;
}

bool holds_comment(std::string_view bytes, const Frontmatter& block) {
  for (std::size_t at = block.content_begin; at < block.content_end;
       at = next_line_of(bytes, line_end_of(bytes, at))) {
    const std::size_t first = bytes.find_first_not_of(" \t", at);
    if (first < block.content_end && bytes[first] == '#') return true;
  }
  return false;
}

// --- tags (rule 4.9) ---

struct TagEdit {
  std::size_t begin = 0, end = 0;
  std::string text;
};

/// The range that goes when an item of a list is dropped: its line, or the item with one comma.
TagEdit dropped_item(std::string_view bytes, const YamlNode& list, std::size_t begin,
                     std::size_t end) {
  if (!list.flow) {
    const std::size_t line = line_begin_of(bytes, begin);
    return {line, next_line_of(bytes, line_end_of(bytes, end)), ""};
  }
  std::size_t after = bytes.find_first_not_of(" \t\r\n", end);
  if (after < bytes.size() && bytes[after] == ',') {
    after = std::min(bytes.find_first_not_of(" \t", after + 1), bytes.size());
    return {begin, after, ""};
  }
  std::size_t before = begin;
  while (before > 0 && (bytes[before - 1] == ' ' || bytes[before - 1] == '\t')) --before;
  if (before > 0 && bytes[before - 1] == ',') return {before - 1, end, ""};
  return {begin, end, ""};
}

/// `value` with every tag renamed, and the edits of the source that do the same.
Json renamed_tags(std::string_view bytes, const Frontmatter& block, const YamlTree& tree,
                  const YamlNode& value, const Json& json, const TagRename& rename,
                  std::vector<TagEdit>& edits) {
  const auto new_text = [&](const Json& item) -> std::optional<std::string> {
    if (!item.is_string()) return std::nullopt;
    const auto& text = item.get_ref<const std::string&>();
    const std::string mark = !text.empty() && text[0] == '#' ? "#" : "";
    const std::optional<std::string> tag = rename(std::string_view(text).substr(mark.size()));
    return tag ? std::optional(mark + *tag) : std::nullopt;
  };
  const auto edit_scalar = [&](const YamlNode& node, const std::string& text, bool in_flow) {
    const char quote =
        node.plain || node.block_scalar ? '\0' : bytes[block.content_begin + node.begin];
    const std::string spelled =
        quote == '\0' ? spell_property_text(text, in_flow) : std::string(1, quote) + text + quote;
    edits.push_back({block.content_begin + node.begin, block.content_begin + node.end, spelled});
  };
  if (json.is_string()) {
    const auto text = new_text(json);
    if (!text) return json;
    edit_scalar(value, *text, false);
    return *text;
  }
  if (!json.is_array() || value.kind != YamlNode::Kind::Sequence) return json;
  const auto key_of = [](const Json& item) {
    const auto& text = item.get_ref<const std::string&>();
    return fold_case(std::string_view(text).substr(!text.empty() && text[0] == '#' ? 1 : 0));
  };
  std::vector<std::string> present;
  for (const Json& item : json)
    if (item.is_string() && !new_text(item)) present.push_back(key_of(item));
  Json result = Json::array();
  for (std::size_t i = 0; i < json.size(); ++i) {
    const YamlNode& node = tree.nodes[static_cast<std::size_t>(value.children[i])];
    const auto text = new_text(json[i]);
    if (!text) {
      result.push_back(json[i]);
      continue;
    }
    const std::string key = key_of(Json(*text));
    if (std::find(present.begin(), present.end(), key) != present.end()) {
      edits.push_back(dropped_item(bytes, value, block.content_begin + node.begin,
                                   block.content_begin + node.end));
    } else {
      present.push_back(key);
      edit_scalar(node, *text, value.flow);
      result.push_back(*text);
    }
  }
  return result;
}

}  // namespace

Result<std::string> rename_property_tags(std::string_view bytes, const TagRename& rename) {
  const Frontmatter block = parse_frontmatter(bytes);
  if (!block.exists || block.error || block.values.empty()) return std::string(bytes);
  const YamlTree tree =
      read_yaml(bytes.substr(block.content_begin, block.content_end - block.content_begin));
  const YamlNode& root = tree.nodes[static_cast<std::size_t>(tree.root)];
  std::vector<TagEdit> edits;
  Json expected = block.values;
  for (std::size_t i = 0; i + 1 < root.children.size(); i += 2) {
    const std::string& key = tree.nodes[static_cast<std::size_t>(root.children[i])].text;
    if (fold_case(key) != "tags" || !expected.contains(key)) continue;
    const YamlNode& value = tree.nodes[static_cast<std::size_t>(root.children[i + 1])];
    const std::size_t edits_before = edits.size();
    expected[key] = renamed_tags(bytes, block, tree, value, block.values.at(key), rename, edits);
    if (value.decorated && edits.size() > edits_before)
      return unsafe_edit(key, "its value uses anchors, aliases or tags");
  }
  if (edits.empty()) return std::string(bytes);
  std::string after(bytes);
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
    if (edit->end > after.size() || (edit != edits.rbegin() && edit->end > (edit - 1)->begin))
      return unsafe_edit("tags", "its items overlap");
    after.replace(edit->begin, edit->end - edit->begin, edit->text);
  }
  if (!reads_as(after, expected, bytes.substr(block.body_begin)))
    return unsafe_edit("tags", "the edit would change other properties");
  return after;
}

std::string render_frontmatter(const Json& values, std::string_view line_end) {
  if (!values.is_object() || values.empty()) return {};
  Json shaped = Json::object();
  for (const auto& [key, value] : values.items())
    shaped[key] =
        is_list_key(key) && value.is_primitive() && !value.is_null() ? Json::array({value}) : value;
  return PropertyWriter(line_end).members(shaped, 0) + std::string(line_end);
}

Status check_frontmatter(const Json& values) {
  if (!values.is_object()) return invalid("The properties must be an object.");
  for (const auto& [key, value] : values.items()) {
    Status good = check_key(key);
    if (!good) return good;
  }
  return check_value(values, 0);
}

Result<std::string> set_frontmatter(std::string_view bytes, std::string_view key,
                                    const Json& value) {
  INDX_TRY(check_key(key));
  INDX_TRY(check_value(value, 0));
  const Frontmatter block = INDX_TRY(editable_block(bytes));
  const Json shaped =
      is_list_key(key) && value.is_primitive() && !value.is_null() ? Json::array({value}) : value;
  const std::string eol(dominant_line_end(bytes));
  Json expected = block.values;
  const std::string_view body = bytes.substr(block.body_begin);

  if (!block.exists) {
    expected[std::string(key)] = as_read_back(key, shaped);
    const std::string line = PropertyWriter(eol).members(Json{{std::string(key), shaped}}, 0);
    std::string after =
        splice(bytes, block.begin, block.begin, cat("---", eol, line, eol, "---", eol));
    if (!reads_as(after, expected, body))
      return unsafe_edit(key, "it would not read back as the same value");
    return after;
  }

  const Layout layout = INDX_TRY(block_layout(bytes, block));
  const Entry* entry = find_entry(layout, key);
  const std::string name = entry == nullptr ? std::string(key) : entry->key;
  const auto current = expected.find(name);
  if (entry != nullptr && current != expected.end() && *current == as_read_back(name, shaped) &&
      current->type() == as_read_back(name, shaped).type())
    return std::string(bytes);
  expected[name] = as_read_back(name, shaped);

  std::string after;
  if (is_flow_root(layout)) {
    Json written = block.values;
    written[name] = shaped;
    after = INDX_TRY(rewrite_json_block(bytes, block, written, key));
  } else if (entry != nullptr) {
    if (entry->value.decorated) return unsafe_edit(key, "its value uses anchors, aliases or tags");
    after = replace_value(bytes, *entry, shaped, layout.indent, eol);
  } else {
    const std::string line = PropertyWriter(eol).members(Json{{name, shaped}}, layout.indent);
    after = insert_key(bytes, block, layout, line, eol, false);
    if (!reads_as(after, expected, body)) after = insert_key(bytes, block, layout, line, eol, true);
  }
  if (!reads_as(after, expected, body))
    return unsafe_edit(key, "the edit would change other properties");
  return after;
}

Result<std::string> delete_frontmatter(std::string_view bytes, std::string_view key) {
  INDX_TRY(check_key(key));
  const Frontmatter block = INDX_TRY(editable_block(bytes));
  if (!block.exists || block.values.empty()) return std::string(bytes);
  const Layout layout = INDX_TRY(block_layout(bytes, block));
  const Entry* entry = find_entry(layout, key);
  if (entry == nullptr) return std::string(bytes);
  Json expected = block.values;
  expected.erase(entry->key);
  const std::string_view body = bytes.substr(block.body_begin);

  std::string after;
  if (is_flow_root(layout)) {
    after = INDX_TRY(rewrite_json_block(bytes, block, expected, key));
    if (expected.empty()) return after;
  } else {
    const std::string comments = comments_inside(bytes, block.content_begin, layout, *entry);
    after = splice(bytes, entry->line_begin, next_line_of(bytes, entry->last_line_end), comments);
  }
  if (!reads_as(after, expected, body))
    return unsafe_edit(key, "the edit would change other properties");
  const Frontmatter left = parse_frontmatter(after);
  if (left.values.empty() && !holds_comment(after, left))
    return splice(after, left.begin, left.body_begin, "");
  return after;
}

}  // namespace indx
