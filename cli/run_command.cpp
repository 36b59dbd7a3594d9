#include "cli/run_command.hpp"

#include "base/text.hpp"
#include "cli/files.hpp"
#include "cli/job_watch.hpp"
#include "cli/output.hpp"
#include "cli/place.hpp"
#include "cli/progress_bar.hpp"
#include "cli/signals.hpp"
#include "cli/vault_paths.hpp"

#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>

namespace indx {
namespace {

constexpr int kRowsAtOnce = 500;
constexpr std::uint64_t kMaxStdinBytes = std::uint64_t{64} << 30U;  // the vault has its own limit

/// What can be said before anything is opened, so that it is the same everywhere.
Status check_call(const Invocation& invocation) {
  const Operation& operation = *invocation.command->operation;
  INDX_TRY(validate(operation.input, invocation.input));
  const bool is_trial = invocation.input.value("dry_run", false);
  if (operation.effect == Effect::Destructive && !invocation.global.yes && !is_trial)
    return make_error(
        Reason::ConfirmationRequired,
        cat("`indx ", join(invocation.words, " "), "` may lose something. Add --yes to confirm",
            operation.input->find("dry_run") != nullptr ? ", or --dry-run to see what would happen."
                                                        : "."),
        Json{{"flag", "--yes"}});
  return {};
}

/// Without --yes a note that the call would replace must not exist. It is the writer that finds
/// out, so that nothing comes between, and a repeated call with its key gets its first answer.
bool only_creates(Invocation& invocation) {
  const auto& name = invocation.command->operation->cli_replaces;
  if (name.empty() || invocation.global.yes) return false;
  const auto object = invocation.input.find(name);
  if (object == invocation.input.end() || !object->is_object()) return false;
  if (object->value("if_not_exists", false)) return false;
  (*object)["if_not_exists"] = true;
  return true;
}

/// The same answer; that the note exists is no conflict with what the person asked for.
Answer as_question(Answer answer) {
  if (answer.result || answer.result.error().reason != Reason::Conflict) return answer;
  const Error& error = answer.result.error();
  if (!error.details.is_object() || !error.details.contains("path")) return answer;
  const auto path = error.details["path"];
  answer.result = make_error(
      Reason::ConfirmationRequired,
      cat(path.dump(),
          " exists and would be replaced. Add --yes to replace it; nothing was written."),
      Json{{"flag", "--yes"}, {"path", path}});
  return answer;
}

Json stream_line(const Event& event) {
  Json line{{"type", event.kind}};
  if (!event.job_id.empty()) line["job_id"] = event.job_id;
  for (const auto& [key, value] : event.data.items()) line[key] = value;
  return line;
}

/// Events as lines while the call runs, or a bar on a terminal.
class Progress {
 public:
  Progress(const Invocation& invocation, CancelToken cancel)
      : streams_(invocation.global.stream),
        is_for_reader_(invocation.command->operation->streams_answer()),
        cancel_(std::move(cancel)),
        bar_(STDERR_FILENO) {}

  OnEvent listener() {
    if (!streams_ && !bar_.is_shown()) return {};
    return [this](const Event& event) {
      const std::scoped_lock lock(mutex_);  // a job and its answer tell on threads of their own
      if (streams_) {
        const bool is_read = write_all(STDOUT_FILENO, data_text(stream_line(event), false));
        if (!is_read && is_for_reader_ && !leaver_.joinable()) leave();
      } else if (event.data.contains("progress")) {
        bar_.draw(event.data["progress"]);
      }
    };
  }
  void end() { bar_.clear(); }

 private:
  /// Nobody reads on, so the model must not write on. Told on a thread of its own: who is told may
  /// wait for the locks that a listener runs under.
  void leave() {
    leaver_ = std::jthread([cancel = cancel_] { cancel.cancel(CancelReason::Requested); });
  }

  const bool streams_, is_for_reader_;
  const CancelToken cancel_;
  std::mutex mutex_;
  ProgressBar bar_;
  std::jthread leaver_;
};

int print_stream_end(const Operation& operation, const Answer& answer) {
  const auto type = [&](const char* end) { return operation.stream_prefix() + end; };
  if (answer.result)
    return write_all(STDOUT_FILENO,
                     data_text({{"type", type("complete")}, {"data", *answer.result}}, false))
               ? 0
               : 1;
  write_all(
      STDOUT_FILENO,
      data_text({{"type", type("error")}, {"error", answer.result.error().to_json()}}, false));
  return print_error(answer.result.error());
}

int print_lines(const Operation& operation, const Json& data) {
  if (!print_lines_text(operation, data)) return 1;
  const auto cursor = data.find("next_cursor");
  if (cursor != data.end() && cursor->is_string())
    write_all(STDERR_FILENO, cat("next_cursor: ", cursor->get<std::string>(), "\n"));
  return 0;
}

/// Page after page, from the cursor on if it is one, until the list ends or nobody reads on.
int print_whole_list(Dispatcher& dispatcher, Call call, Json cursor) {
  call.input["limit"] = call.operation->page_size(kRowsAtOnce);
  do {
    call.is_next_page = cursor.is_string();
    if (call.is_next_page) call.input["cursor"] = cursor;
    const auto answer = dispatcher.call_and_wait(call);
    if (!answer.result) return print_error(answer.result.error());
    if (!print_lines_text(*call.operation, *answer.result)) return 1;
    cursor = answer.result->value("next_cursor", Json());
  } while (cursor.is_string());
  return 0;
}

int print_answer(const Invocation& invocation, const Answer& answer) {
  if (answer.result && answer.file)
    return print_file(invocation.output, *answer.result, *answer.file);
  if (invocation.global.stream) return print_stream_end(*invocation.command->operation, answer);
  const auto& operation = *invocation.command->operation;
  const bool is_done = answer.result && !answer.is_accepted;
  const bool is_text =
      is_done && !invocation.global.json && operation.text_of(*answer.result) != nullptr;
  const bool is_for_people = is_done && !invocation.global.json && is_terminal(STDOUT_FILENO);
  const int code = is_text || (is_done && invocation.global.ndjson)
                       ? print_lines(operation, *answer.result)
                   : is_for_people ? print_for_people(operation, *answer.result)
                                   : print_result(answer.result);
  const auto& verdict = operation.verdict;
  const bool is_no = answer.result && !verdict.empty() && answer.result->is_object() &&
                     answer.result->value(verdict, Json()) == false;
  return code == 0 && is_no ? 1 : code;
}

/// Where a text goes on that was asked for as a whole; null: it is complete, or no text.
Json rest_of_text(const Operation& operation, const Answer& answer) {
  const bool is_text = answer.result && operation.text_of(*answer.result) != nullptr;
  return is_text ? answer.result->value("next_cursor", Json()) : Json();
}

/// G11: jobs that another process left are not run here, but not forgotten either.
void mention_waiting_job(Place& place) {
  const auto id = newest_live_job(place);
  if (id)
    write_all(STDERR_FILENO, cat("A job waits and no server runs: start `indx serve`, or run it "
                                 "here with `indx job run ",
                                 *id, "`.\n"));
}

}  // namespace

int run_command(const Invocation& typed, const Environment& env, const Registry& registry) {
  auto input = with_vault_paths(typed.command->operation->input, typed.input,
                                named_vault(typed.global, env));
  if (!input) return print_error(input.error());
  Invocation invocation = typed;
  invocation.input = std::move(*input);
  if (const auto checked = check_call(invocation); !checked) return print_error(checked.error());
  const bool asks_first = only_creates(invocation);
  Call call;
  std::optional<SignalWatch> watch;
  const auto start_watch = [&] {
    watch.emplace([cancel = call.cancel] { cancel.cancel(CancelReason::Requested); });
  };
  const std::string& called = invocation.command->operation->name;
  const Needs needs = invocation.command->operation->needs;
  if (needs == Needs::Engine) start_watch();
  auto place = open_place(invocation.global, env, registry,
                          {.resume_jobs = {},
                           .needs = needs,
                           .indexes = called == "vault_reindex" || called == "vault_index_paths"});
  if (!place) return print_error(place.error());
  if (place->files)
    let_signals_end_us();  // a read leaves nothing half done, and a thread costs a tenth of it
  else if (!watch)
    start_watch();

  call.operation = invocation.command->operation;
  if (invocation.command->takes_file()) {
    auto upload = read_upload_file(invocation.file, kMaxStdinBytes);
    if (!upload) return print_error(upload.error());
    call.upload = std::move(*upload);
  }
  call.input = invocation.input;
  call.principal = place->principal;
  call.idempotency_key = invocation.global.idempotency_key.value_or("");
  call.is_async = invocation.global.is_async;
  call.keep = !invocation.global.stream;
  call.is_streamed = invocation.global.stream;
  const bool is_whole_list = call.operation->has_pages() && !call.is_async &&
                             !call.input.contains("limit") && !call.input.contains("cursor");
  if (is_whole_list && invocation.global.ndjson) {
    const int code = print_whole_list(*place->dispatcher, std::move(call), Json());
    place->close();
    return code;
  }
  std::optional<Call> next_page;
  if (is_whole_list && !call.operation->text.empty() && !invocation.global.json) next_page = call;
  Progress progress(invocation, call.cancel);
  Answer answer = place->dispatcher->call_and_wait(std::move(call), progress.listener());
  if (asks_first) answer = as_question(std::move(answer));
  progress.end();
  const Json rest = next_page ? rest_of_text(*next_page->operation, answer) : Json();
  const int code = !rest.is_string() ? print_answer(invocation, answer)
                   : print_lines_text(*next_page->operation, *answer.result)
                       ? print_whole_list(*place->dispatcher, std::move(*next_page), rest)
                       : 1;
  if (place->engine && answer.result) mention_waiting_job(*place);
  place->close();
  return code;
}

}  // namespace indx
