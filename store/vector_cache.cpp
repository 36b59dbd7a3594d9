#include "store/vector_cache.hpp"

#include "base/log.hpp"
#include "store/embedding_index.hpp"

#include <algorithm>

namespace indx {
namespace {

/// About 20 ms, which those who want something else of the same thread wait for.
constexpr std::size_t kVectorsAtOnce = 64;
/// Removed vectors cost searches time and memory: from a quarter on the graph is built anew.
constexpr std::size_t kMostRemoved = 4;
/// Part of the graph that may be missing in its file: to add it again is cheaper than to write all.
constexpr std::size_t kUnsavedPart = 10;

Result<std::int64_t> count_vectors(Database& db, std::int64_t up_to) {
  auto query =
      db.prepare("SELECT count(*) FROM embeddings WHERE vector<>x'' AND scale<>0 AND id<=?1");
  INDX_TRY(query.bind(up_to).step());
  return query.integer(0);
}

}  // namespace

std::shared_ptr<const VectorIndex> VectorCache::graph() const {
  const std::scoped_lock lock(mutex_);
  return current_;
}

void VectorCache::publish(std::shared_ptr<VectorIndex> graph) {
  const std::scoped_lock lock(mutex_);
  current_ = std::move(graph);
}

void VectorCache::drop() {
  publish(nullptr);
  next_.reset();
  is_loaded_ = false;
  unsaved_ = 0;
}

/// Takes the file over, without the vectors whose rows went since.
Status VectorCache::load(Database& db, const VectorSpaceId& space) {
  is_loaded_ = true;
  std::shared_ptr<VectorIndex> graph = INDX_TRY(VectorIndex::load(dir_, space));
  if (!graph) return {};
  std::vector<std::int64_t> gone = graph->labels();
  std::sort(gone.begin(), gone.end());
  auto rows = db.prepare("SELECT id FROM embeddings WHERE vector<>x'' AND id<=?1 ORDER BY id");
  rows.bind(graph->last_label());
  std::vector<std::int64_t> there;
  while (INDX_TRY(rows.step())) there.push_back(rows.integer(0));
  std::erase_if(gone, [&](std::int64_t label) {
    return std::binary_search(there.begin(), there.end(), label);
  });
  graph->remove(gone);
  const auto expected = INDX_TRY(count_vectors(db, graph->last_label()));
  if (graph->size() != static_cast<std::size_t>(expected)) {
    log_warn("the graph of vectors does not have those of the index and is built anew",
             {{"vectors", graph->size()}, {"rows", expected}});
    return {};
  }
  unsaved_ = gone.size();
  publish(std::move(graph));
  return {};
}

Result<bool> VectorCache::work(Database& db) {
  const auto space = INDX_TRY(vector_space_of(db));
  const auto known = next_ ? next_ : current_;
  if (!space || (known && known->space() != *space)) {
    const bool had_one = known != nullptr;
    drop();
    if (had_one) VectorIndex::discard(dir_);
    if (!space) return false;
  }
  if (!is_loaded_) {
    INDX_TRY(load(db, *space));
    return true;
  }
  if (!next_ && current_ && current_->removed() * kMostRemoved > current_->size())
    next_ = std::make_shared<VectorIndex>(*space);
  if (!next_ && !current_) {
    if (INDX_TRY(count_vectors(db, INT64_MAX)) < graph_from_) return false;
    next_ = std::make_shared<VectorIndex>(*space);
  }
  auto& graph = next_ ? *next_ : *current_;
  const auto rows = INDX_TRY(vectors_after(db, graph.last_label(), kVectorsAtOnce));
  if (!rows.empty()) {
    INDX_TRY(graph.add(rows));
    unsaved_ += rows.size();
    return true;
  }
  if (next_) {
    publish(std::exchange(next_, nullptr));
    unsaved_ = current_->size();
  }
  if (unsaved_ * kUnsavedPart > current_->size()) INDX_TRY(save());
  return false;
}

void VectorCache::remove(std::span<const std::int64_t> labels) {
  if (current_) current_->remove(labels);
  if (next_) next_->remove(labels);
  unsaved_ += labels.size();
}

Status VectorCache::save() {
  if (!current_ || unsaved_ == 0) return {};
  INDX_TRY(current_->save(dir_));
  unsaved_ = 0;
  return {};
}

}  // namespace indx
