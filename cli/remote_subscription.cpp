#include "cli/remote_subscription.hpp"

#include <chrono>

namespace indx {
namespace {

/// Who asks may be the thread that reads for a client. A server that is silent for longer is waited
/// for behind its back.
constexpr std::chrono::milliseconds kOpenPatience{1000};

}  // namespace

RemoteSubscription::~RemoteSubscription() {
  cancel_.cancel(CancelReason::Requested);
  if (thread_.joinable() && thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else if (thread_.joinable())
    thread_.join();
}

Status RemoteSubscription::open() {
  std::promise<Status> opened;
  auto is_open = opened.get_future();
  thread_ = std::thread([this, promise = std::move(opened)]() mutable { run(std::move(promise)); });
  return is_open.wait_for(kOpenPatience) == std::future_status::ready ? is_open.get() : Status();
}

void RemoteSubscription::run(std::promise<Status> opened) {
  std::optional<std::promise<Status>> first = std::move(opened);
  const auto on_opened = [&first](Status status) {
    if (first) first->set_value(std::move(status));
    first.reset();
  };
  while (!cancel_.is_cancelled() && !is_ended_) {
    auto request = wire_->request("GET", target_, nullptr);
    request.headers.emplace_back("Accept", "text/event-stream");
    if (last_id_) request.headers.emplace_back("Last-Event-ID", *last_id_);
    SseReader reader;
    std::string refusal;
    const auto response = http_stream(request, cancel_, [&](std::string_view bytes) {
      if (!refusal.empty() || bytes.starts_with('{')) return refusal += bytes, true;
      on_opened({});
      return reader.add(bytes, [this](const SseFrame& frame) { return take(frame); });
    });
    if (!response) {
      on_opened(response.error());
    } else if (response->status >= 300) {
      const Error refused = error_of_response({response->status, response->headers, refusal});
      // One that was open comes back when the server has started anew or has room again.
      if (first || !refused.is_retryable()) return on_opened(refused);
    }
    pause();
  }
  on_opened({});
}

bool RemoteSubscription::take(const SseFrame& frame) {
  if (!frame.id.empty()) last_id_ = frame.id;
  Event event;
  {
    const std::scoped_lock lock(wire_->mutex);
    event = event_of(frame, &wire_->epoch);
  }
  is_ended_ = !sink_(event);
  return !is_ended_;
}

void RemoteSubscription::pause() {
  std::unique_lock lock(mutex_);
  const auto registration = cancel_.on_cancel([this] { woken_.notify_all(); });
  for (int i = 0; i < 10 && !cancel_.is_cancelled() && !is_ended_; ++i)
    woken_.wait_for(lock, std::chrono::milliseconds(50));
}

}  // namespace indx
