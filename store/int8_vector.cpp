#include "store/int8_vector.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace indx {
namespace {

using DotFunction = std::int32_t (*)(const std::int8_t*, const std::int8_t*, std::size_t);

std::int32_t dot_portable(const std::int8_t* a, const std::int8_t* b, std::size_t size) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

#if defined(__x86_64__)
// Whole numbers throughout, so the sum is the same as that of the plain loop.
__attribute__((target("avx2"))) std::int32_t dot_avx2(const std::int8_t* a, const std::int8_t* b,
                                                      std::size_t size) {
  constexpr std::size_t kStep = 16;
  __m256i sums = _mm256_setzero_si256();
  std::size_t i = 0;
  for (; i + kStep <= size; i += kStep) {
    const __m256i x =
        _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i)));
    const __m256i y =
        _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + i)));
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(x, y));
  }
  __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xB1));
  return _mm_cvtsi128_si32(four) + dot_portable(a + i, b + i, size - i);
}
#endif

DotFunction best_dot() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return dot_avx2;
#endif
  return dot_portable;
}

}  // namespace

Int8Vector to_int8(std::span<const float> numbers) {
  float largest = 0;
  for (const float number : numbers) largest = std::max(largest, std::fabs(number));
  Int8Vector vector{largest / 127.0F, std::vector<std::int8_t>(numbers.size(), 0)};
  if (vector.scale == 0) return vector;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    vector.values[i] =
        static_cast<std::int8_t>(std::clamp(std::lround(numbers[i] / vector.scale), -127L, 127L));
  return vector;
}

std::string bytes_of(const Int8Vector& vector) {
  return {vector.values.begin(), vector.values.end()};
}

Int8Vector int8_vector(float scale, std::string_view bytes) {
  Int8Vector vector{scale, std::vector<std::int8_t>(bytes.size())};
  if (!bytes.empty()) std::memcpy(vector.values.data(), bytes.data(), bytes.size());
  return vector;
}

std::int32_t int8_dot(const std::int8_t* a, const std::int8_t* b, std::size_t size) {
  static const DotFunction dot = best_dot();
  return dot(a, b, size);
}

float similarity(const Int8Vector& a, const Int8Vector& b) {
  const auto dot = int8_dot(a.values.data(), b.values.data(), a.values.size());
  return std::clamp(static_cast<float>(dot) * a.scale * b.scale, -1.0F, 1.0F);
}

}  // namespace indx
