#include "actors/note_move.hpp"

#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "vault/vault_move.hpp"

namespace indx {
namespace {

constexpr std::string_view kFolder = "folder";  // in place of the hash of a file

Status check_move(const Vault& vault, const NoteChange& change) {
  const auto& from = change.path;
  const auto& to = *change.to;
  if (from.is_ignored()) return not_found(cat("`", from.str(), "` does not exist."));
  if (to.is_ignored())
    return make_error(
        Reason::Forbidden,
        cat("Moving to ", to.str(), " is not allowed: hidden and temporary paths are off limits."),
        {{"path", to.str()}});
  INDX_TRY(to.check_creatable());
  INDX_TRY(check_reachable(vault, to));
  if (to.str().starts_with(from.str() + "/"))
    return invalid(cat("`", from.str(), "` cannot move into itself."), {{"path", "to"}});
  if (const auto other = taken_by(vault, to, from))
    return make_error(Reason::Conflict,
                      cat("`", other->str(), "` exists already; choose another name."),
                      {{"path", to.str()}, {"existing", other->str()}});
  const auto twin = folder_twin(vault, to);
  if (twin && !from.str().starts_with(twin->str() + "/"))
    return make_error(Reason::Conflict,
                      cat("A folder of `", to.str(), "` differs only by case from `", twin->str(),
                          "`; move into that folder or choose another name."),
                      {{"path", to.str()}, {"existing", twin->str()}});
  return {};
}

/// Etag and hash of the file, checked against the guards of the change.
Status read_guarded(const Vault& vault, const NoteChange& change, WriteOutcome& outcome) {
  const auto file = INDX_TRY(vault.read_in_place(change.path));
  outcome.etag = outcome.old_etag = file.etag;
  outcome.sha256 = sha256_hex(file.bytes);
  outcome.size = outcome.old_size = file.size;
  if (!change.if_match.empty() && !is_wanted_version(change.if_match, file.etag))
    return etag_mismatch(change.path, change.if_match, file.etag);
  if (!change.expected_sha256.empty() && change.expected_sha256 != outcome.sha256)
    return etag_mismatch(change.path, change.expected_sha256, outcome.sha256);
  return {};
}

}  // namespace

bool is_move(const WriteIntent& intent) {
  return intent.outcome.is_object() && !intent.outcome.value("moved_from", "").empty();
}
bool is_move(const NoteWrite& write) { return !write.outcome.moved_from.empty(); }

Result<NoteWrite> plan_move(const Vault& vault, WriteRequest request, const Clock& clock,
                            Random& random) {
  const auto& change = request.change;
  INDX_TRY(check_move(vault, change));
  const auto entry = INDX_TRY(look_at(vault, change.path));
  if (entry.kind == VaultEntry::Kind::None)
    return not_found(cat("`", change.path.str(), "` does not exist."),
                     {{"path", change.path.str()}});
  const bool is_folder = entry.kind == VaultEntry::Kind::Folder;
  WriteOutcome outcome{.path = *change.to};
  outcome.moved_from = change.path.str();
  outcome.changed = change.path != *change.to;
  if (!is_folder) {
    INDX_TRY(read_guarded(vault, change, outcome));
  } else {
    if (!change.if_match.empty() || !change.expected_sha256.empty())
      return invalid("A folder has no etag; leave `if_match` and `expected_sha256` out.");
    const auto prefix = change.path.str().size() + 1;
    for (const auto& file : files_below(vault, change.path))
      outcome.moved_files.push_back(file.substr(prefix));
  }
  const auto now = clock.now();
  Json promised = to_json(outcome);
  promised["inode"] = entry.inode;
  promised["is_folder"] = is_folder;
  promised["journal"] = change.journal;
  const auto hash = is_folder ? std::string(kFolder) : outcome.sha256;
  WriteIntent intent{.id = {new_ulid(now, random)},
                     .path = change.path.str(),
                     .before_sha256 = hash,
                     .after_sha256 = hash,
                     .temp_name = Vault::temp_name(random.next()),
                     .permanent = false,
                     .actor = request.actor,
                     .subject = request.subject,
                     .request_id = request.request_id,
                     .step_key = request.step_key,
                     .step_inputs_hash = request.step_inputs_hash,
                     .outcome = std::move(promised),
                     .at = now};
  if (request.lease) {
    intent.job_id = request.lease->job.value;
    intent.lease = request.lease->generation;
  }
  return NoteWrite{std::move(request), {}, {}, std::move(outcome), std::move(intent)};
}

Result<bool> perform_move(const Vault& vault, const NoteWrite& write, std::string* displaced) {
  const auto& change = write.request.change;
  INDX_TRY(move_entry(vault, change.path, *change.to, write.intent.temp_name));
  if (!change.is_for_one_version()) return true;
  const auto moved = INDX_TRY(vault.read(*change.to));
  if (moved.etag == write.outcome.etag) return true;
  *displaced = moved.bytes;  // kept as a version whatever becomes of the file
  INDX_TRY(move_entry(vault, *change.to, change.path, write.intent.temp_name));
  return false;
}

Status finish_move(State& state, const WriteIntent& intent, const WriteOutcome& outcome) {
  Json data{{"path", outcome.path.str()}, {"from", outcome.moved_from}, {"etag", outcome.etag}};
  if (intent.outcome.value("is_folder", false)) {
    data["is_folder"] = true;
    data["files"] = outcome.moved_files.size();
  }
  INDX_TRY(state.tell({.kind = "note.moved",
                       .actor = intent.actor,
                       .subject = intent.subject,
                       .job_id = intent.job_id,
                       .data = std::move(data)}));
  INDX_TRY(state.versions.move(outcome.moved_from, outcome.path.str()));
  return {};
}

Status settle_move(State& state, const Vault& vault, const WriteIntent& intent) {
  const auto outcome = INDX_TRY(write_outcome_from_json(intent.outcome));
  const auto happened = recover_move(vault, outcome.path, intent.temp_name,
                                     intent.outcome.value("inode", std::uint64_t{0}));
  const bool is_done = happened.has_value() && *happened;
  if (!happened.has_value())
    log_warn("a move that a crash interrupted cannot be checked and is dropped",
             {{"path", intent.path}, {"error", happened.error().message}});
  log_info("settled a move that a crash interrupted",
           {{"path", intent.path}, {"outcome", is_done ? "kept" : "dropped"}});
  if (is_done) return finish_write(state, intent, outcome);
  INDX_TRY(state.intents.remove(intent.id));
  return {};
}

}  // namespace indx
