#include "store/search_run.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/columns.hpp"
#include "store/search_piece.hpp"
#include "store/search_text.hpp"
#include "store/tokenizer.hpp"

#include <algorithm>

namespace indx {
namespace {

using NodeKind = QueryNode::Kind;

/// Whether only the text of notes can tell.
bool needs_scan(const QueryNode& node) { return is_piece(node) || node.kind == NodeKind::Pattern; }

/// The node as an FTS5 expression, when words decide alone: no filter, no negation, no check on raw
/// text.
std::optional<std::string> fts_expression(const QueryNode& node) {
  if (node.kind == NodeKind::Text)
    return node.text.words.empty() || !node.text.exact.empty() || node.text.has_case
               ? std::nullopt
               : std::optional(fts_phrase(node.text));
  if (node.kind != NodeKind::And && node.kind != NodeKind::Or) return std::nullopt;
  std::vector<std::string> parts;
  for (const auto& child : node.children) {
    auto part = fts_expression(child);
    if (!part) return std::nullopt;
    parts.push_back(std::move(*part));
  }
  if (parts.empty()) return std::nullopt;
  return cat('(', join(parts, node.kind == NodeKind::And ? " AND " : " OR "), ')');
}

std::string any_phrase(const std::vector<const QueryText*>& texts) {
  std::vector<std::string> phrases;
  for (const auto* text : texts)
    if (!text->words.empty()) phrases.push_back(fts_phrase(*text));
  return join(phrases, " OR ");
}

void collect_patterns(const QueryNode& node, std::vector<const Regex*>& out) {
  if (node.kind == NodeKind::Not) return;
  if (node.kind == NodeKind::Pattern) out.push_back(node.pattern.get());
  for (const auto& child : node.children) collect_patterns(child, out);
}

std::optional<double> number_of(std::string_view text) {
  const auto json = Json::parse(text, nullptr, false);
  return json.is_number() ? std::optional(json.get<double>()) : std::nullopt;
}

/// Numbers by value, dates and other texts by their characters; of two kinds nothing is less.
std::optional<int> compare_values(const Json& have, const std::string& wanted) {
  const auto order = [](const auto& a, const auto& b) { return a < b ? -1 : a > b ? 1 : 0; };
  const auto number = number_of(wanted);
  if (have.is_number() && number) return order(have.get<double>(), *number);
  if (have.is_string() && !number)
    return order(fold_for_search(have.get_ref<const std::string&>()), wanted);
  return std::nullopt;
}

bool holds_value(const QueryNode& node, const Json& value) {
  if (node.compare != QueryNode::Compare::Holds) {
    const auto order = compare_values(value, node.value);
    if (!order) return false;
    switch (node.compare) {
      case QueryNode::Compare::Less:
        return *order < 0;
      case QueryNode::Compare::LessOrEqual:
        return *order <= 0;
      case QueryNode::Compare::Greater:
        return *order > 0;
      default:
        return *order >= 0;
    }
  }
  if (value.is_null()) return node.value == "null";
  if (value.is_string())
    return fold_for_search(value.get_ref<const std::string&>()).find(node.value) !=
           std::string::npos;
  return fold_for_search(json_text(value)) == node.value;
}

constexpr auto kById = [](const Found& a, const Found& b) { return a.id < b.id; };

std::vector<Found> without(const std::vector<Found>& any, const std::vector<Found>& all) {
  std::vector<Found> left;
  std::set_difference(any.begin(), any.end(), all.begin(), all.end(), std::back_inserter(left),
                      kById);
  return left;
}

/// The rows of `scored` with these ids, score 0 for ids that have none. Both are sorted by id.
std::vector<Found> pick(const std::vector<Found>& scored, const FileIds& ids) {
  std::vector<Found> found;
  auto at = scored.begin();
  for (const auto id : ids) {
    at = std::lower_bound(at, scored.end(), Found{id, 0}, kById);
    found.push_back({id, at != scored.end() && at->id == id ? at->score : 0});
  }
  return found;
}

}  // namespace

SearchPlan plan_of(const QueryNode& query) {
  SearchPlan plan;
  for (const auto& child : query.children) {
    if (has_text(child))
      plan.words.push_back(&child);
    else
      plan.required.push_back(child);
  }
  collect_texts(query, plan.texts);
  collect_patterns(query, plan.patterns);
  plan.is_about_names = asks_only_names(query);
  return plan;
}

Result<std::vector<Found>> SearchRun::scores(const std::string& expression) {
  return rank(INDX_TRY(collect_matches(db_, expression)));
}

Result<std::shared_ptr<const PhraseCounts>> SearchRun::rows_of(const std::string& phrase) {
  auto known = memory_.rows(generation_, phrase);
  if (!known) {
    known = std::make_shared<const PhraseCounts>(INDX_TRY(collect_matches(db_, phrase)));
    memory_.keep(generation_, phrase, known);
  }
  return known;
}

Result<SearchRun::Spread> SearchRun::spread_of(const std::string& phrase) {
  const auto rows = INDX_TRY(rows_of(phrase));
  return Spread{rows->ids.size(), static_cast<std::size_t>(rows->note_count)};
}

Result<std::vector<Found>> SearchRun::scores(const std::vector<std::string>& phrases,
                                             bool needs_all) {
  std::vector<std::shared_ptr<const PhraseCounts>> rows;
  for (const auto& phrase : phrases) rows.push_back(INDX_TRY(rows_of(phrase)));
  return rank(rows.size() == 1 ? *rows[0] : combine_phrases(rows, needs_all));
}

Result<std::vector<Found>> SearchRun::rank(const PhraseCounts& counts) {
  auto lengths = memory_.lengths(generation_);
  const bool were_known = lengths != nullptr;
  auto all = INDX_TRY(rank_matches(db_, counts, &lengths));
  if (lengths && !were_known) memory_.keep(generation_, std::move(lengths));
  return all;
}

Result<FileIds> SearchRun::all_ids() {
  FileIds ids;
  auto query = db_.prepare("SELECT id FROM notes_fts_docsize ORDER BY id");
  while (INDX_TRY(query.step())) ids.push_back(query.integer(0));
  return ids;
}

Result<FileIds> SearchRun::verified(const QueryText& text, const FileIds& candidates) {
  FileIds ids;
  for (const auto id : candidates) {
    auto query = db_.prepare("SELECT title, aliases, body FROM notes WHERE id=?1");
    if (!INDX_TRY(query.bind(id).step())) continue;
    const auto whole = text.is_body_only
                           ? query.text(2)
                           : cat(query.text(0), "\n", query.text(1), "\n", query.text(2));
    if (!text.exact.empty() && !holds_exact(text, fold_for_search(whole))) continue;
    if (text.has_case && find_texts(whole, {&text}, 1).empty()) continue;
    ids.push_back(id);
  }
  return ids;
}

Result<FileIds> SearchRun::ids_of_text(const QueryText& text) {
  FileIds ids;
  if (text.words.empty()) {
    ids = INDX_TRY(all_ids());
  } else {
    auto query = db_.prepare("SELECT rowid FROM notes_fts WHERE notes_fts MATCH ?1 ORDER BY rowid");
    query.bind(fts_phrase(text));
    while (INDX_TRY(query.step())) ids.push_back(query.integer(0));
  }
  if (text.exact.empty() && !text.has_case) return ids;
  return verified(text, ids);
}

/// All of the nodes hold; what needs the text comes last, negated ones are taken away at the end.
Result<FileIds> SearchRun::ids_of_all(const std::vector<QueryNode>& nodes) {
  std::optional<FileIds> ids;
  for (const auto& node : nodes) {
    if (node.kind == NodeKind::Not || needs_scan(node)) continue;
    auto some = INDX_TRY(ids_of(node));
    ids = ids ? intersection(*ids, some) : std::move(some);
  }
  for (const auto& node : nodes) {
    if (!needs_scan(node)) continue;
    if (auto some = INDX_TRY(candidates(node))) ids = ids ? intersection(*ids, *some) : *some;
  }
  if (!ids) ids = INDX_TRY(all_ids());
  for (const auto& node : nodes)
    if (needs_scan(node)) ids = INDX_TRY(scan(node, *ids));
  for (const auto& node : nodes) {
    if (node.kind != NodeKind::Not) continue;
    const auto without = INDX_TRY(ids_of(node.children.front()));
    ids = difference(*ids, without);
  }
  return *ids;
}

Result<FileIds> SearchRun::ids_of_property(const QueryNode& node) {
  FileIds ids;
  auto query = db_.prepare("SELECT file_id, value FROM properties WHERE name_key=?1");
  query.bind(node.name);
  while (INDX_TRY(query.step())) {
    if (node.has_value) {
      const auto value = json_value(query.text(1));
      const auto holds = [&](const Json& one) { return holds_value(node, one); };
      if (value.is_array() ? std::none_of(value.begin(), value.end(), holds) : !holds(value))
        continue;
    }
    ids.push_back(query.integer(0));
  }
  return ids;
}

Result<FileIds> SearchRun::ids_of_names(const QueryNode& node) {
  FileIds ids;
  auto query = db_.prepare(with_all_files_ ? "SELECT id, path FROM files"
                                           : "SELECT id, path FROM files WHERE kind>0");
  while (INDX_TRY(query.step())) {
    const auto path = query.text(1);
    auto text = std::string_view(path);
    if (node.kind == NodeKind::File) text.remove_prefix(path.rfind('/') + 1);
    if (node.pattern ? node.pattern->matches(text)
                     : fold_for_search(text).find(node.value) != std::string::npos)
      ids.push_back(query.integer(0));
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<FileIds> SearchRun::ids_of(const QueryNode& node) {
  switch (node.kind) {
    case NodeKind::Text:
      return ids_of_text(node.text);
    case NodeKind::Tag:
      return files_with_tag(db_, node.value);
    case NodeKind::Path:
    case NodeKind::File:
      return ids_of_names(node);
    case NodeKind::Property:
      return ids_of_property(node);
    case NodeKind::And:
      return ids_of_all(node.children);
    case NodeKind::Or: {
      FileIds ids;
      for (const auto& child : node.children) ids = union_of(ids, INDX_TRY(ids_of(child)));
      return ids;
    }
    case NodeKind::Not:
    case NodeKind::Line:
    case NodeKind::Block:
    case NodeKind::Section:
    case NodeKind::Task:
    case NodeKind::Pattern:
      return ids_of_all({node});
  }
  return FileIds();
}

Result<std::optional<FileIds>> SearchRun::candidates(const QueryNode& node) {
  using Ids = std::optional<FileIds>;
  if (node.kind == NodeKind::Text)
    return node.text.words.empty() ? Ids() : Ids(INDX_TRY(ids_of_text(node.text)));
  if (node.kind == NodeKind::Not || node.kind == NodeKind::Pattern || node.kind == NodeKind::Tag)
    return Ids();
  if (node.kind == NodeKind::Or) {
    FileIds ids;
    for (const auto& child : node.children) {
      auto some = INDX_TRY(candidates(child));
      if (!some) return Ids();
      ids = union_of(ids, *some);
    }
    return Ids(std::move(ids));
  }
  Ids ids;
  if (node.kind == NodeKind::Task) {
    ids.emplace();
    auto query = db_.prepare("SELECT DISTINCT file_id FROM tasks ORDER BY file_id");
    while (INDX_TRY(query.step())) ids->push_back(query.integer(0));
  }
  for (const auto& child : node.children)
    if (auto some = INDX_TRY(candidates(child))) ids = ids ? intersection(*ids, *some) : *some;
  return ids;
}

Result<FileIds> SearchRun::scan(const QueryNode& node, const FileIds& within) {
  FileIds ids;
  for (const auto id : within)
    if (INDX_TRY(holds_piece_of(db_, id, node))) ids.push_back(id);
  return ids;
}

/// The general way, for queries with filters inside groups or checks on raw text.
Result<SearchTiers> SearchRun::tiers_by_sets(const SearchPlan& plan, bool want_some) {
  FileIds all, any;
  for (std::size_t i = 0; i < plan.words.size(); ++i) {
    const auto ids = INDX_TRY(ids_of(*plan.words[i]));
    all = i == 0 ? ids : intersection(all, ids);
    if (want_some) any = union_of(any, ids);
  }
  const auto expression = any_phrase(plan.texts);
  std::vector<Found> scored;
  if (!expression.empty()) scored = INDX_TRY(scores(expression));
  return SearchTiers{pick(scored, all), pick(scored, difference(any, all))};
}

Result<SearchTiers> SearchRun::tiers(const SearchPlan& plan, bool want_some) {
  want_some = want_some && plan.words.size() > 1;
  with_all_files_ = plan.is_about_names;
  SearchTiers tiers;
  QueryNode required;
  required.children = plan.required;
  if (plan.words.empty()) {
    const auto ids = INDX_TRY(ids_of(required));
    const auto expression = ids.empty() ? std::string() : any_phrase(plan.texts);
    const auto scored = expression.empty() ? std::vector<Found>() : INDX_TRY(scores(expression));
    tiers.all = pick(scored, ids);
    return tiers;
  }
  std::vector<std::string> parts;
  for (const auto* node : plan.words)
    if (auto part = fts_expression(*node)) parts.push_back(std::move(*part));
  const bool are_phrases = std::all_of(plan.words.begin(), plan.words.end(),
                                       [](const auto* n) { return n->kind == NodeKind::Text; });
  if (parts.size() < plan.words.size()) {
    tiers = INDX_TRY(tiers_by_sets(plan, want_some));
  } else if (are_phrases) {
    tiers.all = INDX_TRY(scores(parts, true));
    if (want_some) tiers.some = without(INDX_TRY(scores(parts, false)), tiers.all);
  } else {
    tiers.all = INDX_TRY(scores(join(parts, " AND ")));
    if (want_some) tiers.some = without(INDX_TRY(scores(join(parts, " OR "))), tiers.all);
  }
  if (plan.required.empty()) return tiers;
  const auto allowed = INDX_TRY(ids_of(required));
  const auto is_out = [&](const Found& found) {
    return !std::binary_search(allowed.begin(), allowed.end(), found.id);
  };
  std::erase_if(tiers.all, is_out);
  std::erase_if(tiers.some, is_out);
  return tiers;
}

}  // namespace indx
