#include "store/search_piece.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/columns.hpp"
#include "store/search_text.hpp"
#include "store/tokenizer.hpp"

#include <algorithm>

namespace indx {
namespace {

using PieceKind = QueryNode::Kind;

/// `#tag` or `#tag/…` in the text; the tag is folded, without `#`.
bool holds_tag(std::string_view text, std::string_view tag) {
  const auto folded = fold_for_search(text);
  if (tag.starts_with('#')) tag.remove_prefix(1);
  const auto wanted = cat('#', fold_for_search(tag));
  for (auto at = folded.find(wanted); at != folded.npos; at = folded.find(wanted, at + 1)) {
    if (at > 0 && static_cast<unsigned char>(folded[at - 1]) > ' ' && folded[at - 1] != '[')
      continue;
    const auto end = at + wanted.size();
    if (end == folded.size() || folded[end] == '/') return true;
    const auto next = decode_at(folded, end).value;
    if (!is_word_character(next) && next != '-' && next != '_') return true;
  }
  return false;
}

bool holds_all(const std::vector<QueryNode>& nodes, std::string_view text);

bool holds(const QueryNode& node, std::string_view text) {
  switch (node.kind) {
    case PieceKind::Text:
      return node.text.words.empty() ? holds_exact(node.text, fold_for_search(text))
                                     : !find_texts(text, {&node.text}, 1).empty();
    case PieceKind::Tag:
      return holds_tag(text, node.value);
    case PieceKind::Pattern:
      return node.pattern->matches(text);
    case PieceKind::Not:
      return !holds(node.children.front(), text);
    case PieceKind::Or:
      return std::any_of(node.children.begin(), node.children.end(),
                         [&](const QueryNode& child) { return holds(child, text); });
    default:  // a piece inside a piece: the smaller text holds it
      return holds_all(node.children, text);
  }
}

bool holds_all(const std::vector<QueryNode>& nodes, std::string_view text) {
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](const QueryNode& node) { return holds(node, text); });
}

bool begins_block(std::string_view line) {
  const auto text = trim(line);
  if (text.empty()) return false;
  if (text.front() == '#') return true;
  const auto digits = text.find_first_not_of("0123456789");
  const auto mark = digits == text.npos ? text.size() : digits;
  const bool is_number = mark > 0 && mark < text.size() && (text[mark] == '.' || text[mark] == ')');
  const bool is_bullet = std::string_view("-*+").find(text.front()) != std::string_view::npos;
  const auto after = is_number ? mark + 1 : 1;
  return (is_number || is_bullet) && after < text.size() && text[after] == ' ';
}

/// A block: lines up to a blank one, or to the next list item or heading.
bool any_block(const QueryNode& node, std::string_view text) {
  std::size_t begin = 0, end = 0;
  const auto test = [&] {
    return end > begin && holds_all(node.children, text.substr(begin, end - begin));
  };
  const bool found = any_line(text, [&](std::size_t at, std::string_view line) {
    const bool is_blank = trim(line).empty();
    if (is_blank || begins_block(line)) {
      if (test()) return true;
      begin = is_blank ? at + line.size() : at;
    }
    end = at + line.size();
    return false;
  });
  return found || test();
}

/// A section: from one heading to the next of any level, or what stands before the first.
bool any_section(const QueryNode& node, std::string_view text, std::size_t body_begin,
                 const Json& outline) {
  std::vector<std::size_t> borders{body_begin};
  for (const auto& heading : outline)
    if (heading.is_array() && heading.size() == 5 && heading[4] == 0)
      borders.push_back(heading[3].get<std::size_t>());
  borders.push_back(text.size());
  for (std::size_t i = 0; i + 1 < borders.size(); ++i)
    if (borders[i] < borders[i + 1] && borders[i + 1] <= text.size() &&
        holds_all(node.children, text.substr(borders[i], borders[i + 1] - borders[i])))
      return true;
  return false;
}

Result<bool> any_task(Database& db, std::int64_t id, const QueryNode& node) {
  auto query = db.prepare("SELECT mark, text FROM tasks WHERE file_id=?1");
  query.bind(id);
  while (INDX_TRY(query.step())) {
    const bool is_done = query.text(0) != " ";
    if (node.tasks != TaskState::Any && is_done != (node.tasks == TaskState::Done)) continue;
    if (holds_all(node.children, query.text(1))) return true;
  }
  return false;
}

}  // namespace

Result<bool> holds_piece_of(Database& db, std::int64_t id, const QueryNode& node) {
  if (node.kind == PieceKind::Task) return any_task(db, id, node);
  auto query = db.prepare("SELECT outline, body_begin, body FROM notes WHERE id=?1");
  if (!INDX_TRY(query.bind(id).step())) return false;
  const auto text = query.text(2);
  switch (node.kind) {
    case PieceKind::Pattern:
      return node.pattern->matches(text);
    case PieceKind::Line:
      return any_line(
          text, [&](std::size_t, std::string_view line) { return holds_all(node.children, line); });
    case PieceKind::Block:
      return any_block(node, text);
    default:
      return any_section(node, text, static_cast<std::size_t>(query.integer(1)),
                         json_value(query.text(0)));
  }
}

}  // namespace indx
