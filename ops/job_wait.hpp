#pragma once
#include "ops/dispatch.hpp"

#include <atomic>

namespace indx {

/// Waits of calls for the jobs that answer them. No thread waits: the job's events move each wait
/// on. Thread-safe.
class JobWaits {
 public:
  explicit JobWaits(Backend& backend) : backend_(backend) {}
  JobWaits(const JobWaits&) = delete;
  JobWaits& operator=(const JobWaits&) = delete;
  ~JobWaits();  ///< answers what still waits with `draining`

  /// Whether one more call may wait (G9).
  bool has_room() const { return waiting_ < kMaxWaiting; }
  /// Answers when the job ends, or with `cancelled` when the caller goes away, which leaves the job
  /// to its other waiters.
  void wait(const Job& job, const CancelToken& cancel, OnAnswer answer, OnEvent progress,
            Answer base);

  static constexpr int kMaxWaiting = 1024;

 private:
  struct Wait;
  void set_up(const std::shared_ptr<Wait>& wait, std::unique_ptr<Subscription> subscription,
              CancelToken::Registration registration);
  void on_event(const std::shared_ptr<Wait>& wait, const Event& event);
  void answer_if_ended(const std::shared_ptr<Wait>& wait);
  void finish(const std::shared_ptr<Wait>& wait, Result<Json> result);
  void sweep();

  Backend& backend_;
  std::atomic<int> waiting_ = 0;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Wait>>
      waits_;  // shared: a sink may still run while a sweep drops them
};

/// What a final job answers.
Result<Json> result_of(const Job& job);

}  // namespace indx
