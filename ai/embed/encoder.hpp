#pragma once
#include "ai/embed/kernels.hpp"
#include "ai/embed/tokenizer.hpp"

#include <memory>
#include <span>
#include <vector>

namespace indx::embed {

/// Memory for one forward pass, to be used again for the next; one thread at a time.
class Workspace {
 public:
  Workspace();

 private:
  friend class Encoder;
  std::unique_ptr<float[]> input_, state_, normal_, wide_, attended_, scratch_;
  std::unique_ptr<std::int8_t[]> values_;
  std::unique_ptr<float[]> scales_;
  std::unique_ptr<std::int32_t[]> sums_;
};

/// The forward pass of Universal Sentence Encoder Lite (Cer et al. 2018): two pre-norm transformer
/// layers over the pieces of one window, their mean, and a tanh layer. Safe from any thread.
class Encoder {
 public:
  /// Both must outlive it.
  Encoder(const Weights& weights, const Kernels& kernels);

  /// The vector of length 1 of 1 to kMaxPieces pieces; pieces past that do not count.
  void encode(std::span<const PieceId> pieces, Workspace& workspace,
              std::span<float, kDimension> out) const;

 private:
  void run_layer(const LayerWeights& layer, std::size_t pieces, const float* input,
                 Workspace& workspace) const;
  void dense(const float* rows, std::size_t count, const DenseWeights& weights, float* out,
             Workspace& workspace) const;

  const Weights& weights_;
  const Kernels& kernels_;
  std::vector<float> positions_;  ///< [kMaxPieces][kPieceWidth]
};

}  // namespace indx::embed
