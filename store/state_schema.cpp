#include "store/state_schema.hpp"

#include "base/text.hpp"
#include "generated/state_sql.hpp"

#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace indx {
namespace {

const std::vector<Migration>& state_migrations() {
  static const std::vector<Migration> kMigrations = {{1, state_sql::k_0001_initial},
                                                     {2, state_sql::k_0002_job_engine},
                                                     {3, state_sql::k_0003_usage_log},
                                                     {4, state_sql::k_0004_job_counts}};
  return kMigrations;
}

constexpr int kStateReaderCacheKib = 4000;
/// Pages of the log after which a commit moves it into the database, and waits for that: rarely
/// enough that no percentile of commits that anybody looks at holds it.
constexpr int kPagesToCheckpoint = 4000;

}  // namespace

Result<Database> open_state_db(const std::string& dir, Durability durability) {
  std::error_code failed;
  std::filesystem::create_directories(dir, failed);
  if (failed)
    return make_error(Reason::Unavailable,
                      cat("The index folder cannot be made: ", failed.message()));
  const std::string path = dir + "/state.db";
  // Made before SQLite does, so that nobody else can read it; its WAL takes over the mode.
  if (const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); fd >= 0) ::close(fd);
  Database db = INDX_TRY(Database::open(path, {.durability = durability}));
  INDX_TRY(db.execute(cat("PRAGMA wal_autocheckpoint=", kPagesToCheckpoint)));
  INDX_TRY(migrate(db, path, state_migrations()));
  return db;
}

Result<Database> open_state_db_reader(const std::string& dir) {
  Database db = INDX_TRY(
      Database::open(dir + "/state.db", {.read_only = true, .cache_kib = kStateReaderCacheKib}));
  std::int64_t version = 0;
  {
    auto query = db.prepare("PRAGMA user_version");
    if (INDX_TRY(query.step())) version = query.integer(0);
  }
  const auto known = static_cast<std::int64_t>(state_migrations().size());
  if (version != known)
    return make_error(Reason::UnsupportedVersion,
                      cat("state.db has schema version ", version,
                          ", but this program reads version ", known, "."),
                      {{"found", version}, {"supported", known}});
  return db;
}

}  // namespace indx
