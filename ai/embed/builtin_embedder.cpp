#include "ai/embed/builtin_embedder.hpp"

#include "ai/embed/encoder.hpp"
#include "ai/embed/windows.hpp"

#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

namespace indx {
namespace embed {
namespace {

class BuiltinEmbedder : public Embedder {
 public:
  explicit BuiltinEmbedder(ModelFile file)
      : file_(std::move(file)),
        tokenizer_(file_.weights().vocabulary, file_.weights().scores),
        encoder_(file_.weights(), *usable_kernels().front()) {}

  std::string model_id() const override { return std::string(kModelId); }
  std::size_t dimension() const override { return kDimension; }

  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts,
                                                const CancelToken& cancel) override {
    Workspace workspace;
    std::vector<std::vector<float>> vectors;
    vectors.reserve(texts.size());
    for (const auto& text : texts) {
      auto& sum = vectors.emplace_back(kDimension, 0.0F);
      for (const auto& window : windows_of(tokenizer_, text)) {
        if (cancel.is_cancelled())
          return make_error(Reason::Cancelled, "The embedding of texts was cancelled.");
        std::array<float, kDimension> vector;
        encoder_.encode(window, workspace, vector);
        for (std::size_t i = 0; i < kDimension; ++i) sum[i] += vector[i];
      }
      to_length_one(sum);
    }
    return vectors;
  }

 private:
  static void to_length_one(std::vector<float>& vector) {
    double squares = 0;
    for (const float value : vector) squares += static_cast<double>(value) * value;
    if (squares == 0) return;
    const auto factor = static_cast<float>(1 / std::sqrt(squares));
    for (float& value : vector) value *= factor;
  }

  const ModelFile file_;  // the two below point into it
  const Tokenizer tokenizer_;
  const Encoder encoder_;
};

}  // namespace
}  // namespace embed

std::string default_embedding_model_file() {
  std::error_code failure;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) return {};
  return (program.parent_path().parent_path() / "share" / "indx" / embed::kModelFileName).string();
}

Result<std::unique_ptr<Embedder>> make_builtin_embedder(const std::string& model_file) {
  auto file = INDX_TRY(
      embed::ModelFile::open(model_file.empty() ? default_embedding_model_file() : model_file));
  return std::unique_ptr<Embedder>(std::make_unique<embed::BuiltinEmbedder>(std::move(file)));
}

}  // namespace indx
