#pragma once
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <sys/types.h>
#include <utility>

namespace indx {

/// inotify over a folder tree. One thread. Hidden and ignored folders are not watched, symbolic
/// links not followed; a new folder is watched first and then listed, so that nothing in it is
/// missed. What the kernel cannot tell (too many folders, no inotify, a queue that overflowed, a
/// root that was made anew) is made up for by asking for a look at everything.
class FolderWatch {
 public:
  struct Options {
    std::size_t most_folders = std::numeric_limits<std::size_t>::max();
    /// How often everything is looked at while folders are left that cannot be watched.
    std::chrono::milliseconds poll_every = std::chrono::seconds(3);
  };
  explicit FolderWatch(std::string root) : FolderWatch(std::move(root), Options()) {}
  FolderWatch(std::string root, Options options);
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;
  ~FolderWatch();

  struct Changes {
    std::set<std::string> paths;  ///< vault-relative files that may have changed or gone
    bool needs_rescan = false;    ///< look at everything
  };
  /// Waits at most `timeout` for the first change, then gathers until `quiet` passes without
  /// another (at most 200 ms; 1 s while many change).
  Changes wait(std::chrono::milliseconds timeout, std::chrono::milliseconds quiet);

  /// Whether some folders are only looked at every `poll_every`.
  bool is_polling() const { return is_polling_; }

 private:
  /// Drops all watches and makes them anew.
  void watch_all();
  void watch_tree(const std::string& folder, Changes* found);
  void read_events(Changes* changes);
  void drop_below(const std::string& folder);
  void begin_polling(const char* why);
  /// Notices a root that went or was made anew. False: it is not there.
  bool check_root(Changes* changes);

  int fd_ = -1;
  std::string root_;
  Options options_;
  std::pair<dev_t, ino_t> root_id_{};   ///< of the folder that is watched; 0: none
  std::map<int, std::string> folders_;  ///< watch descriptor → relative folder
  bool is_polling_ = false, has_warned_ = false, has_overflowed_ = false;
  std::chrono::steady_clock::time_point polled_;
};

}  // namespace indx
