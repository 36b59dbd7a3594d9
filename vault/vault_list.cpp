#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/vault.hpp"
#include "vault/vault_place.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace indx {
namespace {

constexpr std::string_view kTempPrefix = ".indx-";
constexpr std::size_t kMaxFolderDepth = 256;

/// Collects the files of a vault.
class Walker {
 public:
  explicit Walker(const std::string& root) : root_(root) {}

  VaultListing run() {
    const VaultFd root = open_root(root_);
    listing_.is_root_readable = static_cast<bool>(root);
    if (!root)
      listing_.warnings.emplace_back("unreadable: the vault folder cannot be opened");
    else
      walk(root.get(), "", 0);
    keep_one_of_twins();
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
      const VaultFd inner(
          ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!inner) return warn("unreadable_folder", full);
      return walk(inner.get(), full + "/", depth + 1);
    }
    if (!S_ISREG(info.st_mode)) return;
    if (name.find('\\') != std::string::npos) return warn("unusable_name", full);
    Result<NotePath> path = NotePath::parse(full);
    if (!path) return warn("unusable_name", full);
    if (is_closed_to_us(folder, name, info)) warn("unreadable_file", full);
    const bool is_exact = path->str() == full;
    found_.push_back({file_info(std::move(*path), info), is_exact ? std::string() : full});
  }

  /// Names that differ on the disk and are one in NFC: the exact spelling wins.
  void keep_one_of_twins() {
    std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      return a.info.path.str() < b.info.path.str();
    });
    listing_.files.reserve(found_.size());
    for (auto& file : found_) {
      const bool is_twin = !listing_.files.empty() && listing_.files.back().path == file.info.path;
      if (!is_twin) {
        listing_.files.push_back(std::move(file.info));
        continue;
      }
      const bool is_exact = file.spelling.empty();
      warn("same_name_in_nfc", is_exact ? file.info.path.str() : file.spelling);
      if (is_exact) listing_.files.back() = std::move(file.info);
    }
  }

  /// Asks the system only where the mode gives reason to.
  bool is_closed_to_us(int folder, const std::string& name, const struct stat& info) const {
    const auto needed = info.st_uid == user_ ? S_IRUSR : S_IROTH;
    return user_ != 0 && (info.st_mode & needed) == 0 &&
           ::faccessat(folder, name.c_str(), R_OK, AT_EACCESS) != 0;
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

  struct Found {
    FileInfo info;
    std::string spelling;  ///< on the disk; empty: that of the path
  };

  const std::string& root_;
  const uid_t user_ = ::geteuid();
  VaultListing listing_;
  std::vector<Found> found_;
};

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
    const VaultFd inner(
        ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (inner && depth < kMaxFolderDepth) count += clean_folder(inner.get(), is_wanted, depth + 1);
  }
  return count;
}

}  // namespace

FileInfo file_info(NotePath path, const struct stat& info) {
  return FileInfo{std::move(path), static_cast<std::size_t>(info.st_size),
                  std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec,
                  info.st_ino,
                  std::int64_t{info.st_ctim.tv_sec} * 1'000'000'000 + info.st_ctim.tv_nsec};
}

bool is_temp_name(std::string_view name) {
  return name.size() == kTempPrefix.size() + 16 &&
         name.substr(0, kTempPrefix.size()) == kTempPrefix &&
         name.find_first_not_of("0123456789abcdef", kTempPrefix.size()) == std::string_view::npos;
}

VaultListing Vault::list() const { return Walker(root_).run(); }

std::size_t Vault::clean_temp_files(
    const std::function<bool(const std::string& name)>& is_wanted) const {
  const VaultFd root = open_root(root_);
  return root ? clean_folder(root.get(), is_wanted, 0) : 0;
}

std::string Vault::temp_name(std::uint64_t random) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(random));
  return cat(kTempPrefix, digits);
}

}  // namespace indx
