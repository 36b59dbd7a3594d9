#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/note_filter.hpp"
#include "store/note_index_reader.hpp"
#include "store/search_cursor.hpp"
#include "store/search_explain.hpp"
#include "store/search_filter.hpp"
#include "store/search_hit.hpp"
#include "store/search_run.hpp"
#include "store/search_suggest.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr int kMaxSearchLimit = 200;
/// Whether the cursor can still be told from: its ids must be those of today, and a place in the
/// order means nothing in another order.
Status check_cursor(const SearchCursor& cursor, const std::string& generation,
                    const std::string& numbering) {
  if (cursor.numbering != numbering)
    return invalid("The index was made anew since the cursor was given; start again without it.",
                   {{"field", "cursor"}});
  if (cursor.last && cursor.generation != generation)
    return invalid(cat("The vault has changed, and past about ", kMaxGivenHits,
                       " hits a search cannot go on then. Narrow it with more words, `path_glob` "
                       "or `tag`, or start again without the cursor."),
                   {{"field", "cursor"}});
  return {};
}

void drop_given(const FileIds& given, std::vector<Found>& tier) {
  if (given.empty()) return;
  std::erase_if(tier, [&](const Found& found) {
    return std::binary_search(given.begin(), given.end(), found.id);
  });
}

std::string next_cursor(SearchCursor cursor, const std::vector<FoundFile>& rows, int tier,
                        const std::string& hash) {
  if (cursor.given) {
    for (const auto& found : rows) cursor.given->push_back(found.id);
    std::sort(cursor.given->begin(), cursor.given->end());
  }
  cursor.last = SearchPlace{tier, rows.back().score, rows.back().id};
  return write_search_cursor(cursor, hash);
}

/// Appends up to `count` of a tier after a place in it, best first, ties by path. Only the rows
/// that can be among them are sorted, and only their paths are read; the tier is used up.
Status take_from_tier(Database& db, std::vector<Found>& tier, const FoundFile* after,
                      std::size_t count, std::vector<FoundFile>& out) {
  std::vector<FoundFile> left;
  if (after != nullptr) {
    for (const auto& found : tier)
      if (found.score == after->score)
        if (auto path = INDX_TRY(path_of(db, found.id)); path > after->path)
          left.push_back({found, std::move(path)});
    std::erase_if(tier, [after](const Found& found) { return found.score >= after->score; });
  }
  if (tier.size() > count) {
    const auto last = tier.begin() + static_cast<std::ptrdiff_t>(count - 1);
    std::nth_element(tier.begin(), last, tier.end(),
                     [](const Found& a, const Found& b) { return a.score > b.score; });
    const double least = last->score;
    std::erase_if(tier, [least](const Found& found) { return found.score < least; });
  }
  for (const auto& found : tier) {
    auto path = INDX_TRY(path_of(db, found.id));
    left.push_back({found, std::move(path)});
  }
  std::sort(left.begin(), left.end(), [](const FoundFile& a, const FoundFile& b) {
    return a.score != b.score ? a.score > b.score : a.path < b.path;
  });
  if (left.size() > count) left.resize(count);
  std::move(left.begin(), left.end(), std::back_inserter(out));
  return {};
}

}  // namespace

Result<SearchPage> NoteIndexReader::search(const SearchRequest& request) {
  INDX_TRY(check_limit(request.limit, kMaxSearchLimit));
  bool has_bad_pattern = false;
  const auto query = INDX_TRY(parse_query(request.q, &has_bad_pattern));
  const auto hash =
      filter_hash(request.filter, {{"q", request.q}, {"match", static_cast<int>(request.match)}});
  const bool is_first = request.cursor.empty();
  SearchCursor cursor;
  if (!is_first) cursor = INDX_TRY(read_search_cursor(request.cursor, hash));
  const auto limit = static_cast<std::size_t>(request.limit);

  const auto db = INDX_TRY(impl_->pool->take());
  const auto generation = INDX_TRY(read_generation(*db));
  const auto numbering = INDX_TRY(read_numbering(*db));
  if (is_first) {
    cursor.generation = generation;
    cursor.numbering = numbering;
  }
  INDX_TRY(check_cursor(cursor, generation, numbering));
  SearchRun run(*db, impl_->memory, generation);
  const auto plan = plan_of(query);
  const auto check = INDX_TRY(FilterCheck::make(*db, request.filter));
  const bool is_any = request.match == SearchMatch::Any;
  auto tiers = INDX_TRY(run.tiers(plan, is_any));
  INDX_TRY(apply_filter(*db, check, tiers.all));
  bool with_some = is_any;
  if (request.match == SearchMatch::AllThenAny) {
    with_some = is_first ? tiers.all.size() < limit : cursor.with_some;
    if (with_some) tiers.some = INDX_TRY(run.tiers(plan, true)).some;
  }
  INDX_TRY(apply_filter(*db, check, tiers.some));
  FileIds holds_all;
  holds_all.reserve(tiers.all.size());
  for (const auto& found : tiers.all) holds_all.push_back(found.id);  // by id, as the tier is
  if (is_any) {                                                       // one order for both
    tiers.all.insert(tiers.all.end(), std::make_move_iterator(tiers.some.begin()),
                     std::make_move_iterator(tiers.some.end()));
    tiers.some.clear();
  }

  cursor.with_some = with_some;
  if (cursor.given) {
    drop_given(*cursor.given, tiers.all);
    drop_given(*cursor.given, tiers.some);
  }
  FoundFile last;
  if (cursor.last) {
    auto path = INDX_TRY(path_of(*db, cursor.last->id));
    last = {{cursor.last->id, cursor.last->score}, std::move(path)};
  }
  const FoundFile* after = cursor.last ? &last : nullptr;
  const bool is_in_some = cursor.last && cursor.last->tier == 1;

  std::vector<FoundFile> rows;
  if (!is_in_some) INDX_TRY(take_from_tier(*db, tiers.all, after, limit + 1, rows));
  const auto from_all = rows.size();
  if (with_some && !is_any && rows.size() <= limit)
    INDX_TRY(take_from_tier(*db, tiers.some, is_in_some ? after : nullptr, limit + 1 - rows.size(),
                            rows));

  SearchPage page;
  page.has_bad_pattern = has_bad_pattern;
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
  if (page.rows.empty() && is_first)
    page.suggestions = INDX_TRY(suggest_words(*db, run, plan.texts, check));
  if (has_more)
    page.next_cursor = next_cursor(std::move(cursor), rows, rows.size() > from_all ? 1 : 0, hash);
  return page;
}

}  // namespace indx
