#include "mcp/job_follower.hpp"

#include "mcp/operation_call.hpp"
#include "ops/job_record.hpp"

#include <utility>

namespace indx {
namespace {

constexpr std::size_t kMaxFollows = 2'000;  // each holds a subscription

}  // namespace

/// One listener. Events that come while the record is read make it be read once more.
class JobFollower::Follow : public std::enable_shared_from_this<Follow> {
 public:
  Follow(Dispatcher& dispatcher, Principal principal, std::string job_id, Listener listener)
      : dispatcher_(dispatcher),
        principal_(std::move(principal)),
        job_id_(std::move(job_id)),
        listener_(std::move(listener)) {}

  void start() {
    EventFilter filter;
    filter.jobs = {job_id_};
    filter.subject = principal_.subject;
    auto subscription =
        dispatcher_.subscribe(filter, std::nullopt, [weak = weak_from_this()](const Event& event) {
          const auto self = weak.lock();
          return self && self->take(event);
        });
    if (!subscription) return fail(subscription.error());
    {
      const std::scoped_lock lock(mutex_);
      subscription_ = std::move(*subscription);
    }
    read();  // it may have changed before the subscription began
  }

  void fail(const Error& error) {
    {
      const std::scoped_lock lock(mutex_);
      if (std::exchange(is_over_, true)) return;
    }
    listener_.on_record(error);
  }

  bool is_over() const {
    const std::scoped_lock lock(mutex_);
    return is_over_ || !listener_.is_wanted();
  }

  /// A subscription can be closed neither from its own sink nor under a lock that the sink takes.
  std::unique_ptr<Subscription> close() {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
    return std::move(subscription_);
  }

 private:
  bool take(const Event& event) {
    if (is_over()) return false;
    if (event.kind == kTokenRevoked) {
      fail(make_error(Reason::Unauthorized, "The token was revoked."));
      return false;
    }
    if (listener_.on_event) listener_.on_event(event);
    if (event.kind.starts_with("job.") ? event.kind != "job.progress" : event.kind == kEventReset)
      read();
    return !is_over();
  }

  void read() {
    {
      const std::scoped_lock lock(mutex_);
      if (is_over_) return;
      is_dirty_ = true;
      if (std::exchange(is_reading_, true)) return;
    }
    read_again();
  }

  void read_again() {
    {
      const std::scoped_lock lock(mutex_);
      is_reading_ = std::exchange(is_dirty_, false) && !is_over_;
      if (!is_reading_) return;
    }
    Call call;
    call.operation = dispatcher_.registry().find("job_get");
    if (!call.operation) return fail(not_found("This server has no jobs."));
    call.input = {{"id", job_id_}};
    call.principal = principal_;
    call.is_next_page = true;  // part of a request that the limit has counted
    dispatcher_.call(std::move(call), [self = shared_from_this()](const Answer& answer) {
      self->show(answer.result);
    });
  }

  void show(const Result<Json>& output) {
    if (!output) return fail(output.error());
    const Json* job = member(*output, "job");
    const Json& record = job ? *job : *output;
    if (is_over()) return;
    const bool goes_on = listener_.on_record(record) && !is_final_record(record);
    if (!goes_on) {
      const std::scoped_lock lock(mutex_);
      is_over_ = true;
    }
    read_again();
  }

  Dispatcher& dispatcher_;
  const Principal principal_;
  const std::string job_id_;
  const Listener listener_;
  mutable std::mutex mutex_;
  std::unique_ptr<Subscription> subscription_;
  bool is_reading_ = false, is_dirty_ = false, is_over_ = false;
};

void JobFollower::stop() {
  std::vector<std::shared_ptr<Follow>> follows;
  {
    const std::scoped_lock lock(mutex_);
    is_stopped_ = true;
    follows.swap(follows_);
  }
  for (const auto& follow : follows) follow->close();
}

void JobFollower::follow(const Principal& principal, const std::string& job_id, Listener listener) {
  sweep();
  auto follow = std::make_shared<Follow>(dispatcher_, principal, job_id, std::move(listener));
  bool has_room = false;
  {
    const std::scoped_lock lock(mutex_);
    if (is_stopped_) return;
    has_room = follows_.size() < kMaxFollows;
    if (has_room) follows_.push_back(follow);
  }
  if (has_room) return follow->start();
  follow->fail(make_error(Reason::Unavailable, "Too many clients wait for jobs; poll instead.",
                          {{"retry_after_s", 1}}));
}

void JobFollower::sweep() {
  std::vector<std::unique_ptr<Subscription>> subscriptions;  // closed after the lock
  const std::scoped_lock lock(mutex_);
  std::erase_if(follows_, [&](const std::shared_ptr<Follow>& follow) {
    if (!follow->is_over()) return false;
    subscriptions.push_back(follow->close());
    return true;
  });
}

}  // namespace indx
