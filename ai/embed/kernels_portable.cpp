#include "ai/embed/kernel_loops.hpp"

namespace indx::embed {
namespace {

void portable_multiply(const Int8Rows& x, const Int8Matrix& w, const float* bias, float* out) {
  const std::size_t steps = w.width / kPackedInputs;
  for (std::size_t block = 0; block < w.rows; block += kPackedOutputs) {
    const std::int8_t* packed = w.values + block * w.width;
    for (std::size_t i = 0; i < x.count; ++i) {
      const std::int8_t* row = x.values + i * x.width;
      std::int32_t sums[kPackedOutputs] = {};
      for (std::size_t step = 0; step < steps; ++step)
        for (std::size_t o = 0; o < kPackedOutputs; ++o)
          for (std::size_t k = 0; k < kPackedInputs; ++k)
            sums[o] += row[step * kPackedInputs + k] *
                       packed[(step * kPackedOutputs + o) * kPackedInputs + k];
      for (std::size_t o = 0; o < kPackedOutputs; ++o)
        out[i * w.rows + block + o] =
            static_cast<float>(sums[o]) * (x.scales[i] * w.scales[block + o]) + bias[block + o];
    }
  }
}

constexpr Kernels kPortable{"portable", loops::quantise, portable_multiply, loops::normalise,
                            loops::attend};

}  // namespace

const Kernels& portable_kernels() { return kPortable; }

std::vector<const Kernels*> usable_kernels() {
  std::vector<const Kernels*> usable;
  for (const auto* kernels : {avx512_vnni_kernels(), avx2_kernels(), &portable_kernels()})
    if (kernels != nullptr) usable.push_back(kernels);
  return usable;
}

}  // namespace indx::embed
