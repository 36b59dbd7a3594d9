#include "vault/vault_move.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/vault_place.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace indx {
namespace {

std::optional<struct stat> stat_at(int folder, const std::string& name) {
  struct stat info {};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return info;
}

/// rename that never replaces; 0 or the errno.
int rename_fresh(const VaultPlace& from, const VaultPlace& to) {
  const int source = from.folder.get(), target = to.folder.get();
  if (::renameat2(source, from.name.c_str(), target, to.name.c_str(), RENAME_NOREPLACE) == 0)
    return 0;
  if (!is_unsupported_rename(errno)) return errno;
  // Without NOREPLACE: a link is never made over a name that exists, and a folder is never renamed
  // over one that holds something.
  const auto old = stat_at(source, from.name);
  if (!old) return ENOENT;
  if (stat_at(target, to.name)) return EEXIST;
  if (S_ISDIR(old->st_mode))
    return ::renameat(source, from.name.c_str(), target, to.name.c_str()) == 0 ? 0 : errno;
  if (::linkat(source, from.name.c_str(), target, to.name.c_str(), 0) != 0) return errno;
  ::unlinkat(source, from.name.c_str(), 0);
  return 0;
}

Error in_the_way(const NotePath& to) {
  return make_error(Reason::Conflict, cat("`", to.str(), "` exists already; choose another name."),
                    Json{{"path", to.str()}, {"existing", to.str()}});
}

void collect_files(int folder, const std::string& prefix, std::vector<std::string>& files) {
  std::vector<std::string> names;
  for_each_name(folder, [&](std::string_view name, unsigned char) {
    if (!is_ignored_segment(name)) names.emplace_back(name);
  });
  for (const auto& name : names) {
    const auto info = stat_at(folder, name);
    if (!info) continue;
    if (S_ISREG(info->st_mode)) {
      if (const auto path = NotePath::parse(prefix + name)) files.push_back(path->str());
    } else if (S_ISDIR(info->st_mode)) {
      const VaultFd inner(
          ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (inner) collect_files(inner.get(), cat(prefix, name, "/"), files);
    }
  }
}

}  // namespace

Result<VaultEntry> look_at(const Vault& vault, const NotePath& path) {
  VaultEntry entry;
  if (path.is_ignored()) return entry;
  auto place = walk_to(vault.root(), path, MissingFolders::Refuse, Durability::Off);
  if (!place) {
    if (place.error().reason == Reason::NotFound) return entry;
    return place.error();
  }
  const auto info = stat_at(place->folder.get(), place->name);
  if (!info) return entry;
  if (S_ISREG(info->st_mode)) entry.kind = VaultEntry::Kind::File;
  if (S_ISDIR(info->st_mode)) entry.kind = VaultEntry::Kind::Folder;
  if (entry.kind != VaultEntry::Kind::None) entry.inode = info->st_ino;
  return entry;
}

std::optional<FileInfo> seen_file(const Vault& vault, const NotePath& path) {
  const auto info = stat_at(AT_FDCWD, cat(vault.root(), "/", path.str()));
  if (!info || !S_ISREG(info->st_mode)) return std::nullopt;
  return file_info(path, *info);
}

bool is_as_seen(const Vault& vault, const FileInfo& file) {
  const auto now = seen_file(vault, file.path);
  return now && now->inode == file.inode && now->ctime_ns == file.ctime_ns &&
         now->mtime_ns == file.mtime_ns && now->size == file.size;
}

std::optional<NotePath> taken_by(const Vault& vault, const NotePath& to, const NotePath& from) {
  const auto found = equal_paths(vault.root(), to, [](const struct stat&) { return true; });
  for (const auto& candidate : found) {
    const auto path = NotePath::parse(candidate);
    if (path && *path != from) return *path;
  }
  return std::nullopt;
}

std::optional<NotePath> folder_twin(const Vault& vault, const NotePath& path) {
  const std::string_view text = path.str();
  for (auto end = text.find('/'); end != text.npos; end = text.find('/', end + 1)) {
    const auto folder = NotePath::parse(text.substr(0, end));
    if (!folder) return std::nullopt;
    const auto entry = look_at(vault, *folder);
    if (!entry) return std::nullopt;
    if (entry->kind == VaultEntry::Kind::Folder) continue;
    const auto twins = equal_paths(vault.root(), *folder,
                                   [](const struct stat& info) { return S_ISDIR(info.st_mode); });
    for (const auto& twin : twins)
      if (const auto found = NotePath::parse(twin); found && *found != *folder) return *found;
    return std::nullopt;  // nothing is below what is not there
  }
  return std::nullopt;
}

Status check_reachable(const Vault& vault, const NotePath& path) {
  const auto place = walk_to(vault.root(), path, MissingFolders::Foresee, Durability::Off);
  if (place || place.error().reason == Reason::NotFound) return {};
  return place.error();
}

std::vector<std::string> files_below(const Vault& vault, const NotePath& folder) {
  std::vector<std::string> files;
  auto place = walk_to(vault.root(), folder, MissingFolders::Refuse, Durability::Off);
  if (!place) return files;
  const VaultFd inner(::openat(place->folder.get(), place->name.c_str(),
                               O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (inner) collect_files(inner.get(), folder.str() + "/", files);
  std::sort(files.begin(), files.end());
  return files;
}

Status move_entry(const Vault& vault, const NotePath& from, const NotePath& to,
                  const std::string& temp_name) {
  const VaultPlace source =
      INDX_TRY(walk_to(vault.root(), from, MissingFolders::Refuse, vault.durability()));
  const auto old = stat_at(source.folder.get(), source.name);
  if (!old || !(S_ISREG(old->st_mode) || S_ISDIR(old->st_mode))) return missing_file(from);
  const VaultPlace target =
      INDX_TRY(walk_to(vault.root(), to, MissingFolders::Create, vault.durability()));
  // The name as asked for: where only its composition is new, the entry must take that on.
  const VaultPlace wanted{VaultFd(::fcntl(target.folder.get(), F_DUPFD_CLOEXEC, 0)),
                          std::string(to.name())};
  int failed = rename_fresh(source, wanted);
  if (failed == EEXIST) {
    const auto there = stat_at(wanted.folder.get(), wanted.name);
    if (!there || there->st_ino != old->st_ino || there->st_dev != old->st_dev)
      return in_the_way(to);
    const VaultPlace between{VaultFd(::fcntl(target.folder.get(), F_DUPFD_CLOEXEC, 0)), temp_name};
    failed = rename_fresh(source, between);
    if (failed == 0) {
      failed = rename_fresh(between, wanted);
      if (failed != 0) rename_fresh(between, source);
    }
    if (failed == EEXIST) return in_the_way(to);
  }
  if (failed != 0) return file_error(failed, "move", from.str());
  sync_fd(target.folder.get(), vault.durability());
  sync_fd(source.folder.get(), vault.durability());
  return {};
}

Result<bool> recover_move(const Vault& vault, const NotePath& to, const std::string& temp_name,
                          std::uint64_t inode) {
  auto place = walk_to(vault.root(), to, MissingFolders::Refuse, Durability::Full);
  if (!place) {
    if (place.error().reason == Reason::NotFound) return false;
    return place.error();
  }
  const int folder = place->folder.get();
  const VaultPlace wanted{VaultFd(::fcntl(folder, F_DUPFD_CLOEXEC, 0)), std::string(to.name())};
  const auto half_way = stat_at(folder, temp_name);
  if (half_way && half_way->st_ino == inode) {
    const VaultPlace between{VaultFd(::fcntl(folder, F_DUPFD_CLOEXEC, 0)), temp_name};
    if (const int failed = rename_fresh(between, wanted); failed != 0)
      return file_error(failed, "move", to.str());
    sync_fd(folder, Durability::Full);
    return true;
  }
  bool is_there = false;  // asked of the names, since a file system may find both spellings
  for_each_name(folder, [&](std::string_view name, unsigned char) {
    if (name != wanted.name) return;
    const auto info = stat_at(folder, wanted.name);
    is_there = info && info->st_ino == inode;
  });
  return is_there;
}

}  // namespace indx
