#include "store/search_memory.hpp"

#include <algorithm>

namespace indx {
namespace {

std::size_t bytes_of(const PhraseCounts& rows) {
  return rows.ids.size() * (sizeof(std::int64_t) + sizeof(float));
}

}  // namespace

/// A search of an older generation may end after a newer one began: what it keeps is then dropped
/// by the next, which costs time and is never wrong.
void SearchMemory::turn_to(const std::string& generation) {
  if (generation_ == generation) return;
  generation_ = generation;
  lengths_ = nullptr;
  kept_.clear();
  bytes_ = 0;
}

std::shared_ptr<const NoteLengths> SearchMemory::lengths(const std::string& generation) {
  const std::scoped_lock lock(mutex_);
  return generation_ == generation ? lengths_ : nullptr;
}

std::shared_ptr<const PhraseCounts> SearchMemory::rows(const std::string& generation,
                                                       const std::string& phrase) {
  const std::scoped_lock lock(mutex_);
  if (generation_ != generation) return nullptr;
  const auto it = std::find_if(kept_.begin(), kept_.end(),
                               [&](const Kept& kept) { return kept.phrase == phrase; });
  if (it == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, it);
  return it->rows;
}

void SearchMemory::keep(const std::string& generation, std::shared_ptr<const NoteLengths> lengths) {
  const std::scoped_lock lock(mutex_);
  turn_to(generation);
  lengths_ = std::move(lengths);
}

void SearchMemory::keep(const std::string& generation, const std::string& phrase,
                        std::shared_ptr<const PhraseCounts> rows) {
  if (rows->ids.size() < kManyRows || bytes_of(*rows) > kMostBytes / 4) return;
  const std::scoped_lock lock(mutex_);
  turn_to(generation);
  for (const auto& kept : kept_)
    if (kept.phrase == phrase) return;
  bytes_ += bytes_of(*rows);
  kept_.push_front({phrase, std::move(rows)});
  for (; bytes_ > kMostBytes; kept_.pop_back()) bytes_ -= bytes_of(*kept_.back().rows);
}

}  // namespace indx
