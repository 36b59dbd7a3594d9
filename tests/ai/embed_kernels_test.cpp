#include "ai/embed/kernels.hpp"
#include "base/random.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace indx::embed {
namespace {

std::vector<float> random_floats(SeededRandom& random, std::size_t count, double most) {
  std::vector<float> values(count);
  for (auto& value : values) value = static_cast<float>((random.uniform() * 2 - 1) * most);
  return values;
}

/// Quantised rows that own their numbers.
struct OwnedRows {
  std::vector<std::int8_t> values;
  std::vector<float> scales;
  std::vector<std::int32_t> sums;
  Int8Rows rows;

  OwnedRows(std::size_t count, std::size_t width)
      : values(count * width),
        scales(count),
        sums(count),
        rows{values.data(), scales.data(), sums.data(), count, width} {}
};

struct OwnedMatrix {
  std::vector<std::int8_t> values;  ///< packed
  std::vector<float> scales;
  Int8Matrix matrix;

  OwnedMatrix(std::size_t rows, std::size_t width)
      : values(rows * width), scales(rows), matrix{values.data(), scales.data(), rows, width} {}
  std::int8_t& at(std::size_t row, std::size_t k) {
    const auto block = row / kPackedOutputs * kPackedOutputs * matrix.width;
    return values[block +
                  (k / kPackedInputs * kPackedOutputs + row % kPackedOutputs) * kPackedInputs +
                  k % kPackedInputs];
  }
};

OwnedMatrix random_matrix(SeededRandom& random, std::size_t rows, std::size_t width) {
  OwnedMatrix owned(rows, width);
  for (auto& value : owned.values)
    value = static_cast<std::int8_t>(static_cast<int>(random.next() % 255) - 127);
  owned.scales = random_floats(random, rows, 0.01);
  owned.matrix.scales = owned.scales.data();
  return owned;
}

}  // namespace

TEST_CASE("every set of kernels multiplies as the definition says, to the last bit", "[ai]") {
  SeededRandom random(7);
  const auto [width, outputs] =
      GENERATE(std::pair{256, 768}, std::pair{512, 512}, std::pair{1536, 512});
  const auto count = static_cast<std::size_t>(GENERATE(1, 2, 3, 7, 8, 9, 15, 66));
  const auto k_count = static_cast<std::size_t>(width), o_count = static_cast<std::size_t>(outputs);
  auto w = random_matrix(random, o_count, k_count);
  const auto bias = random_floats(random, o_count, 1);
  OwnedRows x(count, k_count);
  portable_kernels().quantise(random_floats(random, count * k_count, 3).data(), x.rows);

  std::vector<float> expected(count * o_count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t o = 0; o < o_count; ++o) {
      std::int32_t sum = 0;
      for (std::size_t k = 0; k < k_count; ++k) sum += x.values[i * k_count + k] * w.at(o, k);
      const float scale = x.scales[i] * w.scales[o];
      const float product = static_cast<float>(sum) * scale;
      expected[i * o_count + o] = product + bias[o];
    }
  for (const auto* kernels : usable_kernels()) {
    INFO(kernels->name);
    std::vector<float> out(count * o_count);
    kernels->multiply(x.rows, w.matrix, bias.data(), out.data());
    CHECK(out == expected);
  }
}

TEST_CASE("the largest numbers there are do not overflow a kernel", "[ai]") {
  constexpr std::size_t kWidth = kFeedForwardWidth, kOutputs = 32;
  OwnedMatrix w(kOutputs, kWidth);
  for (auto& scale : w.scales) scale = 1;
  for (std::size_t o = 0; o < kOutputs; ++o)
    for (std::size_t k = 0; k < kWidth; ++k) w.at(o, k) = o % 2 == 0 ? 127 : -127;
  OwnedRows x(2, kWidth);
  std::vector<float> rows(2 * kWidth, 1.0F);
  for (std::size_t k = 0; k < kWidth; ++k) rows[kWidth + k] = -1.0F;
  const std::vector<float> bias(kOutputs, 0.0F);

  for (const auto* kernels : usable_kernels()) {
    INFO(kernels->name);
    std::vector<float> out(2 * kOutputs);
    kernels->quantise(rows.data(), x.rows);
    kernels->multiply(x.rows, w.matrix, bias.data(), out.data());
    CHECK(out[0] == Approx(127.0 * kWidth));
    CHECK(out[1] == Approx(-127.0 * kWidth));
    CHECK(out[kOutputs] == Approx(-127.0 * kWidth));
    CHECK(out[kOutputs + 1] == Approx(127.0 * kWidth));
  }
}

TEST_CASE("quantised rows are within half a step, use the whole range, and know their sums",
          "[ai]") {
  SeededRandom random(11);
  auto rows = random_floats(random, 3 * 512, 5);
  std::fill(rows.begin() + 1024, rows.end(), 0.0F);
  for (const auto* kernels : usable_kernels()) {
    INFO(kernels->name);
    OwnedRows out(3, 512);
    kernels->quantise(rows.data(), out.rows);

    for (std::size_t i = 0; i < 3; ++i) {
      std::int32_t sum = 0;
      int most = 0;
      float worst = 0;
      for (std::size_t k = 0; k < 512; ++k) {
        const auto value = out.values[i * 512 + k];
        sum += value;
        most = std::max(most, std::abs(int{value}));
        worst = std::max(worst,
                         std::abs(static_cast<float>(value) * out.scales[i] - rows[i * 512 + k]));
      }
      CHECK(out.sums[i] == sum);
      CHECK(most == (i == 2 ? 0 : 127));
      CHECK(worst <= out.scales[i] * 0.501F);
    }
  }
}

TEST_CASE("quantising, normalising and attention give the same bits in every set of kernels",
          "[ai]") {
  SeededRandom random(13);
  const auto pieces = static_cast<std::size_t>(GENERATE(1, 2, 5, 17, 66, 128));
  const auto width = static_cast<std::size_t>(GENERATE(256, 512));
  const auto rows = random_floats(random, pieces * width, 2);
  const auto qkv = random_floats(random, pieces * 3 * width, 1);
  const auto scale = random_floats(random, width, 1), bias = random_floats(random, width, 1);
  struct Outcome {
    std::vector<std::int8_t> values;
    std::vector<float> scales, normal, attended;
    bool operator==(const Outcome&) const = default;
  };
  const auto outcome_of = [&](const Kernels& kernels) {
    OwnedRows quantised(pieces, width);
    Outcome outcome;
    outcome.normal.resize(pieces * width);
    outcome.attended.resize(pieces * width);
    std::vector<float> scratch(attention_scratch(width));
    kernels.quantise(rows.data(), quantised.rows);
    kernels.normalise(rows.data(), pieces, {scale, bias}, outcome.normal.data());
    kernels.attend(qkv.data(), pieces, width, scratch.data(), outcome.attended.data());
    outcome.values = quantised.values;
    outcome.scales = quantised.scales;
    return outcome;
  };

  const auto portable = outcome_of(portable_kernels());
  for (const auto* kernels : usable_kernels()) {
    INFO(kernels->name);
    CHECK(outcome_of(*kernels) == portable);
  }
}

TEST_CASE("attention is the mean of the values, weighted by a softmax over the keys", "[ai]") {
  SeededRandom random(17);
  constexpr std::size_t kPieces = 9, kWidth = 256, kSize = kWidth / kHeads;
  const auto qkv = random_floats(random, kPieces * 3 * kWidth, 1);
  std::vector<float> scratch(attention_scratch(kWidth)), out(kPieces * kWidth);

  portable_kernels().attend(qkv.data(), kPieces, kWidth, scratch.data(), out.data());

  const auto at = [&](std::size_t piece, std::size_t part, std::size_t i) {
    return static_cast<double>(qkv[piece * 3 * kWidth + part * kWidth + i]);
  };
  double worst = 0;
  for (std::size_t piece = 0; piece < kPieces; ++piece)
    for (std::size_t i = 0; i < kWidth; ++i) {
      const std::size_t head = i / kSize * kSize;
      double total = 0, sum = 0;
      for (std::size_t other = 0; other < kPieces; ++other) {
        double score = 0;
        for (std::size_t d = 0; d < kSize; ++d)
          score += at(piece, 0, head + d) * at(other, 1, head + d);
        const double share = std::exp(score / std::sqrt(static_cast<double>(kSize)));
        total += share;
        sum += share * at(other, 2, i);
      }
      worst = std::max(worst, std::abs(sum / total - static_cast<double>(out[piece * kWidth + i])));
    }
  CHECK(worst < 1e-5);
}

}  // namespace indx::embed
