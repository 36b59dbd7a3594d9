#include "store/vector_index.hpp"

#include "base/file_bytes.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

// Its prefetches read behind the end of a list of links; distances are ours in any case.
#define NO_MANUAL_VECTORIZATION  // NOLINT(cppcoreguidelines-macro-usage)
#include <hnswlib/hnswlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unistd.h>

namespace indx {
namespace {

namespace fs = std::filesystem;

// 16 links a vector; how far it looks while it builds and while it searches (docs/benchmarks.md).
constexpr std::size_t kLinks = 16, kBuildEffort = 128, kSearchEffort = 128;
constexpr std::size_t kFirstRoom = 1024;
constexpr int kFormat = 1;

/// A vector as the graph keeps it: its scale, its numbers, and what keeps the links behind it
/// aligned.
constexpr std::size_t kScaleBytes = sizeof(float), kAlignment = alignof(hnswlib::tableint);

constexpr std::size_t packed_bytes(std::size_t dim) {
  return (kScaleBytes + dim + kAlignment - 1) / kAlignment * kAlignment;
}

float distance_of(const void* a, const void* b, const void* dim) {
  float scale_a = 0, scale_b = 0;
  std::memcpy(&scale_a, a, kScaleBytes);
  std::memcpy(&scale_b, b, kScaleBytes);
  const auto dot = int8_dot(static_cast<const std::int8_t*>(a) + kScaleBytes,
                            static_cast<const std::int8_t*>(b) + kScaleBytes,
                            *static_cast<const std::size_t*>(dim));
  return 1.0F - static_cast<float>(dot) * scale_a * scale_b;
}

class Int8Space : public hnswlib::SpaceInterface<float> {
 public:
  explicit Int8Space(std::size_t dim) : dim_(dim) {}
  std::size_t get_data_size() override { return packed_bytes(dim_); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return distance_of; }
  void* get_dist_func_param() override { return &dim_; }

 private:
  std::size_t dim_;
};

using HnswGraph = hnswlib::HierarchicalNSW<float>;

std::string packed(const Int8Vector& vector) {
  std::string bytes(packed_bytes(vector.values.size()), '\0');
  std::memcpy(bytes.data(), &vector.scale, kScaleBytes);
  std::memcpy(bytes.data() + kScaleBytes, vector.values.data(), vector.values.size());
  return bytes;
}

float similarity_of(float distance) { return std::clamp(1.0F - distance, -1.0F, 1.0F); }

Error graph_error(const std::exception& cause) {
  return make_error(Reason::Unavailable, cat("The graph of vectors failed: ", cause.what(), "."));
}

Status sync_path(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  const bool is_synced = fd >= 0 && ::fsync(fd) == 0;
  const int code = errno;
  if (fd >= 0) ::close(fd);
  if (is_synced) return {};
  return make_error(Reason::Unavailable,
                    cat("The graph of vectors cannot be kept: ", std::strerror(code), "."));
}

std::string side_path(const std::string& dir) { return dir + "/vectors.json"; }

/// What `vectors.json` says of the graph beside it.
struct GraphFile {
  std::int64_t number = 0;
  std::string name, checksum;
  std::size_t count = 0;
  std::int64_t last_label = 0;
  VectorSpaceId space;
};

/// Nothing where it is missing, damaged or of another version.
std::optional<GraphFile> read_side(const std::string& dir) {
  std::ifstream in(side_path(dir), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  try {
    const auto side = Json::parse(text);
    if (side.at("format") != kFormat) return std::nullopt;
    return GraphFile{
        side.at("number"),     side.at("file"),
        side.at("checksum"),   side.at("count"),
        side.at("last_label"), {side.at("epoch"), side.at("model_id"), side.at("dim")}};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

bool is_graph_file(const std::string& name) {
  return name.starts_with("vectors-") && (name.ends_with(".hnsw") || name.ends_with(".part"));
}

/// Of crashed or former saves.
void delete_graphs_but(const std::string& dir, const std::string& kept) {
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    const auto name = it->path().filename().string();
    std::error_code ignored;  // the next save tries again
    if (name != kept && is_graph_file(name)) fs::remove(it->path(), ignored);
  }
}

}  // namespace

bool is_nearer(const NearLabel& a, const NearLabel& b) {
  return a.similarity != b.similarity ? a.similarity > b.similarity : a.label < b.label;
}

void NearestLabels::add(const NearLabel& near) {
  if (most_ == 0) return;
  if (heap_.size() == most_) {
    if (!is_nearer(near, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), is_nearer);
    heap_.pop_back();
  }
  heap_.push_back(near);
  std::push_heap(heap_.begin(), heap_.end(), is_nearer);
}

std::vector<NearLabel> NearestLabels::take() {
  std::sort(heap_.begin(), heap_.end(), is_nearer);
  return std::exchange(heap_, {});
}

struct VectorIndex::Graph {
  explicit Graph(std::size_t dim)
      : space(dim), hnsw(std::make_unique<HnswGraph>(&space, kFirstRoom, kLinks, kBuildEffort)) {
    hnsw->setEf(kSearchEffort);
  }
  Graph(std::size_t dim, const std::string& file, std::size_t room)
      : space(dim), hnsw(std::make_unique<HnswGraph>(&space, file, false, room)) {
    hnsw->setEf(kSearchEffort);
    hnsw->num_deleted_ = 0;  // 0.6.2 counts on from whatever stood there
    for (std::size_t i = 0; i < hnsw->cur_element_count; ++i)
      hnsw->num_deleted_ += hnsw->isMarkedDeleted(static_cast<hnswlib::tableint>(i)) ? 1U : 0U;
  }
  /// The nearest ones of all that can be found, exactly.
  std::vector<NearLabel> scan(const Int8Vector& query, std::size_t most, std::size_t dim) const {
    NearestLabels nearest(most);
    const auto bytes = packed(query);
    for (std::size_t i = 0; i < hnsw->cur_element_count; ++i) {
      const auto place = static_cast<hnswlib::tableint>(i);
      if (!hnsw->isMarkedDeleted(place))
        nearest.add(
            {static_cast<std::int64_t>(hnsw->getExternalLabel(place)),
             similarity_of(distance_of(bytes.data(), hnsw->getDataByInternalId(place), &dim))});
    }
    return nearest.take();
  }
  /// The bytes of a vector that can be found; nullptr: none has the label.
  const char* find(std::int64_t label) const {
    const auto it = hnsw->label_lookup_.find(static_cast<hnswlib::labeltype>(label));
    if (it == hnsw->label_lookup_.end() || hnsw->isMarkedDeleted(it->second)) return nullptr;
    return hnsw->getDataByInternalId(it->second);
  }

  mutable std::shared_mutex mutex;  ///< a search beside an `add` would be a race
  Int8Space space;
  std::unique_ptr<HnswGraph> hnsw;
  std::int64_t last_label = 0;
};

VectorIndex::VectorIndex(VectorSpaceId space)
    : space_(std::move(space)), graph_(std::make_unique<Graph>(space_.dim)) {}
VectorIndex::~VectorIndex() = default;

std::size_t VectorIndex::size() const {
  const std::shared_lock lock(graph_->mutex);
  return graph_->hnsw->cur_element_count - graph_->hnsw->num_deleted_;
}

std::size_t VectorIndex::removed() const {
  const std::shared_lock lock(graph_->mutex);
  return graph_->hnsw->num_deleted_;
}

std::int64_t VectorIndex::last_label() const {
  const std::shared_lock lock(graph_->mutex);
  return graph_->last_label;
}

bool VectorIndex::contains(std::int64_t label) const {
  const std::shared_lock lock(graph_->mutex);
  return graph_->find(label) != nullptr;
}

std::vector<std::int64_t> VectorIndex::labels() const {
  const std::shared_lock lock(graph_->mutex);
  std::vector<std::int64_t> all;
  for (const auto& [label, place] : graph_->hnsw->label_lookup_)
    if (!graph_->hnsw->isMarkedDeleted(place)) all.push_back(static_cast<std::int64_t>(label));
  return all;
}

Status VectorIndex::add(std::span<const LabelledVector> vectors) {
  const std::unique_lock lock(graph_->mutex);
  try {
    auto& hnsw = *graph_->hnsw;
    if (hnsw.cur_element_count + vectors.size() > hnsw.max_elements_)
      hnsw.resizeIndex(std::max(hnsw.max_elements_ + hnsw.max_elements_ / 2,
                                hnsw.cur_element_count + vectors.size()));
    for (const auto& [label, vector] : vectors) {
      if (label <= graph_->last_label || vector.values.size() != space_.dim)
        return internal_error("A vector does not belong into this graph.");
      if (vector.scale != 0)
        hnsw.addPoint(packed(vector).data(), static_cast<hnswlib::labeltype>(label));
      graph_->last_label = label;
    }
  } catch (const std::exception& cause) {
    return graph_error(cause);
  }
  return {};
}

void VectorIndex::remove(std::span<const std::int64_t> labels) {
  const std::unique_lock lock(graph_->mutex);
  for (const auto label : labels)
    if (graph_->find(label) != nullptr)  // `markDelete` throws for others
      graph_->hnsw->markDelete(static_cast<hnswlib::labeltype>(label));
}

Result<std::vector<NearLabel>> VectorIndex::search(const Int8Vector& query,
                                                   std::size_t most) const {
  const std::shared_lock lock(graph_->mutex);
  const auto& hnsw = *graph_->hnsw;
  const std::size_t live = hnsw.cur_element_count - hnsw.num_deleted_;
  most = std::min(most, live);
  if (most == 0 || query.scale == 0) return std::vector<NearLabel>();
  if (query.values.size() != space_.dim)
    return internal_error("The question's vector is of another size.");
  if (most > live / 2) return graph_->scan(query, most, space_.dim);
  NearestLabels nearest(most);
  try {
    auto found = hnsw.searchKnn(packed(query).data(), most);
    for (; !found.empty(); found.pop())
      nearest.add(
          {static_cast<std::int64_t>(found.top().second), similarity_of(found.top().first)});
  } catch (const std::exception& cause) {
    return graph_error(cause);
  }
  auto rows = nearest.take();
  // Not every vector can be reached along links.
  return rows.size() < most ? graph_->scan(query, most, space_.dim) : std::move(rows);
}

std::vector<NearLabel> VectorIndex::search_among(const Int8Vector& query, std::size_t most,
                                                 std::span<const std::int64_t> allowed) const {
  const std::shared_lock lock(graph_->mutex);
  NearestLabels nearest(most);
  if (query.scale == 0 || query.values.size() != space_.dim) return {};
  const auto bytes = packed(query);
  for (const auto label : allowed)
    if (const char* data = graph_->find(label))
      nearest.add({label, similarity_of(distance_of(bytes.data(), data, &space_.dim))});
  return nearest.take();
}

Status VectorIndex::save(const std::string& dir) const {
  const std::shared_lock lock(graph_->mutex);
  const auto& hnsw = *graph_->hnsw;
  const auto before = read_side(dir);
  const auto number = (before ? before->number : 0) + 1;
  const auto name = cat("vectors-", number, ".hnsw");
  const auto file = cat(dir, "/", name);
  try {
    graph_->hnsw->saveIndex(file);  // tells of no failed write: the checksum below reads it back
  } catch (const std::exception& cause) {
    return graph_error(cause);
  }
  INDX_TRY(sync_path(file, O_RDONLY));
  const auto bytes = INDX_TRY(FileBytes::open(file));
  std::size_t expected = hnsw.cur_element_count * (hnsw.size_data_per_element_ + sizeof(int));
  for (std::size_t i = 0; i < hnsw.cur_element_count; ++i)
    expected += static_cast<std::size_t>(hnsw.element_levels_[i]) * hnsw.size_links_per_element_;
  if (bytes.size() < expected) {
    std::error_code ignored;
    fs::remove(file, ignored);
    return make_error(Reason::Unavailable, "The disk took a part of the graph of vectors only.");
  }
  const std::string checksum = INDX_TRY(etag_of_file(bytes));
  const Json side{{"format", kFormat},
                  {"number", number},
                  {"file", name},
                  {"checksum", checksum},
                  {"count", hnsw.cur_element_count},
                  {"last_label", graph_->last_label},
                  {"epoch", space_.epoch},
                  {"model_id", space_.model_id},
                  {"dim", space_.dim}};
  const auto temp = cat(dir, "/vectors-", number, ".part");
  {
    std::ofstream out(temp, std::ios::binary | std::ios::trunc);
    out << side.dump() << '\n';
    out.close();
    if (!out) return make_error(Reason::Unavailable, "The index folder is not writable.");
  }
  INDX_TRY(sync_path(temp, O_RDONLY));
  std::error_code error;
  fs::rename(temp, side_path(dir), error);
  if (error) return make_error(Reason::Unavailable, "The index folder is not writable.");
  INDX_TRY(sync_path(dir, O_RDONLY | O_DIRECTORY));
  delete_graphs_but(dir, name);
  return {};
}

Result<std::unique_ptr<VectorIndex>> VectorIndex::load(const std::string& dir,
                                                       const VectorSpaceId& space) {
  const auto side = read_side(dir);
  if (!side || side->space != space || !is_graph_file(side->name))
    return std::unique_ptr<VectorIndex>();
  const auto file = cat(dir, "/", side->name);
  const auto bytes = FileBytes::open(file);
  if (!bytes.has_value() && bytes.error().reason == Reason::NotFound)
    return std::unique_ptr<VectorIndex>();
  if (!bytes.has_value()) return bytes.error();
  // Sizes in its head are believed when it is read, so the bytes must be those that were written.
  if (INDX_TRY(etag_of_file(*bytes)) != side->checksum) {
    log_warn("the graph of vectors is damaged and is built anew", {{"file", side->name}});
    return std::unique_ptr<VectorIndex>();
  }
  auto index = std::make_unique<VectorIndex>(space);
  try {
    index->graph_ = std::make_unique<Graph>(space.dim, file,
                                            side->count + std::max(side->count / 8, kFirstRoom));
    index->graph_->last_label = side->last_label;
  } catch (const std::exception& cause) {
    log_warn("the graph of vectors cannot be read and is built anew", {{"error", cause.what()}});
    return std::unique_ptr<VectorIndex>();
  }
  return index;
}

void VectorIndex::discard(const std::string& dir) {
  std::error_code ignored;  // what stays is of another space, and refused
  fs::remove(side_path(dir), ignored);
  delete_graphs_but(dir, "");
}

}  // namespace indx
