#pragma once
#include "store/index_pool.hpp"
#include "store/note_index.hpp"
#include "store/search_memory.hpp"

namespace indx {

struct NoteIndexReader::Impl {
  std::unique_ptr<IndexPool> pool;

  std::mutex mutex;  ///< guards what follows
  std::string tags_key;
  std::vector<TagCount> tags;

  SearchMemory memory;
};

Result<std::string> read_generation(Database& db);
/// Changes when the index is made anew and files get other ids.
Result<std::string> read_numbering(Database& db);

}  // namespace indx
