#include "vault/vault.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "vault/vault_place.hpp"
#include "vault/write_recovery.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <linux/openat2.h>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace indx {
namespace {

constexpr std::string_view kTrash = ".trash";

struct OpenFile {
  VaultFd fd;
  struct stat info {};
};

/// Opens a regular file and nothing else: no link, no pipe, no device.
Result<OpenFile> open_regular(const VaultPlace& place, const NotePath& path) {
  OpenFile file{VaultFd(::openat(place.folder.get(), place.name.c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)),
                {}};
  if (!file.fd) {
    const int error = errno;
    return error == ELOOP ? refused_link(path) : file_error(error, "open", path.str());
  }
  if (::fstat(file.fd.get(), &file.info) != 0) return file_error(errno, "stat", path.str());
  if (!S_ISREG(file.info.st_mode)) return missing_file(path);
  return file;
}

/// `expected`: the size that the file said it has; it may have changed since.
bool read_all(int fd, std::size_t expected, std::string& bytes) {
  bytes.resize(expected + 1);
  std::size_t done = 0;
  while (true) {
    if (done == bytes.size()) bytes.resize(done + std::max<std::size_t>(done / 2, 512));
    const ssize_t got = ::read(fd, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
    if (done == expected) break;  // there was room for more
  }
  bytes.resize(done);
  return true;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

Result<std::string> read_place(const VaultPlace& place, const NotePath& path) {
  const OpenFile file = INDX_TRY(open_regular(place, path));
  std::string bytes;
  if (!read_all(file.fd.get(), static_cast<std::size_t>(file.info.st_size), bytes))
    return file_error(errno, "read", path.str());
  return bytes;
}

Timestamp modified_time(const struct stat& info) {
  return from_millis(std::int64_t{info.st_mtim.tv_sec} * 1000 + info.st_mtim.tv_nsec / 1'000'000);
}

/// Where a path with symbolic links really stands, if that is in the vault (rule 1.8).
Result<NotePath> resolved_in_vault(const std::string& root, const NotePath& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(
      ::realpath((root + "/" + path.str()).c_str(), nullptr), &std::free);
  if (!real) return missing_file(path);
  const std::string_view target = real.get();
  const std::string prefix = root == "/" ? root : root + "/";
  if (target.substr(0, prefix.size()) != prefix) return refused_link(path);
  Result<NotePath> inside = NotePath::parse(target.substr(prefix.size()));
  if (inside && inside->is_ignored()) return missing_file(path);
  return inside;
}

/// The common case in one call: every name is as it is on disk, and none is a link. nullopt: it has
/// to be looked at name by name.
std::optional<OpenFile> open_at_once(const std::string& root, const NotePath& path) {
  open_how how{};
  how.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  const auto place = cat(root, "/", path.str());
  OpenFile file{
      VaultFd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, place.c_str(), &how, sizeof how))),
      {}};
  if (!file.fd || ::fstat(file.fd.get(), &file.info) != 0 || !S_ISREG(file.info.st_mode))
    return std::nullopt;
  return file;
}

/// Opens a file where its path says that it is: no link is followed.
Result<OpenFile> open_in_place(const std::string& root, const NotePath& path) {
  if (path.is_ignored()) return missing_file(path);
  if (auto file = open_at_once(root, path)) return std::move(*file);
  const VaultPlace place = INDX_TRY(walk_to(root, path, MissingFolders::Refuse, Durability::Off));
  return open_regular(place, path);
}

/// Opens a file for reading. Links are resolved once, checked, and then not followed again.
Result<OpenFile> open_for_reading(const std::string& root, const NotePath& path,
                                  const Vault::MayFollow& may_follow) {
  Result<OpenFile> file = open_in_place(root, path);
  if (file || file.error().reason != Reason::Forbidden) return file;
  const NotePath inside = INDX_TRY(resolved_in_vault(root, path));
  if (may_follow && !may_follow(inside)) return missing_file(path);
  return open_in_place(root, inside);
}

Result<NoteFile> read_opened(const NotePath& path, const OpenFile& file) {
  NoteFile note{path, {}, {}, modified_time(file.info), 0};
  if (!read_all(file.fd.get(), static_cast<std::size_t>(file.info.st_size), note.bytes))
    return file_error(errno, "read", path.str());
  note.size = note.bytes.size();
  note.etag = etag_of(note.bytes);
  return note;
}

/// A temp file that is removed unless it took its place.
class TempFile {
 public:
  TempFile(int folder, std::string name) : folder_(folder), name_(std::move(name)) {}
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() {
    if (present_) ::unlinkat(folder_, name_.c_str(), 0);
  }

  Status write(std::string_view bytes, const struct stat* old, Durability durability,
               const NotePath& path) {
    VaultFd fd(::openat(folder_, name_.c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        old == nullptr ? 0666 : 0600));
    if (!fd) return file_error(errno, "write", path.str());
    present_ = true;
    if (!write_all(fd.get(), bytes)) return file_error(errno, "write", path.str());
    if (old != nullptr) {
      if (old->st_uid != ::geteuid() && ::fchown(fd.get(), old->st_uid, old->st_gid) != 0)
        errno = 0;  // best effort: only root may
      if (::fchmod(fd.get(), old->st_mode & 07777) != 0)
        return file_error(errno, "set the mode of", path.str());
    }
    if (durability != Durability::Off && ::fsync(fd.get()) != 0)
      return file_error(errno, "sync", path.str());
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return file_error(errno, "stat", path.str());
    inode_ = info.st_ino;
    fd_ = std::move(fd);
    return {};
  }
  const char* name() const { return name_.c_str(); }
  ino_t inode() const { return inode_; }
  void taken() { present_ = false; }

 private:
  int folder_;
  std::string name_;
  ino_t inode_ = 0;
  VaultFd fd_;  ///< open, so that the inode stays ours
  bool present_ = false;
};

bool holds_inode(const VaultPlace& place, ino_t inode) {
  struct stat info {};
  return ::fstatat(place.folder.get(), place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         info.st_ino == inode;
}

std::optional<ino_t> inode_of(const VaultPlace& place) {
  struct stat info {};
  if (::fstatat(place.folder.get(), place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return std::nullopt;
  return info.st_ino;
}

bool same_version(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec && a.st_ctim.tv_sec == b.st_ctim.tv_sec &&
         a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

/// Puts a new file in place. G3: fails softly when one is there by now.
Result<Vault::Replaced> place_new(const VaultPlace& place, TempFile& temp, const NotePath& path) {
  const int folder = place.folder.get();
  int failed = ::renameat2(folder, temp.name(), folder, place.name.c_str(), RENAME_NOREPLACE) == 0
                   ? 0
                   : errno;
  if (is_unsupported_rename(failed)) {
    failed = ::linkat(folder, temp.name(), folder, place.name.c_str(), 0) == 0 ? 0 : errno;
    if (failed == 0) ::unlinkat(folder, temp.name(), 0);
  }
  if (failed == EEXIST) {
    Result<std::string> there = read_place(place, path);
    return Vault::Replaced{true, there ? std::move(*there) : std::string()};
  }
  if (failed != 0) return file_error(failed, "create", path.str());
  temp.taken();
  return Vault::Replaced{};
}

/// G3 where the file system cannot exchange: read and compare, then check once more directly before
/// the rename.
Result<Vault::Replaced> place_by_rename(const VaultPlace& place, const std::string& before,
                                        TempFile& temp, const NotePath& path) {
  const OpenFile file = INDX_TRY(open_regular(place, path));
  std::string there;
  if (!read_all(file.fd.get(), static_cast<std::size_t>(file.info.st_size), there))
    return file_error(errno, "read", path.str());
  if (there != before) return Vault::Replaced{true, std::move(there)};
  struct stat now {};
  if (::fstatat(place.folder.get(), place.name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 ||
      !same_version(now, file.info)) {
    Result<std::string> newer = read_place(place, path);
    return Vault::Replaced{true, newer ? std::move(*newer) : std::string()};
  }
  if (::renameat(place.folder.get(), temp.name(), place.folder.get(), place.name.c_str()) != 0)
    return file_error(errno, "replace", path.str());
  temp.taken();
  return Vault::Replaced{};
}

/// Puts `temp` in place of a file that should hold `before`; what came back is checked, and put
/// back if it is not that.
Result<Vault::Replaced> exchange(const VaultPlace& place, const std::string& before, TempFile& temp,
                                 const NotePath& path) {
  const int folder = place.folder.get();
  const auto swap = [&] {
    return ::renameat2(folder, temp.name(), folder, place.name.c_str(), RENAME_EXCHANGE) == 0;
  };
  if (!swap()) {
    if (errno == ENOENT) return Vault::Replaced{true, {}, {}};  // deleted outside
    if (is_unsupported_rename(errno)) return place_by_rename(place, before, temp, path);
    return file_error(errno, "replace", path.str());
  }
  const VaultPlace displaced{VaultFd(::fcntl(folder, F_DUPFD_CLOEXEC, 0)), temp.name()};
  std::vector<OpenFile> seen;  // kept open, so that no other file gets their inodes meanwhile
  const auto read_displaced = [&]() -> Result<std::string> {
    OpenFile file = INDX_TRY(open_regular(displaced, path));
    std::string bytes;
    if (!read_all(file.fd.get(), static_cast<std::size_t>(file.info.st_size), bytes))
      return file_error(errno, "read", path.str());
    seen.push_back(std::move(file));
    return bytes;
  };
  Result<std::string> came_back = read_displaced();
  if (came_back && *came_back == before)
    return Vault::Replaced{};  // the temp file, now the old bytes, goes
  Vault::Replaced result{true, came_back ? *came_back : std::string(), {}};
  // Only while the path still holds what we put there is anything put back; an edit that came in
  // between takes the place of the one before it. Bytes that are nowhere else are never removed.
  auto in_place = temp.inode();
  bool is_spare = true;
  while (holds_inode(place, in_place)) {
    const auto in_temp = inode_of(displaced);
    if (!in_temp || !swap()) {
      temp.taken();
      return result;
    }
    if (holds_inode(displaced, in_place)) {
      if (!is_spare) temp.taken();
      return result;
    }
    in_place = *in_temp;
    is_spare = came_back.has_value();
    came_back = read_displaced();
    if (came_back) result.newer.push_back(*came_back);
  }
  if (!came_back) temp.taken();
  return result;
}

}  // namespace

Result<Vault> Vault::open(const std::string& root, Durability durability) {
  if (root.empty() || root.find('\0') != std::string::npos)
    return invalid("The vault folder has no name.");
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(root.c_str(), nullptr),
                                                         &std::free);
  if (!real) return not_found(cat("The vault folder `", root, "` does not exist."));
  struct stat info {};
  if (::stat(real.get(), &info) != 0 || !S_ISDIR(info.st_mode))
    return invalid(cat("The vault `", root, "` is no folder."));
  return Vault(real.get(), durability);
}

Result<FileInfo> Vault::stat(const NotePath& path, const MayFollow& may_follow) const {
  Result<OpenFile> file = open_for_reading(root_, path, may_follow);
  if (file) return file_info(path, file->info);
  return file.error().reason == Reason::Forbidden ? missing_file(path) : file.error();
}

Result<NoteFile> Vault::read(const NotePath& path, const MayFollow& may_follow) const {
  const OpenFile file = INDX_TRY(open_for_reading(root_, path, may_follow));
  return read_opened(path, file);
}

Result<NoteFile> Vault::read_in_place(const NotePath& path) const {
  const OpenFile file = INDX_TRY(open_in_place(root_, path));
  return read_opened(path, file);
}

Result<Vault::Opened> Vault::open_file(const NotePath& path, const MayFollow& may_follow) const {
  OpenFile file = INDX_TRY(open_for_reading(root_, path, may_follow));
  const FileInfo info = file_info(path, file.info);
  return Opened{info, FileBytes::from_descriptor(file.fd.release(), info.size)};
}

std::optional<NotePath> Vault::find_ignoring_case(const NotePath& path) const {
  if (path.is_ignored()) return std::nullopt;
  const auto found =
      equal_paths(root_, path, [](const struct stat& info) { return S_ISREG(info.st_mode); });
  std::optional<NotePath> best;
  for (const std::string& candidate : found) {
    Result<NotePath> parsed = NotePath::parse(candidate);
    if (!parsed) continue;
    if (*parsed == path) return *parsed;
    if (!best) best = *parsed;
  }
  return best;
}

Result<Vault::Replaced> Vault::replace(const NotePath& path,
                                       const std::optional<std::string>& before,
                                       std::string_view after, const std::string& temp_name) const {
  if (!before) INDX_TRY(path.check_creatable());
  if (path.is_ignored())
    return invalid(
        cat("`", path.str(), "` is a hidden or temporary path; indx does not write there."));
  if (!is_temp_name(temp_name)) return internal_error("A temp file needs a name of its own form.");
  Result<VaultPlace> walked =
      walk_to(root_, path, before ? MissingFolders::Refuse : MissingFolders::Create, durability_);
  if (!walked && before && walked.error().reason == Reason::NotFound) return Replaced{true, {}};
  const VaultPlace place = INDX_TRY(std::move(walked));

  struct stat old {};
  const bool exists =
      ::fstatat(place.folder.get(), place.name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && S_ISLNK(old.st_mode)) return refused_link(path);
  if (exists && !S_ISREG(old.st_mode))
    return make_error(Reason::Conflict, cat("`", path.str(), "` is a folder."));
  if (before && !exists) return Replaced{true, {}};
  // The rename below would not ask: a file that may not be written is not replaced either.
  if (before && ::faccessat(place.folder.get(), place.name.c_str(), W_OK, AT_EACCESS) != 0 &&
      (errno == EACCES || errno == EROFS))
    return file_error(errno, "write", path.str());

  TempFile temp(place.folder.get(), temp_name);
  INDX_TRY(temp.write(after, before ? &old : nullptr, durability_, path));
  Result<Replaced> result =
      before ? exchange(place, *before, temp, path) : place_new(place, temp, path);
  sync_fd(place.folder.get(), durability_);
  return result;
}

Result<std::string> Vault::remove(const NotePath& path, std::string_view before,
                                  bool permanent) const {
  if (path.is_ignored()) return missing_file(path);
  const VaultPlace place = INDX_TRY(walk_to(root_, path, MissingFolders::Refuse, durability_));
  struct stat old {};
  if (::fstatat(place.folder.get(), place.name.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0)
    return file_error(errno, "delete", path.str());
  if (S_ISLNK(old.st_mode)) return refused_link(path);
  if (!S_ISREG(old.st_mode)) return missing_file(path);

  // The file moves to the trash first and is compared there, so that at no time an unread edit can
  // be lost.
  const std::string folder(path.folder());
  const std::string name(path.name());
  const std::size_t dot = name.rfind('.');
  const std::string stem = dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
  const std::string extension = name.substr(stem.size());
  for (int attempt = 0; attempt < 10'000; ++attempt) {
    const std::string file_name = attempt == 0 ? name : cat(stem, " ", attempt, extension);
    const std::string trash_path = cat(kTrash, "/", folder, folder.empty() ? "" : "/", file_name);
    const NotePath trash = INDX_TRY(NotePath::parse(trash_path));
    const VaultPlace target = INDX_TRY(walk_to(root_, trash, MissingFolders::Create, durability_));
    const auto move = [&](const VaultPlace& from, const VaultPlace& to) {
      int failed = ::renameat2(from.folder.get(), from.name.c_str(), to.folder.get(),
                               to.name.c_str(), RENAME_NOREPLACE) == 0
                       ? 0
                       : errno;
      if (is_unsupported_rename(failed)) {
        failed =
            ::linkat(from.folder.get(), from.name.c_str(), to.folder.get(), to.name.c_str(), 0) == 0
                ? 0
                : errno;
        if (failed == 0) ::unlinkat(from.folder.get(), from.name.c_str(), 0);
      }
      return failed;
    };
    const int failed = move(place, target);
    if (failed == EEXIST) continue;
    if (failed != 0) return file_error(failed, "delete", path.str());
    const Result<std::string> there = read_place(target, path);
    if (!there || *there != before) {
      if (move(target, place) != 0)
        return make_error(
            Reason::EtagMismatch,
            cat("`", path.str(), "` changed while it was deleted; the older text is in `",
                trash_path, "`."),
            Json{{"expected", etag_of(before)},
                 {"actual", there ? etag_of(*there) : std::string()},
                 {"trash_path", trash_path}});
      return make_error(
          Reason::EtagMismatch, cat("`", path.str(), "` changed since it was read; read it again."),
          Json{{"expected", etag_of(before)}, {"actual", there ? etag_of(*there) : std::string()}});
    }
    if (permanent) ::unlinkat(target.folder.get(), target.name.c_str(), 0);
    sync_fd(target.folder.get(), durability_);
    sync_fd(place.folder.get(), durability_);
    return permanent ? std::string() : trash_path;
  }
  return make_error(Reason::Conflict, cat("The trash holds too many files named `", name, "`."));
}

Result<std::optional<std::string>> recover_displaced(const Vault& vault, const NotePath& path,
                                                     const std::string& temp_name,
                                                     const std::string& before_sha256,
                                                     const std::string& after_sha256) {
  const std::optional<std::string> nothing;
  Result<VaultPlace> walked = walk_to(vault.root(), path, MissingFolders::Refuse, Durability::Full);
  if (!walked && walked.error().reason == Reason::NotFound) return nothing;
  const VaultPlace place = INDX_TRY(std::move(walked));
  const VaultPlace temp{VaultFd(::fcntl(place.folder.get(), F_DUPFD_CLOEXEC, 0)), temp_name};
  Result<std::string> left = read_place(temp, path);
  if (!left && left.error().reason == Reason::NotFound) return nothing;
  std::string displaced = INDX_TRY(std::move(left));
  const auto hash = sha256_hex(displaced);
  if (hash == before_sha256 || hash == after_sha256) return nothing;

  const Result<std::string> there = read_place(place, path);
  const auto there_hash = there ? sha256_hex(*there) : std::string();
  // Still the guarded bytes: nothing was exchanged, and the temp file is a half-written one of
  // ours.
  if (displaced.empty() || there_hash == before_sha256) return nothing;
  if (there_hash == after_sha256) {
    const int folder = place.folder.get();
    if (::renameat2(folder, temp.name.c_str(), folder, place.name.c_str(), RENAME_EXCHANGE) != 0)
      return file_error(errno, "restore", path.str());
    sync_fd(folder, Durability::Full);
  }
  return std::optional(std::move(displaced));
}

Result<VaultLock> VaultLock::acquire(const std::string& root) {
  VaultFd fd = open_root(root);
  if (!fd) return file_error(errno, "open", "the vault");
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return make_error(Reason::VaultLocked, "Another indx process holds this vault.");
    return file_error(errno, "lock", "the vault");
  }
  return VaultLock(fd.release());
}

VaultLock::~VaultLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace indx
