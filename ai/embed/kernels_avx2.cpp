#include "ai/embed/kernel_loops.hpp"

#ifdef __x86_64__
#include <cstring>
#include <immintrin.h>

#define INDX_AVX2 [[gnu::target("avx2")]]

namespace indx::embed {
namespace {

/// 16 outputs of R rows. Both sides are widened to 16 bits, so that no sum can saturate.
template <std::size_t R>
INDX_AVX2 void avx2_tile(const Int8Rows& x, std::size_t first, const Int8Matrix& w,
                         std::size_t block, const float* bias, float* out) {
  const std::int8_t* packed = w.values + block * w.width;
  const std::int8_t* row = x.values + first * x.width;
  __m256i sums[R][4];  // of four outputs each, two halves of a sum side by side
  for (auto& of_row : sums)
    for (auto& sum : of_row) sum = _mm256_setzero_si256();
  for (std::size_t k = 0; k < w.width; k += kPackedInputs) {
    __m256i inputs[R];
    for (std::size_t r = 0; r < R; ++r) {
      std::int32_t four = 0;
      std::memcpy(&four, row + r * x.width + k, sizeof four);
      inputs[r] = _mm256_cvtepi8_epi16(_mm_set1_epi32(four));
    }
    for (std::size_t q = 0; q < 4; ++q) {
      const auto* place = reinterpret_cast<const __m128i*>(packed + k * kPackedOutputs + q * 16);
      const __m256i weights = _mm256_cvtepi8_epi16(_mm_loadu_si128(place));
      for (std::size_t r = 0; r < R; ++r)
        sums[r][q] = _mm256_add_epi32(sums[r][q], _mm256_madd_epi16(inputs[r], weights));
    }
  }
  for (std::size_t r = 0; r < R; ++r) {
    const __m256 scale = _mm256_set1_ps(x.scales[first + r]);
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t o = block + half * 8;
      // hadd takes pairs within each 128 bits; the permutation puts the outputs in order again.
      const __m256i sum = _mm256_permute4x64_epi64(
          _mm256_hadd_epi32(sums[r][2 * half], sums[r][2 * half + 1]), 0b11011000);
      const __m256 scales = _mm256_mul_ps(scale, _mm256_loadu_ps(w.scales + o));
      _mm256_storeu_ps(
          out + (first + r) * w.rows + o,
          _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), scales), _mm256_loadu_ps(bias + o)));
    }
  }
}

INDX_AVX2 void avx2_multiply(const Int8Rows& x, const Int8Matrix& w, const float* bias,
                             float* out) {
  for (std::size_t block = 0; block < w.rows; block += kPackedOutputs) {
    std::size_t i = 0;
    for (; i + 3 <= x.count; i += 3) avx2_tile<3>(x, i, w, block, bias, out);
    if (x.count - i == 2) avx2_tile<2>(x, i, w, block, bias, out);
    if (x.count - i == 1) avx2_tile<1>(x, i, w, block, bias, out);
  }
}

INDX_AVX2 void avx2_quantise(const float* rows, const Int8Rows& out) { loops::quantise(rows, out); }
INDX_AVX2 void avx2_normalise(const float* rows, std::size_t count, const NormWeights& weights,
                              float* out) {
  loops::normalise(rows, count, weights, out);
}
INDX_AVX2 void avx2_attend(const float* qkv, std::size_t pieces, std::size_t width, float* scratch,
                           float* out) {
  loops::attend(qkv, pieces, width, scratch, out);
}

constexpr Kernels kAvx2{"avx2", avx2_quantise, avx2_multiply, avx2_normalise, avx2_attend};

}  // namespace

const Kernels* avx2_kernels() { return __builtin_cpu_supports("avx2") ? &kAvx2 : nullptr; }

}  // namespace indx::embed

#else

namespace indx::embed {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace indx::embed

#endif
