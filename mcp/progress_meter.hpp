#pragma once
#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/json.hpp"
#include "mcp/protocol.hpp"

#include <chrono>
#include <functional>
#include <mutex>
#include <string>

namespace indx {

/// What a job is at, in a few words: `suggest: 3 of 10 notes, Ops/Runbook.md`; empty: it says
/// nothing. `progress` as in the record of a job.
std::string progress_text(const Json& progress);

/// Turns the events of a call into `notifications/progress` that never go back and come at most
/// once per gap. Thread-safe.
///
/// Progress of a job is dropped when it comes too soon. What an AI call tells of its answer is
/// gathered instead, for nothing of it may be lost (row D44), and comes under `_meta`:
///
///   indx/partial    {delta, restart?}  as AiStream tells it; deltas are joined
///   indx/citations  [citation]
///   indx/usage      {…}
class ProgressMeter {
 public:
  /// Runs under a lock, so that notifications leave in order; must not block.
  using Send = std::function<void(const Json& notification)>;
  ProgressMeter(Json token, const Protocol& protocol, const Clock& clock,
                std::chrono::milliseconds gap, Send send)
      : token_(std::move(token)),
        protocol_(protocol),
        clock_(clock),
        gap_(gap),
        send_(std::move(send)) {}

  void take(const Event& event);
  /// Sends what was gathered and not told yet; the answer comes next.
  void flush();

 private:
  void take_progress(const Event& event);
  void gather(const Event& event);
  void send_gathered();
  Json notification(std::int64_t progress, const std::string& message) const;
  bool is_too_soon() const;

  const Json token_;
  const Protocol& protocol_;
  const Clock& clock_;
  const std::chrono::milliseconds gap_;
  const Send send_;
  std::mutex mutex_;
  std::int64_t base_ = 0, last_done_ = -1, last_sent_ = -1;
  std::chrono::nanoseconds last_time_{};
  Json meta_ = Json::object();  // gathered
};

}  // namespace indx
