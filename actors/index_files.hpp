#pragma once
#include "actors/messages.hpp"
#include "actors/read_ahead.hpp"
#include "store/note_index.hpp"
#include "vault/vault.hpp"

#include <map>
#include <string>
#include <vector>

namespace indx {

/// How one file compares with what the index knew of it.
enum class FileChange : std::uint8_t { None, Created, Updated, Deleted };

/// The work of the indexer on files, without threads. One thread at a time.
class FileIndexer {
 public:
  FileIndexer(const Vault& vault, NoteIndexWriter& index, ParseOptions options)
      : vault_(vault), index_(index), options_(options) {}

  /// Reads what the index holds, so that later comparisons need no query.
  Status load();
  /// Brings one path up to date inside the caller's transaction. `etag`: what the file holds now,
  /// empty if gone or unknown.
  struct Indexed {
    FileChange change = FileChange::None;
    std::string etag;
  };
  Result<Indexed> index_path(const std::string& path);
  /// Whether size and mtime are those of the index, so that the file need not be read again.
  bool is_unchanged(const FileInfo& file) const;
  /// Puts a file that was read before, unless it changed since: then it is read once more.
  Result<Indexed> index_ready(ReadyFile ready, bool force);
  Result<Indexed> remove_path(const std::string& path);
  const std::map<std::string, IndexedFile>& known() const { return known_; }
  Status clear();

 private:
  Result<Indexed> put(const ReadyFile& ready, bool force);
  Result<Indexed> put_unread(FileInfo file);

  const Vault& vault_;
  NoteIndexWriter& index_;
  ParseOptions options_;
  std::map<std::string, IndexedFile> known_;
};

}  // namespace indx
