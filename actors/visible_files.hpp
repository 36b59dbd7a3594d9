#pragma once
#include "base/config.hpp"
#include "vault/note_query.hpp"
#include "vault/vault.hpp"

namespace indx {

/// Files of the vault as one caller may read them. A path with symbolic links shows a file only
/// where the caller may also name the path that it really has. Safe from any thread.
class VisibleFiles {
 public:
  /// `vault` and `config` must outlive it.
  VisibleFiles(const Vault& vault, const Config& config, PathScope scope)
      : vault_(vault), config_(config), scope_(std::move(scope)) {}

  /// `forbidden` outside the caller's globs.
  Status check(const NotePath& path) const;
  /// Exact bytes; `not_found` for missing and ignored paths. With `case_insensitive_match`, a file
  /// that is spelled otherwise is found as well (row A8).
  Result<NoteFile> read(const NotePath& path) const;
  /// The same without reading it.
  Result<Vault::Opened> open(const NotePath& path) const;
  bool exists(const NotePath& path) const;
  /// An error about `path` as the caller may see it: without the name of a file outside the globs
  /// that stands in the way.
  Error shown(const NotePath& path, Error error) const;

 private:
  Vault::MayFollow may_follow() const;
  template <typename Find>
  auto find(const NotePath& path, Find find) const -> decltype(find(path));

  const Vault& vault_;
  const Config& config_;
  const PathScope scope_;
};

}  // namespace indx
