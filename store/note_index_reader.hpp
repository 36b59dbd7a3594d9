#pragma once
#include "store/index_pool.hpp"
#include "store/note_index.hpp"
#include "store/search_rank.hpp"

namespace indx {

struct NoteIndexReader::Impl {
  std::unique_ptr<IndexPool> pool;

  std::mutex mutex;  ///< guards what follows
  std::string tags_key;
  std::vector<TagCount> tags;
  std::string lengths_generation;
  std::shared_ptr<const NoteLengths> lengths;  ///< shared: searches go on with what they took

  std::shared_ptr<const NoteLengths> lengths_at(const std::string& generation) {
    const std::scoped_lock lock(mutex);
    return lengths_generation == generation ? lengths : nullptr;
  }
  void keep_lengths(const std::string& generation, std::shared_ptr<const NoteLengths> known) {
    if (!known) return;
    const std::scoped_lock lock(mutex);
    lengths_generation = generation;
    lengths = std::move(known);
  }
};

Result<std::string> read_generation(Database& db);

}  // namespace indx
