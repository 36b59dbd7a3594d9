#pragma once
#include "base/config.hpp"
#include "vault/vault.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace indx {

/// Internal to `vault/vault*.cpp`: how a path becomes an open folder and a name in it.

class VaultFd {
 public:
  explicit VaultFd(int fd = -1) : fd_(fd) {}
  VaultFd(VaultFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  VaultFd& operator=(VaultFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~VaultFd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// Folders that were made on the way to a place. Those that are still empty when it is given up go
/// again, the innermost first: what is refused leaves nothing behind.
class MadeFolders {
 public:
  MadeFolders() = default;
  MadeFolders(MadeFolders&&) noexcept = default;
  MadeFolders& operator=(MadeFolders&& other) noexcept {
    made_.swap(other.made_);
    return *this;
  }
  ~MadeFolders();
  /// `parent` is open; what is kept is a copy.
  void add(int parent, const std::string& name);

 private:
  std::vector<std::pair<VaultFd, std::string>> made_;
};

/// An open folder and the name of one entry in it. No symbolic link was followed on the way.
struct VaultPlace {
  VaultFd folder;
  std::string name;
  MadeFolders made = {};
};

/// Foresee: makes nothing, and fails as Create would at what no folder can be made below.
enum class MissingFolders : std::uint8_t { Refuse, Foresee, Create };

/// Walks to the folder of `path` one segment at a time. Fails with `forbidden` at a symbolic link,
/// with `unavailable` when the vault itself is gone.
Result<VaultPlace> walk_to(const std::string& root, const NotePath& path, MissingFolders folders,
                           Durability durability);

Error file_error(int error, std::string_view action, std::string_view path);
Error missing_file(const NotePath& path);
Error refused_link(const NotePath& path);
VaultFd open_root(const std::string& root);
FileInfo file_info(NotePath path, const struct stat& info);
/// Whether a file is one of our temp files, by its name: `.indx-` and 16 hex digits.
bool is_temp_name(std::string_view name);
/// A name as NotePath spells it: the form under which names compare.
std::string normal_name(std::string_view name);
/// The paths of all entries that equal `path` but for case and normal form, sorted; `accepts` says
/// which may stand at its end. At most 64 at each level; no symbolic link is followed.
std::vector<std::string> equal_paths(const std::string& root, const NotePath& path,
                                     const std::function<bool(const struct stat&)>& accepts);
/// Calls `visit` with name and d_type of each entry; false when the folder cannot be read.
bool for_each_name(int folder,
                   const std::function<void(std::string_view name, unsigned char type)>& visit);
void sync_fd(int fd, Durability durability);
/// Whether the file system lacks a form of rename.
bool is_unsupported_rename(int error);

}  // namespace indx
