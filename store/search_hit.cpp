#include "store/search_hit.hpp"

#include "base/unicode.hpp"
#include "store/columns.hpp"
#include "store/search_text.hpp"
#include "store/tokenizer.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kMaxMatches = 200;  // looked at for a snippet

bool has_node(const QueryNode& query, QueryNode::Kind kind) {
  return std::any_of(query.children.begin(), query.children.end(),
                     [kind](const QueryNode& node) { return node.kind == kind; });
}

bool asks_for_tag(const QueryNode& node, const std::string& tag) {
  if (node.kind == QueryNode::Kind::Not) return false;
  if (node.kind == QueryNode::Kind::Tag) {
    const auto key = fold_case(tag);
    auto wanted = fold_case(node.value);
    if (wanted.starts_with('#')) wanted.erase(0, 1);
    return key == wanted || key.starts_with(wanted + "/");
  }
  if (node.kind == QueryNode::Kind::Text) {
    std::vector<std::string> words;
    for (WordReader reader(tag); reader.next();) words.emplace_back(reader.word());
    return !words.empty() && words == node.text.words;
  }
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const QueryNode& child) { return asks_for_tag(child, tag); });
}

/// 1-based line of the byte; `\n`, `\r\n` and a lone `\r` end lines.
int line_of(std::string_view text, std::size_t at) {
  int line = 1;
  for (std::size_t i = 0; i < at && i < text.size(); ++i)
    if (text[i] == '\n' || (text[i] == '\r' && text.substr(i + 1, 1) != "\n")) ++line;
  return line;
}

std::string heading_at(const Json& outline, int line) {
  std::string heading;
  for (const auto& row : outline) {
    if (!row.is_array() || row.size() < 5 || row[2].get<int>() > line) break;
    if (row[4] == 0) heading = row[1].get<std::string>();
  }
  return heading;
}

}  // namespace

Result<SearchHit> make_hit(Database& db, const FoundFile& found, const QueryNode& query,
                           const SearchPlan& plan) {
  SearchHit hit;
  hit.path = found.path;
  hit.score = found.score;
  hit.tags = INDX_TRY(tags_of(db, found.id));
  auto row = db.prepare(
      "SELECT f.title, n.title, n.body_begin, n.body, n.outline FROM files f JOIN notes n ON "
      "n.id=f.id WHERE f.id=?1");
  if (!INDX_TRY(row.bind(found.id).step())) {  // a file without text
    hit.title = found.path.substr(found.path.rfind('/') + 1);
    if (has_node(query, QueryNode::Kind::File)) hit.matched_in.emplace_back("title");
    return hit;
  }
  hit.title = row.text(0);
  const auto whole = row.text(3);
  const auto body_begin = std::min(static_cast<std::size_t>(row.integer(2)), whole.size());
  auto properties = whole.substr(0, body_begin);
  auto body = whole.substr(body_begin);
  if (!is_valid_utf8(body)) body = replace_invalid_utf8(body);
  if (!is_valid_utf8(properties)) properties = replace_invalid_utf8(properties);
  const auto in_title = find_texts(row.text(1), plan.texts, kMaxMatches);
  auto in_body = find_texts(body, plan.texts, kMaxMatches);
  add_pattern_matches(body, plan.patterns, plan.texts.size(), kMaxMatches, in_body);
  const auto in_properties = find_texts(properties, plan.texts, kMaxMatches);

  if (!in_title.empty() || has_node(query, QueryNode::Kind::File))
    hit.matched_in.emplace_back("title");
  if (!in_body.empty()) hit.matched_in.emplace_back("body");
  if (std::any_of(hit.tags.begin(), hit.tags.end(),
                  [&](const std::string& tag) { return asks_for_tag(query, tag); }))
    hit.matched_in.emplace_back("tags");
  if (!in_properties.empty() || has_node(query, QueryNode::Kind::Property))
    hit.matched_in.emplace_back("frontmatter");

  if (!in_body.empty()) {
    hit.snippet = make_snippet(body, in_body);
    hit.line = line_of(properties, properties.size()) - 1 +
               line_of(body, in_body[best_match(in_body)].begin);
    hit.heading = heading_at(json_value(row.text(4)), hit.line);
  } else if (!in_properties.empty()) {
    hit.snippet = make_snippet(properties, in_properties);
    hit.line = line_of(properties, in_properties[best_match(in_properties)].begin);
  } else if (!in_title.empty()) {
    hit.snippet = make_snippet(row.text(1), in_title);
  } else {
    hit.snippet = make_snippet(body, {});
  }
  return hit;
}

}  // namespace indx
