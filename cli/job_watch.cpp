#include "cli/job_watch.hpp"

#include "base/text.hpp"
#include "cli/follow_job.hpp"
#include "cli/output.hpp"
#include "cli/place.hpp"
#include "cli/progress_bar.hpp"
#include "cli/signals.hpp"
#include "cli/watch_jobs.hpp"
#include "jobs/job_state.hpp"
#include "ops/job_record.hpp"

#include <unistd.h>

namespace indx {
namespace {

/// One line a change of the record; the bar instead on a terminal.
class RecordView {
 public:
  RecordView() : bar_(STDOUT_FILENO) {}

  void show(const Json& record) {
    if (bar_.is_shown()) {
      if (record.contains("progress")) bar_.draw(record["progress"]);
      return;
    }
    std::string line = data_text({{"type", "job"}, {"job", record}}, false);
    if (line != last_) write_all(STDOUT_FILENO, line);
    last_ = std::move(line);
  }

  int end(const Result<Json>& record) {
    bar_.clear();
    if (!record) return print_error(record.error());
    const auto outcome = outcome_of(*record);
    Json done{
        {"type", "done"}, {"id", record->value("id", "")}, {"state", record->value("state", "")}};
    if (!bar_.is_shown()) {
      write_all(STDOUT_FILENO, data_text(done, false));
    } else if (outcome) {
      const Json progress = record->value("progress", Json::object());
      write_all(STDOUT_FILENO,
                cat("job ", record->value("id", ""), " succeeded: ", progress.value("done", 0), " ",
                    progress.value("unit", "items"), "\n"));
    }
    return outcome ? 0 : print_error(outcome.error());
  }

 private:
  ProgressBar bar_;
  std::string last_;
};

Result<Json> record_of(Place& place, const std::string& id) {
  const Json answer = INDX_TRY(call_operation(place, "job_get", Json{{"id", id}}));
  return answer.value("job", answer);
}

int watch_in(Place& place, const std::string& id) {
  const CancelToken cancel;
  const SignalWatch signals([cancel] { cancel.cancel(CancelReason::Requested); });
  RecordView view;
  const auto record = follow_job(*place.dispatcher, place.principal, id, cancel,
                                 [&view](const Json& now) { view.show(now); });
  return view.end(record);
}

}  // namespace

Result<Json> call_operation(Place& place, const char* operation, Json input,
                            const CancelToken& cancel) {
  Call call;
  call.operation = place.dispatcher->registry().find(operation);
  if (call.operation == nullptr)
    return internal_error(cat("The registry holds no ", operation, "."));
  call.input = std::move(input);
  call.principal = place.principal;
  call.cancel = cancel;
  return place.dispatcher->call_and_wait(std::move(call)).result;
}

Result<std::string> newest_live_job(Place& place) {
  auto states = live_job_states();
  std::erase(states, JobState::Paused);  // it waits for a person
  const Json answer =
      INDX_TRY(call_operation(place, "job_list", Json{{"state", names_of(states)}, {"limit", 1}}));
  if (!answer.contains("jobs") || answer["jobs"].empty()) return not_found("No job waits.");
  return answer["jobs"][0].value("id", "");
}

int run_job_watch(const Invocation& invocation, const Environment& env, const Registry& registry) {
  auto place = open_place(invocation.global, env, registry, {});
  if (!place) return print_error(place.error());
  const auto id = invocation.input.value("id", std::string());
  if (place->engine) {  // nobody works here: only an ended job can be shown
    if (id.empty())
      return print_error(
          make_error(Reason::Unavailable,
                     "No server runs here, and so no job does: start `indx serve`. `indx job list` "
                     "shows what waits for it."));
    const auto record = record_of(*place, id);
    if (!record) return print_error(record.error());
    if (!is_final_record(*record))
      return print_error(make_error(
          Reason::Unavailable,
          cat("No server runs this job: start `indx serve`, or run it here with `indx job run ", id,
              "`."),
          Json{{"job_id", id}, {"state", record->value("state", "")}}));
  }
  return id.empty() ? watch_jobs(*place) : watch_in(*place, id);
}

int run_job_run(const Invocation& invocation, const Environment& env, const Registry& registry) {
  const auto id = invocation.input["id"].get<std::string>();
  if (invocation.global.remote)
    return print_error(invalid("`indx job run` runs a job in this process; leave out --remote."));
  GlobalFlags global = invocation.global;
  if (!global.vault) global.vault = env("INDX_VAULT").value_or(".");
  auto place = open_place(global, env, registry, {{JobId{id}}});
  if (!place) return print_error(place.error());
  const auto record = record_of(*place, id);
  if (record && record->value("state", "") == "paused")
    return print_error(make_error(
        Reason::Conflict, cat("The job is paused: `indx job resume ", id, "` lets it go on."),
        Json{{"job_id", id}}));
  const int code = watch_in(*place, id);
  place->close();
  return code;
}

}  // namespace indx
