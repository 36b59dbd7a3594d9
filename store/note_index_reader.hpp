#pragma once
#include "store/index_pool.hpp"
#include "store/note_index.hpp"

namespace indx {

struct NoteIndexReader::Impl {
  std::unique_ptr<IndexPool> pool;

  std::mutex mutex;  ///< guards what follows
  std::string tags_key;
  std::vector<TagCount> tags;
};

}  // namespace indx
