#pragma once
#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

namespace indx {

/// A counting permit for one actor's queue (G17): none free means `unavailable`, never a longer
/// queue.
class Permits {
 public:
  explicit Permits(int count) : count_(count), free_(count) {}

  class Permit {
   public:
    explicit Permit(Permits* from) : from_(from) {}
    Permit(Permit&& other) noexcept : from_(std::exchange(other.from_, nullptr)) {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (from_ != nullptr) from_->free_.fetch_add(1);
    }

   private:
    Permits* from_;
  };

  std::optional<Permit> try_take() {
    if (free_.fetch_sub(1) > 0) return Permit(this);
    free_.fetch_add(1);
    return std::nullopt;
  }
  /// How many are out.
  int taken() const { return count_ - std::max(free_.load(), 0); }

 private:
  const int count_;
  std::atomic<int> free_;
};

}  // namespace indx
