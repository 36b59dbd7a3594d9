#pragma once
#include "store/vector_index.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace indx {

class Database;

/// Keeps the graph of vectors in step with the rows of index.db, in small pieces of work. One
/// thread works on it, any thread may ask for the graph. A graph that is missing, old or being
/// built costs time and no answer: whoever searches looks at the rows behind `last_label` itself.
class VectorCache {
 public:
  /// Fewer rows are looked through faster than a graph is kept.
  static constexpr std::int64_t kGraphFrom = 4096;

  explicit VectorCache(std::string dir, std::int64_t graph_from = kGraphFrom)
      : dir_(std::move(dir)), graph_from_(graph_from) {}

  /// nullptr: there is none (yet). Shared: searches go on with what they took.
  std::shared_ptr<const VectorIndex> graph() const;

  /// A few vectors added, or a file read or written; false: nothing is left to do.
  Result<bool> work(Database& db);
  /// Vectors whose rows were deleted.
  void remove(std::span<const std::int64_t> labels);
  /// Writes what the file does not have yet, where that is worth it.
  Status save();

 private:
  Status load(Database& db, const VectorSpaceId& space);
  void drop();
  void publish(std::shared_ptr<VectorIndex> graph);

  const std::string dir_;
  const std::int64_t graph_from_;
  mutable std::mutex mutex_;              ///< guards `current_`
  std::shared_ptr<VectorIndex> current_;  // shared: with searches
  std::shared_ptr<VectorIndex> next_;     ///< takes its place when it has caught up
  bool is_loaded_ = false;                ///< the file was looked at
  std::size_t unsaved_ = 0;               ///< changes that the file does not have
};

}  // namespace indx
