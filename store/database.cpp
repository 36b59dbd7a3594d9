#include "store/database.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "store/search_rank.hpp"
#include "store/tokenizer.hpp"

#include <sqlite3.h>

#include <filesystem>
#include <utility>

namespace indx {
namespace {

constexpr int kBusyTimeoutMs = 5000;
/// A log that grew while a reader held it back is cut to this when it starts anew.
constexpr std::int64_t kMaxIdleWalBytes = std::int64_t{64} << 20U;

Error database_error(sqlite3* db, int code, std::string_view doing) {
  const std::string what = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  const Json details{{"sqlite_code", code}};
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return make_error(Reason::Unavailable,
                        cat("The database is busy while ", doing, "; try again."), details);
    case SQLITE_FULL:
      return make_error(Reason::Unavailable,
                        cat("The disk is full while ", doing, "; free some space."), details);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
      return make_error(Reason::Unavailable,
                        cat("The database file cannot be used while ", doing, ": ", what), details);
    case SQLITE_CONSTRAINT:
      return make_error(Reason::Conflict,
                        cat("A rule of the database was broken while ", doing, ": ", what),
                        details);
    case SQLITE_INTERRUPT:
      return make_error(Reason::Cancelled, "The query was stopped.", details);
    default:
      return internal_error(cat("Database error while ", doing, ": ", what), details);
  }
}

}  // namespace

struct Database::Impl {
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  sqlite3* db = nullptr;
  std::unordered_map<std::string, Statement::Cached, TextHash, std::equal_to<>> statements;

  ~Impl() {
    for (auto& [sql, cached] : statements) sqlite3_finalize(cached.statement);
    sqlite3_close_v2(db);
  }
};

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const std::string& path, const Options& options) {
  // Nobody asks SQLite for its use of memory, and counting it takes a lock at every allocation.
  // Once SQLite is in use it refuses, and is only slower.
  [[maybe_unused]] static const int configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  auto impl = std::make_unique<Impl>();
  const int flags =
      (options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) |
      SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &impl->db, flags, nullptr);
  if (code != SQLITE_OK)
    return database_error(impl->db, code,
                          "opening " + std::filesystem::path(path).filename().string());
  sqlite3_extended_result_codes(impl->db, 1);
  sqlite3_busy_timeout(impl->db, kBusyTimeoutMs);
  int registered = register_tokenizer(impl->db);
  if (registered == SQLITE_OK) registered = register_collector(impl->db);
  if (registered != SQLITE_OK)
    return database_error(impl->db, registered, "registering the tokenizer");
  Database db(std::move(impl));
  const char* synchronous = options.durability == Durability::Full     ? "FULL"
                            : options.durability == Durability::Normal ? "NORMAL"
                                                                       : "OFF";
  if (!options.read_only) INDX_TRY(db.execute("PRAGMA journal_mode=WAL"));
  INDX_TRY(db.execute(cat("PRAGMA synchronous=", synchronous,
                          "; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA "
                          "secure_delete=FAST; PRAGMA journal_size_limit=",
                          kMaxIdleWalBytes, "; PRAGMA cache_size=-", options.cache_kib)));
  return db;
}

Database::Statement Database::prepare(std::string_view sql) {
  auto found = impl_->statements.find(sql);
  if (found == impl_->statements.end())
    found = impl_->statements.emplace(sql, Statement::Cached{}).first;
  auto& cached = found->second;
  if (cached.statement != nullptr && !cached.in_use) {
    cached.in_use = true;
    return Statement(impl_->db, cached.statement, &cached, SQLITE_OK);
  }
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(impl_->db, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if ((code & 0xff) == SQLITE_ERROR)
    log_error("statement does not compile", {{"error", sqlite3_errmsg(impl_->db)}, {"sql", sql}});
  INDX_ASSERT((code & 0xff) != SQLITE_ERROR);
  if (code != SQLITE_OK) return Statement(impl_->db, nullptr, nullptr, code);
  if (cached.in_use)
    return Statement(impl_->db, statement, nullptr, SQLITE_OK);  // the same text twice at a time
  cached = {statement, true};
  return Statement(impl_->db, statement, &cached, SQLITE_OK);
}

Status Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(impl_->db, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return database_error(impl_->db, code, sql.substr(0, 60));
  return {};
}

std::int64_t Database::last_insert_id() const { return sqlite3_last_insert_rowid(impl_->db); }
std::int64_t Database::total_changes() const { return sqlite3_total_changes64(impl_->db); }
bool Database::is_in_transaction() const { return sqlite3_get_autocommit(impl_->db) == 0; }
void Database::interrupt() const { sqlite3_interrupt(impl_->db); }

std::int64_t Database::wal_bytes() const {
  const char* file = sqlite3_db_filename(impl_->db, "main");
  if (file == nullptr || *file == '\0') return 0;
  std::error_code missing;
  const auto size = std::filesystem::file_size(sqlite3_filename_wal(file), missing);
  return missing ? 0 : static_cast<std::int64_t>(size);
}

Result<Database::Checkpoint> Database::checkpoint(std::chrono::milliseconds patience) {
  sqlite3_busy_timeout(impl_->db, static_cast<int>(patience.count()));
  const int code =
      sqlite3_wal_checkpoint_v2(impl_->db, "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(impl_->db, kBusyTimeoutMs);
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY)
    return database_error(impl_->db, code, "moving the write-ahead log into the database");
  return Checkpoint{code == SQLITE_OK, wal_bytes()};
}

Error Database::lost_transaction() {
  return make_error(Reason::Unavailable,
                    "The database gave up a transaction because its file failed; try again.");
}

Database::Statement::Statement(Statement&& other) noexcept
    : db_(other.db_),
      statement_(std::exchange(other.statement_, nullptr)),
      cached_(other.cached_),
      failure_(other.failure_) {}

Database::Statement::~Statement() {
  if (statement_ == nullptr) return;
  if (cached_ == nullptr) {
    sqlite3_finalize(statement_);
    return;
  }
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  cached_->in_use = false;
}

void Database::Statement::bind_one(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_, index, value);
}
void Database::Statement::bind_one(int index, double value) {
  sqlite3_bind_double(statement_, index, value);
}
void Database::Statement::bind_one(int index, std::nullptr_t) {
  sqlite3_bind_null(statement_, index);
}

// The bytes are copied: a caller may bind a temporary.
void Database::Statement::bind_one(int index, std::string_view value) {
  sqlite3_bind_text64(statement_, index, value.empty() ? "" : value.data(), value.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
}
void Database::Statement::bind_blob(int index, std::string_view value) {
  sqlite3_bind_blob64(statement_, index, value.empty() ? "" : value.data(), value.size(),
                      SQLITE_TRANSIENT);
}

void Database::Statement::bind_pointer(int index, void* pointer, const char* type) {
  sqlite3_bind_pointer(statement_, index, pointer, type, nullptr);
}

Result<bool> Database::Statement::step() {
  if (statement_ == nullptr) return database_error(db_, failure_, "preparing a statement");
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_error(db_, code, std::string(sqlite3_sql(statement_)).substr(0, 60));
}

Result<std::int64_t> Database::Statement::run() {
  while (INDX_TRY(step())) {
  }
  return sqlite3_changes64(db_);
}

std::int64_t Database::Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}
double Database::Statement::real(int column) const {
  return sqlite3_column_double(statement_, column);
}
bool Database::Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
std::string_view Database::Statement::text_view(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}
std::string Database::Statement::text(int column) const { return std::string(text_view(column)); }
std::optional<std::string> Database::Statement::optional_text(int column) const {
  if (is_null(column)) return std::nullopt;
  return text(column);
}
std::optional<std::int64_t> Database::Statement::optional_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

Result<Database::Transaction> Database::Transaction::begin(Database& db) {
  INDX_TRY(db.prepare("BEGIN IMMEDIATE").run());
  return Transaction(db);
}
Database::Transaction::~Transaction() {
  if (db_ == nullptr || !db_->is_in_transaction()) return;
  if (const auto undone = db_->execute("ROLLBACK"); !undone.has_value())
    log_warn("rollback failed", {{"error", undone.error().message}});
}
Status Database::Transaction::commit() {
  if (!db_->is_in_transaction()) return lost_transaction();
  INDX_TRY(db_->prepare("COMMIT").run());
  db_ = nullptr;
  return {};
}

Status migrate(Database& db, const std::string& path, const std::vector<Migration>& migrations) {
  std::int64_t version = 0;
  {
    auto query = db.prepare("PRAGMA user_version");
    if (INDX_TRY(query.step())) version = query.integer(0);
  }
  const auto newest = static_cast<std::int64_t>(migrations.size());
  const auto file = std::filesystem::path(path).filename().string();
  if (version > newest)
    return make_error(
        Reason::UnsupportedVersion,
        cat(file, " has schema version ", version, ", but this program knows versions up to ",
            newest, "; start the newer program that made it."),
        {{"found", version}, {"supported", newest}});
  if (version == newest) return {};
  if (version > 0) {
    const auto backup = cat(path, ".v", version, ".bak");
    std::error_code ignored;
    std::filesystem::remove(backup, ignored);
    auto copy = db.prepare("VACUUM INTO ?1");
    copy.bind(backup);
    INDX_TRY(copy.run());
  }
  for (const auto& migration : migrations) {
    if (migration.number <= version) continue;
    auto transaction = INDX_TRY(Database::Transaction::begin(db));
    INDX_TRY(db.execute(std::string(migration.sql)));
    INDX_TRY(db.execute(cat("PRAGMA user_version=", migration.number)));
    INDX_TRY(transaction.commit());
  }
  return {};
}

}  // namespace indx
