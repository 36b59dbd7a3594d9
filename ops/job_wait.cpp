#include "ops/job_wait.hpp"

#include "base/text.hpp"

#include <utility>

namespace indx {

/// A subscription and a registration can be closed neither from their own callbacks nor under a
/// lock that those take. So an ended wait is put aside, and the next call closes it.
struct JobWaits::Wait {
  JobId job;
  Answer answer_base{Json::object(), 200, {}, false, false};
  OnAnswer answer;
  OnEvent progress;
  std::atomic<bool> ended = false;
  bool is_set_up = false;  ///< nothing will be put into the two below any more; under the mutex
  std::unique_ptr<Subscription> subscription;
  CancelToken::Registration on_cancel;
};

Result<Json> result_of(const Job& job) {
  switch (job.state) {
    case JobState::Succeeded:
      if (!job.result && job.error) return *job.error;  // its file is lost
      return job.result.value_or(Json::object());
    case JobState::Cancelled: {
      Json details{{"job_id", job.id.value}};
      if (job.result) details["partial"] = job.result->value("partial", *job.result);
      return make_error(
          Reason::Cancelled,
          cat("The job ", job.id.value, " was cancelled; what it wrote before stays."), details);
    }
    default:
      break;
  }
  Error error = job.error.value_or(internal_error("The job failed without saying why."));
  if (error.details.is_object()) error.details["job_id"] = job.id.value;
  return error;
}

void JobWaits::wait(const Job& job, const CancelToken& cancel, OnAnswer answer, OnEvent progress,
                    Answer base) {
  sweep();
  auto wait = std::make_shared<Wait>();  // shared: event sink, cancel callback and this call end at
                                         // different times
  wait->job = job.id;
  wait->answer_base = std::move(base);
  wait->answer = std::move(answer);
  wait->progress = std::move(progress);
  {
    const std::scoped_lock lock(mutex_);
    waits_.push_back(wait);
  }
  ++waiting_;
  backend_.add_waiter(job.id);

  EventFilter filter;
  filter.jobs = {job.id.value};
  auto subscription = backend_.subscribe(filter, std::nullopt, [this, wait](const Event& event) {
    on_event(wait, event);
    return !wait->ended.load();
  });
  if (!subscription) {
    set_up(wait, nullptr, {});
    return finish(wait, subscription.error());
  }
  // The callback runs under the token's lock, where an answer must not be given: hop to a lane.
  auto registration = cancel.on_cancel([this, wait] {
    const auto leave = [this, wait] {
      finish(wait, make_error(Reason::Cancelled, "The caller went away.",
                              Json{{"job_id", wait->job.value}}));
    };
    if (!backend_.run_on_lane(leave)) leave();
  });
  set_up(wait, std::move(*subscription), std::move(registration));
  answer_if_ended(wait);  // it may have ended before the subscription began
}

void JobWaits::set_up(const std::shared_ptr<Wait>& wait, std::unique_ptr<Subscription> subscription,
                      CancelToken::Registration registration) {
  const std::scoped_lock lock(mutex_);
  wait->subscription = std::move(subscription);
  wait->on_cancel = std::move(registration);
  wait->is_set_up = true;
}

void JobWaits::on_event(const std::shared_ptr<Wait>& wait, const Event& event) {
  if (wait->ended) return;
  if (event.kind == "job.finished" || event.kind == kEventReset) return answer_if_ended(wait);
  // Not what the job did besides, such as the notes that it wrote: that is for streams of events.
  if (wait->progress && event.kind.starts_with("job.")) wait->progress(event);
}

void JobWaits::answer_if_ended(const std::shared_ptr<Wait>& wait) {
  if (wait->ended) return;
  const auto job = backend_.job(wait->job);
  if (!job) return finish(wait, job.error());
  if (job->is_final()) finish(wait, result_of(*job));
}

void JobWaits::finish(const std::shared_ptr<Wait>& wait, Result<Json> result) {
  if (wait->ended.exchange(true)) return;
  --waiting_;
  backend_.remove_waiter(wait->job);
  Answer answer = std::move(wait->answer_base);
  answer.result = std::move(result);
  answer.job_id = wait->job.value;
  wait->answer(std::move(answer));
}

void JobWaits::sweep() {
  std::vector<std::shared_ptr<Wait>> closed;
  std::vector<std::unique_ptr<Subscription>> subscriptions;
  std::vector<CancelToken::Registration> registrations;
  const std::scoped_lock lock(mutex_);  // released before the three above are destroyed
  std::erase_if(waits_, [&](const std::shared_ptr<Wait>& wait) {
    if (!wait->ended || !wait->is_set_up) return false;
    subscriptions.push_back(std::move(wait->subscription));
    registrations.push_back(std::move(wait->on_cancel));
    closed.push_back(wait);
    return true;
  });
}

JobWaits::~JobWaits() {
  std::vector<std::shared_ptr<Wait>> left;
  {
    const std::scoped_lock lock(mutex_);
    left = waits_;
  }
  for (const auto& wait : left)
    finish(wait, make_error(Reason::Draining,
                            "The server is stopping; the job goes on at the next start."));
  sweep();
}

}  // namespace indx
