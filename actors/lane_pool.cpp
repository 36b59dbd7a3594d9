#include "actors/lane_pool.hpp"

namespace indx {

bool LanePool::submit(std::function<void()> work) {
  const std::scoped_lock lock(mutex_);
  if (is_stopped_ || queue_.size() >= max_queued_) return false;
  queue_.push_back(std::move(work));
  if (queue_.size() > idle_ && threads_.size() < max_threads_)
    threads_.emplace_back([this] { run(); });
  wake_.notify_one();
  return true;
}

void LanePool::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return !queue_.empty() || is_stopped_; });
    --idle_;
    if (queue_.empty()) return;
    auto work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    work = nullptr;  // what it captured is freed outside the lock
    lock.lock();
  }
}

void LanePool::stop() {
  std::vector<std::thread> threads;
  {
    const std::scoped_lock lock(mutex_);
    is_stopped_ = true;
    threads.swap(threads_);
  }
  wake_.notify_all();
  for (auto& thread : threads) thread.join();
}

}  // namespace indx
