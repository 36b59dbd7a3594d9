#include "mcp/sse_stream.hpp"

#include "base/text.hpp"
#include "mcp/json_rpc.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace indx {
namespace {

constexpr std::size_t kMaxKeptEvents = 256;         // of one stream; older ones age fast
constexpr std::size_t kMaxKeptBytes = 128U << 10U;  // likewise, but for the newest event
constexpr std::size_t kMaxFinishedStreams = 4;      // of one session
constexpr std::size_t kMaxFinishedBytes = 256U << 10U;
constexpr std::string_view kRetryField = "retry: 1000\n";

}  // namespace

HttpResponse sse_head(std::string first_frame) {
  return {200,
          {{"Content-Type", "text/event-stream"},
           {"Cache-Control", "no-cache, no-transform"},
           {"X-Accel-Buffering", "no"}},
          std::move(first_frame)};
}

std::string sse_frame(const Json& message) {
  return cat("event: message\ndata: ", dump_rpc(message), "\n\n");
}

/// What shows that the stream is there when it has no event yet: one with empty data makes it
/// resumable from its start, but older clients choke on that. Under the mutex.
std::string SseStream::opening() {
  if (!protocol_.has_priming_event) return ": open\n\n";
  return cat("id: ", id_, '-', next_number_++, '\n', kRetryField, "data: \n\n");
}

void SseStream::connect(const Responder& responder, std::optional<std::size_t> after) {
  const std::scoped_lock lock(mutex_);
  if (connection_) connection_->close();
  const std::size_t first = after ? *after + 1 : first_untaken_;
  const auto missed = std::find_if(events_.begin(), events_.end(),
                                   [&](const Event& event) { return event.number >= first; });
  if (after) forget(static_cast<std::size_t>(missed - events_.begin()));  // the client has them
  std::string bytes;
  for (const Event& event : events_)
    if (event.number >= first) bytes += *event.frame;
  if (bytes.empty()) bytes = opening();
  connection_ = responder.begin_stream(sse_head(std::move(bytes)));
  first_untaken_ = next_number_;
  if (is_finished_) {
    connection_->close();
    connection_.reset();
    return;
  }
  responder.on_disconnect([weak = weak_from_this(), connection = ++connections_] {
    if (const auto stream = weak.lock()) stream->leave(connection);
  });
}

void SseStream::leave(std::uint64_t connection) {
  const std::scoped_lock lock(mutex_);
  if (connection == connections_) connection_.reset();
}

/// The oldest events go. Under the mutex.
void SseStream::forget(std::size_t count) {
  for (; count > 0; --count) {
    kept_bytes_ -= events_.front().frame->size();
    events_.pop_front();
  }
}

void SseStream::send(const Json& message) {
  const std::scoped_lock lock(mutex_);
  if (is_finished_) return;
  const std::size_t number = next_number_++;
  const auto frame =
      std::make_shared<const std::string>(cat("id: ", id_, '-', number, '\n', sse_frame(message)));
  events_.push_back({number, frame});
  kept_bytes_ += frame->size();
  while (events_.size() > kMaxKeptEvents || (kept_bytes_ > kMaxKeptBytes && events_.size() > 1))
    forget(1);
  if (!connection_) return;
  if (connection_->write_shared(frame))
    first_untaken_ = next_number_;
  else
    connection_.reset();
}

void SseStream::finish() {
  const std::scoped_lock lock(mutex_);
  if (is_finished_) return;
  is_finished_ = true;
  if (connection_) connection_->close();
  connection_.reset();
}

bool SseStream::is_finished() const {
  const std::scoped_lock lock(mutex_);
  return is_finished_;
}

bool SseStream::is_connected() const {
  const std::scoped_lock lock(mutex_);
  return connection_ != nullptr;
}

bool SseStream::goes_on_after(std::size_t after) const {
  const std::scoped_lock lock(mutex_);
  return after < next_number_ && (!is_finished_ || after + 1 < next_number_);
}

std::size_t SseStream::kept_bytes() const {
  const std::scoped_lock lock(mutex_);
  return kept_bytes_;
}

std::shared_ptr<SseStream> SseStreams::open() {
  const std::scoped_lock lock(mutex_);
  drop_finished();
  streams_.push_back(std::make_shared<SseStream>(cat(++opened_), protocol_));
  if (is_closed_) streams_.back()->finish();
  return streams_.back();
}

/// The newest of those that are over stay for who has not read them yet. Under the mutex.
void SseStreams::drop_finished() {
  std::size_t count = 0, bytes = 0;
  for (auto each = streams_.end(); each != streams_.begin();) {
    --each;
    if (!(*each)->is_finished()) continue;
    ++count;
    bytes += (*each)->kept_bytes();
    if (count > kMaxFinishedStreams || (bytes > kMaxFinishedBytes && count > 1))
      each = streams_.erase(each);
  }
}

void SseStreams::sweep() {
  const std::scoped_lock lock(mutex_);
  std::set<std::string> over;
  std::erase_if(streams_, [&](const std::shared_ptr<SseStream>& stream) {
    if (!stream->is_finished()) return false;
    if (over_.contains(stream->id())) return true;
    over.insert(stream->id());
    return false;
  });
  over_ = std::move(over);
}

/// Under the mutex.
std::shared_ptr<SseStream> SseStreams::standing() {
  if (standing_) return standing_;
  standing_ = std::make_shared<SseStream>("0", protocol_);
  if (is_closed_) standing_->finish();
  streams_.push_back(standing_);
  return standing_;
}

void SseStreams::listen(const Responder& responder) {
  std::unique_lock lock(mutex_);
  const auto stream = standing();
  lock.unlock();
  stream->connect(responder);
}

std::optional<SseStreams::Position> SseStreams::find(const std::string& event_id) const {
  const auto dash = event_id.find('-');
  if (dash == std::string::npos) return std::nullopt;
  const std::string stream_id = event_id.substr(0, dash);
  Position position;
  const char* end = event_id.data() + event_id.size();
  const auto parsed = std::from_chars(event_id.data() + dash + 1, end, position.after);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;

  const std::scoped_lock lock(mutex_);
  for (const auto& stream : streams_)
    if (stream->id() == stream_id && stream->goes_on_after(position.after))
      position.stream = stream;
  if (!position.stream) return std::nullopt;
  return position;
}

void SseStreams::send(const Json& notification) {
  std::unique_lock lock(mutex_);
  if (is_closed_) return;
  const auto stream = standing();
  lock.unlock();
  stream->send(notification);
}

bool SseStreams::is_open() const {
  const std::scoped_lock lock(mutex_);
  return standing_ && standing_->is_connected();
}

void SseStreams::close() {
  const std::scoped_lock lock(mutex_);
  is_closed_ = true;
  for (const auto& stream : streams_) stream->finish();
}

}  // namespace indx
