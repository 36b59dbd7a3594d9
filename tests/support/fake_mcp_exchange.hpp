#pragma once
#include "http/router.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace indx {

/// The client's end of one HTTP exchange, in memory.
class FakeMcpExchange : public Responder::Target {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<HttpResponse> head;
    bool is_closed = false, is_gone = false;
    std::function<void()> on_gone;
  };
  template <typename Fn>
  auto with_lock(const Fn& fn) const {
    const std::scoped_lock lock(state_->mutex);
    return fn(*state_);
  }

 public:
  void send(HttpResponse response) override {
    const std::scoped_lock lock(state_->mutex);
    state_->head = std::move(response);
    state_->is_closed = true;
    state_->changed.notify_all();
  }
  std::shared_ptr<ResponseStream> begin_stream(HttpResponse head) override {
    const std::scoped_lock lock(state_->mutex);
    state_->head = std::move(head);
    state_->changed.notify_all();
    return std::make_shared<Stream>(state_);
  }
  void on_disconnect(std::function<void()> callback) override {
    const std::scoped_lock lock(state_->mutex);
    if (!state_->is_closed) state_->on_gone = std::move(callback);
  }

  /// Waits until the predicate holds; false after half a minute (busy machines).
  bool wait(const std::function<bool(const FakeMcpExchange&)>& holds) const {
    for (int i = 0; i < 3000; ++i) {
      if (holds(*this)) return true;
      std::unique_lock lock(state_->mutex);
      state_->changed.wait_for(lock, std::chrono::milliseconds(10));
    }
    return false;
  }

  bool is_answered() const {
    return with_lock([](const State& state) { return state.head.has_value(); });
  }
  bool is_closed() const {
    return with_lock([](const State& state) { return state.is_closed; });
  }
  /// Whether the server still holds the stream.
  bool is_held() const { return state_.use_count() > 1; }
  int status() const {
    return with_lock([](const State& state) { return state.head ? state.head->status : 0; });
  }
  std::string body() const {
    return with_lock([](const State& state) { return state.head ? state.head->body : ""; });
  }
  std::string header(const std::string& name) const {
    return with_lock([&](const State& state) {
      for (const auto& [key, value] : state.head ? state.head->headers : HttpResponse().headers)
        if (key == name) return value;
      return std::string();
    });
  }
  /// The client goes away: later writes fail, and who watches the connection hears of it.
  void disconnect() const {
    std::function<void()> on_gone;
    {
      const std::scoped_lock lock(state_->mutex);
      state_->is_gone = true;
      on_gone.swap(state_->on_gone);
    }
    if (on_gone) on_gone();
  }

 private:
  class Stream : public ResponseStream {
   public:
    explicit Stream(std::shared_ptr<State> state) : state_(std::move(state)) {}
    bool write(std::string frame) override {
      const std::scoped_lock lock(state_->mutex);
      if (state_->is_gone || state_->is_closed) return false;
      state_->head->body += frame;
      state_->changed.notify_all();
      return true;
    }
    void when_drained(std::function<void()> callback) override { callback(); }
    void close() override {
      const std::scoped_lock lock(state_->mutex);
      state_->is_closed = true;
      state_->changed.notify_all();
    }

   private:
    const std::shared_ptr<State> state_;
  };

  const std::shared_ptr<State> state_ = std::make_shared<State>();  // shared with the streams
};

}  // namespace indx
