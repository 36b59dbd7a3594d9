#pragma once
#include "base/config.hpp"
#include "base/result.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace indx {

/// One SQLite connection. Not thread-safe: one thread uses it at a time. The only file that knows
/// SQLite.
class Database {
 public:
  struct Options {
    bool read_only = false;
    Durability durability = Durability::Full;
    int cache_kib = 16000;
  };
  /// Opens or creates; WAL, foreign keys, own tokenizer `indx` registered. Fails with `unavailable`
  /// or `internal`.
  static Result<Database> open(const std::string& path, const Options& options);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// One prepared statement, borrowed from the connection's cache; reset and cleared when
  /// destroyed.
  class Statement {
   public:
    Statement(Statement&&) noexcept;
    Statement& operator=(Statement&&) = delete;
    ~Statement();

    /// Binds values to ?1, ?2 … in order.
    template <typename... Values>
    Statement& bind(const Values&... values) {
      int index = 0;
      (bind_one(++index, values), ...);
      return *this;
    }
    void bind_one(int index, std::int64_t value);
    void bind_one(int index, int value) { bind_one(index, std::int64_t{value}); }
    void bind_one(int index, std::size_t value) {
      bind_one(index, static_cast<std::int64_t>(value));
    }
    void bind_one(int index, bool value) { bind_one(index, std::int64_t{value}); }
    void bind_one(int index, double value);
    void bind_one(int index, std::string_view value);  ///< TEXT
    void bind_one(int index, const std::string& value) { bind_one(index, std::string_view(value)); }
    void bind_one(int index, const char* value) { bind_one(index, std::string_view(value)); }
    void bind_one(int index, std::nullptr_t);
    void bind_blob(int index, std::string_view value);
    /// For a function of ours that asks for this type; the text must outlive the statement.
    void bind_pointer(int index, void* pointer, const char* type);
    template <typename T>
    void bind_one(int index, const std::optional<T>& value) {
      value ? bind_one(index, *value) : bind_one(index, nullptr);
    }

    /// True while there is a row. An error other than a constraint becomes `unavailable` (busy,
    /// full, io) or `internal`.
    Result<bool> step();
    /// Runs a statement without rows; gives the number of changed rows.
    Result<std::int64_t> run();

    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;            ///< also for BLOB
    std::string_view text_view(int column) const;  ///< the same until the next step
    bool is_null(int column) const;
    std::optional<std::string> optional_text(int column) const;
    std::optional<std::int64_t> optional_integer(int column) const;

   private:
    friend class Database;
    struct Cached {
      sqlite3_stmt* statement = nullptr;
      bool in_use = false;
    };
    Statement(sqlite3* db, sqlite3_stmt* statement, Cached* cached, int failure)
        : db_(db), statement_(statement), cached_(cached), failure_(failure) {}
    sqlite3* db_;
    sqlite3_stmt* statement_;
    Cached* cached_;  ///< null: finalised when destroyed
    int failure_;     ///< why it could not be prepared; told by `step`
  };

  /// Prepares or takes from the cache. A statement that does not compile is our bug and aborts; one
  /// that cannot be compiled because the file is busy or damaged says so when stepped.
  Statement prepare(std::string_view sql);
  /// Runs statements without parameters.
  Status execute(const std::string& sql);
  std::int64_t last_insert_id() const;
  /// Rows that were changed since it was opened; tells whether a transaction had anything to write.
  std::int64_t total_changes() const;
  /// False after an I/O error or a full disk ended a transaction on its own.
  bool is_in_transaction() const;
  /// Stops a running query from another thread.
  void interrupt() const;

  /// What the write-ahead log takes on disk.
  std::int64_t wal_bytes() const;
  struct Checkpoint {
    bool is_complete = false;     ///< false: a reader still needs the log, or another one writes
    std::int64_t bytes_left = 0;  ///< of the log on disk
  };
  /// Moves the log into the database and truncates it; waits for readers no longer than `patience`.
  Result<Checkpoint> checkpoint(std::chrono::milliseconds patience);

  /// BEGIN IMMEDIATE … COMMIT; rolls back when destroyed without commit. An I/O error or a full
  /// disk may end it early: then nothing of it is stored, and `commit` says so.
  class Transaction {
   public:
    static Result<Transaction> begin(Database& db);
    Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();
    Status commit();

   private:
    explicit Transaction(Database& db) : db_(&db) {}
    Database* db_;
  };
  /// Runs `body` inside a savepoint: an Error undoes what it did and nothing else. When storage
  /// fails the whole transaction may be gone with it (`is_in_transaction`).
  template <typename Body>
  auto savepoint(Body&& body) -> decltype(body()) {
    INDX_TRY(prepare("SAVEPOINT change").run());
    auto result = body();
    if (!is_in_transaction())
      return result.has_value() ? decltype(body())(lost_transaction()) : std::move(result);
    if (!result.has_value()) INDX_TRY(prepare("ROLLBACK TO change").run());
    INDX_TRY(prepare("RELEASE change").run());
    return result;
  }

 private:
  static Error lost_transaction();
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// One numbered step of a schema: `number` counts from 1 without gaps.
struct Migration {
  int number;
  std::string_view sql;
};
/// Brings the database to the newest schema, after a backup copy `<path>.v<old>.bak` of an existing
/// older one. A database of a newer version is refused with a message that says which version made
/// it.
Status migrate(Database& db, const std::string& path, const std::vector<Migration>& migrations);

}  // namespace indx
