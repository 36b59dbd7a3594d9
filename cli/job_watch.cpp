#include "cli/job_watch.hpp"

#include "base/text.hpp"
#include "cli/follow_job.hpp"
#include "cli/output.hpp"
#include "cli/place.hpp"
#include "cli/progress_bar.hpp"
#include "cli/signals.hpp"

#include <unistd.h>

namespace indx {
namespace {

Result<Json> call_operation(Place& place, const char* operation, Json input) {
  Call call;
  call.operation = place.dispatcher->registry().find(operation);
  if (call.operation == nullptr)
    return internal_error(cat("The registry holds no ", operation, "."));
  call.input = std::move(input);
  call.principal = place.principal;
  return place.dispatcher->call_and_wait(std::move(call)).result;
}

Result<std::string> newest_job(Place& place, const Json& input) {
  const Json answer = INDX_TRY(call_operation(place, "job_list", input));
  if (!answer.contains("jobs") || answer["jobs"].empty())
    return not_found("No job has run here yet; `indx ai tag … --async` starts one.");
  return answer["jobs"][0].value("id", "");
}

Result<std::string> chosen_job(const Invocation& invocation, Place& place) {
  if (invocation.input.contains("id")) return invocation.input["id"].get<std::string>();
  auto live = newest_live_job(place);
  return live ? std::move(live) : newest_job(place, Json{{"limit", 1}});
}

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

int watch_in(Place& place, const std::string& id) {
  const CancelToken cancel;
  const SignalWatch signals([cancel] { cancel.cancel(CancelReason::Requested); });
  RecordView view;
  const auto record = follow_job(*place.dispatcher, place.principal, id, cancel,
                                 [&view](const Json& now) { view.show(now); });
  return view.end(record);
}

}  // namespace

Result<std::string> newest_live_job(Place& place) {
  const Json states = Json::array(
      {"scheduled", "ready", "running", "sleeping", "waiting", "paused", "unsupported"});
  return newest_job(place, Json{{"state", states}, {"limit", 1}});
}

int run_job_watch(const Invocation& invocation, const Environment& env, const Registry& registry) {
  auto place = open_place(invocation.global, env, registry, {});
  if (!place) return print_error(place.error());
  const auto id = chosen_job(invocation, *place);
  if (!id) return print_error(id.error());
  if (place->engine) {  // nobody works here: only an ended job can be shown
    const auto answer = call_operation(*place, "job_get", Json{{"id", *id}});
    if (!answer) return print_error(answer.error());
    const Json record = answer->value("job", *answer);
    if (!is_final_record(record))
      return print_error(make_error(
          Reason::Unavailable,
          cat("No server runs this job: start `indx serve`, or run it here with `indx job resume ",
              *id, "`."),
          Json{{"job_id", *id}, {"state", record.value("state", "")}}));
  }
  return watch_in(*place, *id);
}

int run_job_resume(const Invocation& invocation, const Environment& env, const Registry& registry) {
  const auto id = invocation.input["id"].get<std::string>();
  if (invocation.global.remote)
    return print_error(
        invalid("`indx job resume` runs a job in this process; leave out --remote."));
  GlobalFlags global = invocation.global;
  if (!global.vault) global.vault = env("INDX_VAULT").value_or(".");
  auto place = open_place(global, env, registry, {{JobId{id}}});
  if (!place) return print_error(place.error());
  const int code = watch_in(*place, id);
  place->close();
  return code;
}

}  // namespace indx
