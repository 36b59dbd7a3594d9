#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace indx {

/// Why work should stop. `Shutdown` and `Pause` give a job back to the queue; the others end it.
enum class CancelReason : std::uint8_t { None, Requested, Shutdown, Pause, TimeLimit, LeaseLost };

/// Shared by everything that works on one call; copies refer to the same state. Safe from any
/// thread.
class CancelToken {
 public:
  CancelToken() : state_(std::make_shared<State>()) {}

  bool is_cancelled() const { return reason() != CancelReason::None; }
  CancelReason reason() const { return state_->reason.load(); }

  /// The first call wins and runs the callbacks on its thread; later calls change nothing.
  void cancel(CancelReason why) const {
    auto none = CancelReason::None;
    if (!state_->reason.compare_exchange_strong(none, why)) return;
    std::map<int, std::function<void()>> callbacks;
    {
      const std::scoped_lock lock(state_->mutex);
      callbacks.swap(state_->callbacks);
      for (auto& [id, callback] : callbacks)
        callback();  // under the lock: a removed callback never runs later
    }
  }

  /// Runs `callback` on cancel (at once when already cancelled) while the returned guard lives. It
  /// must not block.
  class Registration;
  [[nodiscard]] Registration on_cancel(std::function<void()> callback) const;

 private:
  struct State {
    std::atomic<CancelReason> reason = CancelReason::None;
    std::mutex mutex;
    std::map<int, std::function<void()>> callbacks;
    int next_id = 0;
  };
  std::shared_ptr<State> state_;  // shared: the canceller and the workers end at different times
};

class CancelToken::Registration {
 public:
  Registration() = default;
  Registration(std::shared_ptr<State> state, int id) : state_(std::move(state)), id_(id) {}
  Registration(Registration&& other) noexcept : state_(std::move(other.state_)), id_(other.id_) {}
  Registration& operator=(Registration&& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~Registration() {
    if (!state_) return;
    const std::scoped_lock lock(state_->mutex);
    state_->callbacks.erase(id_);
  }

 private:
  std::shared_ptr<State> state_;
  int id_ = 0;
};

inline CancelToken::Registration CancelToken::on_cancel(std::function<void()> callback) const {
  const std::scoped_lock lock(state_->mutex);
  if (is_cancelled()) {
    callback();
    return {};
  }
  const int id = state_->next_id++;
  state_->callbacks.emplace(id, std::move(callback));
  return {state_, id};
}

}  // namespace indx
