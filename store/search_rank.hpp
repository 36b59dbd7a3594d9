#pragma once
#include "store/database.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;

namespace indx {

/// Tokens of each note by id, 0 where there is none.
using NoteLengths = std::vector<std::uint32_t>;

/// One note that an FTS5 expression matches. A larger score is better.
struct RankedNote {
  std::int64_t id = 0;
  double score = 0;
};

/// What FTS5 tells of the rows of one expression: how often each phrase stands in each, columns
/// weighted.
struct PhraseCounts {
  std::size_t phrases = 0;
  std::vector<std::int64_t> ids;                 ///< ascending
  std::vector<float> frequencies;                ///< `phrases` for each id
  std::vector<std::int64_t> notes;               ///< with each phrase, in the whole index
  std::int64_t note_count = 0, token_count = 0;  ///< of the whole index
};

/// `indx_collect(notes_fts, pointer)`: an FTS5 function that writes each row into a PhraseCounts
/// and gives 0, so that rows cost no step of the caller. Returns an SQLite result code.
int register_collector(sqlite3* db);

Result<PhraseCounts> collect_matches(Database& db, std::string_view expression);

/// The rows that hold all phrases, or any, from what was collected of each alone: what
/// `collect_matches` would give for their conjunction or disjunction.
PhraseCounts combine_phrases(const std::vector<std::shared_ptr<const PhraseCounts>>& phrases,
                             bool needs_all);

/// BM25 as FTS5's `bm25(notes_fts, 5, 3, 3, 1)` counts it (k1 1.2, b 0.75), bit for bit, by id.
/// Lengths come from `*lengths`; when they are not there and the rows are many, they are read at
/// once and left there.
Result<std::vector<RankedNote>> rank_matches(Database& db, const PhraseCounts& counts,
                                             std::shared_ptr<const NoteLengths>* lengths);

}  // namespace indx
