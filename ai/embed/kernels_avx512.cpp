#include "ai/embed/kernel_loops.hpp"

#ifdef __x86_64__
#include <cstring>
#include <immintrin.h>

#define INDX_VNNI [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]]

namespace indx::embed {
namespace {

/// 32 outputs of R rows. The instruction wants one side unsigned: the weights get 128 added, and
/// 128 times the sum of the row is taken away before it starts.
template <std::size_t R>
INDX_VNNI void vnni_tile(const Int8Rows& x, std::size_t first, const Int8Matrix& w,
                         std::size_t block, const float* bias, float* out) {
  const std::int8_t* left = w.values + block * w.width;
  const std::int8_t* right = left + kPackedOutputs * w.width;
  const std::int8_t* row = x.values + first * x.width;
  const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
  __m512i sums[R][2];
  for (std::size_t r = 0; r < R; ++r)
    sums[r][0] = sums[r][1] = _mm512_set1_epi32(-128 * x.sums[first + r]);
  for (std::size_t k = 0; k < w.width; k += kPackedInputs) {
    const __m512i a = _mm512_xor_si512(_mm512_loadu_si512(left + k * kPackedOutputs), sign);
    const __m512i b = _mm512_xor_si512(_mm512_loadu_si512(right + k * kPackedOutputs), sign);
    for (std::size_t r = 0; r < R; ++r) {
      std::int32_t four = 0;
      std::memcpy(&four, row + r * x.width + k, sizeof four);
      const __m512i inputs = _mm512_set1_epi32(four);
      sums[r][0] = _mm512_dpbusd_epi32(sums[r][0], a, inputs);
      sums[r][1] = _mm512_dpbusd_epi32(sums[r][1], b, inputs);
    }
  }
  for (std::size_t r = 0; r < R; ++r) {
    const __m512 scale = _mm512_set1_ps(x.scales[first + r]);
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t o = block + half * kPackedOutputs;
      const __m512 scales = _mm512_mul_ps(scale, _mm512_loadu_ps(w.scales + o));
      _mm512_storeu_ps(out + (first + r) * w.rows + o,
                       _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sums[r][half]), scales),
                                     _mm512_loadu_ps(bias + o)));
    }
  }
}

INDX_VNNI void vnni_multiply(const Int8Rows& x, const Int8Matrix& w, const float* bias,
                             float* out) {
  for (std::size_t block = 0; block < w.rows; block += 2 * kPackedOutputs) {
    std::size_t i = 0;
    for (; i + 8 <= x.count; i += 8) vnni_tile<8>(x, i, w, block, bias, out);
    if (x.count - i >= 4) vnni_tile<4>(x, i, w, block, bias, out), i += 4;
    if (x.count - i >= 2) vnni_tile<2>(x, i, w, block, bias, out), i += 2;
    if (x.count - i >= 1) vnni_tile<1>(x, i, w, block, bias, out);
  }
}

INDX_VNNI void vnni_quantise(const float* rows, const Int8Rows& out) { loops::quantise(rows, out); }
INDX_VNNI void vnni_normalise(const float* rows, std::size_t count, const NormWeights& weights,
                              float* out) {
  loops::normalise(rows, count, weights, out);
}
INDX_VNNI void vnni_attend(const float* qkv, std::size_t pieces, std::size_t width, float* scratch,
                           float* out) {
  loops::attend(qkv, pieces, width, scratch, out);
}

constexpr Kernels kVnni{"avx512_vnni", vnni_quantise, vnni_multiply, vnni_normalise, vnni_attend};

}  // namespace

const Kernels* avx512_vnni_kernels() {
  const bool usable = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vnni");
  return usable ? &kVnni : nullptr;
}

}  // namespace indx::embed

#else

namespace indx::embed {
const Kernels* avx512_vnni_kernels() { return nullptr; }
}  // namespace indx::embed

#endif
