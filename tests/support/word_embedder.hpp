#pragma once
#include "ai/embedder.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace indx {

/// Vectors of the words in a text, for tests: each word has a place of its own (by a hash), and
/// words that `same_as` puts together share one, as a model would have it.
class WordEmbedder : public Embedder {
 public:
  static constexpr std::size_t kDim = 256;

  explicit WordEmbedder(std::string model = "words-1",
                        std::map<std::string, std::string> same_as = {})
      : model_(std::move(model)), same_as_(std::move(same_as)) {}

  std::string model_id() const override { return model_; }
  std::size_t dimension() const override { return kDim; }
  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts,
                                                const CancelToken&) override {
    const std::scoped_lock lock(mutex_);
    if (static_cast<int>(batches_.size()) == most_batches)
      return make_error(Reason::AiProviderError, "The model is down.");
    batches_.push_back(texts.size());
    std::vector<std::vector<float>> vectors;
    for (const auto& text : texts) {
      if (before_text) before_text(text);
      texts_.push_back(text);
      vectors.push_back(vector_of(text));
    }
    return vectors;
  }

  std::vector<float> vector_of(const std::string& text) const {
    std::vector<float> numbers(kDim, 0.0F);
    std::string word;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      const auto c = i < text.size() ? static_cast<unsigned char>(text[i]) : ' ';
      if (std::isalnum(c) != 0 || c >= 0x80) {
        word += static_cast<char>(std::tolower(c));
        continue;
      }
      if (!word.empty()) numbers[place_of(word)] += 1;
      word.clear();
    }
    float length = 0;
    for (const float number : numbers) length += number * number;
    for (auto& number : numbers) number /= length > 0 ? std::sqrt(length) : 1;
    return numbers;
  }

  /// What it was asked for so far.
  std::vector<std::string> texts() const {
    const std::scoped_lock lock(mutex_);
    return texts_;
  }
  std::vector<std::size_t> batches() const {
    const std::scoped_lock lock(mutex_);
    return batches_;
  }
  void forget() {
    const std::scoped_lock lock(mutex_);
    texts_.clear();
    batches_.clear();
  }

  // Set before it is used:
  int most_batches = -1;  ///< after so many it fails
  std::function<void(const std::string&)> before_text;

 private:
  std::size_t place_of(std::string word) const {
    if (const auto other = same_as_.find(word); other != same_as_.end()) word = other->second;
    std::uint64_t hash = 1469598103934665603U;  // FNV-1a
    for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return (hash ^ (hash >> 32U)) % kDim;
  }

  const std::string model_;
  const std::map<std::string, std::string> same_as_;
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
  std::vector<std::size_t> batches_;
};

}  // namespace indx
