// What makes a handler resumable: steps, maps, sleeps, children, progress.
#include "actors/engine_context.hpp"
#include "actors/suspension.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "ops/job_wait.hpp"

#include <algorithm>
#include <condition_variable>

namespace indx {
namespace {

/// Events that a handler may tell in one run; more would push others out of the log.
constexpr int kMostEmitted = 100;

Error cancelled() { return make_error(Reason::Cancelled, "The call was cancelled."); }

/// Rate and remaining time, from the whole run so far.
void estimate(JobProgress& progress, std::chrono::nanoseconds elapsed) {
  const double seconds = std::chrono::duration<double>(elapsed).count();
  if (seconds <= 0 || progress.done <= 0) return;
  progress.rate_per_second = static_cast<double>(progress.done) / seconds;
  if (progress.total && *progress.total >= progress.done)
    progress.eta_seconds = static_cast<std::int64_t>(
        static_cast<double>(*progress.total - progress.done) / progress.rate_per_second + 0.5);
}

bool is_suspension(const Result<Json>& result) {
  return !result.has_value() && result.error().reason == Reason::Suspended;
}

/// Of the items that gave their runner back, the one that goes on first.
std::optional<Error> first_suspension(const std::vector<Result<Json>>& results) {
  std::optional<Error> first;
  for (const auto& result : results) {
    if (!is_suspension(result)) continue;
    const auto wake = wake_time(result.error());
    const auto best = first ? wake_time(*first) : std::nullopt;
    if (!first || (wake && (!best || *wake < *best))) first = result.error();
  }
  return first;
}

Status wait_inline(milliseconds time, const CancelToken& cancel) {
  wait_unless_cancelled(time, cancel);
  if (cancel.is_cancelled()) return cancelled();
  return {};
}

}  // namespace

/// A write of this try was refused, for the job is no longer its own: nothing more makes sense.
void EngineContext::note_lost_lease(const Error& error) {
  if (error.reason != Reason::StaleLease) return;
  run_->cancel.cancel(CancelReason::LeaseLost);
  if (run_->has_lost_lease.exchange(true)) return;
  log_warn("a try whose job is no longer its own wrote something, which was refused",
           {{"operation", run_->operation}, {"lease", run_->lease->generation}});
}

Result<Json> EngineContext::change_leased(std::function<Result<Json>(State&)> apply) {
  auto done = core_.change(std::move(apply));
  if (!done.has_value()) note_lost_lease(done.error());
  return done;
}

// ---- steps

Result<std::string> EngineContext::take_key(std::string_view key) {
  auto full = cat(prefix_, key);
  const std::scoped_lock lock(run_->mutex);
  if (!run_->used_keys.insert(full).second)
    return make_error(Reason::StepKeyReused,
                      cat("Step key ", full, " was used twice in one run; this is a defect of ",
                          run_->operation, "."));
  return full;
}

Result<std::optional<Json>> EngineContext::stored_step(const std::string& key,
                                                       const std::string& inputs_hash) {
  if (run_->lease->generation <= 1)
    return std::optional<Json>();  // the first try of a job has no stored steps
  return core_.find_step(run_->lease->job, key, inputs_hash);
}

Result<Json> EngineContext::step(std::string_view key, const Json& inputs,
                                 const std::function<Result<Json>()>& fn) {
  if (!is_job()) return fn();
  const auto full = INDX_TRY(take_key(key));
  const auto inputs_hash = canonical_hash(inputs);
  if (auto stored = INDX_TRY(stored_step(full, inputs_hash))) return std::move(*stored);
  OpenStep open{full, inputs_hash};
  OpenStep* const outer = std::exchange(open_step_, &open);
  auto result = fn();
  open_step_ = outer;
  Json output = INDX_TRY(std::move(result));
  if (open.is_stored) return output;
  INDX_TRY(change_leased([lease = *run_->lease, step = StepRecord{full, inputs_hash, output},
                          usage = unsettled_](State& state) -> Result<Json> {
    for (const auto& record : usage) INDX_TRY(state.usage.finish(record));
    INDX_TRY(state.queue.put_step(lease, step));
    return Json();
  }));
  unsettled_.clear();  // where the step was refused, they are committed without it
  core_.parts.metrics.job_steps.add();
  return output;
}

Result<Json> EngineContext::change_in_step(std::function<Result<Json>(State&)> apply) {
  if (open_step_ == nullptr) return core_.change(std::move(apply));
  auto done = change_leased([apply = std::move(apply), lease = *run_->lease, key = open_step_->key,
                             inputs_hash = open_step_->inputs_hash](State& state) -> Result<Json> {
    Json output = INDX_TRY(apply(state));
    INDX_TRY(state.queue.put_step(lease, {key, inputs_hash, output}));
    return output;
  });
  if (!done.has_value()) return done;
  open_step_->is_stored = true;
  core_.parts.metrics.job_steps.add();
  return done;
}

Result<WriteOutcome> EngineContext::write_step(std::string_view key, const NoteChange& change) {
  INDX_TRY(visible_.check(change.path));
  if (change.to) INDX_TRY(visible_.check(*change.to));
  if (!is_job()) return send(write_request(change));
  auto request = write_request(change);
  request.step_key = INDX_TRY(take_key(key));
  Json inputs{{"path", change.path.str()}, {"if_match", change.if_match}};
  if (change.to) inputs["to"] = change.to->str();
  request.step_inputs_hash = canonical_hash(inputs);
  if (const auto stored = INDX_TRY(stored_step(request.step_key, request.step_inputs_hash)))
    return write_outcome_from_json(*stored);
  request.lease = run_->lease;
  auto outcome = send(std::move(request));
  if (!outcome.has_value())
    note_lost_lease(outcome.error());
  else
    core_.parts.metrics.job_steps.add();
  return outcome;
}

// ---- maps

Result<Json> EngineContext::run_item(std::string_view phase, const MapItem& item, const MapFn& fn,
                                     bool keeps_result) {
  if (run_->cancel.is_cancelled()) return cancelled();
  EngineContext lane(run_, cat(prefix_, phase, "/", item.id, "/"));
  lane.give_input(&input());
  lane.give_stream(stream());
  if (!keeps_result && is_job())
    INDX_TRY(lane.take_key("item"));  // ids of items are unique all the same
  auto result = keeps_result ? lane.step("item", item.inputs, [&] { return fn(lane, item); })
                             : fn(lane, item);
  if (result.has_value()) lane.hand_answers_over();
  return result;
}

/// No exception may leave a lane, nor the caller while lanes still use what it holds.
Result<Json> EngineContext::guarded_item(std::string_view phase, const MapItem& item,
                                         const MapFn& fn, bool keeps_result) {
  try {
    return run_item(phase, item, fn, keeps_result);
  } catch (const std::exception& error) {
    log_error("an item threw", {{"operation", run_->operation}, {"error", error.what()}});
    return internal_error(cat(run_->operation, " failed unexpectedly; see the log."));
  }
}

/// What the lanes of one map share.
struct EngineContext::Lanes {
  std::mutex mutex;
  std::condition_variable done;
  std::size_t next = 0, running = 0;
  bool has_failed = false;  ///< FailFast: no more items are given out
  bool is_over = false;     ///< the caller is gone or about to go, with all that items need
  std::vector<bool> is_tried;
};

Result<std::vector<Result<Json>>> EngineContext::map(std::string_view phase,
                                                     const std::vector<MapItem>& items,
                                                     const MapFn& fn, const MapOptions& options) {
  std::vector<Result<Json>> results(items.size(), cancelled());
  const bool fails_fast = options.on_failure == MapOptions::OnFailure::FailFast;
  const auto shared = std::make_shared<Lanes>();  // shared: a lane may begin after the end
  shared->is_tried.resize(items.size());
  const auto work = [this, shared, phase, fails_fast, keeps_results = options.keeps_results, &items,
                     &fn, &results] {
    std::unique_lock lock(shared->mutex);
    if (shared->is_over) return;
    ++shared->running;
    {
      const LogContext context(run_->principal.request_id,
                               run_->lease ? run_->lease->job.value : "");
      while (shared->next < items.size() && !shared->has_failed && !run_->is_held) {
        const auto i = shared->next++;
        lock.unlock();
        auto result = guarded_item(phase, items[i], fn, keeps_results);
        lock.lock();
        if (fails_fast && !result.has_value() && !is_suspension(result)) shared->has_failed = true;
        shared->is_tried[i] = true;
        results[i] = std::move(result);
      }
    }
    --shared->running;
    shared->done.notify_all();
  };
  // The caller may be on a lane itself, and all others may be taken by such callers: it works too,
  // and waits only for lanes that have begun; in a lane it works alone (G6).
  const auto lanes =
      prefix_.empty()
          ? std::min(items.size(), options.lanes > 0
                                       ? options.lanes
                                       : static_cast<std::size_t>(config().jobs.lanes_per_job))
          : std::size_t{1};
  for (std::size_t i = 1; i < lanes; ++i)
    if (!core_.parts.lanes.submit(work)) break;
  work();
  {
    std::unique_lock lock(shared->mutex);
    shared->is_over = true;
    shared->done.wait(lock, [&] { return shared->running == 0; });
  }
  if (run_->cancel.is_cancelled()) {
    Error error = cancelled();
    const auto finished = std::count_if(results.begin(), results.end(),
                                        [](const auto& result) { return result.has_value(); });
    error.details = {{"done", finished}, {"total", items.size()}, {"phase", phase}};
    return error;
  }
  for (std::size_t i = 0; shared->has_failed && i < items.size(); ++i)
    if (shared->is_tried[i] && !results[i].has_value() && !is_suspension(results[i]))
      return results[i].error();
  if (auto suspended = held()) return *suspended;  // some items may not have been tried
  if (auto suspended = first_suspension(results)) return *suspended;
  return results;
}

// ---- sleep and children

Status EngineContext::sleep(std::string_view key, milliseconds time) {
  if (!is_job()) return wait_inline(time, run_->cancel);
  const auto full = INDX_TRY(take_key(key));
  const auto inputs_hash = canonical_hash({{"ms", time.count()}});
  const auto stored = INDX_TRY(stored_step(full, inputs_hash));
  const auto wake_at =
      stored ? from_millis(stored->get<std::int64_t>()) : core_.parts.clock.now() + time;
  if (!stored)
    INDX_TRY(change_leased(
        [lease = *run_->lease,
         step = StepRecord{full, inputs_hash, to_millis(wake_at)}](State& state) -> Result<Json> {
          INDX_TRY(state.queue.put_step(lease, step));
          return Json();
        }));
  if (core_.parts.clock.now() >= wake_at) return {};
  return suspended_until(wake_at);
}

Result<JobRequest> EngineContext::child_request(const ChildJob& child) {
  const Operation* operation = core_.parts.registry.find(child.kind);
  if (operation == nullptr)
    return internal_error(
        cat("There is no operation ", child.kind, ", which ", run_->operation, " needs."));
  const bool may_call = std::all_of(operation->scopes.begin(), operation->scopes.end(),
                                    [&](Scope scope) { return run_->principal.has(scope); });
  if (!may_call)
    return make_error(Reason::Forbidden, cat("This token may not call ", child.kind, ", which ",
                                             run_->operation, " needs."));
  auto input = INDX_TRY(validate(operation->input, child.input));
  auto request =
      job_request(*operation, std::move(input), to_owner(run_->principal), config().jobs);
  request.unique_key.clear();  // each part is its own
  request.keep = run_->keep;
  request.priority = run_->priority;
  request.parent = run_->lease->job.value;
  return request;
}

/// Ids of the jobs, which the first try makes in the commit of the step.
Result<std::vector<std::string>> EngineContext::child_jobs(const std::string& full_key,
                                                           const std::vector<ChildJob>& children) {
  Json inputs = Json::array();
  std::set<std::string> parts;
  for (const auto& child : children) {
    if (!parts.insert(child.id).second)
      return make_error(Reason::StepKeyReused,
                        cat("The part ", child.id, " was named twice; this is a defect of ",
                            run_->operation, "."));
    inputs.push_back({{"id", child.id}, {"kind", child.kind}, {"input", child.input}});
  }
  const auto inputs_hash = canonical_hash(inputs);
  if (const auto stored = INDX_TRY(stored_step(full_key, inputs_hash)))
    return stored->get<std::vector<std::string>>();
  std::vector<JobRequest> requests;
  for (const auto& child : children) requests.push_back(INDX_TRY(child_request(child)));
  const Json made = INDX_TRY(change_leased([lease = *run_->lease, requests = std::move(requests),
                                            full_key, inputs_hash](State& state) -> Result<Json> {
    Json ids = Json::array();
    for (const auto& request : requests)
      ids.push_back(INDX_TRY(state.enqueue(request)).job.id.value);
    INDX_TRY(state.queue.put_step(lease, {full_key, inputs_hash, ids}));
    return ids;
  }));
  return made.get<std::vector<std::string>>();
}

Result<std::vector<Result<Json>>> EngineContext::run_children(std::string_view key,
                                                              const std::vector<ChildJob>& children,
                                                              MapOptions::OnFailure on_failure) {
  if (!is_job())
    return invalid(cat(run_->operation,
                       " makes jobs of its parts, so it has to be one itself: ask ",
                       "for a job (`Prefer: respond-async`, `--async`)."));
  const auto full_key = INDX_TRY(take_key(key));
  const auto ids = INDX_TRY(child_jobs(full_key, children));
  std::vector<Result<Json>> results;
  std::vector<JobId> live;
  std::optional<Error> failure;
  for (const auto& id : ids) {
    const auto job = core_.job({id});
    if (job.has_value() && !job->is_final()) {
      live.push_back({id});
      continue;
    }
    results.push_back(job.has_value() ? result_of(*job) : Result<Json>(job.error()));
    const bool is_first = !results.back().has_value() &&
                          (!failure || (failure->reason == Reason::Cancelled &&
                                        results.back().error().reason != Reason::Cancelled));
    if (is_first) failure = results.back().error();  // others were cancelled because of it
  }
  if (on_failure == MapOptions::OnFailure::FailFast && failure) {
    if (!live.empty())
      INDX_TRY(change_leased([live](State& state) -> Result<Json> {
        for (const auto& id : live) INDX_TRY(state.request_cancel(id));
        return Json();
      }));
    return *failure;
  }
  if (!live.empty()) return suspended_until(std::nullopt);
  return results;
}

// ---- telling

void EngineContext::progress(const JobProgress& progress) { tell_progress(progress, false); }

/// nullopt: what was told last, as it is by now.
void EngineContext::tell_progress(const std::optional<JobProgress>& progress, bool at_once) {
  if (!is_job()) return;
  JobProgress told;
  {
    const std::scoped_lock lock(run_->mutex);
    told = progress.value_or(run_->progress);
    const auto now = core_.parts.clock.monotonic();
    if (run_->progress.phase != told.phase) run_->started = now;
    told.model_calls = run_->model_calls;
    told.cost_usd = run_->cost_usd;
    told.waits_for = run_->waits_for;
    estimate(told, now - run_->started);
    const bool is_last = told.total && told.done >= *told.total;
    const bool is_first_last =
        is_last && !(run_->has_told_last && run_->progress.phase == told.phase);
    run_->progress = told;
    run_->has_untold_progress = true;  // the end of the try stores it at the latest
    if (now - run_->last_told < kTellProgressEvery && !is_first_last && !at_once) return;
    run_->has_told_last = is_last;
    run_->last_told = now;
    run_->has_untold_progress = false;
  }
  const auto kept = change_leased([lease = *run_->lease, told, subject = run_->principal.subject](
                                      State& state) -> Result<Json> {
    INDX_TRY(state.set_progress(lease, told, subject));
    return Json();
  });
  if (!kept.has_value()) log_debug("progress was not stored", {{"error", kept.error().message}});
}

void EngineContext::emit(const std::string& kind, const Json& data) {
  // This try is given back: the next one tells how it ended. Items in hand go on to their end.
  if (const auto why = held(); why && why->reason == Reason::Suspended && prefix_.empty()) return;
  Event event{.kind = kind,
              .actor = std::string(name(run_->principal.surface)),
              .subject = run_->principal.subject,
              .data = data};
  // A failure was told by a try that failed; the success of a later one is news.
  const std::string told_as = !data.contains("ok") ? "" : data["ok"] == true ? "ok" : "failed";
  bool has_told_failure = false;
  std::string key;
  if (is_job()) {
    event.job_id = run_->lease->job.value;
    auto taken = take_key("emit/" + kind);
    if (!taken.has_value()) return log_error("event told twice in a run", {{"kind", kind}});
    key = std::move(taken).value();
    if (const auto count = ++run_->emitted; count > kMostEmitted) {
      if (count == kMostEmitted + 1)
        log_warn("a run tells too many events; the others are left out", {{"kind", kind}});
      return;
    }
    const auto stored = stored_step(key, told_as);
    if (stored.has_value() && *stored) return;  // told before the restart
    const auto failure = stored_step(key, "failed");
    has_told_failure = failure.has_value() && failure->has_value();
  }
  const bool counts = event.kind == "ai.invocation" && !has_told_failure;
  const auto tell = [event, key, told_as, counts,
                     lease = run_->lease](State& state) -> Result<Json> {
    if (lease) INDX_TRY(state.queue.put_step(*lease, {key, told_as, Json()}));
    if (counts) INDX_TRY(state.usage.count_invocation(state.clock.now()));
    INDX_TRY(state.tell(event));
    return Json();
  };
  const auto told = is_job() ? change_leased(tell) : core_.change(tell);
  if (!told.has_value())
    log_warn("event was not told", {{"kind", kind}, {"error", told.error().message}});
}

}  // namespace indx
