#include "vault/vault.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/write_recovery.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>

namespace indx {
namespace {

constexpr std::string_view kTempPrefix = ".indx-";
constexpr std::string_view kTrash = ".trash";
constexpr std::size_t kMaxFolderDepth = 256;

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

Error file_error(int error, std::string_view action, std::string_view path) {
  const std::string message = cat("Could not ", action, " `", path, "`: ", std::strerror(error),
                                  ".");  // NOLINT(concurrency-mt-unsafe): glibc's is safe
  const Json details{{"path", path}};
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENXIO:  // a socket: no note has that path
      return not_found(cat("`", path, "` does not exist."), details);
    case EACCES:
    case EPERM:
    case EROFS:
      return make_error(Reason::Forbidden, message, details);
    case ENAMETOOLONG:
    case EINVAL:
      return invalid(message, details);
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case EBUSY:
      return make_error(Reason::Unavailable, message, details);
    default:
      return internal_error(message, details);
  }
}

Error missing(const NotePath& path) {
  return not_found(cat("`", path.str(), "` does not exist."), Json{{"path", path.str()}});
}

Error refused_link(const NotePath& path) {
  return make_error(Reason::Forbidden, cat("`", path.str(), "` goes through a symbolic link."),
                    Json{{"path", path.str()}});
}

Fd open_root(const std::string& root) {
  return Fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/// A name as NotePath spells it: the form under which names compare.
std::string normal_name(std::string_view name) {
  return to_nfc(replace_all(name, "\xC2\xA0", " "));
}

template <typename Visit>
bool for_each_name(int folder, const Visit& visit) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return false;
  const std::unique_ptr<DIR, DirCloser> dir(::fdopendir(copy));
  if (!dir) {
    ::close(copy);
    return false;
  }
  while (const dirent* entry =
             ::readdir(dir.get())) {  // NOLINT(concurrency-mt-unsafe): the stream is ours alone
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") visit(name, entry->d_type);
  }
  return true;
}

/// The spelling on disk of `name` in `folder` (rule 1.4): exact if there is one, else what equals
/// it in normal form.
std::string name_on_disk(int folder, const std::string& name) {
  struct stat info {};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
    return name;
  const bool may_differ = std::any_of(name.begin(), name.end(), [](char c) {
    return c == ' ' || static_cast<unsigned char>(c) >= 0x80;
  });
  if (!may_differ) return name;
  std::string found;
  for_each_name(folder, [&](std::string_view other, unsigned char) {
    if (is_valid_utf8(other) && normal_name(other) == name && (found.empty() || other < found))
      found = std::string(other);
  });
  return found.empty() ? name : found;
}

bool is_link(int folder, const std::string& name) {
  struct stat info {};
  return ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

void sync_fd(int fd, Durability durability) {
  if (durability != Durability::Off) ::fsync(fd);
}

/// An open folder and the name of one entry in it. No symbolic link was followed on the way.
struct Place {
  Fd folder;
  std::string name;
};

enum class Folders : std::uint8_t { MustExist, Create };

/// Walks to the folder of `path` one segment at a time. Fails with `forbidden` at a symbolic link.
Result<Place> walk_to(const std::string& root, const NotePath& path, Folders folders,
                      Durability durability) {
  Place place{open_root(root), {}};
  if (!place.folder) return file_error(errno, "open", "the vault");
  std::vector<std::string> segments = split(path.str(), '/');
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    const std::string name = name_on_disk(place.folder.get(), segments[i]);
    const auto open_folder = [&] {
      return Fd(::openat(place.folder.get(), name.c_str(),
                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    };
    Fd next = open_folder();
    if (!next && errno == ENOENT && folders == Folders::Create) {
      if (::mkdirat(place.folder.get(), name.c_str(), 0777) != 0 && errno != EEXIST)
        return file_error(errno, "create the folder of", path.str());
      sync_fd(place.folder.get(), durability);
      next = open_folder();
    }
    if (!next) {
      const int error = errno;
      if (is_link(place.folder.get(), name)) return refused_link(path);
      if (error == ENOTDIR && folders == Folders::Create)
        return make_error(Reason::Conflict,
                          cat("`", segments[i], "` in `", path.str(),
                              "` is a file, so it cannot hold another one. Choose another path."),
                          Json{{"path", path.str()}});
      return file_error(error, "open the folder of", path.str());
    }
    place.folder = std::move(next);
  }
  place.name = name_on_disk(place.folder.get(), segments.back());
  return place;
}

struct OpenFile {
  Fd fd;
  struct stat info {};
};

/// Opens a regular file and nothing else: no link, no pipe, no device.
Result<OpenFile> open_regular(const Place& place, const NotePath& path) {
  OpenFile file{Fd(::openat(place.folder.get(), place.name.c_str(),
                            O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)),
                {}};
  if (!file.fd) {
    const int error = errno;
    return error == ELOOP ? refused_link(path) : file_error(error, "open", path.str());
  }
  if (::fstat(file.fd.get(), &file.info) != 0) return file_error(errno, "stat", path.str());
  if (!S_ISREG(file.info.st_mode)) return missing(path);
  return file;
}

bool read_all(int fd, std::size_t size_hint, std::string& bytes) {
  bytes.resize(size_hint);
  std::size_t done = 0;
  while (true) {
    if (done == bytes.size()) bytes.resize(done + std::max<std::size_t>(done / 2, 512));
    const ssize_t got = ::read(fd, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
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

Result<std::string> read_place(const Place& place, const NotePath& path) {
  const OpenFile file = INDX_TRY(open_regular(place, path));
  std::string bytes;
  if (!read_all(file.fd.get(), static_cast<std::size_t>(file.info.st_size) + 1, bytes))
    return file_error(errno, "read", path.str());
  return bytes;
}

FileInfo file_info(NotePath path, const struct stat& info) {
  return FileInfo{std::move(path), static_cast<std::size_t>(info.st_size),
                  std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec,
                  info.st_ino};
}

Timestamp modified_time(const struct stat& info) {
  return from_millis(std::int64_t{info.st_mtim.tv_sec} * 1000 + info.st_mtim.tv_nsec / 1'000'000);
}

/// Where a path with symbolic links really stands, if that is in the vault (rule 1.8).
Result<NotePath> resolved_in_vault(const std::string& root, const NotePath& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(
      ::realpath((root + "/" + path.str()).c_str(), nullptr), &std::free);
  if (!real) return missing(path);
  const std::string_view target = real.get();
  const std::string prefix = root == "/" ? root : root + "/";
  if (target.substr(0, prefix.size()) != prefix) return refused_link(path);
  Result<NotePath> inside = NotePath::parse(target.substr(prefix.size()));
  if (inside && inside->is_ignored()) return missing(path);
  return inside;
}

/// Opens a file for reading. Links are resolved once, checked, and then not followed again.
Result<OpenFile> open_for_reading(const std::string& root, const NotePath& path) {
  if (path.is_ignored()) return missing(path);
  const auto open_directly = [&](const NotePath& at) -> Result<OpenFile> {
    const Place place = INDX_TRY(walk_to(root, at, Folders::MustExist, Durability::Off));
    return open_regular(place, at);
  };
  Result<OpenFile> file = open_directly(path);
  if (file || file.error().reason != Reason::Forbidden) return file;
  const NotePath inside = INDX_TRY(resolved_in_vault(root, path));
  return open_directly(inside);
}

/// Collects the files of a vault.
class Walker {
 public:
  explicit Walker(const std::string& root) : root_(root) {}

  VaultListing run() {
    const Fd root = open_root(root_);
    if (!root)
      listing_.warnings.emplace_back("unreadable: the vault folder cannot be opened");
    else
      walk(root.get(), "", 0);
    std::sort(listing_.files.begin(), listing_.files.end(),
              [](const FileInfo& a, const FileInfo& b) { return a.path.str() < b.path.str(); });
    std::sort(listing_.warnings.begin(), listing_.warnings.end());
    return std::move(listing_);
  }

 private:
  void warn(std::string_view code, const std::string& path) {
    listing_.warnings.push_back(cat(code, ": ", replace_invalid_utf8(path)));
  }

  void walk(int folder, const std::string& prefix, std::size_t depth) {
    std::vector<std::pair<std::string, unsigned char>> names;
    if (depth > kMaxFolderDepth ||
        !for_each_name(folder, [&](std::string_view name, unsigned char type) {
          if (!is_ignored_segment(name)) names.emplace_back(name, type);
        }))
      return warn("unreadable_folder", prefix);
    std::sort(names.begin(), names.end());
    for (const auto& [name, type] : names) {
      if (type != DT_DIR && type != DT_REG && type != DT_LNK && type != DT_UNKNOWN) continue;
      add(folder, prefix, name, depth);
    }
  }

  void add(int folder, const std::string& prefix, const std::string& name, std::size_t depth) {
    struct stat info {};
    const std::string full = prefix + name;
    if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISLNK(info.st_mode)) return add_link(full);
    if (S_ISDIR(info.st_mode)) {
      const Fd inner(
          ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!inner) return warn("unreadable_folder", full);
      return walk(inner.get(), full + "/", depth + 1);
    }
    if (!S_ISREG(info.st_mode)) return;
    if (name.find('\\') != std::string::npos) return warn("unusable_name", full);
    Result<NotePath> path = NotePath::parse(full);
    if (!path) return warn("unusable_name", full);
    const auto [twin, is_new] = seen_.try_emplace(path->str(), listing_.files.size());
    if (!is_new) {
      warn("same_name_in_nfc", full);
      if (path->str() == full)
        listing_.files[twin->second] =
            file_info(std::move(*path), info);  // the exact spelling wins
      return;
    }
    listing_.files.push_back(file_info(std::move(*path), info));
  }

  void add_link(const std::string& full) {
    const std::unique_ptr<char, decltype(&std::free)> real(
        ::realpath((root_ + "/" + full).c_str(), nullptr), &std::free);
    const std::string_view target = real ? std::string_view(real.get()) : std::string_view();
    const bool inside = target == root_ || target.substr(0, root_.size() + 1) == root_ + "/";
    if (!inside)
      warn("refused_link",
           full);  // links inside the vault are left out without a word: no duplicate notes
  }

  const std::string& root_;
  VaultListing listing_;
  std::unordered_map<std::string, std::size_t> seen_;
};

bool is_temp_name(std::string_view name) {
  return name.size() == kTempPrefix.size() + 16 &&
         name.substr(0, kTempPrefix.size()) == kTempPrefix &&
         name.find_first_not_of("0123456789abcdef", kTempPrefix.size()) == std::string_view::npos;
}

std::size_t clean_folder(int folder, const std::function<bool(const std::string&)>& is_wanted,
                         std::size_t depth) {
  std::size_t count = 0;
  std::vector<std::string> folders;
  for_each_name(folder, [&](std::string_view name, unsigned char type) {
    if (is_temp_name(name) && (type == DT_REG || type == DT_UNKNOWN)) {
      if (!is_wanted(std::string(name)) && ::unlinkat(folder, std::string(name).c_str(), 0) == 0)
        ++count;
    } else if ((type == DT_DIR || type == DT_UNKNOWN) && !is_ignored_segment(name)) {
      folders.emplace_back(name);
    }
  });
  for (const std::string& name : folders) {
    const Fd inner(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (inner && depth < kMaxFolderDepth) count += clean_folder(inner.get(), is_wanted, depth + 1);
  }
  return count;
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
    const Fd fd(::openat(folder_, name_.c_str(),
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
    return {};
  }
  const char* name() const { return name_.c_str(); }
  ino_t inode() const { return inode_; }
  void taken() { present_ = false; }

 private:
  int folder_;
  std::string name_;
  ino_t inode_ = 0;
  bool present_ = false;
};

bool is_unsupported(int error) { return error == EINVAL || error == ENOSYS || error == ENOTSUP; }

bool holds_inode(const Place& place, ino_t inode) {
  struct stat info {};
  return ::fstatat(place.folder.get(), place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         info.st_ino == inode;
}

bool same_version(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec && a.st_ctim.tv_sec == b.st_ctim.tv_sec &&
         a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

/// Puts a new file in place. G3: fails softly when one is there by now.
Result<Vault::Replaced> place_new(const Place& place, TempFile& temp, const NotePath& path) {
  const int folder = place.folder.get();
  int failed = ::renameat2(folder, temp.name(), folder, place.name.c_str(), RENAME_NOREPLACE) == 0
                   ? 0
                   : errno;
  if (is_unsupported(failed)) {
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
Result<Vault::Replaced> place_by_rename(const Place& place, const std::string& before,
                                        TempFile& temp, const NotePath& path) {
  const OpenFile file = INDX_TRY(open_regular(place, path));
  std::string there;
  if (!read_all(file.fd.get(), static_cast<std::size_t>(file.info.st_size) + 1, there))
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
Result<Vault::Replaced> exchange(const Place& place, const std::string& before, TempFile& temp,
                                 const NotePath& path) {
  const int folder = place.folder.get();
  const auto swap = [&] {
    return ::renameat2(folder, temp.name(), folder, place.name.c_str(), RENAME_EXCHANGE) == 0;
  };
  if (!swap()) {
    if (errno == ENOENT) return Vault::Replaced{true, {}};  // deleted outside
    if (is_unsupported(errno)) return place_by_rename(place, before, temp, path);
    return file_error(errno, "replace", path.str());
  }
  const Place displaced{Fd(::fcntl(folder, F_DUPFD_CLOEXEC, 0)), temp.name()};
  Result<std::string> came_back = read_place(displaced, path);
  if (came_back && *came_back == before)
    return Vault::Replaced{};  // the temp file, now the old bytes, goes
  Vault::Replaced result{true, came_back ? *came_back : std::string()};
  if (holds_inode(place, temp.inode())) {
    if (!swap() || !holds_inode(displaced, temp.inode()))
      temp.taken();  // never remove bytes that are not ours
  } else if (!came_back) {
    temp.taken();
  }
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

VaultListing Vault::list() const { return Walker(root_).run(); }

Result<FileInfo> Vault::stat(const NotePath& path) const {
  Result<OpenFile> file = open_for_reading(root_, path);
  if (file) return file_info(path, file->info);
  return file.error().reason == Reason::Forbidden ? missing(path) : file.error();
}

Result<NoteFile> Vault::read(const NotePath& path) const {
  const OpenFile file = INDX_TRY(open_for_reading(root_, path));
  NoteFile note{path, {}, {}, modified_time(file.info), 0};
  if (!read_all(file.fd.get(), static_cast<std::size_t>(file.info.st_size) + 1, note.bytes))
    return file_error(errno, "read", path.str());
  note.size = note.bytes.size();
  note.etag = etag_of(note.bytes);
  return note;
}

std::optional<NotePath> Vault::find_ignoring_case(const NotePath& path) const {
  if (path.is_ignored()) return std::nullopt;
  const std::vector<std::string> segments = split(path.str(), '/');
  std::vector<std::string> found = {""};  // folders that match so far, each with a final slash
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::string folded = fold_case(segments[i]);
    const bool last = i + 1 == segments.size();
    std::vector<std::string> next;
    for (const std::string& folder : found) {
      const Fd fd(::open((root_ + "/" + folder).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (!fd) continue;
      for_each_name(fd.get(), [&](std::string_view name, unsigned char) {
        if (next.size() >= 64 || !is_valid_utf8(name) || fold_case(normal_name(name)) != folded)
          return;
        struct stat info {};
        if (::fstatat(fd.get(), std::string(name).c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
        if (last ? S_ISREG(info.st_mode) : S_ISDIR(info.st_mode))
          next.push_back(folder + std::string(name) + (last ? "" : "/"));
      });
    }
    found = std::move(next);
  }
  std::sort(found.begin(), found.end());
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
  Result<Place> walked =
      walk_to(root_, path, before ? Folders::MustExist : Folders::Create, durability_);
  if (!walked && before && walked.error().reason == Reason::NotFound) return Replaced{true, {}};
  const Place place = INDX_TRY(std::move(walked));

  struct stat old {};
  const bool exists =
      ::fstatat(place.folder.get(), place.name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && S_ISLNK(old.st_mode)) return refused_link(path);
  if (exists && !S_ISREG(old.st_mode))
    return make_error(Reason::Conflict, cat("`", path.str(), "` is a folder."));
  if (before && !exists) return Replaced{true, {}};

  TempFile temp(place.folder.get(), temp_name);
  INDX_TRY(temp.write(after, before ? &old : nullptr, durability_, path));
  Result<Replaced> result =
      before ? exchange(place, *before, temp, path) : place_new(place, temp, path);
  sync_fd(place.folder.get(), durability_);
  return result;
}

Result<std::string> Vault::remove(const NotePath& path, std::string_view before,
                                  bool permanent) const {
  if (path.is_ignored()) return missing(path);
  const Place place = INDX_TRY(walk_to(root_, path, Folders::MustExist, durability_));
  struct stat old {};
  if (::fstatat(place.folder.get(), place.name.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0)
    return file_error(errno, "delete", path.str());
  if (S_ISLNK(old.st_mode)) return refused_link(path);
  if (!S_ISREG(old.st_mode)) return missing(path);

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
    const Place target = INDX_TRY(walk_to(root_, trash, Folders::Create, durability_));
    const auto move = [&](const Place& from, const Place& to) {
      int failed = ::renameat2(from.folder.get(), from.name.c_str(), to.folder.get(),
                               to.name.c_str(), RENAME_NOREPLACE) == 0
                       ? 0
                       : errno;
      if (is_unsupported(failed)) {
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
  Result<Place> walked = walk_to(vault.root(), path, Folders::MustExist, Durability::Full);
  if (!walked && walked.error().reason == Reason::NotFound) return nothing;
  const Place place = INDX_TRY(std::move(walked));
  const Place temp{Fd(::fcntl(place.folder.get(), F_DUPFD_CLOEXEC, 0)), temp_name};
  Result<std::string> left = read_place(temp, path);
  if (!left && left.error().reason == Reason::NotFound) return nothing;
  std::string displaced = INDX_TRY(std::move(left));
  const auto hash = sha256_hex(displaced);
  if (hash == before_sha256 || hash == after_sha256) return nothing;

  const Result<std::string> there = read_place(place, path);
  if (there && sha256_hex(*there) == after_sha256) {
    const int folder = place.folder.get();
    if (::renameat2(folder, temp.name.c_str(), folder, place.name.c_str(), RENAME_EXCHANGE) != 0)
      return file_error(errno, "restore", path.str());
    sync_fd(folder, Durability::Full);
  }
  return std::optional(std::move(displaced));
}

std::size_t Vault::clean_temp_files(
    const std::function<bool(const std::string& name)>& is_wanted) const {
  const Fd root = open_root(root_);
  return root ? clean_folder(root.get(), is_wanted, 0) : 0;
}

std::string Vault::temp_name(std::uint64_t random) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(random));
  return cat(kTempPrefix, digits);
}

Result<VaultLock> VaultLock::acquire(const std::string& root) {
  Fd fd = open_root(root);
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
