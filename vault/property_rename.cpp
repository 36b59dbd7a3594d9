#include "vault/property_rename.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/frontmatter.hpp"
#include "vault/yaml_tree.hpp"

#include <algorithm>

namespace indx {
namespace {

/// The key as YAML: plain where it reads back so for sure, else in double quotes.
std::string spelled_key(std::string_view key) {
  bool is_plain =
      !key.empty() && key.front() != ' ' && key.back() != ' ' && plain_yaml_scalar(key).is_string();
  for (std::size_t at = 0; at < key.size() && is_plain;) {
    const auto point = decode_at(key, at);
    is_plain = is_letter(point.value) || is_digit(point.value) || is_mark(point.value) ||
               point.value == '_' || (at > 0 && (point.value == '-' || point.value == ' '));
    at += point.length;
  }
  return is_plain ? std::string(key) : Json(std::string(key)).dump();
}

bool is_name_character(char32_t c) {
  return is_letter(c) || is_digit(c) || is_mark(c) || c == '_' || c == '-';
}

/// Whether the name stands in the text as one of its own, in any case, with `fits` behind it.
template <typename Fits>
bool find_name(std::string_view bytes, std::string_view name, const Fits& fits) {
  const auto text = fold_case(replace_invalid_utf8(bytes)), wanted = fold_case(name);
  if (wanted.empty()) return false;
  for (auto at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) {
    std::size_t before = at;
    while (before > 0 && (static_cast<unsigned char>(text[--before]) & 0xC0U) == 0x80U) continue;
    const bool goes_on_before = at > 0 && is_name_character(decode_at(text, before).value);
    const auto end = at + wanted.size();
    const bool goes_on = end < text.size() && is_name_character(decode_at(text, end).value);
    if (!goes_on_before && !goes_on && fits(std::string_view(text).substr(end))) return true;
  }
  return false;
}

std::string_view without_quote_marks(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t>");
  return begin == line.npos ? std::string_view() : line.substr(begin);
}

}  // namespace

Result<std::vector<TextEdit>> rename_property(std::string_view bytes, std::string_view from,
                                              std::string_view to) {
  Json as_key = Json::object();
  as_key[std::string(to)] = true;
  if (trim(to).empty()) return invalid("A property needs a name.", {{"path", "to"}});
  INDX_TRY(check_frontmatter(as_key));
  std::vector<TextEdit> edits;
  const Frontmatter block = parse_frontmatter(bytes);
  if (!block.exists || block.error || block.values.empty()) return edits;
  const auto old_key = fold_case(from), new_key = fold_case(to);
  Json expected = Json::object();
  bool is_there = false, is_taken = false;
  for (const auto& [name, value] : block.values.items()) {
    const auto key = fold_case(name);
    is_there = is_there || key == old_key;
    is_taken = is_taken || (key == new_key && key != old_key);
    expected[key == old_key ? std::string(to) : name] = value;
  }
  if (!is_there) return edits;
  if (is_taken)
    return make_error(Reason::Conflict, cat("The note has a property `", to, "` already."),
                      {{"key", to}});
  if (!is_valid_utf8(bytes))
    return make_error(Reason::NotUtf8,
                      "The note is not valid UTF-8; it can be read but not edited.");
  const YamlTree tree =
      read_yaml(bytes.substr(block.content_begin, block.content_end - block.content_begin));
  const YamlNode& root = tree.nodes[static_cast<std::size_t>(tree.root)];
  for (std::size_t i = 0; i + 1 < root.children.size(); i += 2) {
    const YamlNode& key = tree.nodes[static_cast<std::size_t>(root.children[i])];
    if (fold_case(key.text) != old_key || key.text == to) continue;
    const auto begin = block.content_begin + key.begin;
    // A key in double quotes keeps them: the block may be JSON.
    edits.push_back({begin, block.content_begin + key.end,
                     bytes[begin] == '"' ? Json(std::string(to)).dump() : spelled_key(to)});
  }
  const Frontmatter after = parse_frontmatter(apply_edits(bytes, edits));
  if (after.error || after.values != expected)
    return make_error(Reason::ParseFailed,
                      "The property cannot be renamed without changing others; edit it by hand.");
  return edits;
}

bool mentions_name(std::string_view bytes, std::string_view name) {
  return find_name(bytes, name, [](std::string_view) { return true; });
}

bool mentions_key(std::string_view block, std::string_view name) {
  return find_name(block, name, [](std::string_view behind) {
    if (behind.starts_with('"') || behind.starts_with('\'')) behind.remove_prefix(1);
    const auto next = behind.find_first_not_of(" \t");
    return next != behind.npos && behind[next] == ':';
  });
}

bool code_mentions(std::string_view bytes, const std::vector<std::string_view>& languages,
                   std::string_view text) {
  std::string fence, block;
  bool is_wanted = false;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto end = std::min(bytes.find_first_of("\r\n", at), bytes.size());
    const auto line = without_quote_marks(bytes.substr(at, end - at));
    at = end + 1;
    const char mark = line.empty() ? '\0' : line[0];
    const auto run = mark == '`' || mark == '~'
                         ? std::min(line.find_first_not_of(mark), line.size())
                         : std::size_t{0};
    if (fence.empty()) {
      if (run < 3) continue;
      fence = std::string(run, mark);
      const auto info = trim(line.substr(run));
      const auto language = info.substr(0, info.find_first_of(" \t{"));
      is_wanted = std::find(languages.begin(), languages.end(), language) != languages.end();
      block.clear();
    } else if (run >= fence.size() && mark == fence[0] && trim(line.substr(run)).empty()) {
      if (is_wanted && mentions_name(block, text)) return true;
      fence.clear();
    } else if (is_wanted) {
      (block += line) += '\n';
    }
  }
  return !fence.empty() && is_wanted && mentions_name(block, text);
}

}  // namespace indx
