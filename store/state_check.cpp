#include "store/state_check.hpp"

#include "base/text.hpp"
#include "store/intent_store.hpp"
#include "store/version_store.hpp"

#include <filesystem>

namespace indx {

Result<std::int64_t> check_versions(Database& db, const std::string& dir, const CancelToken& cancel,
                                    const StateVisitor& visit) {
  VersionStore store(db, dir);
  std::int64_t count = 0;
  // One version of each kept content stands for all that share it.
  auto query = db.prepare(
      "SELECT b.sha256, b.data IS NULL, v.id, v.path FROM version_blobs b LEFT JOIN versions v ON "
      "v.id = (SELECT min(id) FROM versions WHERE sha256 = b.sha256) ORDER BY b.sha256");
  while (INDX_TRY(query.step())) {
    if (cancel.is_cancelled()) return make_error(Reason::Cancelled, "The check was cancelled.");
    ++count;
    const auto sha256 = query.text(0);
    const auto file = query.integer(1) != 0 ? "versions/" + sha256 : std::string();
    if (query.is_null(2)) {
      visit({"version_unused", false, file,
             cat("The kept content ", sha256.substr(0, 12), " belongs to no version.")});
      continue;
    }
    const auto path = query.text(3);
    const auto bytes = store.read(query.integer(2));
    if (bytes.has_value()) continue;
    const bool is_missing = bytes.error().reason == Reason::NotFound;
    visit({is_missing ? "version_missing" : "version_damaged", true, path,
           is_missing
               ? cat("An earlier text of the note is kept in ", file, ", which is not there.")
               : cat("An earlier text of the note cannot be read: ", bytes.error().message)});
  }
  std::error_code failed;
  for (std::filesystem::directory_iterator it(dir + "/versions", failed), end; !failed && it != end;
       it.increment(failed)) {
    const auto name = it->path().filename().string();
    auto found = db.prepare("SELECT 1 FROM version_blobs WHERE sha256 = ?1 AND data IS NULL");
    if (!INDX_TRY(found.bind(name).step()))
      visit({"version_file_unused", false, "versions/" + name,
             cat("The file versions/", name, " belongs to no version.")});
  }
  return count;
}

Status check_intents(Database& db, Timestamp older_than, const StateVisitor& visit) {
  for (const auto& intent : INDX_TRY(IntentStore(db).open_intents()))
    if (intent.at < older_than)
      visit({"write_unsettled", false, intent.path,
             cat("A write promised at ", format_time(intent.at), " is neither done nor dropped.")});
  return {};
}

}  // namespace indx
