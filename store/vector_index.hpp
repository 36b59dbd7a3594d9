#pragma once
#include "base/result.hpp"
#include "store/int8_vector.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace indx {

/// A vector under the id of its row, which is never given twice.
struct LabelledVector {
  std::int64_t label = 0;
  Int8Vector vector;
};

struct NearLabel {
  std::int64_t label = 0;
  float similarity = 0;  ///< cosine, -1..1
};
/// Nearest first, ties by label: one order wherever the neighbours come from.
bool is_nearer(const NearLabel& a, const NearLabel& b);

/// Keeps the `most` nearest ones of those it is shown.
class NearestLabels {
 public:
  explicit NearestLabels(std::size_t most) : most_(most) {}
  void add(const NearLabel& near);
  /// Nearest first; nothing is left.
  std::vector<NearLabel> take();

 private:
  std::size_t most_;
  std::vector<NearLabel> heap_;  ///< the furthest one in front
};

/// What the vectors of a graph belong to: rows of one index.db, of one model.
struct VectorSpaceId {
  std::string epoch;  ///< of index.db
  std::int64_t model_id = 0;
  std::size_t dim = 0;
  bool operator==(const VectorSpaceId&) const = default;
};

/// A graph of near neighbours (Malkov and Yashunin 2018) over vectors of length 1 in one byte a
/// number: a cache of rows, about `dim` + 280 bytes a vector. Safe from any thread; a writer waits
/// for searches and they for it.
class VectorIndex {
 public:
  explicit VectorIndex(VectorSpaceId space);
  ~VectorIndex();
  VectorIndex(const VectorIndex&) = delete;
  VectorIndex& operator=(const VectorIndex&) = delete;

  const VectorSpaceId& space() const { return space_; }
  /// Vectors that can be found.
  std::size_t size() const;
  /// Removed ones take their place until the graph is built anew.
  std::size_t removed() const;
  /// The largest label so far, also of a vector of zeros, which is left out; 0: none.
  std::int64_t last_label() const;
  bool contains(std::int64_t label) const;
  /// Of those that can be found, in no order.
  std::vector<std::int64_t> labels() const;

  /// In order of labels, all larger than `last_label`. A slow call (0.2 to 0.5 ms a vector) that
  /// searches wait for: give few at a time. Fails when memory is short.
  Status add(std::span<const LabelledVector> vectors);
  /// Labels that are not there are passed over.
  void remove(std::span<const std::int64_t> labels);

  /// The `most` nearest ones, nearly always exactly these: nearest first, fewer only when there are
  /// fewer.
  Result<std::vector<NearLabel>> search(const Int8Vector& query, std::size_t most) const;
  /// Exactly the nearest ones among `allowed` (any order), whatever the graph says.
  std::vector<NearLabel> search_among(const Int8Vector& query, std::size_t most,
                                      std::span<const std::int64_t> allowed) const;

  /// Writes the graph as `vectors-<n>.hnsw` and, once it is on disk, `vectors.json` that names it
  /// with its checksum and replaces the former one in one step: a crash leaves the old pair or the
  /// new one. Files that no `vectors.json` names are deleted.
  Status save(const std::string& dir) const;
  /// nullptr: there is none, it is of another space, or its bytes are not those that were saved.
  static Result<std::unique_ptr<VectorIndex>> load(const std::string& dir,
                                                   const VectorSpaceId& space);
  /// Deletes what `save` wrote.
  static void discard(const std::string& dir);

 private:
  struct Graph;
  VectorSpaceId space_;
  std::unique_ptr<Graph> graph_;
};

}  // namespace indx
