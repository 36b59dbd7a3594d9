#include "ai/providers/http_provider.hpp"
#include "ai/providers/upstream_client.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace indx {
namespace {

constexpr std::size_t kEmbedBatch = 32;  // row G23

/// To length 1; false when it is no list of numbers.
bool read_unit_vector(const Json& numbers, std::vector<float>& out) {
  if (!numbers.is_array() || numbers.empty()) return false;
  double sum = 0;
  for (const auto& number : numbers) {
    if (!number.is_number()) return false;
    const auto value = number.get<double>();
    sum += value * value;
    out.push_back(static_cast<float>(value));
  }
  const auto length = std::sqrt(sum);
  if (!std::isfinite(length)) return false;
  if (length > 0)
    for (auto& value : out) value = static_cast<float>(value / length);
  return true;
}

class HttpEmbedder : public Embedder {
 public:
  HttpEmbedder(const AiConfig& config, std::unique_ptr<WireFormat> format)
      : format_(std::move(format)), client_(config, *format_) {}

  std::string model_id() const override {
    return cat(format_->upstream().provider, '/', format_->upstream().model);
  }
  std::size_t dimension() const override { return dimension_; }

  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts,
                                                const CancelToken& cancel) override {
    std::vector<std::size_t> places;  // of the texts that hold something
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (!trim(texts[i]).empty()) places.push_back(i);
    std::vector<std::vector<float>> vectors(texts.size());
    for (std::size_t begin = 0; begin < places.size(); begin += kEmbedBatch) {
      const auto end = std::min(begin + kEmbedBatch, places.size());
      std::vector<std::string> batch;
      for (auto i = begin; i < end; ++i) batch.push_back(texts[places[i]]);
      auto part = INDX_TRY(embed_batch(batch, cancel));
      for (auto i = begin; i < end; ++i) vectors[places[i]] = std::move(part[i - begin]);
    }
    for (auto& vector : vectors) vector.resize(dimension_);
    return vectors;
  }

 private:
  Result<std::vector<std::vector<float>>> embed_batch(const std::vector<std::string>& batch,
                                                      const CancelToken& cancel) {
    const auto body = INDX_TRY(client_.exchange(format_->embed_call(batch), cancel));
    const auto bad = [&](const char* what) { return client_.failure(what, "parse", 200, ""); };
    const auto lists = format_->read_embeddings(body);
    if (lists.size() != batch.size())
      return bad("The AI provider's answer does not hold one vector for each text.");
    std::vector<std::vector<float>> vectors(lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (!read_unit_vector(lists[i], vectors[i]))
        return bad("The AI provider's answer holds what is no vector.");
      std::size_t known = 0;
      if (!dimension_.compare_exchange_strong(known, vectors[i].size()) &&
          known != vectors[i].size())
        return bad("The AI provider's vectors have changing dimensions.");
    }
    return vectors;
  }

  const std::unique_ptr<WireFormat> format_;
  const UpstreamClient client_;
  std::atomic<std::size_t> dimension_ = 0;
};

}  // namespace

std::unique_ptr<Embedder> make_http_embedder(const AiConfig& config,
                                             std::unique_ptr<WireFormat> format) {
  return std::make_unique<HttpEmbedder>(config, std::move(format));
}

}  // namespace indx
