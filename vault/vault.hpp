#pragma once
#include "base/clock.hpp"
#include "base/config.hpp"
#include "base/file_bytes.hpp"
#include "vault/note_path.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace indx {

struct FileInfo {
  NotePath path;
  std::size_t size = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t inode = 0;
  std::int64_t ctime_ns = 0;  ///< last change of the inode: cannot be set back as mtime can
};

/// A file as it was read: exact bytes and what they hash to.
struct NoteFile {
  NotePath path;
  std::string bytes;
  std::string etag;
  Timestamp modified;
  std::size_t size = 0;
};

/// The result of a folder walk.
struct VaultListing {
  std::vector<FileInfo> files;        ///< every file that is not ignored, sorted by path bytes
  std::vector<std::string> warnings;  ///< NFC twins, what cannot be read, refused links
  bool is_root_readable = true;       ///< false: that there are no files means nothing
};

/// Files larger than this are listed and readable but indexed by name only.
inline constexpr std::size_t kMaxIndexedBytes = 20U << 20U;

/// The folder of notes. Values and file calls only: no threads, no locks. All members are safe from
/// any thread; ordering of writes is the writer actor's business.
class Vault {
 public:
  /// `root` must be an existing folder. Fails with `not_found` or `validation_failed`.
  static Result<Vault> open(const std::string& root, Durability durability = Durability::Full);

  const std::string& root() const { return root_; }
  Durability durability() const { return durability_; }
  VaultListing list() const;
  /// Whether a path with symbolic links may be read as the file of the vault that it leads to (rule
  /// 1.8). Empty: it may. What may not be read is `not_found`, as if the link led nowhere.
  using MayFollow = std::function<bool(const NotePath& target)>;
  /// Stats one path; `not_found` for missing, ignored, folders and links that leave the vault.
  Result<FileInfo> stat(const NotePath& path, const MayFollow& may_follow = {}) const;
  Result<NoteFile> read(const NotePath& path, const MayFollow& may_follow = {}) const;
  /// The same for who wants to write: `forbidden` at any symbolic link, wherever it leads.
  Result<NoteFile> read_in_place(const NotePath& path) const;
  struct Opened {
    FileInfo info;
    FileBytes bytes;
  };
  /// Opens a file without reading it; fails as `read` does.
  Result<Opened> open_file(const NotePath& path, const MayFollow& may_follow = {}) const;
  /// The on-disk spelling of a path that equals `path` except for case; nullopt if none (rules 1.6,
  /// A8).
  std::optional<NotePath> find_ignoring_case(const NotePath& path) const;

  /// What replace found in place of the bytes that were guarded.
  struct Replaced {
    bool displaced_external_edit = false;  ///< true: not written; `displaced` holds what was there
    std::string displaced;
    std::vector<std::string> newer;  ///< edits that came while it was put back, oldest first
  };
  /// Rules 2.6, G2(b), G3: temp file (named by the caller, so that an intent can name it), fsync,
  /// exchange, fsync of the folder. `before` is what the file must hold (nullopt: must not exist).
  /// Keeps the mode bits. When something else is found there, puts it back and says so.
  Result<Replaced> replace(const NotePath& path, const std::optional<std::string>& before,
                           std::string_view after, const std::string& temp_name) const;
  /// Moves to `.trash/` (suffix on collision) or unlinks; verifies `before` like replace. Gives the
  /// trash path.
  Result<std::string> remove(const NotePath& path, std::string_view before, bool permanent) const;
  /// Removes temp files (`.indx-` + 16 hex) that `is_wanted` does not claim; gives how many.
  std::size_t clean_temp_files(const std::function<bool(const std::string& name)>& is_wanted) const;
  /// A fresh temp name, `.indx-` + 16 hex digits.
  static std::string temp_name(std::uint64_t random);

 private:
  Vault(std::string root, Durability durability)
      : root_(std::move(root)), durability_(durability) {}
  std::string root_;
  Durability durability_;
};

/// `flock` on the vault's root folder: one process writes. Released when destroyed or when the
/// process dies.
class VaultLock {
 public:
  /// Fails with `vault_locked` when another process holds it.
  static Result<VaultLock> acquire(const std::string& root);
  VaultLock(VaultLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  VaultLock& operator=(VaultLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~VaultLock();

 private:
  explicit VaultLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace indx
