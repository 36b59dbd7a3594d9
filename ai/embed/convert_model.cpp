#include "ai/embed/convert_model.hpp"

#include "ai/embed/model_file.hpp"
#include "base/file_bytes.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace indx::embed {
namespace {

/// Section of our file -> name in the graph. `@` stands for the encoder of a text, `#` for the
/// layer of the section, `~` for what the graph appends to a variable whose parts it joined.
constexpr std::pair<std::string_view, std::string_view> kGraphNames[] = {
    {"pieces", "module/Embeddings_en"},
    {"rates", "@TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1"},
    {"/norm.scale", "@#TransformerLayer/layer_prepostprocess/layer_norm/layer_norm_scale~"},
    {"/norm.bias", "@#TransformerLayer/layer_prepostprocess/layer_norm/layer_norm_bias~"},
    {"/qkv",
     "module/Encoder_en/KonaTransformer/Encode/#TransformerLayer/MultiheadAttention/"
     "qkv_transform_single/kernel/part_0"},
    {"/qkv.bias", "@#TransformerLayer/MultiheadAttention/qkv_transform_single/bias~"},
    {"/output",
     "module/Encoder_en/KonaTransformer/Encode/#TransformerLayer/MultiheadAttention/"
     "output_transform_single/kernel/part_0"},
    {"/output.bias", "@#TransformerLayer/MultiheadAttention/output_transform_single/bias~"},
    {"/residual", "@#TransformerLayer/dense/kernel~"},
    {"/residual.bias", "@#TransformerLayer/dense/bias~"},
    {"/feed_norm.scale",
     "@#TransformerLayer/FFN/layer_prepostprocess/layer_norm/layer_norm_scale~"},
    {"/feed_norm.bias", "@#TransformerLayer/FFN/layer_prepostprocess/layer_norm/layer_norm_bias~"},
    {"/widen", "@TransformerStack/#TransformerLayer/FFN/conv1/Tensordot/Reshape_1"},
    {"/widen.bias", "@#TransformerLayer/FFN/conv1/bias~"},
    {"/narrow", "@TransformerStack/#TransformerLayer/FFN/conv2/Tensordot/Reshape_1"},
    {"/narrow.bias", "@#TransformerLayer/FFN/conv2/bias~"},
    {"last", "module/Encoder_en/hidden_layers/tanh_layer_0/weights"},
    {"last.bias", "module/Encoder_en/hidden_layers/tanh_layer_0/bias"},
};

std::string graph_name(std::string_view section) {
  const bool in_layer = section.size() > 1 && section[1] == '/';
  const auto key = in_layer ? section.substr(1) : section;
  const auto* row = std::find_if(std::begin(kGraphNames), std::end(kGraphNames),
                                 [&](const auto& pair) { return pair.first == key; });
  if (row == std::end(kGraphNames)) return {};
  std::string name(row->second);
  name = replace_all(name, "@", "module_apply_default/Encoder_en/KonaTransformer/Encode/");
  name = replace_all(name, "#", cat("Layer_", section.substr(0, 1), "/"));
  return replace_all(name, "~", "/ConcatPartitions/concat");
}

Error other_shape(std::string_view what) {
  return make_error(Reason::ParseFailed, cat("The published model has another shape: ", what, "."));
}

struct Tensor {
  std::string dtype;
  std::vector<std::size_t> shape;  ///< without sides of 1
  std::string_view bytes;
};

/// What the shards hold, in the order of the manifest.
Result<std::map<std::string, Tensor>> tensors_of(const Json& manifest, std::string_view shards) {
  std::map<std::string, Tensor> tensors;
  std::size_t at = 0;
  for (const auto& weight : manifest.at("weights")) {
    Tensor tensor{weight.at("dtype"), {}, {}};
    std::size_t bytes = 4;  // float32 or int32, there is no other
    for (const auto& side : weight.at("shape")) {
      const auto size = side.get<std::size_t>();
      if (size != 1) tensor.shape.push_back(size);
      if (size > shards.size() || bytes > shards.size())
        return other_shape("a tensor is larger than the shards");
      bytes *= size;
    }
    if (bytes > shards.size() - at) return other_shape("the shards are too short");
    tensor.bytes = shards.substr(at, bytes);
    at += bytes;
    tensors.emplace(weight.at("name"), std::move(tensor));
  }
  if (at != shards.size()) return other_shape("the shards are too long");
  return tensors;
}

Result<std::vector<float>> floats_of(const std::map<std::string, Tensor>& tensors,
                                     const Section& section) {
  const auto name = graph_name(section.name);
  const auto found = tensors.find(name);
  if (found == tensors.end()) return other_shape(cat(name, " is missing"));
  const auto& tensor = found->second;
  const std::size_t rows = section.rows, width = section.width;
  const auto shape = section.kind == SectionKind::Float        ? std::vector{width}
                     : section.kind == SectionKind::PackedInt8 ? std::vector{width, rows}
                                                               : std::vector{rows, width};
  if (tensor.shape != shape || tensor.dtype != "float32") return other_shape(name);
  std::vector<float> values(rows * width);
  std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(float));
  return values;
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// The numbers as int8 with a scale a row. The graph has a packed matrix as [width][rows].
std::string int8_bytes(const std::vector<float>& values, const Section& section) {
  const std::size_t rows = section.rows, width = section.width;
  const bool packed = section.kind == SectionKind::PackedInt8;
  const auto value = [&](std::size_t row, std::size_t k) {
    return packed ? values[k * rows + row] : values[row * width + k];
  };
  const auto place = [&](std::size_t row, std::size_t k) {
    if (!packed) return row * width + k;
    const std::size_t block = row / kPackedOutputs, step = k / kPackedInputs;
    return ((block * (width / kPackedInputs) + step) * kPackedOutputs + row % kPackedOutputs) *
               kPackedInputs +
           k % kPackedInputs;
  };
  std::string bytes(rows * width, '\0');
  std::vector<float> scales(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    float most = 0;
    for (std::size_t k = 0; k < width; ++k) most = std::max(most, std::abs(value(row, k)));
    const float factor = most > 0 ? 127.0F / most : 0.0F;
    scales[row] = most / 127.0F;
    for (std::size_t k = 0; k < width; ++k)
      bytes[place(row, k)] = static_cast<char>(std::lrint(value(row, k) * factor));
  }
  return bytes + bytes_of(scales);
}

/// The texts of the vocabulary with their lengths, and the scores. Seven pieces have no score in
/// the published file; there it counts as 0.
Result<std::pair<std::string, std::string>> vocabulary_of(const Json& vocabulary) {
  if (vocabulary.size() != kVocabularySize)
    return other_shape(cat("the vocabulary has ", vocabulary.size(), " pieces"));
  std::string texts;
  std::vector<double> scores;
  for (const auto& row : vocabulary) {
    const auto text = row.at(0).get<std::string>();
    if (text.empty() || text.size() > 255) return other_shape("a piece of the vocabulary");
    texts += static_cast<char>(text.size());
    texts += text;
    scores.push_back(row.at(1).is_null() ? 0.0 : row.at(1).get<double>());
  }
  return std::pair{std::move(texts), bytes_of(scores)};
}

Result<std::string> file_text(const std::string& folder, const std::string& name) {
  if (name.find('/') != std::string::npos) return other_shape("a shard in another folder");
  return INDX_TRY(FileBytes::open(cat(folder, "/", name))).read_all();
}

Result<std::string> converted(const std::string& folder, std::string_view source_sha256) {
  auto source = INDX_TRY(file_text(folder, "model.json"));
  const auto manifests = Json::parse(source).at("weightsManifest");
  if (manifests.size() != 1) return other_shape("more than one group of weights");
  std::string shards;
  for (const auto& path : manifests[0].at("paths")) shards += INDX_TRY(file_text(folder, path));
  const auto vocabulary_text = INDX_TRY(file_text(folder, "vocab.json"));
  source += shards;
  source += vocabulary_text;
  if (const auto hash = sha256_hex(source); hash != source_sha256)
    return make_error(Reason::ParseFailed,
                      cat("The published model has the SHA-256 ", hash, ", not ", source_sha256,
                          ": it is another one, or damaged."));

  const auto tensors = INDX_TRY(tensors_of(manifests[0], shards));
  const auto [texts, scores] = INDX_TRY(vocabulary_of(Json::parse(vocabulary_text)));
  std::vector<std::string> contents;
  for (const auto& section : model_sections()) {
    switch (section.kind) {
      case SectionKind::PackedInt8:
      case SectionKind::RowInt8: {
        const auto values = INDX_TRY(floats_of(tensors, section));
        contents.push_back(int8_bytes(values, section));
        break;
      }
      case SectionKind::Float:
        contents.push_back(bytes_of(INDX_TRY(floats_of(tensors, section))));
        break;
      case SectionKind::Double:
        contents.push_back(scores);
        break;
      case SectionKind::Text:
        contents.push_back(texts);
        break;
    }
  }
  return model_file_bytes(contents, source_sha256);
}

}  // namespace

Result<std::string> convert_model(const std::string& folder, std::string_view source_sha256) {
  try {
    return converted(folder, source_sha256);
  } catch (const Json::exception& failure) {
    return other_shape(failure.what());
  }
}

}  // namespace indx::embed
