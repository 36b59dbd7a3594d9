#include "http/event_stream.hpp"

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "http/job_stream.hpp"
#include "http/rest.hpp"

#include <algorithm>
#include <mutex>

namespace indx {
namespace {

constexpr std::size_t kMostListed = 1000;  // jobs or kinds of one stream

/// `a,b` and repeated keys alike.
std::vector<std::string> listed(const HttpRequest& request, const std::string& name) {
  std::vector<std::string> all;
  for (const auto& [key, value] : request.query) {
    if (key != name) continue;
    for (const auto& part : split(value, ','))
      if (!trim(part).empty()) all.emplace_back(trim(part));
  }
  return all;
}

/// One client of /v1/events. Lives as long as its socket.
class FeedStream : public std::enable_shared_from_this<FeedStream> {
 public:
  FeedStream(std::string epoch, Metrics* metrics) : epoch_(std::move(epoch)), count_(metrics) {}

  /// Its token was revoked.
  void end() {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
    if (stream_) stream_->close();
  }

  void start(Dispatcher& dispatcher, const EventFilter& filter,
             const std::optional<std::string>& after, const RequestId& id,
             const Responder& responder) {
    const std::weak_ptr<FeedStream> weak = weak_from_this();
    auto subscription = dispatcher.subscribe(filter, after, [weak](const Event& event) {
      const auto self = weak.lock();
      return self && self->take(event);
    });
    if (!subscription) return responder.send(error_response(subscription.error(), id));
    {
      const std::scoped_lock lock(mutex_);
      subscription_ = std::move(*subscription);
      // Closing over itself keeps it alive until the stream thread lets the socket go.
      responder.on_disconnect([self = shared_from_this()] {});
      stream_ =
          responder.begin_stream(event_stream_head(cat(kStreamRetry, std::exchange(early_, {}))));
      if (is_over_ && stream_) stream_->close();
    }
  }

 private:
  bool take(const Event& event) {
    if (event.kind == kTokenRevoked) {
      end();
      return false;
    }
    const auto& frame = event.frame.get(
        [&] { return sse_frame(wire_id(event, epoch_), event.kind, event.to_json(epoch_)); });
    const std::scoped_lock lock(mutex_);
    if (is_over_) return false;
    if (stream_) return stream_->write_shared(frame);
    early_ += *frame;
    return true;
  }

  const std::string epoch_;
  const OpenStream count_;
  std::mutex mutex_;
  std::string early_;  // frames from before the stream began
  bool is_over_ = false;
  std::shared_ptr<ResponseStream> stream_;
  std::unique_ptr<Subscription> subscription_;
};

void open_feed(const HttpRequest& request, Dispatcher& dispatcher, const Responder& responder) {
  auto principal = admit_request(request, dispatcher);
  if (!principal) return responder.send(error_response(principal.error(), request.id));
  if (!principal->has(Scope::VaultRead))
    return responder.send(
        error_response(make_error(Reason::Forbidden, "The event feed needs the scope vault:read.",
                                  {{"required_scopes", {"vault:read"}}}),
                       request.id));
  EventFilter filter;
  filter.kinds = listed(request, "kinds");
  filter.jobs = listed(request, "jobs");
  filter.scope = principal->path_scope();
  filter.subject = principal->subject;
  filter.only_own_jobs = !principal->has(Scope::VaultAdmin);
  filter.from_first = true;
  if (filter.jobs.size() > kMostListed || filter.kinds.size() > kMostListed)
    return responder.send(error_response(invalid(cat("A stream takes at most ", kMostListed,
                                                     " jobs and as many kinds; without "
                                                     "`jobs` it tells of all.")),
                                         request.id));
  const auto feed = std::make_shared<FeedStream>(dispatcher.event_epoch(), dispatcher.metrics());
  feed->start(dispatcher, filter, last_event_id(request), request.id, responder);
  // Revoked after it was looked at, but before the stream could hear of it.
  if (!admit_request(request, dispatcher)) feed->end();
}

}  // namespace

std::string sse_frame(const std::string& id, const std::string& event, const Json& data) {
  std::string frame;
  if (!id.empty()) frame += "id: " + id + "\n";
  return frame + "event: " + event + "\ndata: " + json_text(data) + "\n\n";
}

HttpResponse event_stream_head(std::string first_frame) {
  HttpResponse head;
  head.headers = {{"Content-Type", "text/event-stream"},
                  {"Cache-Control", "no-cache, no-transform"},
                  {"X-Accel-Buffering", "no"}};
  head.body = std::move(first_frame);
  return head;
}

std::optional<std::string> last_event_id(const HttpRequest& request) {
  const auto header = request.header("last-event-id");
  if (!header.empty()) return header;
  return request.query_value("last_event_id");
}

std::string wire_id(const Event& event, const std::string& epoch) {
  if (event.kind == kEventReset) return event.data.value("newest", "");
  return event.id > 0 ? cat(epoch, "-", event.id) : "";
}

bool accepts(const HttpRequest& request, std::string_view media_type) {
  const auto parts = split(request.header("accept"), ',');
  return std::any_of(parts.begin(), parts.end(), [media_type](const std::string& part) {
    return trim(part.substr(0, part.find(';'))) == media_type;
  });
}

void add_event_routes(Router& router, Dispatcher& dispatcher) {
  router.add("GET", "/v1/events",
             [&dispatcher](const HttpRequest& request, const auto&, const Responder& responder) {
               open_feed(request, dispatcher, responder);
             });
  add_job_stream_route(router, dispatcher);
}

}  // namespace indx
