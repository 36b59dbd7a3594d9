#include "actors/folder_watch.hpp"

#include "base/log.hpp"
#include "vault/note_path.hpp"

#include <dirent.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace indx {
namespace {

constexpr std::uint32_t kMask = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                IN_MOVED_TO | IN_ONLYDIR | IN_EXCL_UNLINK | IN_DONT_FOLLOW;

std::string child(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

}  // namespace

Result<FolderWatch> FolderWatch::open(const std::string& root) {
  const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0)
    return make_error(Reason::Unavailable,
                      "The folder cannot be watched: inotify is not available.");
  FolderWatch watch(fd, root);
  watch.watch_tree("", nullptr);
  if (watch.folders_.empty())
    return make_error(Reason::Unavailable,
                      "The folder cannot be watched; raise fs.inotify.max_user_watches.");
  return watch;
}

FolderWatch::FolderWatch(FolderWatch&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      root_(std::move(other.root_)),
      folders_(std::move(other.folders_)) {}

FolderWatch::~FolderWatch() {
  if (fd_ >= 0) ::close(fd_);
}

void FolderWatch::watch_tree(const std::string& folder, Changes* found) {
  const auto full = folder.empty() ? root_ : root_ + "/" + folder;
  const int descriptor = ::inotify_add_watch(fd_, full.c_str(), kMask);
  if (descriptor < 0) {
    if (errno == ENOSPC)
      log_warn("too many folders to watch; raise fs.inotify.max_user_watches",
               {{"folder", folder}});
    return;
  }
  folders_[descriptor] = folder;
  DIR* dir = ::opendir(full.c_str());
  if (dir == nullptr) return;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || is_ignored_segment(name)) continue;
    const auto path = child(folder, name);
    struct stat info {};
    const bool is_folder =
        entry->d_type == DT_DIR ||
        (entry->d_type == DT_UNKNOWN && ::lstat((root_ + "/" + path).c_str(), &info) == 0 &&
         S_ISDIR(info.st_mode));
    if (is_folder)
      watch_tree(path, found);
    else if (found != nullptr)
      found->paths.insert(path);
  }
  ::closedir(dir);
}

FolderWatch::Changes FolderWatch::wait(std::chrono::milliseconds timeout,
                                       std::chrono::milliseconds quiet) {
  Changes changes;
  pollfd poll_fd{fd_, POLLIN, 0};
  if (::poll(&poll_fd, 1, static_cast<int>(timeout.count())) <= 0) return changes;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  do read_events(&changes);
  while (std::chrono::steady_clock::now() < end &&
         ::poll(&poll_fd, 1, static_cast<int>(quiet.count())) > 0);
  return changes;
}

void FolderWatch::read_events(Changes* changes) {
  alignas(inotify_event) char buffer[64 * 1024];
  for (;;) {
    const auto length = ::read(fd_, buffer, sizeof buffer);
    if (length <= 0) return;
    for (const char* at = buffer; at < buffer + length;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + event->len;
      if ((event->mask & IN_Q_OVERFLOW) != 0) {
        changes->needs_rescan = true;
        continue;
      }
      const auto folder = folders_.find(event->wd);
      if ((event->mask & IN_IGNORED) != 0) {
        if (folder != folders_.end()) folders_.erase(folder);
        continue;
      }
      if (folder == folders_.end() || event->len == 0) continue;
      const std::string name = event->name;
      if (is_ignored_segment(name)) continue;
      const auto path = child(folder->second, name);
      if ((event->mask & IN_ISDIR) == 0) {
        changes->paths.insert(path);
      } else if ((event->mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
        watch_tree(path, changes);
      } else {
        // A folder that left keeps its watches under the old name: drop them and compare
        // everything.
        for (auto it = folders_.begin(); it != folders_.end();) {
          const bool below = it->second == path || it->second.starts_with(path + "/");
          if (below) ::inotify_rm_watch(fd_, it->first);
          it = below ? folders_.erase(it) : std::next(it);
        }
        changes->needs_rescan = true;
      }
    }
  }
}

}  // namespace indx
