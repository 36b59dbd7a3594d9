#pragma once
#include "vault/vault.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// Moving files and folders of a vault: file calls only, no order and no promises.

struct VaultEntry {
  enum class Kind : std::uint8_t { None, File, Folder };
  Kind kind = Kind::None;
  std::uint64_t inode = 0;  ///< stays the same when the entry moves
};
/// What stands at a path; symbolic links, pipes and devices are nothing.
Result<VaultEntry> look_at(const Vault& vault, const NotePath& path);
/// What the folders say of a file, which need not be readable; nullopt also where only
/// `Vault::stat` can tell.
std::optional<FileInfo> seen_file(const Vault& vault, const NotePath& path);
/// Whether the path still holds the file that was seen, unchanged. Cheaper than `Vault::stat`;
/// false also where only that can tell.
bool is_as_seen(const Vault& vault, const FileInfo& file);
/// A file or folder, other than `from` itself, that a move to this path would meet: one with the
/// same path, whatever its case.
std::optional<NotePath> taken_by(const Vault& vault, const NotePath& to, const NotePath& from);
/// The folder that one of the folders of `path`, which is not there yet, equals but for case: both
/// would be one where the file system does not tell them apart.
std::optional<NotePath> folder_twin(const Vault& vault, const NotePath& path);
/// Whether a file could be made at `path`: neither a link nor a file stands where a folder has to
/// be. Fails as the write would.
Status check_reachable(const Vault& vault, const NotePath& path);
/// Every file below a folder that is not ignored, sorted.
std::vector<std::string> files_below(const Vault& vault, const NotePath& folder);

/// Moves a file or folder and makes the folders it needs; nothing is ever replaced: `conflict` when
/// something came there meanwhile. A change of case goes through `temp_name` where the file system
/// does not tell the two names apart.
Status move_entry(const Vault& vault, const NotePath& from, const NotePath& to,
                  const std::string& temp_name);
/// After a crash: whether the entry with this inode is at its new place; one that stands half-way
/// goes there.
Result<bool> recover_move(const Vault& vault, const NotePath& to, const std::string& temp_name,
                          std::uint64_t inode);

}  // namespace indx
