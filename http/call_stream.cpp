#include "http/call_stream.hpp"

#include "ops/ai_stream.hpp"

#include <utility>

namespace indx {
namespace {

/// At a time, far below what a stream may hold for its client.
constexpr std::size_t kMostAtOnce = 64U << 10U;

}  // namespace

void CallStream::take(const Event& event) {
  const std::scoped_lock lock(mutex_);
  if (is_over_) return;
  open();
  put(sse_frame({}, event.kind, AiStream::tells(event) ? event.data : event.to_json(epoch_)));
}

void CallStream::finish(const Answer& answer) {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(is_over_, true)) return;
  if (!answer.result && !stream_) return responder_.send(whole_(answer));
  open();
  if (answer.result) return put(sse_frame({}, prefix_ + "complete", *answer.result));
  Json error = answer.result.error().to_json();
  error["request_id"] = id_.value;
  put(sse_frame({}, prefix_ + "error", error));
}

void CallStream::settle() {
  const std::scoped_lock lock(mutex_);
  if (!is_over_) open();
}

void CallStream::open() {
  if (!stream_) stream_ = responder_.begin_stream(event_stream_head({}));
}

void CallStream::put(std::string frame) {
  frames_.push_back(std::move(frame));
  if (!is_sending_) send();
}

/// What may be sent at once; the rest when that has left. Under the mutex.
void CallStream::send() {
  std::string bytes;
  do {
    bytes += frames_.front();
    frames_.pop_front();
  } while (!frames_.empty() && bytes.size() + frames_.front().size() <= kMostAtOnce);
  stream_->write(std::move(bytes));
  if (is_over_ && frames_.empty()) return stream_->close();
  is_sending_ = true;
  stream_->when_drained([self = shared_from_this()] {
    const std::scoped_lock lock(self->mutex_);
    self->is_sending_ = false;
    if (!self->frames_.empty()) self->send();
  });
}

}  // namespace indx
