#include "vault/vault_place.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

namespace indx {
namespace {

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

/// The spelling on disk of `name` in `folder` (rule 1.4): exact if there is one, else what equals
/// it in normal form.
std::string name_on_disk(int folder, const std::string& name) {
  struct stat info {};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
    return name;
  // The Kelvin sign, the Greek question mark and the Greek varia are ASCII in normal form.
  const bool may_differ = std::any_of(name.begin(), name.end(), [](char c) {
    return std::string_view(" K;`").find(c) != std::string_view::npos ||
           static_cast<unsigned char>(c) >= 0x80;
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

}  // namespace

MadeFolders::~MadeFolders() {
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder)
    ::unlinkat(folder->first.get(), folder->second.c_str(), AT_REMOVEDIR);  // not if it holds any
}

void MadeFolders::add(int parent, const std::string& name) {
  made_.emplace_back(VaultFd(::fcntl(parent, F_DUPFD_CLOEXEC, 0)), name);
}

bool is_unsupported_rename(int error) {
  return error == EINVAL || error == ENOSYS || error == ENOTSUP;
}

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

Error missing_file(const NotePath& path) {
  return not_found(cat("`", path.str(), "` does not exist."), Json{{"path", path.str()}});
}

Error refused_link(const NotePath& path) {
  return make_error(Reason::Forbidden, cat("`", path.str(), "` goes through a symbolic link."),
                    Json{{"path", path.str()}});
}

VaultFd open_root(const std::string& root) {
  return VaultFd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/// A name as NotePath spells it: the form under which names compare.
std::string normal_name(std::string_view name) {
  return to_nfc(replace_all(name, "\xC2\xA0", " "));
}

bool for_each_name(int folder,
                   const std::function<void(std::string_view name, unsigned char type)>& visit) {
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

std::vector<std::string> equal_paths(const std::string& root, const NotePath& path,
                                     const std::function<bool(const struct stat&)>& accepts) {
  constexpr std::size_t kMost = 64;
  const std::vector<std::string> segments = split(path.str(), '/');
  std::vector<std::pair<std::string, VaultFd>> folders;  // that match so far, with a final slash
  folders.emplace_back("", open_root(root));
  std::vector<std::string> found;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::string folded = fold_case(segments[i]);
    const bool is_last = i + 1 == segments.size();
    std::vector<std::pair<std::string, VaultFd>> next;
    for (const auto& [prefix, folder] : folders) {
      if (!folder) continue;
      for_each_name(folder.get(), [&, &prefix = prefix, &folder = folder](std::string_view entry,
                                                                          unsigned char) {
        if (next.size() + found.size() >= kMost || !is_valid_utf8(entry) ||
            fold_case(normal_name(entry)) != folded)
          return;
        const std::string name(entry);
        struct stat info {};
        if (::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
        if (is_last) {
          if (accepts(info)) found.push_back(prefix + name);
        } else if (S_ISDIR(info.st_mode)) {
          next.emplace_back(cat(prefix, name, "/"),
                            VaultFd(::openat(folder.get(), name.c_str(),
                                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
        }
      });
    }
    folders = std::move(next);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void sync_fd(int fd, Durability durability) {
  if (durability != Durability::Off) ::fsync(fd);
}

/// Walks to the folder of `path` one segment at a time. Fails with `forbidden` at a symbolic link.
Result<VaultPlace> walk_to(const std::string& root, const NotePath& path, MissingFolders folders,
                           Durability durability) {
  VaultPlace place{open_root(root), {}};
  if (!place.folder && (errno == ENOENT || errno == ENOTDIR))
    return make_error(Reason::Unavailable,
                      "The vault folder is gone; it is used again once it is back.",
                      Json{{"retry_after_s", 1}});
  if (!place.folder) return file_error(errno, "open", "the vault");
  std::vector<std::string> segments = split(path.str(), '/');
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    const std::string name = name_on_disk(place.folder.get(), segments[i]);
    const auto open_folder = [&] {
      return VaultFd(::openat(place.folder.get(), name.c_str(),
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    };
    VaultFd next = open_folder();
    if (!next && errno == ENOENT && folders == MissingFolders::Create) {
      if (::mkdirat(place.folder.get(), name.c_str(), 0777) == 0)
        place.made.add(place.folder.get(), name);
      else if (errno != EEXIST)
        return file_error(errno, "create the folder of", path.str());
      sync_fd(place.folder.get(), durability);
      next = open_folder();
    }
    if (!next) {
      const int error = errno;
      if (is_link(place.folder.get(), name)) return refused_link(path);
      if (error == ENOTDIR && folders != MissingFolders::Refuse)
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

}  // namespace indx
