#include "ai/embed/encoder.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cmath>

namespace indx::embed {
namespace {

/// Without zeros in it: a short text touches a small part only.
template <typename T>
std::unique_ptr<T[]> numbers(std::size_t width) {
  return std::make_unique_for_overwrite<T[]>(kMaxPieces * width);
}

}  // namespace

Workspace::Workspace()
    : input_(numbers<float>(kPieceWidth)),
      state_(numbers<float>(kDimension)),
      normal_(numbers<float>(kDimension)),
      wide_(numbers<float>(kFeedForwardWidth)),
      attended_(numbers<float>(kDimension)),
      scratch_(std::make_unique_for_overwrite<float[]>(attention_scratch(kDimension))),
      values_(numbers<std::int8_t>(kFeedForwardWidth)),
      scales_(numbers<float>(1)),
      sums_(numbers<std::int32_t>(1)) {}

Encoder::Encoder(const Weights& weights, const Kernels& kernels)
    : weights_(weights), kernels_(kernels), positions_(kMaxPieces * kPieceWidth) {
  const std::size_t half = kPieceWidth / 2;
  for (std::size_t position = 0; position < kMaxPieces; ++position)
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(position) * static_cast<double>(weights.rates[i]);
      positions_[position * kPieceWidth + i] = static_cast<float>(std::sin(angle));
      positions_[position * kPieceWidth + half + i] = static_cast<float>(std::cos(angle));
    }
}

void Encoder::encode(std::span<const PieceId> pieces, Workspace& workspace,
                     std::span<float, kDimension> out) const {
  INDX_ASSERT(!pieces.empty());
  const std::size_t count = std::min(pieces.size(), kMaxPieces);
  for (std::size_t p = 0; p < count; ++p) {
    const std::size_t row = pieces[p] * kPieceWidth;
    const float scale = 2 * weights_.pieces.scales[pieces[p]];
    for (std::size_t i = 0; i < kPieceWidth; ++i)
      workspace.input_[p * kPieceWidth + i] =
          scale * static_cast<float>(weights_.pieces.values[row + i]) +
          positions_[p * kPieceWidth + i];
  }
  run_layer(weights_.layers[0], count, workspace.input_.get(), workspace);
  run_layer(weights_.layers[1], count, workspace.state_.get(), workspace);

  std::array<float, kDimension> mean{};
  for (std::size_t p = 0; p < count; ++p)
    for (std::size_t i = 0; i < kDimension; ++i) mean[i] += workspace.state_[p * kDimension + i];
  for (auto& value : mean) value /= static_cast<float>(count);
  dense(mean.data(), 1, weights_.last, out.data(), workspace);
  double squares = 0;
  for (auto& value : out) {
    value = std::tanh(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto factor = static_cast<float>(1 / std::sqrt(std::max(squares, 1e-12)));
  for (auto& value : out) value *= factor;
}

/// Reads `input` and leaves the layer's rows in `workspace.state_`; they may be the same.
void Encoder::run_layer(const LayerWeights& layer, std::size_t pieces, const float* input,
                        Workspace& workspace) const {
  const std::size_t width = layer.norm.scale.size();
  float* state = workspace.state_.get();
  float* normal = workspace.normal_.get();
  float* wide = workspace.wide_.get();

  kernels_.normalise(input, pieces, layer.norm, normal);
  dense(normal, pieces, layer.qkv, wide, workspace);
  kernels_.attend(wide, pieces, width, workspace.scratch_.get(), normal);
  dense(normal, pieces, layer.output, workspace.attended_.get(), workspace);
  if (layer.residual.matrix.rows > 0) dense(input, pieces, layer.residual, state, workspace);
  for (std::size_t i = 0; i < pieces * kDimension; ++i) state[i] += workspace.attended_[i];

  kernels_.normalise(state, pieces, layer.feed_norm, normal);
  dense(normal, pieces, layer.widen, wide, workspace);
  for (std::size_t i = 0; i < pieces * kFeedForwardWidth; ++i) wide[i] = std::max(wide[i], 0.0F);
  dense(wide, pieces, layer.narrow, workspace.attended_.get(), workspace);
  for (std::size_t i = 0; i < pieces * kDimension; ++i) state[i] += workspace.attended_[i];
}

void Encoder::dense(const float* rows, std::size_t count, const DenseWeights& weights, float* out,
                    Workspace& workspace) const {
  const Int8Rows quantised{workspace.values_.get(), workspace.scales_.get(), workspace.sums_.get(),
                           count, weights.matrix.width};
  kernels_.quantise(rows, quantised);
  kernels_.multiply(quantised, weights.matrix, weights.bias.data(), out);
}

}  // namespace indx::embed
