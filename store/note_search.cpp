#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/note_filter.hpp"
#include "store/note_index_reader.hpp"
#include "store/search_explain.hpp"
#include "store/search_hit.hpp"
#include "store/search_run.hpp"
#include "store/search_suggest.hpp"

#include <algorithm>
#include <cstring>

namespace indx {
namespace {

constexpr int kMaxSearchLimit = 200;
/// From here on, one walk over all paths is cheaper than to look each up.
constexpr std::size_t kManyFound = 5000;

Status read_path(Database& db, Found& found) {
  if (!found.path.empty()) return {};
  auto query = db.prepare("SELECT path FROM files WHERE id=?1");
  if (INDX_TRY(query.bind(found.id).step())) found.path = query.text(0);
  return {};
}

/// The files whose path the filter allows.
Result<FileIds> allowed_files(Database& db, const FilterCheck& check) {
  FileIds ids;
  auto query = db.prepare("SELECT id, path FROM files WHERE path>=?1 ORDER BY path");
  query.bind(check.path_prefix());
  while (INDX_TRY(query.step())) {
    const auto path = query.text(1);
    if (!path.starts_with(check.path_prefix())) break;
    if (check.allows_path(path)) ids.push_back(query.integer(0));
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// Drops what the caller may not see or did not ask for, so that counts and pages hold only the
/// rest.
Status apply_filter(Database& db, const FilterCheck& check, std::vector<Found>& found) {
  std::optional<FileIds> allowed;
  if (check.needs_path() && found.size() >= kManyFound)
    allowed = INDX_TRY(allowed_files(db, check));
  std::vector<Found> kept;
  for (auto& one : found) {
    if (!INDX_TRY(check.allows_id(one.id))) continue;
    if (allowed) {
      if (!std::binary_search(allowed->begin(), allowed->end(), one.id)) continue;
    } else if (check.needs_path()) {
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

/// Appends up to `count` of a tier after the cursor's place, best first, ties by path. Only the
/// rows that can be among them are sorted, and only their paths are read.
Status take_from_tier(Database& db, std::vector<Found>& tier, const SearchCursor* after,
                      std::size_t count, std::vector<Found>& out) {
  std::vector<Found> left;
  left.reserve(tier.size());
  for (auto& found : tier) {
    if (after != nullptr && found.score > after->score) continue;
    if (after != nullptr && found.score == after->score) {
      INDX_TRY(read_path(db, found));
      if (found.path <= after->path) continue;
    }
    left.push_back(std::move(found));
  }
  if (left.size() > count) {
    const auto last = left.begin() + static_cast<std::ptrdiff_t>(count - 1);
    std::nth_element(left.begin(), last, left.end(),
                     [](const Found& a, const Found& b) { return a.score > b.score; });
    const double least = last->score;
    std::erase_if(left, [least](const Found& found) { return found.score < least; });
  }
  for (auto& found : left) INDX_TRY(read_path(db, found));
  std::sort(left.begin(), left.end(), [](const Found& a, const Found& b) {
    return a.score != b.score ? a.score > b.score : a.path < b.path;
  });
  if (left.size() > count) left.resize(count);
  std::move(left.begin(), left.end(), std::back_inserter(out));
  return {};
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
  const auto generation = INDX_TRY(read_generation(*db));
  SearchRun run(*db, impl_->memory, generation);
  const auto plan = plan_of(query);
  const auto check = INDX_TRY(FilterCheck::make(*db, request.filter));
  const bool is_any = request.match == SearchMatch::Any;
  auto tiers = INDX_TRY(run.tiers(plan, is_any));
  INDX_TRY(apply_filter(*db, check, tiers.all));
  bool with_some = is_any;
  if (request.match == SearchMatch::AllThenAny) {
    with_some = after ? after->with_some : tiers.all.size() < limit;
    if (with_some) tiers.some = INDX_TRY(run.tiers(plan, true)).some;
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
  const auto& scope = request.filter.scope;
  ScoreExplanation explanation(*db, run, plan.texts, scope.any_of.empty() && scope.none_of.empty());
  for (const auto& found : rows) {
    auto hit = INDX_TRY(make_hit(*db, found, query, plan));
    hit.matched = std::binary_search(holds_all.begin(), holds_all.end(), found.id) ? "all" : "some";
    if (request.explain) hit.explain = INDX_TRY(explanation.of(found.id, hit.score));
    page.rows.push_back(std::move(hit));
  }
  if (page.rows.empty() && !after)
    page.suggestions = INDX_TRY(suggest_words(*db, run, plan.texts, check));
  if (has_more)
    page.next_cursor = encode_cursor({{"t", rows.size() > from_all ? 1 : 0},
                                      {"s", score_bits(rows.back().score)},
                                      {"p", rows.back().path},
                                      {"o", with_some}},
                                     hash);
  return page;
}

}  // namespace indx
