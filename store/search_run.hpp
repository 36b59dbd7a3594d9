#pragma once
#include "store/note_filter.hpp"
#include "store/search_memory.hpp"
#include "store/search_query.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// A note that the query finds, or another file.
using Found = RankedNote;

/// Notes that hold all words, and notes that hold only some (empty unless asked for), by id.
struct SearchTiers {
  std::vector<Found> all, some;
};

/// A query taken apart: what may be missing when only some words are asked for, and what must hold
/// in any case. Points into the query.
struct SearchPlan {
  std::vector<const QueryNode*> words;
  std::vector<QueryNode> required;
  std::vector<const QueryText*> texts;  ///< to show and to rank by
  std::vector<const Regex*> patterns;   ///< to show
  bool is_about_names = false;          ///< files without text are found too
};
SearchPlan plan_of(const QueryNode& query);

/// Answers the parts of one query from one connection. The index is asked first; what only the
/// text can tell is looked at for the notes that are left.
class SearchRun {
 public:
  /// The connection has to be in a read transaction at that generation.
  SearchRun(Database& db, SearchMemory& memory, std::string generation)
      : db_(db), memory_(memory), generation_(std::move(generation)) {}

  Result<SearchTiers> tiers(const SearchPlan& plan, bool want_some);
  Result<FileIds> ids_of(const QueryNode& node);
  /// Notes of an FTS5 expression that we built, with their BM25 scores, by id.
  Result<std::vector<Found>> scores(const std::string& expression);
  /// The same for phrases that must all hold, or any of them.
  Result<std::vector<Found>> scores(const std::vector<std::string>& phrases, bool needs_all);
  /// The notes that hold a phrase, and all notes, which only a hit tells: both 0 without one.
  struct Spread {
    std::size_t with_it = 0, all = 0;
  };
  Result<Spread> spread_of(const std::string& phrase);

 private:
  Result<std::shared_ptr<const PhraseCounts>> rows_of(const std::string& phrase);
  Result<FileIds> all_ids();
  Result<FileIds> ids_of_text(const QueryText& text);
  Result<FileIds> ids_of_all(const std::vector<QueryNode>& nodes);
  Result<FileIds> ids_of_property(const QueryNode& node);
  Result<FileIds> ids_of_names(const QueryNode& node);
  /// Those whose raw text holds what the tokenizer dropped or folded (rule 7.5).
  Result<FileIds> verified(const QueryText& text, const FileIds& candidates);
  /// Notes that may hold the node in one piece; nullopt: any.
  Result<std::optional<FileIds>> candidates(const QueryNode& node);
  /// Those of `within` that hold a piece or pattern.
  Result<FileIds> scan(const QueryNode& node, const FileIds& within);
  Result<SearchTiers> tiers_by_sets(const SearchPlan& plan, bool want_some);

  Result<std::vector<Found>> rank(const PhraseCounts& counts);

  Database& db_;
  SearchMemory& memory_;
  std::string generation_;
  bool with_all_files_ = false;  ///< names of files without text count
};

}  // namespace indx
