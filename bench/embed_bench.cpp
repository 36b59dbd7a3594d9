#include "ai/embed/builtin_embedder.hpp"
#include "ai/embed/encoder.hpp"
#include "bench/support.hpp"

#include <array>
#include <memory>
#include <utility>

using namespace indx;

namespace {

constexpr std::size_t kWindow = 66,
                      kQuery = 11;  // pieces: the mean of real notes, and of questions

struct Product {
  std::size_t outputs, inputs;
};
/// Every matrix that the pieces of a window are multiplied with.
constexpr Product kProducts[] = {{768, 256},  {512, 256}, {512, 256},  {1536, 512}, {512, 1536},
                                 {1536, 512}, {512, 512}, {1536, 512}, {512, 1536}};

/// The int8 products of a window alone, on matrices of random numbers: the floor of its vector.
class Products {
 public:
  Products() {
    SeededRandom random(1);
    for (const auto& product : kProducts) {
      auto& values = values_.emplace_back(product.outputs * product.inputs);
      for (auto& value : values) value = static_cast<std::int8_t>(random.next() % 255);
    }
  }
  void run(const embed::Kernels& kernels, std::size_t pieces) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const auto [outputs, inputs] = kProducts[i];
      kernels.multiply({inputs_.data(), scales_.data(), sums_.data(), pieces, inputs},
                       {values_[i].data(), scales_.data(), outputs, inputs}, scales_.data(),
                       out_.data());
    }
  }

 private:
  std::vector<std::vector<std::int8_t>> values_;
  std::vector<std::int8_t> inputs_ = std::vector<std::int8_t>(embed::kMaxPieces * 1536, 3);
  std::vector<float> scales_ = std::vector<float>(1536, 0.01F);
  std::vector<std::int32_t> sums_ = std::vector<std::int32_t>(embed::kMaxPieces, 3);
  std::vector<float> out_ = std::vector<float>(embed::kMaxPieces * 1536);
};

/// The work and its floor in turns, so that a busy moment of the machine meets both.
template <typename Work, typename Floor>
std::pair<double, double> medians_ms(int runs, Work work, Floor floor) {
  std::vector<double> works, floors;
  for (int i = 0; i < runs; ++i) {
    works.push_back(bench::times_ms(1, work).front());
    floors.push_back(bench::times_ms(1, floor).front());
  }
  return {bench::percentile(works, 0.5), bench::percentile(floors, 0.5)};
}

}  // namespace

int main() {
  const auto path = default_embedding_model_file();
  const auto opened = bench::times_ms(
      21, [&](std::size_t) { const auto embedder = bench::need(make_builtin_embedder(path)); });
  const auto read = bench::times_ms(21, [&](std::size_t) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes(static_cast<std::size_t>(std::filesystem::file_size(path)), '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  });
  bench::print({"embed_open_ms", bench::percentile(opened, 0.5), "ms", bench::percentile(read, 0.5),
                std::nullopt});

  const auto file = bench::need(embed::ModelFile::open(path));
  Products products;
  embed::Workspace workspace;
  std::array<float, embed::kDimension> vector{};
  std::vector<embed::PieceId> pieces(kWindow);
  for (std::size_t i = 0; i < kWindow; ++i) pieces[i] = static_cast<embed::PieceId>(10 + 97 * i);
  for (const auto* kernels : embed::usable_kernels()) {
    const embed::Encoder encoder(file.weights(), *kernels);
    for (const auto& [name, count] : {std::pair{"window", kWindow}, std::pair{"query", kQuery}}) {
      const auto [work, floor] = medians_ms(
          41,
          [&](std::size_t) { encoder.encode(std::span(pieces).first(count), workspace, vector); },
          [&](std::size_t) { products.run(*kernels, count); });
      bench::print(
          {cat("embed_", name, "_", kernels->name, "_ms"), work, "ms", floor, std::nullopt});
      if (count == kWindow)
        bench::print({cat("embed_", kernels->name, "_windows_per_s"), 1000 / work, "1/s",
                      1000 / floor, std::nullopt});
    }
  }
  return 0;
}
