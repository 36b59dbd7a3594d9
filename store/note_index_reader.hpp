#pragma once
#include "store/index_pool.hpp"
#include "store/note_index.hpp"
#include "store/search_memory.hpp"

namespace indx {

struct NoteIndexReader::Impl {
  std::unique_ptr<IndexPool> pool;

  /// What was counted last, for one state of the index and one scope.
  template <typename T>
  struct Counted {
    std::string key;
    T value;
  };
  std::mutex mutex;  ///< guards what follows
  Counted<std::vector<TagCount>> tags;
  Counted<IndexCounts> counts;

  /// Whole tables have to be read for it: `count` runs once for each state and scope.
  template <typename T, typename Count>
  Result<T> count_once(Database& db, Counted<T>& counted, const PathScope& scope, Count count);

  SearchMemory memory;
};

Result<std::string> read_generation(Database& db);
/// Changes when the index is made anew and files get other ids.
Result<std::string> read_numbering(Database& db);

}  // namespace indx
