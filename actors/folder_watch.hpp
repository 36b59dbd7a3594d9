#pragma once
#include "base/result.hpp"

#include <chrono>
#include <map>
#include <set>
#include <string>

namespace indx {

/// inotify over a folder tree. One thread. Hidden and ignored folders are not watched; a new folder
/// is watched first and then listed, so that nothing in it is missed.
class FolderWatch {
 public:
  static Result<FolderWatch> open(const std::string& root);
  FolderWatch(FolderWatch&& other) noexcept;
  FolderWatch& operator=(FolderWatch&&) = delete;
  ~FolderWatch();

  struct Changes {
    std::set<std::string> paths;  ///< vault-relative files that may have changed or gone
    bool needs_rescan =
        false;  ///< the kernel's queue overflowed, or a folder went: look at everything
  };
  /// Waits at most `timeout` for the first change, then gathers until `quiet` passes without
  /// another (at most 1 s).
  Changes wait(std::chrono::milliseconds timeout, std::chrono::milliseconds quiet);

 private:
  FolderWatch(int fd, std::string root) : fd_(fd), root_(std::move(root)) {}
  void watch_tree(const std::string& folder, Changes* found);
  void read_events(Changes* changes);

  int fd_;
  std::string root_;
  std::map<int, std::string> folders_;  ///< watch descriptor → relative folder
};

}  // namespace indx
