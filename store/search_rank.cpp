#include "store/search_rank.hpp"

#include "base/text.hpp"
#include "store/fts5.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace indx {
namespace {

constexpr const char* kPointerType = "indx_phrase_counts";
constexpr std::array<double, 4> kColumnWeights = {5.0, 3.0, 3.0, 1.0};
constexpr double kK1 = 1.2, kB = 0.75;  // fixed in FTS5
/// From here on, reading all lengths is cheaper than to look each up.
constexpr std::size_t kManyRows = 5000;

int count_row(const Fts5ExtensionApi* /*api*/, Fts5Context* /*context*/, void* count) {
  ++*static_cast<std::int64_t*>(count);
  return SQLITE_OK;
}

int begin_collect(const Fts5ExtensionApi* api, Fts5Context* context, PhraseCounts& counts) {
  counts.phrases = static_cast<std::size_t>(api->xPhraseCount(context));
  sqlite3_int64 rows = 0, tokens = 0;
  int code = api->xRowCount(context, &rows);
  if (code == SQLITE_OK) code = api->xColumnTotalSize(context, -1, &tokens);
  counts.note_count = rows;
  counts.token_count = tokens;
  counts.notes.assign(counts.phrases, 0);
  // The rows of a single phrase are counted as they come.
  for (std::size_t i = 0; code == SQLITE_OK && counts.phrases > 1 && i < counts.phrases; ++i)
    code = api->xQueryPhrase(context, static_cast<int>(i), &counts.notes[i], count_row);
  return code;
}

void collect_row(const Fts5ExtensionApi* api, Fts5Context* context, sqlite3_context* result,
                 int value_count, sqlite3_value** values) {
  auto* counts = value_count == 1
                     ? static_cast<PhraseCounts*>(sqlite3_value_pointer(values[0], kPointerType))
                     : nullptr;
  if (counts == nullptr) return sqlite3_result_error_code(result, SQLITE_MISUSE);
  int code = counts->ids.empty() ? begin_collect(api, context, *counts) : SQLITE_OK;
  counts->ids.push_back(api->xRowid(context));
  for (std::size_t i = 0; code == SQLITE_OK && i < counts->phrases; ++i) {
    double frequency = 0;
    Fts5PhraseIter at;
    int column = -1, offset = -1;
    code = api->xPhraseFirst(context, static_cast<int>(i), &at, &column, &offset);
    while (code == SQLITE_OK && column >= 0) {
      frequency += static_cast<std::size_t>(column) < kColumnWeights.size()
                       ? kColumnWeights[static_cast<std::size_t>(column)]
                       : 1.0;
      api->xPhraseNext(context, &at, &column, &offset);
    }
    counts->frequencies.push_back(static_cast<float>(frequency));  // a sum of small integers
  }
  if (code != SQLITE_OK) return sqlite3_result_error_code(result, code);
  sqlite3_result_int(result, 0);
}

/// Sum of the varints of a row of `notes_fts_docsize`: tokens in all columns.
std::uint32_t tokens_of(std::string_view sizes) {
  std::uint32_t sum = 0, value = 0;
  for (const char c : sizes) {
    const auto byte = static_cast<unsigned char>(c);
    value = (value << 7U) | (byte & 0x7FU);
    if ((byte & 0x80U) != 0) continue;
    sum += value;
    value = 0;
  }
  return sum;
}

Result<std::shared_ptr<const NoteLengths>> read_lengths(Database& db) {
  auto lengths = std::make_shared<NoteLengths>();
  auto query = db.prepare("SELECT id, sz FROM notes_fts_docsize");
  while (INDX_TRY(query.step())) {
    const auto id = static_cast<std::size_t>(query.integer(0));
    if (lengths->size() <= id) lengths->resize(id + id / 8 + 1);
    (*lengths)[id] = tokens_of(query.text(1));
  }
  return std::shared_ptr<const NoteLengths>(lengths);
}

Result<std::uint32_t> length_of(Database& db, std::int64_t id) {
  auto query = db.prepare("SELECT sz FROM notes_fts_docsize WHERE id=?1");
  if (!INDX_TRY(query.bind(id).step())) return std::uint32_t{0};
  return tokens_of(query.text(0));
}

}  // namespace

int register_collector(sqlite3* db) {
  return with_fts5(db, [](fts5_api& api) {
    return api.xCreateFunction(&api, "indx_collect", nullptr, collect_row, nullptr);
  });
}

Result<PhraseCounts> collect_matches(Database& db, std::string_view expression) {
  PhraseCounts counts;
  auto query = db.prepare(
      "SELECT rowid FROM notes_fts WHERE notes_fts MATCH ?1 AND indx_collect(notes_fts, ?2)");
  query.bind_one(1, expression);
  query.bind_pointer(2, &counts, kPointerType);
  while (INDX_TRY(query.step())) {
  }
  if (counts.phrases == 1) counts.notes[0] = static_cast<std::int64_t>(counts.ids.size());
  return counts;
}

PhraseCounts combine_phrases(const std::vector<std::shared_ptr<const PhraseCounts>>& phrases,
                             bool needs_all) {
  PhraseCounts all;
  all.phrases = phrases.size();
  for (const auto& phrase : phrases) {
    all.notes.push_back(static_cast<std::int64_t>(phrase->ids.size()));
    all.note_count = std::max(all.note_count, phrase->note_count);
    all.token_count = std::max(all.token_count, phrase->token_count);
  }
  const auto larger = [](const auto& a, const auto& b) { return a->ids.size() < b->ids.size(); };
  const auto most = std::max_element(phrases.begin(), phrases.end(), larger);
  if (most != phrases.end()) {
    all.ids.reserve((*most)->ids.size());
    all.frequencies.reserve((*most)->ids.size() * phrases.size());
  }
  std::vector<std::size_t> at(phrases.size(), 0);
  const auto is_over = [&](std::size_t i) { return at[i] == phrases[i]->ids.size(); };
  for (;;) {
    // The next row: for all, none can be before the furthest head; for any, it is the nearest one.
    std::optional<std::int64_t> next;
    for (std::size_t i = 0; i < phrases.size(); ++i) {
      if (is_over(i)) {
        if (needs_all) return all;
        continue;
      }
      const auto id = phrases[i]->ids[at[i]];
      if (!next || (needs_all ? id > *next : id < *next)) next = id;
    }
    if (!next) return all;
    bool is_in_all = true;
    for (std::size_t i = 0; needs_all && i < phrases.size(); ++i) {
      const auto& ids = phrases[i]->ids;
      const auto from = ids.begin() + static_cast<std::ptrdiff_t>(at[i]);
      if (*from != *next)
        at[i] = static_cast<std::size_t>(std::lower_bound(from, ids.end(), *next) - ids.begin());
      is_in_all = is_in_all && !is_over(i) && ids[at[i]] == *next;
    }
    if (!is_in_all) continue;
    all.ids.push_back(*next);
    for (std::size_t i = 0; i < phrases.size(); ++i) {
      const bool is_here = !is_over(i) && phrases[i]->ids[at[i]] == *next;
      all.frequencies.push_back(is_here ? phrases[i]->frequencies[at[i]] : 0);
      if (is_here) ++at[i];
    }
  }
}

Result<std::vector<RankedNote>> rank_matches(Database& db, const PhraseCounts& counts,
                                             std::shared_ptr<const NoteLengths>* lengths) {
  const auto all = static_cast<double>(counts.note_count);
  const auto average = static_cast<double>(counts.token_count) / all;
  std::vector<double> idf;
  for (const auto count : counts.notes) {
    const auto hits = static_cast<double>(count);
    const double value = std::log((all - hits + 0.5) / (hits + 0.5));
    idf.push_back(value <= 0.0 ? 1e-6 : value);
  }
  if (!*lengths && counts.ids.size() >= kManyRows) *lengths = INDX_TRY(read_lengths(db));
  std::vector<RankedNote> ranked;
  ranked.reserve(counts.ids.size());
  for (std::size_t row = 0; row < counts.ids.size(); ++row) {
    const auto id = counts.ids[row];
    const auto at = static_cast<std::size_t>(id);
    const auto tokens = static_cast<double>(!*lengths                 ? INDX_TRY(length_of(db, id))
                                            : at < (*lengths)->size() ? (**lengths)[at]
                                                                      : 0U);
    double score = 0;
    for (std::size_t i = 0; i < counts.phrases; ++i) {
      const double f = counts.frequencies[row * counts.phrases + i];
      score += idf[i] * ((f * (kK1 + 1.0)) / (f + kK1 * (1 - kB + kB * tokens / average)));
    }
    ranked.push_back({id, score});
  }
  return ranked;
}

}  // namespace indx
