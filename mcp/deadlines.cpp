#include "mcp/deadlines.hpp"

#include <utility>

namespace indx {

Deadlines::Deadlines() : thread_([this] { run(); }) {}

Deadlines::~Deadlines() {
  {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Deadlines::after(std::chrono::milliseconds delay, std::function<void()> function) {
  {
    const std::scoped_lock lock(mutex_);
    due_.emplace(std::chrono::steady_clock::now() + delay, std::move(function));
  }
  wake_.notify_all();
}

void Deadlines::run() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    if (due_.empty()) {
      wake_.wait(lock);
      continue;
    }
    const auto first = due_.begin();
    if (first->first > std::chrono::steady_clock::now()) {
      wake_.wait_until(lock, first->first);
      continue;
    }
    const auto function = std::move(first->second);
    due_.erase(first);
    lock.unlock();
    function();
    lock.lock();
  }
}

}  // namespace indx
