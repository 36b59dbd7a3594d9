// The graph of vectors and search by words and by meaning: vector_bench [vectors [notes]].
// Vectors are drawn around random centres, a few of them to each, as texts of one vault are: points
// spread evenly over 512 dimensions have no near neighbours worth the name. The notes of the second
// part get such vectors too, by their text, so that what is timed is the search and not the model.
#include "bench/engine.hpp"
#include "store/vector_index.hpp"

#include <cmath>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace {

using namespace indx;
using namespace indx::bench;

constexpr std::size_t kDim = 512, kNearest = 10;
constexpr int kQuestions = 500;

/// About normally distributed.
double normal(Random& random) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum - 6;
}

std::vector<float> unit(std::vector<float> numbers) {
  double length = 0;
  for (const float number : numbers) length += static_cast<double>(number * number);
  for (auto& number : numbers) number /= static_cast<float>(std::sqrt(length));
  return numbers;
}

/// Points around a centre for each `per_centre` of them; the spread leaves a cosine of about .6
/// between two of one centre.
class Points {
 public:
  explicit Points(std::size_t centres) {
    SeededRandom random(7);
    for (std::size_t c = 0; c < centres; ++c) centres_.push_back(draw(random));
  }
  std::vector<float> at(std::uint64_t seed) const {
    SeededRandom random(seed * 2654435761U + 1);
    auto numbers = draw(random);
    const auto& centre = centres_[random.next() % centres_.size()];
    for (std::size_t i = 0; i < kDim; ++i) numbers[i] = centre[i] + 0.8F * numbers[i];
    return unit(std::move(numbers));
  }

 private:
  static std::vector<float> draw(Random& random) {
    std::vector<float> numbers(kDim);
    for (auto& number : numbers) number = static_cast<float>(normal(random));
    return unit(std::move(numbers));
  }
  std::vector<std::vector<float>> centres_;
};

double share_found(const std::vector<NearLabel>& found, const std::vector<NearLabel>& exact) {
  std::size_t right = 0;
  for (const auto& wanted : exact)
    for (const auto& near : found) right += near.label == wanted.label ? 1U : 0U;
  return static_cast<double>(right) / static_cast<double>(exact.size());
}

void measure_graph(std::size_t count, const std::filesystem::path& folder) {
  const Points points(count / 100 + 1);
  std::vector<LabelledVector> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    all.push_back({static_cast<std::int64_t>(i) + 1, to_int8(points.at(i))});
  const double memory = resident_mb(::getpid());
  VectorIndex index({"e", 1, kDim});
  const double begin = now_s();
  for (std::size_t i = 0; i < count; i += 64)
    need(index.add(std::span(all).subspan(i, std::min<std::size_t>(64, count - i))));
  const double took = now_s() - begin;
  const double graph_mb = resident_mb(::getpid()) - memory;
  print({.name = "vector_build", .value = took, .unit = "s", .floor = {}, .bar = {}});
  print({.name = "vector_memory",
         .value = graph_mb * 1e6 / static_cast<double>(count),
         .unit = "B each",
         .floor = static_cast<double>(kDim),
         .bar = {}});

  std::vector<Int8Vector> questions;
  for (std::size_t i = 0; i < kQuestions; ++i) questions.push_back(to_int8(points.at(count + i)));
  std::vector<std::vector<NearLabel>> exact(kQuestions);
  const auto scans = times_ms(kQuestions, [&](std::size_t i) {
    NearestLabels nearest(kNearest);
    for (const auto& [label, vector] : all) nearest.add({label, similarity(questions[i], vector)});
    exact[i] = nearest.take();
  });
  std::vector<std::vector<NearLabel>> found(kQuestions);
  const auto searches = times_ms(
      kQuestions, [&](std::size_t i) { found[i] = need(index.search(questions[i], kNearest)); });
  double recall = 0;
  for (std::size_t i = 0; i < kQuestions; ++i) recall += share_found(found[i], exact[i]);
  print({.name = "vector_search",
         .value = percentile(searches, 0.5),
         .unit = "ms",
         .floor = percentile(scans, 0.5),
         .bar = 0.5});
  print({.name = "vector_search_p95",
         .value = percentile(searches, 0.95),
         .unit = "ms",
         .floor = percentile(scans, 0.95),
         .bar = {}});
  print({.name = "vector_recall_10",
         .value = recall / kQuestions,
         .unit = "share",
         .floor = {},
         .bar = 0.99,
         .bar_is_maximum = false});

  // One in twenty may be seen; all of these must be looked at.
  std::vector<std::int64_t> allowed;
  for (std::size_t i = 0; i < count; i += 20) allowed.push_back(all[i].label);
  double filtered_recall = 0;
  const auto filtered = times_ms(50, [&](std::size_t i) {
    const auto some = index.search_among(questions[i], kNearest, allowed);
    NearestLabels nearest(kNearest);
    for (const auto label : allowed)
      nearest.add(
          {label, similarity(questions[i], all[static_cast<std::size_t>(label - 1)].vector)});
    filtered_recall += share_found(some, nearest.take()) / 50;
  });
  print({.name = "vector_search_filtered",
         .value = percentile(filtered, 0.5) / 2,  // the check takes as long
         .unit = "ms",
         .floor = {},
         .bar = {}});
  print({.name = "vector_recall_filtered",
         .value = filtered_recall,
         .unit = "share",
         .floor = {},
         .bar = 1.0,
         .bar_is_maximum = false});
  const double save_begin = now_s();
  need(index.save(folder.string()));
  const double load_begin = now_s();
  const auto loaded = need(VectorIndex::load(folder.string(), index.space()));
  print({.name = "vector_load",
         .value = now_s() - load_begin,
         .unit = "s",
         .floor = load_begin - save_begin,
         .bar = {}});
  if (!loaded || loaded->size() != count) std::exit(1);
}

/// Vectors by the hash of a text.
class PointEmbedder : public Embedder {
 public:
  std::string model_id() const override { return "points-1"; }
  std::size_t dimension() const override { return kDim; }
  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts,
                                                const CancelToken&) override {
    std::vector<std::vector<float>> vectors;
    for (const auto& text : texts) vectors.push_back(points_.at(std::hash<std::string>()(text)));
    return vectors;
  }

 private:
  const Points points_{1000};
};

void measure_search(int notes, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "vault");
  generate_vault(folder / "vault", notes);
  const auto registry = make_registry();
  EngineOptions options;
  options.embedder = std::make_shared<PointEmbedder>();
  auto config = vault_config(folder);
  config.durability = Durability::Normal;
  const auto engine = need(Engine::start(config, registry, options));
  const auto dispatcher = make_dispatcher(registry, *engine);
  const double begin = now_s();
  Json embeddings;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    embeddings = ask(*dispatcher, "vault_status")["embeddings"];
  } while (embeddings["state"] != "ready");
  print({.name = "hybrid_chunks",
         .value = embeddings["embedded"].get<double>(),
         .unit = "chunks",
         .floor = {},
         .bar = {}});
  print({.name = "hybrid_ready", .value = now_s() - begin, .unit = "s", .floor = {}, .bar = {}});
  while (!std::filesystem::exists(folder / "index" / "vectors.json"))
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  print({.name = "hybrid_graph", .value = now_s() - begin, .unit = "s", .floor = {}, .bar = {}});

  SeededRandom random(3);
  const auto words = vocabulary(random);
  std::vector<std::string> questions;
  for (int i = 0; i < 200; ++i) {
    std::string question = "how do we get";
    for (int k = 0; k < 4; ++k)
      question += " " + words[random.next() % (k == 0 ? 500 : words.size())];
    questions.push_back(question);
  }
  const auto times = [&](const char* mode, const std::string& glob) {
    return times_ms(static_cast<int>(questions.size()), [&](std::size_t i) {
      const Json found = ask(*dispatcher, "vault_search",
                             {{"q", questions[i]}, {"mode", mode}, {"path_glob", glob}});
      if (found["mode_used"] != mode) std::exit(1);
    });
  };
  const auto lexical = times("lexical", ""), both = times("hybrid", ""),
             filtered = times("hybrid", "area-7/**");
  const double floor = percentile(lexical, 0.5);
  print({.name = "hybrid_search",
         .value = percentile(both, 0.5),
         .unit = "ms",
         .floor = floor,
         .bar = 25.0});
  print({.name = "hybrid_search_p95",
         .value = percentile(both, 0.95),
         .unit = "ms",
         .floor = percentile(lexical, 0.95),
         .bar = {}});
  print({.name = "hybrid_search_filtered",
         .value = percentile(filtered, 0.5),
         .unit = "ms",
         .floor = floor,
         .bar = {}});
  engine->stop();
}

}  // namespace

int main(int argc, char** argv) {
  const auto vectors = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 200'000);
  const int notes = argc > 2 ? std::atoi(argv[2]) : 34'000;  // of about three chunks
  const Folder folder("vectors");
  std::filesystem::create_directories(folder.path / "graph");
  if (vectors > 0) measure_graph(vectors, folder.path / "graph");
  if (notes > 0) measure_search(notes, folder.path);
}
