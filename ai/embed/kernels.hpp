#pragma once
#include "ai/embed/model_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace indx::embed {

/// Rows of activations as int8 numbers with one scale each, row after row. `sums` has the sum of
/// each row's values.
struct Int8Rows {
  std::int8_t* values = nullptr;
  float* scales = nullptr;
  std::int32_t* sums = nullptr;
  std::size_t count = 0, width = 0;
};

/// What the forward pass spends its time in. All sets give the same numbers, bit for bit: integer
/// sums are exact, and floats are added in one order and never fused. So vectors that were stored
/// on one machine stay valid on another. Widths are multiples of 32.
struct Kernels {
  std::string_view name;  ///< portable | avx2 | avx512_vnni

  /// Fills `out`, whose count and width say how many numbers `rows` has.
  void (*quantise)(const float* rows, const Int8Rows& out);
  /// out[i][o] = bias[o] + sum over k of x[i][k] * w[o][k]. `w` is packed, w.rows a multiple of 32.
  void (*multiply)(const Int8Rows& x, const Int8Matrix& w, const float* bias, float* out);
  /// Each row to mean 0 and variance 1, then times `scale` plus `bias`.
  void (*normalise)(const float* rows, std::size_t count, const NormWeights& weights, float* out);
  /// Attention of kHeads heads within one window: `qkv` is [pieces][3 * width], `out` [pieces]
  /// [width]. `scratch` holds attention_scratch(width) floats.
  void (*attend)(const float* qkv, std::size_t pieces, std::size_t width, float* scratch,
                 float* out);
};
constexpr std::size_t attention_scratch(std::size_t width) {
  return (width / kHeads + 1) * kMaxPieces;
}

const Kernels& portable_kernels();
/// nullptr where the processor (or the compiler) does not have it.
const Kernels* avx2_kernels();
const Kernels* avx512_vnni_kernels();
/// Those that this machine can run, the fastest first; the last one is portable.
std::vector<const Kernels*> usable_kernels();

}  // namespace indx::embed
