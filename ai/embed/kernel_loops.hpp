#pragma once
#include "ai/embed/kernels.hpp"

#include <bit>
#include <cmath>

/// The loops that every set of kernels shares. Each set compiles them anew for its instructions:
/// they are inlined into functions with a target attribute, and the compiler vectorises them there.
/// Sums run over 16 lanes in one order, so the width of the machine's vectors changes no bit.
namespace indx::embed::loops {

inline constexpr std::size_t kLanes = 16;

[[gnu::always_inline]] inline float sum_of(const float (&lanes)[kLanes]) {
  float sum = 0;
  for (std::size_t l = 0; l < kLanes; ++l) sum += lanes[l];
  return sum;
}

/// Rounds to the nearest whole number, ties to even, without a call; for |x| < 2^22.
[[gnu::always_inline]] inline float rounded(float x) {
  constexpr float kShift = 12582912.0F;  // 1.5 * 2^23: no bits are left behind the point
  return (x + kShift) - kShift;
}

/// e^x for x <= 0, off by less than 2e-7 of the value. Not std::exp: that one differs between
/// machines in its last bit.
[[gnu::always_inline]] inline float exp_of(float x) {
  x = x < -87.0F ? -87.0F : x;
  const float n = rounded(x * 1.44269504F);
  const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = 1.0F / 5040;
  p = p * r + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const auto exponent = static_cast<std::int32_t>(n) + 127;
  return p * std::bit_cast<float>(static_cast<std::uint32_t>(exponent) << 23U);
}

[[gnu::always_inline]] inline void quantise(const float* rows, const Int8Rows& out) {
  for (std::size_t i = 0; i < out.count; ++i) {
    const float* row = rows + i * out.width;
    std::int8_t* values = out.values + i * out.width;
    std::uint32_t top = 0;  // floats without their sign compare like their bits
    for (std::size_t k = 0; k < out.width; ++k) {
      const auto bits = std::bit_cast<std::uint32_t>(row[k]) & 0x7FFFFFFFU;
      top = top > bits ? top : bits;
    }
    const float most = std::bit_cast<float>(top);
    const float factor = most > 0 ? 127.0F / most : 0.0F;
    std::int32_t sum = 0;
    for (std::size_t k = 0; k < out.width; ++k) {
      const auto value = static_cast<std::int32_t>(rounded(row[k] * factor));
      values[k] = static_cast<std::int8_t>(value);
      sum += value;
    }
    out.scales[i] = most / 127.0F;
    out.sums[i] = sum;
  }
}

[[gnu::always_inline]] inline void normalise(const float* rows, std::size_t count,
                                             const NormWeights& weights, float* out) {
  const std::size_t width = weights.scale.size();
  const float *scale = weights.scale.data(), *bias = weights.bias.data();
  for (std::size_t i = 0; i < count; ++i) {
    const float* row = rows + i * width;
    float lanes[kLanes] = {};
    for (std::size_t k = 0; k < width; k += kLanes)
      for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += row[k + l];
    const float mean = sum_of(lanes) / static_cast<float>(width);
    float squares[kLanes] = {};
    for (std::size_t k = 0; k < width; k += kLanes)
      for (std::size_t l = 0; l < kLanes; ++l)
        squares[l] += (row[k + l] - mean) * (row[k + l] - mean);
    const float variance = sum_of(squares) / static_cast<float>(width);
    const float factor = 1.0F / std::sqrt(variance + 1e-6F);
    for (std::size_t k = 0; k < width; ++k)
      out[i * width + k] = (row[k] - mean) * (factor * scale[k]) + bias[k];
  }
}

/// Scores to shares that sum to 1.
[[gnu::always_inline]] inline void softmax(float* scores, std::size_t count) {
  float top = scores[0];
  for (std::size_t j = 1; j < count; ++j) top = top > scores[j] ? top : scores[j];
  for (std::size_t j = 0; j < count; ++j) scores[j] = exp_of(scores[j] - top);
  float sum = 0;
  for (std::size_t j = 0; j < count; ++j) sum += scores[j];
  for (std::size_t j = 0; j < count; ++j) scores[j] /= sum;
}

/// out[i] = sum over j < steps of factor(j) * columns[j * stride + i], in the order of j.
template <typename Factor>
[[gnu::always_inline]] inline void combine(Factor factor, std::size_t steps, const float* columns,
                                           std::size_t stride, std::size_t size,
                                           float* __restrict out) {
  for (std::size_t i = 0; i < size; ++i) out[i] = 0;
  std::size_t j = 0;
  for (; j + 4 <= steps; j += 4) {
    const float *a = columns + j * stride, *b = a + stride, *c = b + stride, *d = c + stride;
    const float fa = factor(j), fb = factor(j + 1), fc = factor(j + 2), fd = factor(j + 3);
    for (std::size_t i = 0; i < size; ++i)
      out[i] = (((out[i] + fa * a[i]) + fb * b[i]) + fc * c[i]) + fd * d[i];
  }
  for (; j < steps; ++j) {
    const float* a = columns + j * stride;
    const float fa = factor(j);
    for (std::size_t i = 0; i < size; ++i) out[i] += fa * a[i];
  }
}

[[gnu::always_inline]] inline void attend(const float* qkv, std::size_t pieces, std::size_t width,
                                          float* scratch, float* out) {
  const std::size_t size = width / kHeads, stride = 3 * width;
  const float scale = 1.0F / std::sqrt(static_cast<float>(size));
  float* keys = scratch;  // [size][kMaxPieces]: the same number of all keys stands together
  float* shares = scratch + size * kMaxPieces;
  for (std::size_t head = 0; head < kHeads; ++head) {
    const float* query = qkv + head * size;
    const float *key = query + width, *value = key + width;
    for (std::size_t j = 0; j < pieces; ++j)
      for (std::size_t d = 0; d < size; ++d) keys[d * kMaxPieces + j] = key[j * stride + d];
    for (std::size_t i = 0; i < pieces; ++i) {
      const float* q = query + i * stride;
      combine([&](std::size_t d) { return q[d] * scale; }, size, keys, kMaxPieces, pieces, shares);
      softmax(shares, pieces);
      combine([&](std::size_t j) { return shares[j]; }, pieces, value, stride, size,
              out + i * width + head * size);
    }
  }
}

}  // namespace indx::embed::loops
