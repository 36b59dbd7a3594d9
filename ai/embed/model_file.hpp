#pragma once
#include "base/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace indx::embed {

/// The published weights that the file is made of: SHA-256 over model.json, the shards in their
/// order, and vocab.json.
inline constexpr std::string_view kSourceSha256 =
    "4c6db373cea2356e6cf528d8ab5a981c2d1a59578113f416968b01dd117cc7d5";
/// Stored with every vector; another way to cut, to quantise or to sum up needs another id.
inline constexpr std::string_view kModelId = "use-lite-en-512-i8-v1";
inline constexpr std::string_view kModelFileName = "use-lite-en-512-i8-v1.indxmodel";

inline constexpr std::size_t kDimension = 512;
inline constexpr std::size_t kPieceWidth = 256;
inline constexpr std::size_t kFeedForwardWidth = 1536;
inline constexpr std::size_t kHeads = 4;
inline constexpr std::size_t kMaxPieces = 128;  ///< of one window; the model was made for no more
inline constexpr std::size_t kTableRows = 8002, kVocabularySize = 8000;
inline constexpr std::size_t kReservedPieces = 6;

/// Outputs that stand together in a packed matrix, and inputs of each that do.
inline constexpr std::size_t kPackedOutputs = 16, kPackedInputs = 4;

/// Int8 numbers with one scale a row, so that a number is value times scale. `values` is row after
/// row, or packed for the kernels as [rows / 16][width / 4][16][4].
struct Int8Matrix {
  const std::int8_t* values = nullptr;
  const float* scales = nullptr;
  std::size_t rows = 0, width = 0;
};
using Floats = std::span<const float>;

struct NormWeights {
  Floats scale, bias;
};
/// What a row of `matrix.width` numbers is multiplied with; packed.
struct DenseWeights {
  Int8Matrix matrix;
  Floats bias;  ///< one for each output
};
struct LayerWeights {
  NormWeights norm;
  DenseWeights qkv, output;
  DenseWeights residual;  ///< without outputs where the layer is as wide as what it reads
  NormWeights feed_norm;
  DenseWeights widen, narrow;
};
struct Weights {
  Int8Matrix pieces;  ///< row after row: the vector of each piece
  Floats rates;       ///< of the position signal
  std::array<LayerWeights, 2> layers;
  DenseWeights last;
  std::vector<std::string_view> vocabulary;  ///< UTF-8, by piece id
  std::span<const double> scores;            ///< log probabilities, by piece id
};

enum class SectionKind : std::uint32_t { PackedInt8, RowInt8, Float, Double, Text };
/// One part of the file; `rows` and `width` count numbers, of a Text they count texts and stay 1.
struct Section {
  std::string_view name;
  SectionKind kind;
  std::uint32_t rows, width;
};
/// What a file holds, in this order; the reader and the writer both go by it.
std::span<const Section> model_sections();

/// The bytes of a file with these contents, one for each of model_sections(): int8 values followed
/// by their scales, floats, doubles, or texts with one byte of length before each.
std::string model_file_bytes(std::span<const std::string> contents, std::string_view source_sha256);

/// A model file in memory, mapped and checked. Safe from any thread.
class ModelFile {
 public:
  /// Errors: `ai_unavailable` {required_role: embeddings, cause: missing | unreadable | damaged |
  /// other_model}.
  static Result<ModelFile> open(const std::string& path);

  ModelFile(ModelFile&&) noexcept;
  ModelFile& operator=(ModelFile&&) noexcept;
  ~ModelFile();

  const Weights& weights() const { return *weights_; }

 private:
  struct Mapping;
  ModelFile(std::unique_ptr<Mapping> mapping, std::unique_ptr<const Weights> weights);

  std::unique_ptr<Mapping> mapping_;
  std::unique_ptr<const Weights> weights_;  ///< points into the mapping
};

}  // namespace indx::embed
