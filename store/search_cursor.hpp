#pragma once
#include "store/note_filter.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace indx {

/// Hits that a cursor remembers one by one.
inline constexpr std::size_t kMaxGivenHits = 1000;
/// So that it fits into the field `cursor`, and into an address or a header beside the rest.
inline constexpr std::size_t kMaxSearchCursorBytes = 4000;

/// Where a page ended. With several tiers, the first one comes before the others.
struct SearchPlace {
  int tier = 0;
  double score = 0;
  std::int64_t id = 0;
};

/// What a page of a search knows of those before it. Every change of the vault moves scores and
/// order, so a cursor says which hits were given: none comes twice, and none is lost. Past
/// `kMaxGivenHits` it only says where the last one stood, which is as good while the index stays as
/// it was on the first page.
struct SearchCursor {
  bool with_some = false;                    ///< decided on the first page
  std::string generation;                    ///< of the index on the first page
  std::string numbering;                     ///< that the ids belong to: `read_numbering`
  std::optional<FileIds> given = FileIds();  ///< nullopt: too many
  std::optional<SearchPlace> last;
};

/// Fails with `validation_failed` when it is damaged or of another question. Has `given` or `last`.
Result<SearchCursor> read_search_cursor(const std::string& text, const std::string& question_hash);
/// Needs `last`; carries `given` where it is small enough.
std::string write_search_cursor(const SearchCursor& cursor, const std::string& question_hash);

}  // namespace indx
