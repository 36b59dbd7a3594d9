#include "http/job_stream.hpp"

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "http/event_stream.hpp"
#include "http/rest.hpp"
#include "http/task_thread.hpp"

#include <atomic>
#include <map>
#include <mutex>

namespace indx {
namespace {

/// A record as it was read once, for all streams of the same job and caller.
struct JobReading {
  std::uint64_t began = 0;
  std::string frame;  ///< without an id
  Json done;          ///< of the last frame; null: the job lives
};

/// The newest reading of one job. Moments are counted: a reading that began after an event was
/// heard of shows what it changed, whoever asked for it.
class JobReadings {
 public:
  std::uint64_t now() const { return moment_; }
  std::uint64_t begin() { return ++moment_; }
  std::shared_ptr<const JobReading> after(std::uint64_t moment) const {
    const std::scoped_lock lock(mutex_);
    return newest_ && newest_->began > moment ? newest_ : nullptr;
  }
  void put(std::shared_ptr<const JobReading> reading) {
    const std::scoped_lock lock(mutex_);
    if (!newest_ || newest_->began < reading->began) newest_ = std::move(reading);
  }

 private:
  std::atomic<std::uint64_t> moment_ = 0;
  mutable std::mutex mutex_;
  std::shared_ptr<const JobReading> newest_;  // shared: with streams that send it
};

/// What the streams of all jobs share. Lives as long as the routes.
class JobStreams {
 public:
  std::shared_ptr<JobReadings> readings(const Principal& principal, const std::string& job) {
    const auto owner = to_owner(principal);
    const auto key = json_text(Json{job, owner.subject, owner.scopes, owner.path_globs});
    const std::scoped_lock lock(mutex_);
    std::erase_if(by_key_, [](const auto& entry) { return entry.second.expired(); });
    auto& known = by_key_[key];
    auto found = known.lock();
    if (!found) known = found = std::make_shared<JobReadings>();
    return found;
  }
  void post(std::function<void()> task) { thread_.post(std::move(task)); }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<JobReadings>> by_key_;
  TaskThread thread_;  // last: its task may use the others
};

/// One client. Each event makes it look at the record once more; events that come meanwhile share
/// the next look. Lives as long as its socket.
class JobStream : public std::enable_shared_from_this<JobStream> {
 public:
  JobStream(Dispatcher& dispatcher, const std::shared_ptr<JobStreams>& all, Principal principal,
            std::string job, RequestId id, Responder responder)
      : dispatcher_(dispatcher),
        all_(all),
        readings_(all->readings(principal, job)),
        principal_(std::move(principal)),
        job_(std::move(job)),
        id_(std::move(id)),
        epoch_(dispatcher.event_epoch()),
        responder_(std::move(responder)),
        count_(dispatcher.metrics()) {}

  void start(const std::optional<std::string>& after) {
    EventFilter filter;
    filter.jobs = {job_};
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
    read({}, readings_->now());
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
    heard_ = readings_->now();
    if (std::exchange(is_reading_, true)) {
      is_dirty_ = true;
      return true;
    }
    return read_later();
  }

  /// Under mutex_.
  bool read_later() {
    const auto all = all_.lock();
    if (!all) return false;  // the routes are gone
    all->post([self = shared_from_this(), event_id = std::exchange(latest_id_, {}),
               heard = heard_] { self->read(event_id, heard); });
    return true;
  }

  void read(const std::string& event_id, std::uint64_t heard) {
    if (const auto known = readings_->after(heard)) return show(*known, event_id);
    Call call;
    call.operation = dispatcher_.registry().find("job_get");
    call.input = {{"id", job_}};
    call.principal = principal_;
    if (call.operation == nullptr) return end(not_found("This server has no jobs."));
    const auto began = readings_->begin();
    dispatcher_.call(std::move(call),
                     [self = shared_from_this(), event_id, began](const Answer& answer) {
                       if (!answer.result) return self->end(answer.result.error());
                       const auto reading = std::make_shared<const JobReading>(
                           reading_of(*answer.result, began));  // shared: with other streams
                       self->readings_->put(reading);
                       self->show(*reading, event_id);
                     });
  }

  static JobReading reading_of(const Json& answer, std::uint64_t began) {
    const Json& record = answer.contains("job") ? answer.at("job") : answer;
    JobReading reading{began, sse_frame({}, "job", record), nullptr};
    if (record.contains("finished_at") && !record["finished_at"].is_null())
      reading.done = {{"status", record.value("status", "")}, {"state", record.value("state", "")}};
    return reading;
  }

  void show(const JobReading& reading, const std::string& event_id) {
    const std::scoped_lock lock(mutex_);
    if (is_over_) return;
    auto frame = event_id.empty() ? reading.frame : cat("id: ", event_id, "\n", reading.frame);
    if (stream_) {
      stream_->write(std::move(frame));
    } else {
      stream_ = responder_.begin_stream(event_stream_head(cat(kStreamRetry, frame)));
    }
    if (!reading.done.is_null()) {
      is_over_ = true;
      stream_->write(sse_frame({}, "done", reading.done));
      return stream_->close();
    }
    is_reading_ = std::exchange(is_dirty_, false);
    if (is_reading_) read_later();
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
  const std::weak_ptr<JobStreams> all_;  // the routes own it; a task must not be its last owner
  const std::shared_ptr<JobReadings> readings_;  // shared: with streams of the same job
  const Principal principal_;
  const std::string job_;
  const RequestId id_;
  const std::string epoch_;
  const Responder responder_;
  const OpenStream count_;

  std::mutex mutex_;
  std::shared_ptr<ResponseStream> stream_;
  std::unique_ptr<Subscription> subscription_;
  std::string latest_id_;    // of the durable events since the last look began
  std::uint64_t heard_ = 0;  // the moment of the latest event
  bool is_reading_ = true, is_dirty_ = false, is_over_ = false;
};

}  // namespace

void add_job_stream_route(Router& router, Dispatcher& dispatcher) {
  const auto all = std::make_shared<JobStreams>();  // shared: with the streams, weakly
  router.add("GET", "/v1/jobs/{id}/events",
             [&dispatcher, all](const HttpRequest& request, const auto& captures,
                                const Responder& responder) {
               auto principal = admit_request(request, dispatcher);
               if (!principal) return responder.send(error_response(principal.error(), request.id));
               const auto stream =
                   std::make_shared<JobStream>(dispatcher, all, std::move(*principal),
                                               captures.at("id"), request.id, responder);
               stream->start(last_event_id(request));
               // Revoked after it was looked at, but before the stream could hear of it.
               const auto again = admit_request(request, dispatcher);
               if (!again) stream->end(again.error());
             });
}

}  // namespace indx
