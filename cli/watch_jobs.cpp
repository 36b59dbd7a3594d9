#include "cli/watch_jobs.hpp"

#include "base/text.hpp"
#include "cli/bell.hpp"
#include "cli/job_table.hpp"
#include "cli/job_watch.hpp"
#include "cli/output.hpp"
#include "cli/progress_bar.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "jobs/job_state.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <unistd.h>

namespace indx {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLeastBetweenLooks{200}, kLookEvery{1000};
constexpr int kMostRunning = 100, kMostWaiting = 100;
constexpr std::size_t kMostEndedAtOnce = 50;
const std::string kNoAnswer = "The server does not answer; waiting for it.";

std::vector<JobState> waiting_states() {
  auto states = live_job_states();
  std::erase(states, JobState::Running);
  return states;
}

/// The records of the jobs that run, then of those that wait, newest first.
Result<std::vector<Json>> live_jobs(Place& place, const CancelToken& cancel) {
  const Json running{{"state", {"running"}}, {"limit", kMostRunning}};
  const Json waiting{{"state", names_of(waiting_states())}, {"limit", kMostWaiting}};
  std::vector<Json> records;
  for (const Json& question : {running, waiting}) {
    const Json answer = INDX_TRY(call_operation(place, "job_list", question, cancel));
    for (const auto& record : answer.value("jobs", Json::array())) records.push_back(record);
  }
  return records;
}

/// Counts of what is live, and what is held back, in one line; empty for one who may not see it.
std::string queue_text(const Json& status) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& row : status.value("counts", Json::array()))
    counts[row.value("state", "")] += row.value("count", std::int64_t{0});
  std::vector<std::string> parts;
  auto states = waiting_states();
  states.insert(states.begin(), JobState::Running);
  for (const auto& state : names_of(states))
    if (counts[state] > 0) parts.push_back(cat(counts[state], " ", state));
  for (const auto& pause : status.value("pauses", Json::array())) {
    const std::string kind = pause.value("kind", "");
    parts.push_back(kind == "*" ? "all held back" : kind + " held back");
  }
  if (status.value("stuck_handlers", 0) > 0)
    parts.push_back(cat(status.value("stuck_handlers", 0), " stuck"));
  return join(parts, ", ");
}

/// Draws over what it drew before; what is told stays above.
class LiveScreen {
 public:
  void draw(const std::string& told, const std::string& table) {
    if (told.empty() && table == drawn_) return;
    std::string out = back();
    for (const std::string* text : {&told, &table}) out += clean_lines(*text);
    write_all(STDOUT_FILENO, out + "\x1b[J");
    drawn_ = table;
  }

 private:
  /// To the begin of what was drawn.
  std::string back() const {
    const auto lines = std::count(drawn_.begin(), drawn_.end(), '\n');
    return lines == 0 ? "\r" : cat("\r\x1b[", lines, "A");
  }
  static std::string clean_lines(const std::string& text) {
    return replace_all(text, "\n", "\x1b[K\n");
  }

  std::string drawn_;
};

class JobsWatch {
 public:
  JobsWatch(Place& place, const CancelToken& cancel)
      : place_(place), cancel_(cancel), is_live_(is_terminal(STDOUT_FILENO)) {}

  int run() {
    const auto registration = cancel_.on_cancel([this] { bell_.ring(); });
    while (!cancel_.is_cancelled() && !is_reader_gone_) {
      listen();
      const Status looked = is_live_ ? look_live() : look_for_lines();
      if (!looked && !cancel_.is_cancelled() && !looked.error().is_retryable()) {
        subscription_.reset();
        return print_error(looked.error());
      }
      bell_.wait(kLookEvery);
      if (!cancel_.is_cancelled()) std::this_thread::sleep_for(kLeastBetweenLooks);
    }
    subscription_.reset();
    return is_reader_gone_ ? 1 : 0;
  }

 private:
  /// Before the first look, so that nothing falls between the two. It comes back by itself after a
  /// restart and goes on behind the last event that it had.
  void listen() {
    if (subscription_) return;
    EventFilter filter;
    filter.kinds = {"job.*", "queue.*"};
    auto opened = place_.dispatcher->subscribe(filter, std::nullopt,
                                               [this](const Event& event) { return take(event); });
    if (opened) subscription_ = std::move(*opened);
  }

  /// On a thread of the subscription.
  bool take(const Event& event) {
    if (event.kind == kEventReset) wants_records_ = true;
    if (is_live_) {
      const std::scoped_lock lock(mutex_);
      if (event.kind == "job.finished") ended_.push_back(event.data);
    } else if (event.kind != kEventReset && !print_event(event)) {
      is_reader_gone_ = true;
    }
    bell_.ring();
    return !is_reader_gone_;
  }

  bool print_event(const Event& event) {
    Json line{{"type", event.kind}};
    if (event.id > 0) line["id"] = cat(place_.dispatcher->event_epoch(), "-", event.id);
    line["at"] = format_time(event.at);
    for (const auto& [key, value] : event.data.items()) line[key] = value;
    return print_line(line);
  }
  bool print_line(const Json& line) {
    const std::scoped_lock lock(output_mutex_);
    return write_all(STDOUT_FILENO, data_text(line, false));
  }

  Status look_for_lines() {
    if (!wants_records_.exchange(false)) return check_rights();
    const auto records = live_jobs(place_, cancel_);
    if (!records) {
      wants_records_ = true;
      return say_silent(records.error());
    }
    is_silent_ = false;
    for (const auto& record : *records)
      if (!print_line({{"type", "job"}, {"job", record}})) is_reader_gone_ = true;
    return {};
  }

  /// A stream does not say why it does not come back.
  Status check_rights() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_check_) return {};
    next_check_ = now + 5 * kLookEvery;
    const auto answer = call_operation(place_, "job_list", Json{{"limit", 1}}, cancel_);
    if (!answer) return say_silent(answer.error());
    // A stream that had no event yet cannot ask for those of the gap.
    if (std::exchange(is_silent_, false)) wants_records_ = true;
    return {};
  }
  Status say_silent(const Error& error) {
    if (error.is_retryable() && !cancel_.is_cancelled() && !std::exchange(is_silent_, true))
      write_all(STDERR_FILENO, kNoAnswer + "\n");
    return error;
  }

  Status look_live() {
    const std::size_t columns = terminal_width(STDOUT_FILENO) - 1;
    const std::size_t lines = terminal_height(STDOUT_FILENO);
    const auto records = live_jobs(place_, cancel_);
    if (cancel_.is_cancelled()) return {};
    if (!records) {
      if (records.error().is_retryable()) screen_.draw("", shortened(kNoAnswer, columns) + "\n");
      return records.error();
    }
    const std::string queue = queue_line(columns);
    const std::size_t rows = lines - std::min<std::size_t>(lines, queue.empty() ? 1 : 2);
    screen_.draw(ended_lines(columns),
                 queue + job_table_text(*records, {columns, rows}, has_color_));
    return {};
  }

  std::string queue_line(std::size_t columns) {
    if (!may_see_queue_) return "";
    const auto status = call_operation(place_, "queue_status", Json::object(), cancel_);
    if (!status) {
      may_see_queue_ = status.error().is_retryable();
      return "";
    }
    const auto text = queue_text(*status);
    return text.empty() ? "" : shortened(text, columns) + "\n";
  }

  std::string ended_lines(std::size_t columns) {
    std::vector<Json> ended;
    {
      const std::scoped_lock lock(mutex_);
      ended = std::exchange(ended_, {});
    }
    std::string text;
    const std::size_t first = ended.size() - std::min(ended.size(), kMostEndedAtOnce);
    if (first > 0) text = shortened(cat(first, " jobs ended."), columns) + "\n";
    for (std::size_t i = first; i < ended.size(); ++i)
      text += ended_job_text(ended[i], columns, has_color_);
    return text;
  }

  Place& place_;
  const CancelToken cancel_;
  const bool is_live_;
  const bool has_color_ = wants_color();
  Bell bell_;
  LiveScreen screen_;
  std::atomic<bool> wants_records_ = true, is_reader_gone_ = false;
  bool is_silent_ = false, may_see_queue_ = true;
  std::chrono::steady_clock::time_point next_check_;
  std::mutex output_mutex_;
  std::mutex mutex_;                            ///< guards what follows
  std::vector<Json> ended_;                     ///< data of events, oldest first
  std::unique_ptr<Subscription> subscription_;  // last: its sink uses the others
};

}  // namespace

int watch_jobs(Place& place) {
  const CancelToken cancel;
  const SignalWatch signals([cancel] { cancel.cancel(CancelReason::Requested); });
  return JobsWatch(place, cancel).run();
}

}  // namespace indx
