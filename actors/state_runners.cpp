// What StateWriter is to the runners of jobs.
#include "actors/directory.hpp"
#include "actors/state_writer.hpp"

#include <caf/send.hpp>

namespace indx {
namespace {

/// How soon somebody looks after what runners owe, if no commit comes along before.
constexpr milliseconds kSettleAfter{5};

}  // namespace

void StateWriter::ask_for_job(Runner runner) {
  Lock lock(mutex_);
  if (is_draining_) return runner.give(Claimed{});
  handout_.wait(std::move(runner));
  looks_for_jobs_ = true;
  lead_if_free(lock);
}

std::optional<Claimed> StateWriter::end_and_ask(JobEnd end, Runner runner) {
  Lock lock(mutex_);
  const bool goes_on = end.is_recorded;
  const auto id = runner.id;
  if (!goes_on) end.runner = std::move(runner);
  handout_.end(std::move(end), id, clock_.monotonic());
  if (goes_on) {
    if (handout_.is_due(clock_.monotonic())) lead_if_free(lock);
    if (!is_draining_) {
      if (auto next = handout_.take(id, clock_.now(), clock_.monotonic())) {
        ask_to_settle();
        return next;
      }
      handout_.wait(std::move(runner));
    }
  }
  looks_for_jobs_ = true;
  lead_if_free(lock);
  return std::nullopt;
}

void StateWriter::forget(std::uint64_t runner) {
  const std::scoped_lock lock(mutex_);
  handout_.forget(runner);
  if (auto timers = directory_.get<StateActor>()) caf::anon_send(timers, atom::commit_atom::value);
}

void StateWriter::drain() {
  const std::scoped_lock lock(mutex_);
  is_draining_ = true;
  handout_.drain();
  if (auto timers = directory_.get<StateActor>()) caf::anon_send(timers, atom::commit_atom::value);
}

/// A job is known as running before its runner hears of it, so that no cancel falls in between.
void StateWriter::hand_out(std::vector<Job> jobs, std::size_t wanted) {
  const auto now = clock_.monotonic();
  std::size_t given = 0;
  for (Job& job : jobs) {
    const Lease lease{job.id, job.lease, parts_.instance};
    const CancelToken token;
    const auto limit = job.time_limit;
    const Claimed claimed{std::make_shared<const Job>(std::move(job)), token};
    if (given++ >= wanted) {
      parts_.running.add_waiting(lease, token);
      handout_.keep(claimed, lease, now);
      continue;
    }
    parts_.running.add(lease, token, limit, now);
    if (!handout_.give(claimed, lease)) handout_.give_back(lease);  // its runner ended meanwhile
    if (limit.count() > 0) caf::anon_send(directory_.get<StateActor>(), atom::watch_atom::value);
  }
  handout_.give_kept(clock_.now(), now);
  ask_to_settle();
}

void StateWriter::ask_to_settle() {
  if (is_settle_sent_ || !handout_.needs_look()) return;
  const auto timers = directory_.get<StateActor>();
  is_settle_sent_ = static_cast<bool>(timers);
  if (timers)
    caf::delayed_anon_send(timers, kSettleAfter, atom::commit_atom::value, atom::tick_atom::value);
}

void StateWriter::settle() {
  Lock lock(mutex_);
  is_settle_sent_ = false;
  handout_.recall_late(clock_.monotonic());
  lead_if_free(lock);
  ask_to_settle();
}

}  // namespace indx
