#include "actors/job_handout.hpp"

#include <algorithm>
#include <iterator>

namespace indx {
namespace {

/// How much work is claimed ahead: as much as the runners do in that time.
constexpr milliseconds kAhead{2};
constexpr std::int64_t kMostAhead = 256;
/// Then the estimate was wrong.
constexpr milliseconds kKeptAtMost{10};
/// What is owed is stored when it is that much, or that old.
constexpr std::size_t kOwedAtOnce = 64;
constexpr milliseconds kOwedAtMost{2};

/// The mean of the last eight or so.
void count_in(std::chrono::nanoseconds& mean, std::chrono::nanoseconds one) {
  mean = mean.count() == 0 ? one : (7 * mean + one) / 8;
}

template <typename T>
void put_in_front(std::vector<T>& all, std::vector<T> first) {
  first.insert(first.end(), std::make_move_iterator(all.begin()),
               std::make_move_iterator(all.end()));
  all = std::move(first);
}

}  // namespace

bool JobHandout::Owed::empty() const {
  return given_back.empty() && unbegun.empty() && begun.empty() && ends.empty();
}

void JobHandout::wait(Runner runner) {
  if (is_drained_) return runner.give(Claimed{});
  runners_.try_emplace(runner.id);
  waiting_.push_back(std::move(runner));
}

void JobHandout::drain() {
  is_drained_ = true;
  for (const auto& runner : waiting_) runner.give(Claimed{});
  waiting_.clear();
  for (auto& end : owed_.ends) end.runner.reset();
  put_in_front(owed_.unbegun, recall());
}

void JobHandout::forget(std::uint64_t runner) {
  std::erase_if(waiting_, [&](const Runner& one) { return one.id == runner; });
  const auto it = runners_.find(runner);
  if (it == runners_.end()) return;
  if (it->second) give_back(*it->second);
  runners_.erase(it);
}

bool JobHandout::give(const Claimed& claimed, const Lease& lease) {
  if (waiting_.empty()) return false;
  const auto runner = std::move(waiting_.front());
  waiting_.pop_front();
  runners_[runner.id] = lease;
  runner.give(claimed);
  return true;
}

void JobHandout::keep(Claimed claimed, Lease lease, Nanoseconds now) {
  if (kept_.empty()) kept_since_ = now;
  kept_.push_back({std::move(claimed), std::move(lease)});
}

Claimed JobHandout::begin(std::uint64_t runner, Timestamp at, Nanoseconds now) {
  Kept next = std::move(kept_.front());
  kept_.pop_front();
  kept_since_ = now;  // somebody takes them
  runners_[runner] = next.lease;
  owe(now);
  owed_.begun.push_back({next.claimed.job, at});
  return std::move(next.claimed);
}

std::optional<Claimed> JobHandout::take(std::uint64_t runner, Timestamp at, Nanoseconds now) {
  if (kept_.empty()) return std::nullopt;
  return begin(runner, at, now);
}

void JobHandout::give_kept(Timestamp at, Nanoseconds now) {
  while (!kept_.empty() && !waiting_.empty()) {
    const auto runner = std::move(waiting_.front());
    waiting_.pop_front();
    runner.give(begin(runner.id, at, now));
  }
}

bool JobHandout::is_short(const std::string& kind) const {
  const auto time = times_.find(kind);
  return time != times_.end() && time->second <= kShortTry;
}

int JobHandout::room_ahead() const {
  if (short_time_.count() == 0) return 0;
  const auto tries = static_cast<std::int64_t>(runners_.size()) * (kAhead / short_time_);
  return static_cast<int>(
      std::min(tries, kMostAhead) -
      std::min<std::int64_t>(std::min(tries, kMostAhead), static_cast<std::int64_t>(kept_.size())));
}

std::vector<Lease> JobHandout::recall() {
  std::vector<Lease> leases;
  for (auto& one : kept_) leases.push_back(std::move(one.lease));
  kept_.clear();
  return leases;
}

void JobHandout::recall_late(Nanoseconds now) {
  if (kept_since_ + kKeptAtMost <= now) put_in_front(owed_.unbegun, recall());
}

void JobHandout::end(JobEnd end, std::uint64_t runner, Nanoseconds now) {
  count_in(times_[end.kind], end.took);
  if (is_short(end.kind)) count_in(short_time_, std::max(end.took, Nanoseconds(1)));
  if (const auto it = runners_.find(runner); it != runners_.end()) it->second.reset();
  owe(now);
  owed_.is_awaited |= end.runner.has_value();
  if (is_drained_) end.runner.reset();
  owed_.ends.push_back(std::move(end));
}

void JobHandout::go_on(JobEnd& end) {
  if (end.runner && runners_.contains(end.runner->id)) wait(std::move(*end.runner));
}

void JobHandout::owe(Nanoseconds now) {
  if (owed_.begun.empty() && owed_.ends.empty()) owed_since_ = now;
}

bool JobHandout::is_due(Nanoseconds now) const {
  if (!owed_.given_back.empty() || !owed_.unbegun.empty() || owed_.is_awaited) return true;
  if (owed_.ends.empty() && owed_.begun.empty()) return false;
  return owed_.ends.size() >= kOwedAtOnce || owed_since_ + kOwedAtMost <= now;
}

JobHandout::Owed JobHandout::take_owed() { return std::exchange(owed_, {}); }

void JobHandout::owe_again(Owed owed, Nanoseconds now) {
  owe(now);
  if (is_drained_)
    for (auto& end : owed.ends) end.runner.reset();
  owed_.is_awaited |= owed.is_awaited;
  put_in_front(owed_.given_back, std::move(owed.given_back));
  put_in_front(owed_.unbegun, std::move(owed.unbegun));
  put_in_front(owed_.begun, std::move(owed.begun));
  put_in_front(owed_.ends, std::move(owed.ends));
}

}  // namespace indx
