#include "mcp/sse_stream.hpp"

#include "base/text.hpp"
#include "mcp/json_rpc.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace indx {
namespace {

constexpr std::size_t kMaxKeptEvents =
    256;  // of one stream; older ones are progress, which ages fast
constexpr std::size_t kMaxFinishedStreams = 4;  // of one session
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

void SseStream::begin(const Responder& responder) {
  const std::scoped_lock lock(mutex_);
  // An event with empty data makes the stream resumable from the start; older clients choke on it.
  const std::string first = protocol_.has_priming_event
                                ? cat("id: ", id_, "-0\n", kRetryField, "data: \n\n")
                                : cat(kRetryField, '\n');
  connection_ = responder.begin_stream(sse_head(first));
}

void SseStream::resume(const Responder& responder, std::size_t after) {
  const std::scoped_lock lock(mutex_);
  std::string missed = ": resumed\n\n";
  for (const Event& event : events_)
    if (event.number > after) missed += event.frame;
  if (connection_) connection_->close();
  connection_ = responder.begin_stream(sse_head(std::move(missed)));
  if (is_finished_ && connection_) connection_->close();
}

void SseStream::send(const Json& message) {
  const std::scoped_lock lock(mutex_);
  if (is_finished_) return;
  const std::size_t number = ++last_number_;
  events_.push_back({number, cat("id: ", id_, '-', number, '\n', sse_frame(message))});
  if (events_.size() > kMaxKeptEvents) events_.pop_front();
  if (connection_ && !connection_->write(events_.back().frame)) connection_.reset();
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

bool SseStream::is_exhausted(std::size_t after) const {
  const std::scoped_lock lock(mutex_);
  return is_finished_ && after >= last_number_;
}

std::shared_ptr<SseStream> SseStreams::open(const Protocol& protocol) {
  const std::scoped_lock lock(mutex_);
  auto finished = static_cast<std::size_t>(std::count_if(
      streams_.begin(), streams_.end(), [](const auto& each) { return each->is_finished(); }));
  std::erase_if(streams_, [&](const auto& each) {
    const bool drops = finished > kMaxFinishedStreams && each->is_finished();
    if (drops) --finished;
    return drops;
  });
  streams_.push_back(std::make_shared<SseStream>(cat(++opened_), protocol));
  return streams_.back();
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
    if (stream->id() == stream_id && !stream->is_exhausted(position.after))
      position.stream = stream;
  if (!position.stream) return std::nullopt;
  return position;
}

}  // namespace indx
