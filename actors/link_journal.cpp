#include "actors/link_journal.hpp"

#include "base/log.hpp"
#include "jobs/job_state.hpp"
#include "ops/principal.hpp"

namespace indx {
namespace {

constexpr std::string_view kLinksLeft = "links";

bool has_key(const WriteIntent& intent, const std::string& key) {
  return is_journal(intent) && intent.outcome["journal"].value("key", "") == key;
}

}  // namespace

Status keep_journal(State& state, const WriteIntent& intent) {
  const auto journal = intent.outcome.value("journal", Json());
  if (journal.is_null() || !intent.job_id.empty()) return {};
  WriteIntent left = intent;
  left.id.value += "-links";
  left.step_key.clear();
  left.idempotency_key.clear();
  left.outcome = {{"phase", kLinksLeft}, {"journal", journal}};
  return state.intents.add(left);
}

bool is_journal(const WriteIntent& intent) {
  return intent.outcome.is_object() && intent.outcome.value("phase", "") == kLinksLeft;
}

Status resume_journal(State& state, const WriteIntent& intent) {
  const auto known = intent.outcome.value("job", "");
  if (!known.empty()) {
    const auto job = INDX_TRY(state.queue.get({known}));
    if (job && !is_final(job->state)) return {};
  }
  const auto& journal = intent.outcome["journal"];
  JobRequest request;
  request.kind = journal.value("kind", "");
  request.input = journal.value("input", Json::object());
  request.owner = {.subject = intent.subject,
                   .surface = intent.actor,
                   .scopes = {std::string(name(Scope::VaultWrite))},
                   .path_globs = journal.value("path_globs", std::vector<std::string>()),
                   .request_id = intent.request_id};
  request.keep = true;
  const auto job = state.enqueue(request);
  if (!job.has_value()) {
    log_error("links that a crash left as they were are not rewritten; make the change again",
              {{"path", intent.path}, {"error", job.error().message}});
    return {};
  }
  WriteIntent again = intent;
  again.outcome["job"] = job->job.id.value;
  INDX_TRY(state.intents.remove(intent.id));
  return state.intents.add(again);
}

Result<Json> find_journal(Database& db, const std::string& key) {
  const auto intents = INDX_TRY(IntentStore(db).open_intents());
  for (const auto& intent : intents)
    if (has_key(intent, key)) return intent.outcome["journal"].value("plan", Json());
  return Json();
}

Status end_journal(State& state, const std::string& key) {
  const auto intents = INDX_TRY(state.intents.open_intents());
  for (const auto& intent : intents)
    if (has_key(intent, key)) INDX_TRY(state.intents.remove(intent.id));
  return {};
}

}  // namespace indx
