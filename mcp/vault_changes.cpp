#include "mcp/vault_changes.hpp"

#include "base/text.hpp"
#include "ops/dispatch.hpp"

#include <algorithm>

namespace indx {
namespace {

bool is_below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

/// What a glob begins with whatever matches it.
std::string_view literal_prefix(std::string_view glob) {
  return glob.substr(0, glob.find_first_of("*?[{"));
}

/// Whether something below the folder may match.
bool may_match_below(std::string_view glob, std::string_view folder) {
  const auto prefix = literal_prefix(glob);
  const std::string inside = cat(folder, '/');
  return prefix.starts_with(inside) || inside.starts_with(prefix);
}

bool may_hold_visible(const PathScope& scope, std::string_view folder) {
  return scope.any_of.empty() ||
         std::any_of(scope.any_of.begin(), scope.any_of.end(),
                     [&](const auto& glob) { return may_match_below(glob, folder); });
}

}  // namespace

std::vector<std::string> file_event_kinds() { return {"note.*", "canvas.*", "attachment.*"}; }

void VaultChanges::add(const Event& event, const PathScope& scope) {
  if (event.kind == kEventReset) {
    is_anything_ = is_list_changed_ = true;
    return;
  }
  if (!kind_matches(event.kind, file_event_kinds())) return;
  const bool is_folder = event.data.value("is_folder", false);
  for (const char* key : {"path", "from"}) {
    const auto found = event.data.find(key);
    if (found == event.data.end() || !found->is_string()) continue;
    const auto& path = found->get_ref<const std::string&>();
    if (is_folder ? !may_hold_visible(scope, path) : !scope.allows(path)) continue;
    if (!event.kind.ends_with(".updated")) is_list_changed_ = true;
    is_folder ? add_folder(path) : add_path(path);
  }
}

void VaultChanges::add_path(const std::string& path) {
  if (is_anything_) return;
  paths_.insert(path);
  if (paths_.size() > kMostPaths) is_anything_ = true;
}

void VaultChanges::add_folder(const std::string& path) {
  if (is_anything_) return;
  folders_.push_back(path);
  if (folders_.size() > kMostPaths) is_anything_ = true;
}

bool VaultChanges::touch(std::string_view path) const {
  return is_anything_ || paths_.contains(path) ||
         std::any_of(folders_.begin(), folders_.end(),
                     [&](const auto& folder) { return is_below(path, folder); });
}

VaultChanges::Matches VaultChanges::matching(std::string_view glob) const {
  Matches found;
  for (const auto& path : paths_)
    if (glob_match(glob, path)) found.paths.push_back(path);
  found.has_more = is_anything_ ||
                   std::any_of(folders_.begin(), folders_.end(),
                               [&](const auto& folder) { return may_match_below(glob, folder); });
  return found;
}

}  // namespace indx
