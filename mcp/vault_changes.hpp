#pragma once
#include "base/event.hpp"
#include "ops/principal.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Patterns of the kinds of events that VaultChanges is made of.
std::vector<std::string> file_event_kinds();

/// What happened to the files of the vault in a stretch of time, as far as one principal may see
/// it. Bounded: past `kMostPaths` it only knows that anything may have changed.
class VaultChanges {
 public:
  static constexpr std::size_t kMostPaths = 1000;

  void add(const Event& event, const PathScope& scope);
  bool empty() const { return paths_.empty() && folders_.empty() && !is_anything_; }
  /// Whether files came or went.
  bool is_list_changed() const { return is_list_changed_; }

  /// Whether the file may have changed.
  bool touch(std::string_view path) const;
  struct Matches {
    std::vector<std::string> paths;
    bool has_more = false;  ///< others that are not known by name
  };
  Matches matching(std::string_view glob) const;

 private:
  void add_path(const std::string& path);
  void add_folder(const std::string& path);

  std::set<std::string, std::less<>> paths_;
  std::vector<std::string> folders_;  // moved with all that they hold
  bool is_anything_ = false, is_list_changed_ = false;
};

}  // namespace indx
