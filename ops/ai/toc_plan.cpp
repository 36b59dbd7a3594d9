#include "ops/ai/toc_plan.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/link_resolver.hpp"
#include "vault/markdown.hpp"

#include <algorithm>

namespace indx {
namespace {

SchemaNode toc_text_node(const char* description) {
  SchemaNode node = node_of(SchemaNode::Type::String);
  node.description = description;
  return node;
}

SchemaNode toc_node_schema(int levels) {
  SchemaNode node = node_of(SchemaNode::Type::Object);
  node.properties = {{"title", toc_text_node("Of a heading, a note or a group."), true},
                     {"path", toc_text_node("The note, in a map of notes."), false},
                     {"anchor", toc_text_node("Slug of the heading."), false},
                     {"description", toc_text_node("One line."), false}};
  if (levels <= 1) return node;
  SchemaNode children = node_of(SchemaNode::Type::Array, toc_node_schema(levels - 1));
  children.description = "What stands below it.";
  node.properties.push_back({"children", std::move(children), false});
  return node;
}

std::vector<TocNode> toc_nodes_at(const std::vector<TocEntry>& entries, std::size_t& at,
                                  int level) {
  std::vector<TocNode> nodes;
  while (at < entries.size() && entries[at].level >= level) {
    const auto& entry = entries[at++];
    nodes.push_back({entry.title, entry.path, entry.anchor, entry.description, {}});
    nodes.back().children = toc_nodes_at(entries, at, level + 1);
  }
  return nodes;
}

std::string in_one_line(std::string_view text) {
  std::string line;
  for (std::size_t i = 0; i < text.size();) {
    const auto point = decode_at(text, i);
    const bool is_blank = is_space(point.value) || point.value < 0x20 || point.value == 0x7F ||
                          point.value == 0x2028 || point.value == 0x2029;
    if (!is_blank)
      append_utf8(line, point.value);
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
    i += point.length;
  }
  return std::string(trim(line));
}

/// Text that Markdown shows as it is.
std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : in_one_line(text)) {
    if (std::string_view("\\`*_[]<>$|#%=~^&!{}").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  // A list in the list: `- `, `+ `, `12. `, `12) `
  const auto digits = std::min(out.find_first_not_of("0123456789"), out.size());
  const bool is_number =
      digits > 0 && digits < out.size() && (out[digits] == '.' || out[digits] == ')');
  if (is_number) out.insert(digits, 1, '\\');
  if (out.starts_with('-') || out.starts_with('+')) out.insert(0, 1, '\\');
  return out;
}

/// A title as the text of a wikilink, where nothing can be escaped: what would end the link or
/// begin markup has a character in its place that looks like it.
std::string link_display(const std::string& title) {
  std::string out = title;
  for (const auto& [from, to] : {std::pair{"[", "("},
                                 {"]", ")"},
                                 {"|", "/"},
                                 {"`", "'"},
                                 {"<", "‹"},
                                 {">", "›"},
                                 {"$", "＄"},
                                 {"%%", "%"},
                                 {"\\", "/"}})
    out = replace_all(out, from, to);
  return std::string(trim(out));
}

/// Whether it is one item whose only link is this one, and nothing more.
bool is_safe_item(const std::string& item, const std::string& link) {
  const auto note = parse_note(item);
  if (note.links.size() != 1 || !note.tags.empty() || !note.headings.empty()) return false;
  const auto& found = note.links.front();
  const auto hash = link.find('#');
  return !found.external && found.target == link.substr(0, hash) &&
         found.subpath == (hash == link.npos ? "" : link.substr(hash + 1));
}

std::string toc_item_text(const TocEntry& entry) {
  if (entry.link.empty()) return markdown_text(entry.title);
  for (const auto& display : {link_display(entry.title), heading_key(entry.title)}) {
    if (display.empty()) continue;
    auto text = cat("[[", entry.link, "|", display, "]]");
    if (is_safe_item("- " + text, entry.link)) return text;
  }
  auto bare = cat("[[", entry.link, "]]");
  return is_safe_item("- " + bare, entry.link) ? bare : markdown_text(entry.title);
}

}  // namespace

Fields<TocEntry> TocEntry::fields() {
  return {
      field("title", &TocEntry::title, ""),       field("level", &TocEntry::level, ""),
      field("is_group", &TocEntry::is_group, ""), field("path", &TocEntry::path, ""),
      field("anchor", &TocEntry::anchor, ""),     field("link", &TocEntry::link, ""),
      field("evidence", &TocEntry::evidence, ""), field("description", &TocEntry::description, "")};
}
Fields<TocPlan> TocPlan::fields() {
  return {field("entries", &TocPlan::entries, ""),
          field("total_tokens", &TocPlan::total_tokens, ""),
          field("warnings", &TocPlan::warnings, "")};
}

SchemaNode Codec<TocNode>::schema() { return toc_node_schema(kMaxTocLevels); }

void Codec<TocNode>::decode(const Json& json, TocNode& node) {
  node.title = json.value("title", "");
  node.path = json.value("path", "");
  node.anchor = json.value("anchor", "");
  node.description = json.value("description", "");
  if (json.contains("children"))
    Codec<std::vector<TocNode>>::decode(json["children"], node.children);
}

std::optional<Json> Codec<TocNode>::encode(const TocNode& node) {
  Json json{{"title", node.title}};
  if (!node.path.empty()) json["path"] = node.path;
  if (!node.anchor.empty()) json["anchor"] = node.anchor;
  if (!node.description.empty()) json["description"] = node.description;
  if (!node.children.empty())
    json["children"] = *Codec<std::vector<TocNode>>::encode(node.children);
  return json;
}

std::vector<TocNode> toc_tree(const std::vector<TocEntry>& entries) {
  std::size_t at = 0;
  return toc_nodes_at(entries, at, 0);
}

std::string toc_markdown(const std::vector<TocEntry>& entries, const std::string& title,
                         TocStyle style) {
  std::string out;
  if (!title.empty()) out = cat("# ", markdown_text(title), "\n");
  bool is_list = false;
  const auto has_groups = std::any_of(entries.begin(), entries.end(),
                                      [](const TocEntry& entry) { return entry.is_group; });
  for (const auto& entry : entries) {
    const bool is_apart = !is_list || entry.is_group || style == TocStyle::Expanded;
    if (is_apart && !out.empty()) out += '\n';
    is_list = !entry.is_group;
    if (entry.is_group) {
      out += cat("## ", markdown_text(entry.title), "\n");
      continue;
    }
    const auto depth = std::max(0, entry.level - (has_groups ? 1 : 0));
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    out += cat(indent, "- ", toc_item_text(entry));
    if (!entry.description.empty())
      out += style == TocStyle::Compact
                 ? cat(" — ", markdown_text(entry.description))
                 : cat("\n\n", indent, "  ", markdown_text(entry.description));
    out += '\n';
  }
  return out;
}

std::string plain_title(std::string_view text) {
  const auto valid = replace_invalid_utf8(without_block_id(text));
  std::string shown;
  std::size_t at = 0;
  for (const auto& link : links_in_text(valid)) {
    if (link.begin < at || link.end <= link.begin) continue;  // inside of another
    shown.append(valid, at, link.begin - at);
    shown += link.display.value_or(link.target.empty() ? link.subpath : link.target);
    at = link.end;
  }
  shown.append(valid, at);
  for (const auto* mark : {"**", "==", "~~", "`"}) shown = replace_all(shown, mark, "");
  return std::string(prefix_at_grapheme(in_one_line(shown), 300));
}

}  // namespace indx
