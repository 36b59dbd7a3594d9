#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace indx {

/// The path that a sync tool's conflict copy was made of: `a (conflict 2026-01-01).md`,
/// `a (Kim's conflicted copy 2026-01-01).md`, `a (Conflicted copy phone 202601010000).md`,
/// `a.sync-conflict-20260101-000000-ABC.md` all give `a.md`. nullopt for other names. The name
/// patterns are those of Syncthing, Dropbox, Nextcloud and Obsidian Sync.
std::optional<std::string> original_of_conflict_copy(std::string_view path);

}  // namespace indx
