#include "http/event_stream.hpp"

#include "base/text.hpp"
#include "http/rest.hpp"
#include "http/task_thread.hpp"

#include <algorithm>
#include <mutex>

namespace indx {
namespace {

const std::string kRetry = "retry: 2000\n\n";

std::optional<std::string> last_event_id(const HttpRequest& request) {
  const auto header = request.header("last-event-id");
  if (!header.empty()) return header;
  return request.query_value("last_event_id");
}

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

std::string wire_id(const Event& event, const std::string& epoch) {
  return event.id > 0 ? cat(epoch, "-", event.id) : "";
}

/// Tells of other people's jobs only to those who may see them.
bool may_see(const Principal& principal, const Event& event) {
  return !event.kind.starts_with("job.") || event.subject == principal.subject ||
         principal.has(Scope::VaultAdmin);
}

/// One client of /v1/events. Lives as long as its socket.
class FeedStream : public std::enable_shared_from_this<FeedStream> {
 public:
  FeedStream(Principal principal, std::vector<std::string> jobs, std::string epoch)
      : principal_(std::move(principal)), jobs_(std::move(jobs)), epoch_(std::move(epoch)) {}

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
      stream_ = responder.begin_stream(event_stream_head(kRetry + std::exchange(early_, {})));
      if (is_over_ && stream_) stream_->close();
    }
  }

 private:
  bool take(const Event& event) {
    if (event.kind == kTokenRevoked) {
      end();
      return false;
    }
    const bool is_wanted =
        event.kind == "reset" ||
        (may_see(principal_, event) &&
         (jobs_.empty() || std::find(jobs_.begin(), jobs_.end(), event.job_id) != jobs_.end()));
    const std::scoped_lock lock(mutex_);
    if (is_over_) return false;
    if (!is_wanted) return true;
    auto frame = sse_frame(wire_id(event, epoch_), event.kind, event.to_json(epoch_));
    if (stream_) return stream_->write(std::move(frame));
    early_ += frame;
    return true;
  }

  const Principal principal_;
  const std::vector<std::string> jobs_;
  const std::string epoch_;
  std::mutex mutex_;
  std::string early_;  // frames from before the stream began
  bool is_over_ = false;
  std::shared_ptr<ResponseStream> stream_;
  std::unique_ptr<Subscription> subscription_;
};

/// One client of /v1/jobs/{id}/events. Each event makes it read the record once more; events that
/// come meanwhile share the next reading. Lives as long as its socket.
class JobStream : public std::enable_shared_from_this<JobStream> {
 public:
  JobStream(Dispatcher& dispatcher, std::shared_ptr<TaskThread> reader, Principal principal,
            std::string job, RequestId id, Responder responder)
      : dispatcher_(dispatcher),
        reader_(std::move(reader)),
        principal_(std::move(principal)),
        job_(std::move(job)),
        id_(std::move(id)),
        epoch_(dispatcher.event_epoch()),
        responder_(std::move(responder)) {}

  void start(const std::optional<std::string>& after) {
    EventFilter filter;
    filter.job_id = job_;
    filter.subject = principal_.subject;
    const std::weak_ptr<JobStream> weak = weak_from_this();
    auto subscription = dispatcher_.subscribe(filter, after, [weak](const Event& event) {
      const auto self = weak.lock();
      return self && self->take(event);
    });
    if (!subscription) return end(subscription.error());
    {
      const std::scoped_lock lock(mutex_);
      subscription_ = std::move(*subscription);
    }
    responder_.on_disconnect([self = shared_from_this()] { self->leave(); });
    read({});
  }

  void end(const Error& error) {
    const std::scoped_lock lock(mutex_);
    if (!is_over_) fail(error);
  }

 private:
  bool take(const Event& event) {
    const std::scoped_lock lock(mutex_);
    if (is_over_) return false;
    if (event.kind == kTokenRevoked) {
      fail(make_error(Reason::Unauthorized, "The token of this stream was revoked."));
      return false;
    }
    latest_id_ = event.id > 0 ? wire_id(event, epoch_) : latest_id_;
    if (std::exchange(is_reading_, true)) {
      is_dirty_ = true;
      return true;
    }
    return read_later(std::exchange(latest_id_, {}));
  }

  bool read_later(std::string event_id) {
    const auto reader = reader_.lock();
    if (!reader) return false;  // the routes are gone
    reader->post(
        [self = shared_from_this(), event_id = std::move(event_id)] { self->read(event_id); });
    return true;
  }

  void read(const std::string& event_id) {
    Call call;
    call.operation = dispatcher_.registry().find("job_get");
    call.input = {{"id", job_}};
    call.principal = principal_;
    if (call.operation == nullptr) return show(not_found("This server has no jobs."), event_id);
    dispatcher_.call(std::move(call), [self = shared_from_this(), event_id](Answer answer) {
      self->show(std::move(answer.result), event_id);
    });
  }

  void show(Result<Json> answer, const std::string& event_id) {
    const std::scoped_lock lock(mutex_);
    if (is_over_) return;
    if (!answer) return fail(answer.error());
    const Json& record = answer->contains("job") ? answer->at("job") : *answer;
    auto frame = sse_frame(event_id, "job", record);
    if (stream_) {
      stream_->write(std::move(frame));
    } else {
      stream_ = responder_.begin_stream(event_stream_head(kRetry + frame));
    }
    const bool is_final = record.contains("finished_at") && !record["finished_at"].is_null();
    if (is_final) {
      is_over_ = true;
      stream_->write(sse_frame(
          {}, "done",
          {{"status", record.value("status", "")}, {"state", record.value("state", "")}}));
      return stream_->close();
    }
    is_reading_ = std::exchange(is_dirty_, false);
    if (is_reading_) read_later(std::exchange(latest_id_, {}));
  }

  /// Says why it ends. Under mutex_.
  void fail(const Error& error) {
    is_over_ = true;
    if (!stream_) return responder_.send(error_response(error, id_));
    stream_->write(sse_frame({}, "error", error.to_json()));
    stream_->close();
  }

  void leave() {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }

  Dispatcher& dispatcher_;
  const std::weak_ptr<TaskThread> reader_;  // the routes own it; a task must not be its last owner
  const Principal principal_;
  const std::string job_;
  const RequestId id_;
  const std::string epoch_;
  const Responder responder_;

  std::mutex mutex_;
  std::shared_ptr<ResponseStream> stream_;
  std::unique_ptr<Subscription> subscription_;
  std::string latest_id_;  // of the durable events since the last reading began
  bool is_reading_ = true, is_dirty_ = false, is_over_ = false;
};

void open_feed(const HttpRequest& request, Dispatcher& dispatcher, const Responder& responder) {
  auto principal = admit_request(request, dispatcher);
  if (!principal) return responder.send(error_response(principal.error(), request.id));
  if (!principal->has(Scope::VaultRead))
    return responder.send(
        error_response(make_error(Reason::Forbidden, "The event feed needs the scope vault:read.",
                                  {{"required", {"vault:read"}}}),
                       request.id));
  EventFilter filter;
  filter.kinds = listed(request, "kinds");
  filter.scope = principal->path_scope();
  filter.subject = principal->subject;
  auto jobs = listed(request, "jobs");
  if (jobs.size() == 1) filter.job_id = jobs[0];
  const auto feed = std::make_shared<FeedStream>(std::move(*principal), std::move(jobs),
                                                 dispatcher.event_epoch());
  feed->start(dispatcher, filter, last_event_id(request), request.id, responder);
  // Revoked after it was looked at, but before the stream could hear of it.
  if (!admit_request(request, dispatcher)) feed->end();
}

}  // namespace

std::string sse_frame(const std::string& id, const std::string& event, const Json& data) {
  std::string frame;
  if (!id.empty()) frame += "id: " + id + "\n";
  return frame + "event: " + event +
         "\ndata: " + data.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n\n";
}

HttpResponse event_stream_head(std::string first_frame) {
  HttpResponse head;
  head.headers = {{"Content-Type", "text/event-stream"},
                  {"Cache-Control", "no-cache, no-transform"},
                  {"X-Accel-Buffering", "no"}};
  head.body = std::move(first_frame);
  return head;
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
  const auto reader = std::make_shared<TaskThread>();  // shared: with the streams, weakly
  router.add("GET", "/v1/jobs/{id}/events",
             [&dispatcher, reader](const HttpRequest& request, const auto& captures,
                                   const Responder& responder) {
               auto principal = admit_request(request, dispatcher);
               if (!principal) return responder.send(error_response(principal.error(), request.id));
               const auto stream =
                   std::make_shared<JobStream>(dispatcher, reader, std::move(*principal),
                                               captures.at("id"), request.id, responder);
               stream->start(last_event_id(request));
               const auto again = admit_request(request, dispatcher);  // as for the feed
               if (!again) stream->end(again.error());
             });
}

}  // namespace indx
