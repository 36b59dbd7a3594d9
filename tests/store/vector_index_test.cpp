#include "store/vector_index.hpp"

#include "base/random.hpp"
#include "tests/store/index_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

namespace indx {
namespace {

constexpr std::size_t kDim = 33;  // no multiple of anything

/// A vector of length 1 near one of a few centres, as texts about the same are.
std::vector<float> point(SeededRandom& random) {
  std::vector<float> numbers(kDim);
  const auto centre = random.next() % 20;
  double length = 0;
  for (std::size_t i = 0; i < kDim; ++i) {
    SeededRandom of_centre(centre * 1000 + i + 1);
    numbers[i] = static_cast<float>(of_centre.uniform() - 0.5 + 0.5 * (random.uniform() - 0.5));
    length += static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
  }
  for (auto& number : numbers) number /= static_cast<float>(std::sqrt(length));
  return numbers;
}

std::vector<LabelledVector> points(std::size_t count, std::int64_t first = 1,
                                   std::uint64_t seed = 1) {
  SeededRandom random(seed);
  std::vector<LabelledVector> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back({first + static_cast<std::int64_t>(i), to_int8(point(random))});
  return all;
}

std::vector<std::int64_t> nearest_of(const std::vector<LabelledVector>& all,
                                     const Int8Vector& query, std::size_t most) {
  NearestLabels nearest(most);
  for (const auto& [label, vector] : all) nearest.add({label, similarity(query, vector)});
  std::vector<std::int64_t> found;
  for (const auto& near : nearest.take()) found.push_back(near.label);
  return found;
}

std::vector<std::int64_t> labels_of(const std::vector<NearLabel>& rows) {
  std::vector<std::int64_t> found;
  for (const auto& near : rows) found.push_back(near.label);
  return found;
}

VectorSpaceId space_of(std::size_t dim = kDim) { return {"e1", 1, dim}; }

std::string graph_file(const IndexFolder& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.str()))
    if (entry.path().extension() == ".hnsw") return entry.path().string();
  return "";
}

}  // namespace

TEST_CASE("a vector in bytes keeps its direction, and the dot product is exact", "[store]") {
  SeededRandom random(3);
  for (int round = 0; round < 50; ++round) {
    const auto a = point(random), b = point(random);
    double exact = 0;
    for (std::size_t i = 0; i < kDim; ++i)
      exact += static_cast<double>(a[i]) * static_cast<double>(b[i]);

    CHECK(std::abs(static_cast<double>(similarity(to_int8(a), to_int8(b))) - exact) < 0.02);
    CHECK(similarity(to_int8(a), to_int8(a)) > 0.99F);
    CHECK(bytes_of(int8_vector(1, bytes_of(to_int8(a)))) == bytes_of(to_int8(a)));
  }
  CHECK(to_int8(std::vector<float>(kDim, 0.0F)).scale == 0);
  for (std::size_t size = 0; size < 70; ++size) {
    std::vector<std::int8_t> a(size), b(size);
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      a[i] = static_cast<std::int8_t>(static_cast<int>(random.next() % 255) - 127);
      b[i] = static_cast<std::int8_t>(static_cast<int>(random.next() % 255) - 127);
      sum += a[i] * b[i];
    }
    CHECK(int8_dot(a.data(), b.data(), size) == sum);
  }
}

TEST_CASE("the graph finds nearly all of the nearest vectors, and always as many as asked for",
          "[store]") {
  const auto all = points(3000);
  VectorIndex index(space_of());
  index.add(all).value();
  std::size_t right = 0;
  SeededRandom random(77);
  for (int round = 0; round < 50; ++round) {
    const auto query = to_int8(point(random));
    const auto found = labels_of(index.search(query, 10).value());
    REQUIRE(found.size() == 10);
    for (const auto label : nearest_of(all, query, 10))
      right += std::count(found.begin(), found.end(), label) > 0 ? 1U : 0U;
  }
  const auto query = to_int8(point(random));

  CHECK(right >= 495);
  CHECK(index.search(query, 3000).value().size() == 3000);
  CHECK(index.search(query, 5000).value().size() == 3000);
  CHECK(labels_of(index.search(query, 2000).value()) == nearest_of(all, query, 2000));
  CHECK(index.size() == 3000);
  CHECK(index.last_label() == 3000);
  CHECK_FALSE(index.add(points(1, 3000)).has_value());
}

TEST_CASE("removed vectors are not found and vectors of zeros are left out", "[store]") {
  const auto all = points(200);
  VectorIndex index(space_of());
  index.add(all).value();
  index.add(std::vector<LabelledVector>{{201, to_int8(std::vector<float>(kDim, 0.0F))}}).value();
  std::vector<std::int64_t> gone;
  for (std::int64_t label = 1; label <= 150; ++label) gone.push_back(label);
  gone.push_back(999);
  index.remove(gone);
  index.remove(gone);
  const auto found = labels_of(index.search(all[0].vector, 100).value());

  CHECK(index.size() == 50);
  CHECK(index.removed() == 150);
  CHECK(index.last_label() == 201);
  CHECK_FALSE(index.contains(150));
  CHECK_FALSE(index.contains(201));
  CHECK(found.size() == 50);
  CHECK(std::all_of(found.begin(), found.end(), [](auto label) { return label > 150; }));
  CHECK(index.labels().size() == 50);
}

TEST_CASE("a search among few labels is exact and misses none of them", "[store][Q-13]") {
  const auto all = points(1000);
  VectorIndex index(space_of());
  index.add(all).value();
  const std::vector<std::int64_t> allowed = {7, 400, 999, 5000};
  SeededRandom random(5);
  const auto query = to_int8(point(random));
  const auto found = labels_of(index.search_among(query, 10, allowed));

  CHECK(found == nearest_of({all[6], all[399], all[998]}, query, 10));
}

TEST_CASE("a saved graph comes back as it was, and goes on", "[store]") {
  const IndexFolder folder;
  const auto all = points(2000);
  VectorIndex index(space_of());
  index.add(all).value();
  index.remove(std::vector<std::int64_t>{1, 2, 3});
  index.save(folder.str()).value();
  index.save(folder.str()).value();
  const auto loaded = VectorIndex::load(folder.str(), space_of()).value();

  REQUIRE(loaded != nullptr);
  CHECK(loaded->size() == 1997);
  CHECK(loaded->removed() == 3);
  CHECK(loaded->last_label() == 2000);
  const auto query = all[500].vector;
  CHECK(labels_of(loaded->search(query, 10).value()) == labels_of(index.search(query, 10).value()));
  loaded->add(points(3000, 2001, 9)).value();
  CHECK(loaded->size() == 4997);
  CHECK(loaded->contains(5000));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.str()),
                      std::filesystem::directory_iterator()) == 2);
}

TEST_CASE("a graph of another space, a damaged or a missing file gives none", "[store]") {
  const IndexFolder folder;
  VectorIndex index(space_of());
  index.add(points(100)).value();
  CHECK(VectorIndex::load(folder.str(), space_of()).value() == nullptr);
  index.save(folder.str()).value();

  CHECK(VectorIndex::load(folder.str(), {"e2", 1, kDim}).value() == nullptr);
  CHECK(VectorIndex::load(folder.str(), {"e1", 2, kDim}).value() == nullptr);
  CHECK(VectorIndex::load(folder.str(), space_of(16)).value() == nullptr);
  CHECK(VectorIndex::load(folder.str(), space_of()).value() != nullptr);
  {
    std::fstream file(graph_file(folder), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(40);
    file.put('\x7f');
  }
  CHECK(VectorIndex::load(folder.str(), space_of()).value() == nullptr);
  std::ofstream(folder.str() + "/vectors.json") << "{\"format\":1,\"file\":7}";
  CHECK(VectorIndex::load(folder.str(), space_of()).value() == nullptr);
  VectorIndex::discard(folder.str());
  CHECK(std::filesystem::is_empty(folder.str()));
}

TEST_CASE("a crash between the two files of a save leaves the former graph", "[store]") {
  const IndexFolder folder;
  VectorIndex index(space_of());
  index.add(points(100)).value();
  index.save(folder.str()).value();
  // The next save wrote its graph and a part of what names it, and died.
  std::filesystem::copy(graph_file(folder), folder.str() + "/vectors-2.hnsw");
  std::ofstream(folder.str() + "/vectors-2.part") << "{\"format\"";
  const auto loaded = VectorIndex::load(folder.str(), space_of()).value();

  REQUIRE(loaded != nullptr);
  CHECK(loaded->size() == 100);
  index.add(points(10, 101)).value();
  index.save(folder.str()).value();
  CHECK(VectorIndex::load(folder.str(), space_of()).value()->size() == 110);
  CHECK_FALSE(std::filesystem::exists(folder.str() + "/vectors-1.hnsw"));
  CHECK_FALSE(std::filesystem::exists(folder.str() + "/vectors-2.part"));
}

TEST_CASE("searches go on beside changes of the graph", "[store]") {
  VectorIndex index(space_of());
  index.add(points(500)).value();
  const auto query = points(1, 1, 42)[0].vector;
  std::atomic<bool> is_done = false;
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> searchers;
  for (int i = 0; i < 2; ++i)
    searchers.emplace_back([&] {
      do {
        const auto found = index.search(query, 10);
        if (!found.has_value() || found->size() != 10) ++wrong;
      } while (!is_done);
    });
  for (std::int64_t first = 501; first < 1500; first += 50)
    index.add(points(50, first, static_cast<std::uint64_t>(first))).value();
  index.remove(std::vector<std::int64_t>{1, 2, 3, 4, 5});
  is_done = true;
  searchers.clear();

  CHECK(wrong == 0);
  CHECK(index.size() == 1495);
}

}  // namespace indx
