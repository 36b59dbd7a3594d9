#pragma once
#include "actors/messages.hpp"
#include "store/note_index.hpp"
#include "vault/vault.hpp"

#include <map>
#include <string>
#include <vector>

namespace indx {

/// How one file compares with what the index knew of it.
enum class FileChange : std::uint8_t { None, Created, Updated, Deleted };

/// The work of the indexer on files, without threads: reads, parses, puts. One thread at a time.
class FileIndexer {
 public:
  FileIndexer(const Vault& vault, NoteIndexWriter& index, bool legacy_properties)
      : vault_(vault), index_(index), legacy_properties_(legacy_properties) {}

  /// Reads what the index holds, so that later comparisons need no query.
  Status load();
  /// Brings one path up to date inside the caller's transaction. `etag`: what the file holds now,
  /// empty if gone or unknown.
  struct Indexed {
    FileChange change = FileChange::None;
    std::string etag;
  };
  Result<Indexed> index_path(const std::string& path);
  /// The same for a file of a listing; unchanged size and mtime are not read again unless `force`.
  Result<Indexed> index_file(const FileInfo& file, bool force);
  Result<Indexed> remove_path(const std::string& path);
  const std::map<std::string, IndexedFile>& known() const { return known_; }
  Status clear();

 private:
  const Vault& vault_;
  NoteIndexWriter& index_;
  bool legacy_properties_;
  std::map<std::string, IndexedFile> known_;
};

}  // namespace indx
