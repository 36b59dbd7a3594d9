#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace indx {

/// Stands between SQLite and the file system while it lives: counts the calls about one database
/// and lets chosen ones fail. Every connection that is opened meanwhile goes through it, so it must
/// outlive them. Thread-safe; one at a time.
class FaultVfs {
 public:
  enum class File : std::uint8_t { MainDb, Wal, Journal, Other };
  enum class Call : std::uint8_t { Open, Read, Write, Truncate, Sync, Close, Delete, Lock };
  /// What fails, and how.
  enum class Fault : std::uint8_t {
    IoError,     ///< any call: EIO
    DiskFull,    ///< a write stores nothing: ENOSPC
    ShortWrite,  ///< a write stores half of its bytes and fails
    SyncFails    ///< a sync fails; the bytes may be anywhere
  };
  struct Plan {
    Fault fault = Fault::IoError;
    std::int64_t at = 1;      ///< number of the call that fails, among those that the fault can hit
    bool is_lasting = false;  ///< all that follow fail too, until `heal`
  };

  /// Only files whose names begin with `name` are counted and fail. Syncs are counted and left out,
  /// as no test cuts the power.
  explicit FaultVfs(const std::string& name = "state.db");
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  /// Counts from here.
  void plan(const Plan& plan);
  void heal();
  /// How often the fault could have hit since the last `plan` or `heal`.
  std::int64_t chances(Fault fault) const;
  /// How often the plan hit.
  std::int64_t hits() const;
  /// Calls since the beginning.
  std::int64_t count(File file, Call call) const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace indx
