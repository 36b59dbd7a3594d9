#pragma once
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace indx {

/// Vectors of the last questions, so that one which comes again costs no call of a model. Safe from
/// any thread.
class QuestionVectors {
 public:
  static constexpr std::size_t kMost = 64;

  std::optional<std::vector<float>> find(const std::string& question) const {
    const std::scoped_lock lock(mutex_);
    for (const auto& [known, vector] : vectors_)
      if (known == question) return vector;
    return std::nullopt;
  }
  void put(const std::string& question, std::vector<float> vector) {
    const std::scoped_lock lock(mutex_);
    vectors_.emplace_front(question, std::move(vector));
    if (vectors_.size() > kMost) vectors_.pop_back();
  }

 private:
  mutable std::mutex mutex_;
  std::deque<std::pair<std::string, std::vector<float>>> vectors_;  ///< newest first
};

}  // namespace indx
