#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// A vector in one byte a number: number i is `values[i] * scale`. A vector of zeros has scale 0.
struct Int8Vector {
  float scale = 0;
  std::vector<std::int8_t> values;
};

/// The nearest one: the largest number becomes 127 or -127.
Int8Vector to_int8(std::span<const float> numbers);

/// As a column holds it, and back.
std::string bytes_of(const Int8Vector& vector);
Int8Vector int8_vector(float scale, std::string_view bytes);

/// Sum of the products, exact for up to 65,536 numbers. Both have `size` numbers.
std::int32_t int8_dot(const std::int8_t* a, const std::int8_t* b, std::size_t size);

/// Cosine of two vectors of length 1 and the same size, as far as bytes keep it.
float similarity(const Int8Vector& a, const Int8Vector& b);

}  // namespace indx
