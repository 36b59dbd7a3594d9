#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/note_filter.hpp"
#include "store/note_index_reader.hpp"
#include "store/search_query.hpp"
#include "store/search_text.hpp"
#include "store/tokenizer.hpp"

#include <algorithm>
#include <cstring>

namespace indx {
namespace {

constexpr int kMaxSearchLimit = 200;
constexpr std::size_t kMaxMatches = 200;  // looked at for a snippet

/// A note that the query finds.
struct Found {
  std::int64_t id = 0;
  double score = 0;
  std::string path;  ///< read when needed
};

/// Answers the parts of one query from one connection.
class SearchRun {
 public:
  explicit SearchRun(Database& db) : db_(db) {}

  Result<FileIds> ids_of(const QueryNode& node);
  Result<FileIds> all_ids();
  /// Notes of an FTS5 expression that we built with their BM25 scores (larger is better), by id.
  Result<std::vector<Found>> scores(const std::string& expression);

 private:
  Result<FileIds> ids_of_text(const QueryText& text);
  Result<FileIds> ids_of_all(const std::vector<QueryNode>& nodes);
  /// Files whose row in the query passes the test; `sql` gives an id and a text.
  template <typename Test>
  Result<FileIds> ids_where(const char* sql, Test test);
  Result<FileIds> verified(const QueryText& text, const FileIds& candidates);

  Database& db_;
};

/// The node as an FTS5 expression, when words decide alone: no filter, no negation, no check on raw
/// text.
std::optional<std::string> fts_expression(const QueryNode& node) {
  if (node.kind == QueryNode::Kind::Text)
    return node.text.words.empty() || !node.text.exact.empty()
               ? std::nullopt
               : std::optional(fts_phrase(node.text));
  if (node.kind != QueryNode::Kind::And && node.kind != QueryNode::Kind::Or) return std::nullopt;
  std::vector<std::string> parts;
  for (const auto& child : node.children) {
    auto part = fts_expression(child);
    if (!part) return std::nullopt;
    parts.push_back(std::move(*part));
  }
  if (parts.empty()) return std::nullopt;
  return cat('(', join(parts, node.kind == QueryNode::Kind::And ? " AND " : " OR "), ')');
}

Result<std::vector<Found>> SearchRun::scores(const std::string& expression) {
  std::vector<Found> all;
  auto query = db_.prepare(
      "SELECT rowid, bm25(notes_fts, 5.0, 3.0, 3.0, 1.0) FROM notes_fts WHERE notes_fts MATCH ?1 "
      "ORDER BY rowid");
  query.bind(expression);
  while (INDX_TRY(query.step())) all.push_back({query.integer(0), -query.real(1), {}});
  return all;
}

Result<FileIds> SearchRun::all_ids() {
  return ids_where("SELECT id, '' FROM notes", [](const std::string&) { return true; });
}

template <typename Test>
Result<FileIds> SearchRun::ids_where(const char* sql, Test test) {
  FileIds ids;
  auto query = db_.prepare(sql);
  while (INDX_TRY(query.step()))
    if (test(query.text(1))) ids.push_back(query.integer(0));
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// Those candidates whose raw text holds what the tokenizer dropped (rule 7.5).
Result<FileIds> SearchRun::verified(const QueryText& text, const FileIds& candidates) {
  FileIds ids;
  for (const auto id : candidates) {
    auto query = db_.prepare("SELECT title, aliases, body FROM notes WHERE id=?1");
    if (!INDX_TRY(query.bind(id).step())) continue;
    const auto whole = cat(query.text(0), "\n", query.text(1), "\n", query.text(2));
    if (holds_exact(text, fold_for_search(whole))) ids.push_back(id);
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
  if (text.exact.empty()) return ids;
  return verified(text, ids);
}

/// All of the nodes hold; negated ones are taken away at the end.
Result<FileIds> SearchRun::ids_of_all(const std::vector<QueryNode>& nodes) {
  std::optional<FileIds> ids;
  for (const auto& node : nodes) {
    if (node.kind == QueryNode::Kind::Not) continue;
    auto some = INDX_TRY(ids_of(node));
    ids = ids ? intersection(*ids, some) : std::move(some);
  }
  if (!ids) ids = INDX_TRY(all_ids());
  for (const auto& node : nodes) {
    if (node.kind != QueryNode::Kind::Not) continue;
    const auto without = INDX_TRY(ids_of(node.children.front()));
    ids = difference(*ids, without);
  }
  return *ids;
}

bool property_matches(const QueryNode& node, const std::string& properties) {
  // Most notes are told apart without reading their JSON; names with escapes are not looked for.
  const bool is_plain = node.name.find_first_of("\"\\") == std::string::npos;
  if (is_plain && fold_case(properties).find(node.name) == std::string::npos) return false;
  const auto json = Json::parse(properties, nullptr, false);
  if (!json.is_object()) return false;
  const auto holds = [&](const Json& value) {
    if (value.is_null()) return node.value == "null";
    if (value.is_string())
      return fold_for_search(value.get<std::string>()).find(node.value) != std::string::npos;
    return fold_for_search(value.dump()) == node.value;
  };
  for (const auto& [name, value] : json.items()) {
    if (fold_case(name) != node.name) continue;
    if (!node.has_value) return true;
    if (value.is_array() ? std::any_of(value.begin(), value.end(), holds) : holds(value))
      return true;
  }
  return false;
}

Result<FileIds> SearchRun::ids_of(const QueryNode& node) {
  using Kind = QueryNode::Kind;
  const auto contains = [&](std::string_view text) {
    return fold_for_search(text).find(node.value) != std::string::npos;
  };
  switch (node.kind) {
    case Kind::Text:
      return ids_of_text(node.text);
    case Kind::Tag:
      return files_with_tag(db_, node.value);
    case Kind::Path:
      return ids_where("SELECT id, path FROM files WHERE kind>0", contains);
    case Kind::File:
      return ids_where("SELECT id, path FROM files WHERE kind>0", [&](const std::string& path) {
        return contains(std::string_view(path).substr(path.rfind('/') + 1));
      });
    case Kind::Property:
      return ids_where(
          "SELECT id, properties FROM notes WHERE properties<>'{}'",
          [&](const std::string& properties) { return property_matches(node, properties); });
    case Kind::And:
      return ids_of_all(node.children);
    case Kind::Not:
      return ids_of_all({node});
    case Kind::Or: {
      FileIds ids;
      for (const auto& child : node.children) ids = union_of(ids, INDX_TRY(ids_of(child)));
      return ids;
    }
  }
  return FileIds();
}

/// A query taken apart: what may be missing when only some words are asked for, and what must hold
/// in any case.
struct SearchPlan {
  std::vector<const QueryNode*> words;
  std::vector<QueryNode> required;
  std::vector<const QueryText*> texts;
};

SearchPlan plan_of(const QueryNode& query) {
  SearchPlan plan;
  for (const auto& child : query.children) {
    if (has_text(child))
      plan.words.push_back(&child);
    else
      plan.required.push_back(child);
  }
  collect_texts(query, plan.texts);
  return plan;
}

/// Notes that hold all words, and notes that hold only some (empty unless asked for), with scores.
struct SearchTiers {
  std::vector<Found> all, some;
};

constexpr auto kById = [](const Found& a, const Found& b) { return a.id < b.id; };

/// The rows of `scored` with these ids, score 0 for ids that have none. Both are sorted by id.
std::vector<Found> pick(const std::vector<Found>& scored, const FileIds& ids) {
  std::vector<Found> found;
  auto at = scored.begin();
  for (const auto id : ids) {
    at = std::lower_bound(at, scored.end(), Found{id, 0, {}}, kById);
    found.push_back({id, at != scored.end() && at->id == id ? at->score : 0, {}});
  }
  return found;
}

/// Fills tiers from sets of ids: the general way, for queries with filters inside groups or checks
/// on raw text.
Result<SearchTiers> tiers_by_sets(SearchRun& run, const SearchPlan& plan, bool want_some) {
  FileIds all, any;
  for (std::size_t i = 0; i < plan.words.size(); ++i) {
    const auto ids = INDX_TRY(run.ids_of(*plan.words[i]));
    all = i == 0 ? ids : intersection(all, ids);
    if (want_some) any = union_of(any, ids);
  }
  std::vector<std::string> phrases;
  for (const auto* text : plan.texts)
    if (!text->words.empty()) phrases.push_back(fts_phrase(*text));
  std::vector<Found> scored;
  if (!phrases.empty()) scored = INDX_TRY(run.scores(join(phrases, " OR ")));
  return SearchTiers{pick(scored, all), pick(scored, difference(any, all))};
}

Result<SearchTiers> make_tiers(SearchRun& run, const SearchPlan& plan, bool want_some) {
  want_some = want_some && plan.words.size() > 1;
  SearchTiers tiers;
  if (plan.words.empty()) {
    QueryNode required;
    required.children = plan.required;
    tiers.all = pick({}, INDX_TRY(run.ids_of(required)));
    return tiers;
  }
  std::vector<std::string> parts;
  for (const auto* node : plan.words)
    if (auto part = fts_expression(*node)) parts.push_back(std::move(*part));
  if (parts.size() < plan.words.size()) {
    tiers = INDX_TRY(tiers_by_sets(run, plan, want_some));
  } else {
    tiers.all = INDX_TRY(run.scores(join(parts, " AND ")));
    if (want_some) {
      const auto any = INDX_TRY(run.scores(join(parts, " OR ")));
      std::set_difference(any.begin(), any.end(), tiers.all.begin(), tiers.all.end(),
                          std::back_inserter(tiers.some), kById);
    }
  }
  if (plan.required.empty()) return tiers;
  QueryNode required;
  required.children = plan.required;
  const auto allowed = INDX_TRY(run.ids_of(required));
  const auto is_out = [&](const Found& found) {
    return !std::binary_search(allowed.begin(), allowed.end(), found.id);
  };
  std::erase_if(tiers.all, is_out);
  std::erase_if(tiers.some, is_out);
  return tiers;
}

Status read_path(Database& db, Found& found) {
  if (!found.path.empty()) return {};
  auto query = db.prepare("SELECT path FROM files WHERE id=?1");
  if (INDX_TRY(query.bind(found.id).step())) found.path = query.text(0);
  return {};
}

/// Drops what the caller may not see or did not ask for, so that counts and pages hold only the
/// rest.
Status apply_filter(Database& db, const FilterCheck& check, std::vector<Found>& found) {
  std::vector<Found> kept;
  for (auto& one : found) {
    if (!INDX_TRY(check.allows_id(one.id))) continue;
    if (check.needs_path()) {
      INDX_TRY(read_path(db, one));
      if (!check.allows_path(one.path)) continue;
    }
    kept.push_back(std::move(one));
  }
  found = std::move(kept);
  return {};
}

/// Where a page ended: in which tier, at which score and path.
struct SearchCursor {
  int tier = 0;
  double score = 0;
  std::string path;
  bool with_some = false;  ///< decided on the first page
};

std::string score_bits(double score) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &score, sizeof bits);
  return std::to_string(bits);
}

Result<SearchCursor> read_cursor(const std::string& text, const std::string& hash) {
  const auto json = INDX_TRY(decode_cursor(text, hash));
  const auto tier = json.value("t", Json()), score = json.value("s", Json()),
             path = json.value("p", Json()), some = json.value("o", Json());
  const auto digits = score.is_string() ? score.get<std::string>() : std::string();
  if (!tier.is_number_integer() || !path.is_string() || !some.is_boolean() || digits.empty() ||
      digits.size() > 20 || digits.find_first_not_of("0123456789") != digits.npos)
    return invalid("The cursor is damaged; start again without it.", {{"field", "cursor"}});
  SearchCursor cursor{tier.get<int>(), 0, path.get<std::string>(), some.get<bool>()};
  const std::uint64_t bits = std::strtoull(digits.c_str(), nullptr, 10);
  std::memcpy(&cursor.score, &bits, sizeof bits);
  return cursor;
}

/// Appends up to `count` of a tier after the cursor's place, best first, ties by path.
Status take_from_tier(Database& db, std::vector<Found>& tier, const SearchCursor* after,
                      std::size_t count, std::vector<Found>& out) {
  std::sort(tier.begin(), tier.end(), [](const Found& a, const Found& b) {
    return a.score != b.score ? a.score > b.score : a.id < b.id;
  });
  std::size_t taken = 0;
  for (std::size_t begin = 0; begin < tier.size() && taken < count;) {
    auto end = begin;
    while (end < tier.size() && tier[end].score == tier[begin].score) ++end;
    const bool is_before = after != nullptr && tier[begin].score > after->score;
    if (!is_before) {
      for (auto i = begin; i < end; ++i) INDX_TRY(read_path(db, tier[i]));
      std::sort(tier.begin() + static_cast<std::ptrdiff_t>(begin),
                tier.begin() + static_cast<std::ptrdiff_t>(end),
                [](const Found& a, const Found& b) { return a.path < b.path; });
      for (auto i = begin; i < end && taken < count; ++i) {
        if (after != nullptr && tier[i].score == after->score && tier[i].path <= after->path)
          continue;
        out.push_back(tier[i]);
        ++taken;
      }
    }
    begin = end;
  }
  return {};
}

/// The words shown in a hit: which parts of the note hold them, and a snippet.
Result<SearchHit> make_hit(Database& db, const Found& found, const QueryNode& query,
                           const std::vector<const QueryText*>& texts) {
  SearchHit hit;
  hit.path = found.path;
  hit.score = found.score;
  hit.tags = INDX_TRY(tags_of(db, found.id));
  auto row = db.prepare(
      "SELECT f.title, n.title, n.body_begin, n.body FROM files f JOIN notes n ON n.id=f.id WHERE "
      "f.id=?1");
  if (!INDX_TRY(row.bind(found.id).step())) return hit;
  hit.title = row.text(0);
  auto body = row.text(3);
  const auto body_begin = std::min(static_cast<std::size_t>(row.integer(2)), body.size());
  auto properties = body.substr(0, body_begin);
  body.erase(0, body_begin);
  if (!is_valid_utf8(body)) body = replace_invalid_utf8(body);
  if (!is_valid_utf8(properties)) properties = replace_invalid_utf8(properties);
  const auto in_title = find_texts(row.text(1), texts, kMaxMatches);
  const auto in_body = find_texts(body, texts, kMaxMatches);
  const auto in_properties = find_texts(properties, texts, kMaxMatches);
  if (!in_title.empty() ||
      std::any_of(query.children.begin(), query.children.end(),
                  [](const QueryNode& node) { return node.kind == QueryNode::Kind::File; }))
    hit.matched_in.emplace_back("title");
  if (!in_body.empty()) hit.matched_in.emplace_back("body");
  const auto is_tag_hit = [&](const std::string& tag) {
    const auto key = fold_case(tag);
    const auto asks_for = [&](const QueryNode& node, const auto& self) -> bool {
      if (node.kind == QueryNode::Kind::Not) return false;
      if (node.kind == QueryNode::Kind::Tag) {
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
                         [&](const QueryNode& child) { return self(child, self); });
    };
    return asks_for(query, asks_for);
  };
  if (std::any_of(hit.tags.begin(), hit.tags.end(), is_tag_hit))
    hit.matched_in.emplace_back("tags");
  if (!in_properties.empty() ||
      std::any_of(query.children.begin(), query.children.end(),
                  [](const QueryNode& node) { return node.kind == QueryNode::Kind::Property; }))
    hit.matched_in.emplace_back("frontmatter");
  if (!in_body.empty())
    hit.snippet = make_snippet(body, in_body);
  else if (!in_properties.empty())
    hit.snippet = make_snippet(properties, in_properties);
  else if (!in_title.empty())
    hit.snippet = make_snippet(row.text(1), in_title);
  else
    hit.snippet = make_snippet(body, {});
  return hit;
}

}  // namespace

Result<SearchPage> NoteIndexReader::search(const SearchRequest& request) {
  INDX_TRY(check_limit(request.limit, kMaxSearchLimit));
  const auto query = INDX_TRY(parse_query(request.q));
  const auto hash =
      filter_hash(request.filter, {{"q", request.q}, {"match", static_cast<int>(request.match)}});
  std::optional<SearchCursor> after;
  if (!request.cursor.empty()) after = INDX_TRY(read_cursor(request.cursor, hash));
  const auto limit = static_cast<std::size_t>(request.limit);

  const auto db = INDX_TRY(impl_->pool->take());
  SearchRun run(*db);
  const auto plan = plan_of(query);
  const auto check = INDX_TRY(FilterCheck::make(*db, request.filter));
  const bool is_any = request.match == SearchMatch::Any;
  auto tiers = INDX_TRY(make_tiers(run, plan, is_any));
  INDX_TRY(apply_filter(*db, check, tiers.all));
  bool with_some = is_any;
  if (request.match == SearchMatch::AllThenAny) {
    with_some = after ? after->with_some : tiers.all.size() < limit;
    if (with_some) tiers.some = INDX_TRY(make_tiers(run, plan, true)).some;
  }
  INDX_TRY(apply_filter(*db, check, tiers.some));
  FileIds holds_all;
  for (const auto& found : tiers.all) holds_all.push_back(found.id);
  std::sort(holds_all.begin(), holds_all.end());
  if (is_any) {  // one order for both
    tiers.all.insert(tiers.all.end(), std::make_move_iterator(tiers.some.begin()),
                     std::make_move_iterator(tiers.some.end()));
    tiers.some.clear();
  }

  std::vector<Found> rows;
  if (!after || after->tier == 0)
    INDX_TRY(take_from_tier(*db, tiers.all, after ? &*after : nullptr, limit + 1, rows));
  const auto from_all = rows.size();
  if (with_some && !is_any && rows.size() <= limit)
    INDX_TRY(take_from_tier(*db, tiers.some, after && after->tier == 1 ? &*after : nullptr,
                            limit + 1 - rows.size(), rows));

  SearchPage page;
  const bool has_more = rows.size() > limit;
  if (has_more) rows.pop_back();
  for (const auto& found : rows) {
    auto hit = INDX_TRY(make_hit(*db, found, query, plan.texts));
    hit.matched = std::binary_search(holds_all.begin(), holds_all.end(), found.id) ? "all" : "some";
    page.rows.push_back(std::move(hit));
  }
  if (has_more)
    page.next_cursor = encode_cursor({{"t", rows.size() > from_all ? 1 : 0},
                                      {"s", score_bits(rows.back().score)},
                                      {"p", rows.back().path},
                                      {"o", with_some}},
                                     hash);
  return page;
}

}  // namespace indx
