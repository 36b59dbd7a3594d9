#include "cli/follow_job.hpp"

#include "base/text.hpp"
#include "cli/bell.hpp"
#include "ops/job_record.hpp"

#include <chrono>
#include <optional>
#include <thread>

namespace indx {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds kLeastPause{100}, kLongestPause{1000};  // between two readings of the record
constexpr std::chrono::seconds kPatience{30};

Result<Json> read_record(Dispatcher& dispatcher, const Principal& principal, const std::string& id,
                         const CancelToken& cancel) {
  Call call;
  call.operation = dispatcher.registry().find("job_get");
  if (call.operation == nullptr) return internal_error("The registry holds no job_get.");
  call.input = {{"id", id}};
  call.principal = principal;
  call.cancel = cancel;
  Json answer = INDX_TRY(dispatcher.call_and_wait(std::move(call)).result);
  return answer.contains("job") ? answer["job"] : answer;
}

}  // namespace

Result<Json> follow_job(Dispatcher& dispatcher, const Principal& principal, const std::string& id,
                        const CancelToken& cancel,
                        const std::function<void(const Json& record)>& on_record) {
  const auto bell =
      std::make_shared<Bell>();  // shared: a sink may still run when this function has ended
  EventFilter filter;
  filter.jobs = {id};
  std::unique_ptr<Subscription> subscription;
  const auto registration = cancel.on_cancel([bell] { bell->ring(); });
  auto last_answer = SteadyClock::now();
  while (!cancel.is_cancelled()) {
    if (!subscription) {
      auto opened = dispatcher.subscribe(filter, std::nullopt,
                                         [bell](const Event&) { return bell->ring(), true; });
      if (opened) subscription = std::move(*opened);
    }
    const auto record = read_record(dispatcher, principal, id, cancel);
    const auto now = SteadyClock::now();
    if (record) {
      last_answer = now;
      on_record(*record);
      if (is_final_record(*record)) return record;
    } else if (cancel.is_cancelled() || !record.error().is_retryable() ||
               now - last_answer > kPatience) {
      return record;
    }
    bell->wait(kLongestPause);
    std::this_thread::sleep_for(kLeastPause / (record ? 2 : 1));
  }
  return make_error(Reason::Cancelled, cat("Stopped watching; the job ", id, " goes on."),
                    Json{{"job_id", id}});
}

}  // namespace indx
