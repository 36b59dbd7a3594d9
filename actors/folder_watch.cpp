#include "actors/folder_watch.hpp"

#include "base/log.hpp"
#include "vault/note_path.hpp"

#include <cerrno>
#include <dirent.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace indx {
namespace {

constexpr std::uint32_t kMask = IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                IN_MOVED_TO | IN_ONLYDIR | IN_EXCL_UNLINK | IN_DONT_FOLLOW;

/// How long changes are gathered that do not come to rest. Nobody waits for one file among many.
constexpr std::chrono::milliseconds kLongest{200}, kLongestOfMany{1000};
constexpr std::size_t kManyChanges = 100;

std::string child(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

std::pair<dev_t, ino_t> folder_id(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return {};
  return {info.st_dev, info.st_ino};
}

}  // namespace

FolderWatch::FolderWatch(std::string root, Options options)
    : root_(std::move(root)), options_(options), polled_(std::chrono::steady_clock::now()) {
  watch_all();
}

FolderWatch::~FolderWatch() {
  if (fd_ >= 0) ::close(fd_);
}

void FolderWatch::watch_all() {
  if (fd_ >= 0) ::close(fd_);
  folders_.clear();
  is_polling_ = has_overflowed_ = false;
  root_id_ = folder_id(root_);
  fd_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd_ < 0) return begin_polling("inotify is not available");
  watch_tree("", nullptr);
}

void FolderWatch::begin_polling(const char* why) {
  is_polling_ = true;
  if (!std::exchange(has_warned_, true))
    log_warn("some folders cannot be watched and are looked at every few seconds",
             {{"why", why},
              {"every_ms", options_.poll_every.count()},
              {"advice", "raise fs.inotify.max_user_watches"}});
}

void FolderWatch::watch_tree(const std::string& folder, Changes* found) {
  const auto full = folder.empty() ? root_ : root_ + "/" + folder;
  if (fd_ >= 0) {
    const bool has_room = folders_.size() < options_.most_folders;
    const int descriptor = has_room ? ::inotify_add_watch(fd_, full.c_str(), kMask) : -1;
    const int error = has_room ? errno : ENOSPC;
    if (descriptor >= 0)
      folders_[descriptor] = folder;
    else if (error == ENOENT || error == ENOTDIR || error == ELOOP)
      return;  // gone again, or a link by now
    else if (error != EACCES)
      begin_polling("too many folders");
  }
  // No need to go on where nothing is watched and nobody asks what there is.
  if (is_polling_ && found == nullptr && folders_.size() >= options_.most_folders) return;
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

bool FolderWatch::check_root(Changes* changes) {
  const auto now = folder_id(root_);
  if (now == root_id_) return now.second != 0;
  if (now.second == 0) {
    log_warn("the vault folder is gone; it is watched again once it is back", {{"folder", root_}});
    root_id_ = {};
    return false;
  }
  watch_all();
  changes->needs_rescan = true;
  return true;
}

FolderWatch::Changes FolderWatch::wait(std::chrono::milliseconds timeout,
                                       std::chrono::milliseconds quiet) {
  Changes changes;
  using Steady = std::chrono::steady_clock;
  const auto wait_for = [this](std::chrono::milliseconds most) {
    pollfd poll_fd{fd_, POLLIN, 0};
    return ::poll(&poll_fd, 1, static_cast<int>(most.count())) > 0;
  };
  if (!check_root(&changes) || fd_ < 0) {
    std::this_thread::sleep_for(timeout);
  } else if (wait_for(timeout)) {
    const auto first = Steady::now();
    do read_events(&changes);
    while (Steady::now() <
               first + (changes.paths.size() < kManyChanges ? kLongest : kLongestOfMany) &&
           wait_for(quiet));
  }
  if (has_overflowed_) {
    // Folders may have come, gone and moved unnoticed: the watches are those of an older tree.
    watch_all();
    changes.needs_rescan = true;
  }
  if (is_polling_ && root_id_.second != 0 && Steady::now() - polled_ >= options_.poll_every)
    changes.needs_rescan = true;
  if (changes.needs_rescan) polled_ = Steady::now();
  return changes;
}

void FolderWatch::drop_below(const std::string& folder) {
  for (auto it = folders_.begin(); it != folders_.end();) {
    const bool below = it->second == folder || it->second.starts_with(folder + "/");
    if (below) ::inotify_rm_watch(fd_, it->first);
    it = below ? folders_.erase(it) : std::next(it);
  }
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
        has_overflowed_ = true;
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
      } else if ((event->mask & (IN_CREATE | IN_MOVED_TO | IN_ATTRIB)) != 0) {
        watch_tree(path, changes);  // also one that can be read only now
      } else {
        // A folder that left keeps its watches under the old name: drop them and compare
        // everything.
        drop_below(path);
        changes->needs_rescan = true;
      }
    }
  }
}

}  // namespace indx
