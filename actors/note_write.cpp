#include "actors/note_write.hpp"

#include "actors/link_journal.hpp"
#include "actors/note_move.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "store/columns.hpp"
#include "vault/vault_move.hpp"
#include "vault/write_recovery.hpp"

namespace indx {
namespace {

Status check_target(const Vault& vault, const NoteChange& change, bool exists) {
  const auto& path = change.path;
  if (path.is_ignored())
    return make_error(Reason::Forbidden,
                      cat("Writing to ", path.str(),
                          " is not allowed: hidden and temporary paths are off limits."),
                      {{"path", path.str()}});
  if (exists || !change.may_create()) return {};
  INDX_TRY(path.check_creatable());
  INDX_TRY(check_reachable(vault, path));
  if (const auto twin = vault.find_ignoring_case(path))
    return make_error(Reason::Conflict,
                      cat(path.str(), " differs only by case from ", twin->str(),
                          "; write to that path or choose another name."),
                      {{"path", path.str()}, {"existing", twin->str()}});
  if (const auto twin = folder_twin(vault, path))
    return make_error(Reason::Conflict,
                      cat("A folder of `", path.str(), "` differs only by case from `", twin->str(),
                          "`; write into that folder or choose another name."),
                      {{"path", path.str()}, {"existing", twin->str()}});
  return {};
}

/// A diff that is text, whatever the bytes are.
std::string shown_diff(const NotePath& path, const std::string& before, const std::string& after) {
  if (is_valid_utf8(before) && is_valid_utf8(after)) return unified_diff(path.str(), before, after);
  return cat("Binary file: ", before.size(), " bytes before, ", after.size(), " after\n");
}

std::string event_kind(const WriteOutcome& outcome) {
  const std::string family(event_family(outcome.path.str()));
  if (outcome.etag.empty()) return family + ".deleted";
  return family + (outcome.created ? ".created" : ".updated");
}

Json event_data(const WriteOutcome& outcome) {
  Json data{{"path", outcome.path.str()}, {"etag", outcome.etag}};
  if (!outcome.old_etag.empty()) data["old_etag"] = outcome.old_etag;
  return data;
}

/// What job_revert needs to undo it.
JobWrite job_write_of(const WriteIntent& intent, const WriteOutcome& outcome) {
  JobWrite write{.path = outcome.path.str(), .at = intent.at};
  write.moved_from = null_if_empty(outcome.moved_from);
  if (intent.outcome.value("is_folder", false)) return write;
  write.before_sha256 = null_if_empty(intent.before_sha256);
  write.before_etag = null_if_empty(outcome.old_etag);
  write.after_etag = null_if_empty(outcome.etag);
  return write;
}

/// The SHA-256 of what the path holds; empty: no file.
Result<std::string> hash_on_disk(const Vault& vault, const NotePath& path) {
  auto file = vault.read(path);
  if (file.has_value()) return sha256_hex(file->bytes);
  if (file.error().reason == Reason::NotFound) return std::string();
  return file.error();
}

}  // namespace

Error etag_mismatch(const NotePath& path, const std::string& expected, const std::string& actual) {
  return make_error(
      Reason::EtagMismatch,
      cat(path.str(), " changed since it was read; read it again and repeat the change."),
      {{"path", path.str()}, {"expected", expected}, {"actual", actual}});
}

Result<NoteWrite> plan_write(const Vault& vault, WriteRequest request, const Clock& clock,
                             Random& random) {
  const auto& change = request.change;
  if (change.kind == NoteChange::Kind::Move)
    return plan_move(vault, std::move(request), clock, random);
  std::optional<std::string> before;
  if (!change.path.is_ignored()) {
    auto file = vault.read_in_place(change.path);
    if (file.has_value())
      before = std::move(file->bytes);
    else if (file.error().reason != Reason::NotFound)
      return file.error();
  }
  INDX_TRY(check_target(vault, change, before.has_value()));
  WriteOutcome outcome{.path = change.path};
  auto after = INDX_TRY(apply_change(change, before, &outcome.anchors));
  if (before) outcome.old_etag = etag_of(*before), outcome.old_size = before->size();
  if (after)
    outcome.etag = etag_of(*after), outcome.sha256 = sha256_hex(*after),
    outcome.size = after->size();
  outcome.created = !before && after;
  outcome.changed = before != after;
  if (change.dry_run)
    outcome.diff = shown_diff(change.path, before.value_or(""), after.value_or(""));

  const auto now = clock.now();
  WriteIntent intent{.id = {new_ulid(now, random)},
                     .path = change.path.str(),
                     .before_sha256 = before ? sha256_hex(*before) : "",
                     .after_sha256 = outcome.sha256,
                     .temp_name = Vault::temp_name(random.next()),
                     .permanent = change.permanent,
                     .actor = request.actor,
                     .subject = request.subject,
                     .request_id = request.request_id,
                     .step_key = request.step_key,
                     .step_inputs_hash = request.step_inputs_hash,
                     .outcome = to_json(outcome),
                     .at = now};
  if (request.lease) {
    intent.job_id = request.lease->job.value;
    intent.lease = request.lease->generation;
  }
  if (!request.change.journal.is_null()) intent.outcome["journal"] = request.change.journal;
  // One text for the pair: the row is (subject, operation, key).
  if (request.idempotency)
    intent.idempotency_key = request.idempotency->operation + "\n" + request.idempotency->key;
  return NoteWrite{std::move(request), std::move(before), std::move(after), std::move(outcome),
                   std::move(intent)};
}

Status begin_write(State& state, const NoteWrite& write) {
  if (write.request.lease) INDX_TRY(state.queue.check_lease(*write.request.lease));
  if (write.before)
    INDX_TRY(state.versions.keep(write.intent.path, *write.before, write.intent.job_id,
                                 write.intent.at));
  return state.intents.add(write.intent);
}

Result<bool> perform_write(const Vault& vault, NoteWrite& write, std::string* displaced) {
  const auto& change = write.request.change;
  if (is_move(write)) return perform_move(vault, write, displaced);
  if (!write.after) {
    auto removed = vault.remove(change.path, *write.before, change.permanent);
    if (!removed.has_value() && removed.error().reason == Reason::EtagMismatch) return false;
    write.outcome.trash_path = INDX_TRY(std::move(removed));
    return true;
  }
  const auto replaced =
      INDX_TRY(vault.replace(change.path, write.before, *write.after, write.intent.temp_name));
  *displaced = replaced.displaced;
  write.also_displaced = replaced.newer;
  return !replaced.displaced_external_edit;
}

Status finish_write(State& state, const WriteIntent& intent, const WriteOutcome& outcome) {
  const bool was_open = INDX_TRY(state.intents.remove(intent.id));
  if (outcome.changed && !was_open) return {};  // done before, only the answer was lost
  if (outcome.changed && !outcome.moved_from.empty())
    INDX_TRY(finish_move(state, intent, outcome));
  else if (outcome.changed)
    INDX_TRY(state.tell({.kind = event_kind(outcome),
                         .actor = intent.actor,
                         .subject = intent.subject,
                         .job_id = intent.job_id,
                         .data = event_data(outcome)}));
  if (outcome.changed) INDX_TRY(keep_journal(state, intent));
  if (outcome.changed && !intent.job_id.empty())
    INDX_TRY(state.job_writes.add(intent.job_id, job_write_of(intent, outcome)));
  if (!intent.step_key.empty()) {
    // The instance of the promise: after a crash this one is another. The generation tells whose
    // try it was.
    const auto job = INDX_TRY(state.queue.get({intent.job_id}));
    const Lease lease{
        {intent.job_id}, intent.lease, job ? job->leased_by : state.settings.instance};
    const StepRecord step{intent.step_key, intent.step_inputs_hash, to_json(outcome)};
    const Status stored = state.queue.put_step(lease, step);
    // The note is written either way (G7); a newer owner of the job finds the file as it wants it.
    if (!stored.has_value() && stored.error().reason != Reason::StaleLease) return stored;
  }
  if (const auto line = intent.idempotency_key.find('\n'); line != std::string::npos)
    INDX_TRY(state.idempotency.complete(intent.subject, intent.idempotency_key.substr(0, line),
                                        intent.idempotency_key.substr(line + 1), 200,
                                        Json{{"ok", true}, {"data", to_json(outcome)}}));
  return {};
}

Result<bool> abandon_write(State& state, const NoteWrite& write, const std::string& displaced) {
  if (!INDX_TRY(state.intents.remove(write.intent.id))) return false;
  if (!displaced.empty())
    INDX_TRY(
        state.versions.keep(write.intent.path, displaced, write.intent.job_id, write.intent.at));
  for (const auto& bytes : write.also_displaced)
    INDX_TRY(state.versions.keep(write.intent.path, bytes, write.intent.job_id, write.intent.at));
  return true;
}

Status settle_writes(State& state, const Vault& vault) {
  for (const WriteIntent& intent : INDX_TRY(state.intents.open_intents())) {
    if (is_journal(intent)) continue;
    if (is_move(intent)) {
      INDX_TRY(settle_move(state, vault, intent));
      continue;
    }
    const auto path = INDX_TRY(NotePath::parse(intent.path));
    const auto displaced =
        recover_displaced(vault, path, intent.temp_name, intent.before_sha256, intent.after_sha256);
    if (displaced.has_value() && *displaced)
      INDX_TRY(state.versions.keep(intent.path, **displaced, intent.job_id, intent.at));
    const auto on_disk = hash_on_disk(vault, path);
    if (!displaced.has_value() || !on_disk.has_value()) {
      // Somebody put something else there: an external edit, and no reason not to start.
      const auto& error = displaced.has_value() ? on_disk.error() : displaced.error();
      log_warn("a write that a crash interrupted cannot be checked and is dropped",
               {{"path", intent.path}, {"error", error.message}});
      INDX_TRY(state.intents.remove(intent.id));
      continue;
    }
    const auto& found = *on_disk;
    if (found == intent.after_sha256) {
      const auto outcome = INDX_TRY(write_outcome_from_json(intent.outcome));
      INDX_TRY(finish_write(state, intent, outcome));
    } else {
      INDX_TRY(state.intents.remove(intent.id));
    }
    log_info(
        "settled a write that a crash interrupted",
        {{"path", intent.path}, {"outcome", found == intent.after_sha256 ? "kept" : "dropped"}});
  }
  for (const WriteIntent& intent : INDX_TRY(state.intents.open_intents()))
    if (is_journal(intent)) INDX_TRY(resume_journal(state, intent));
  return {};
}

}  // namespace indx
