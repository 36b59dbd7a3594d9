#pragma once
#include "actors/messages.hpp"
#include "actors/read_ahead.hpp"
#include "store/note_index.hpp"
#include "vault/vault.hpp"

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// How one file compares with what the index knew of it.
enum class FileChange : std::uint8_t { None, Created, Updated, Deleted };

/// The work of the indexer on files, without threads. One thread at a time.
class FileIndexer {
 public:
  /// `kept`: where notes stay parsed that were just written; null: nobody reads them soon.
  FileIndexer(const Vault& vault, NoteIndexWriter& index, ParseOptions options,
              ParsedNotes* kept = nullptr)
      : vault_(vault), index_(index), options_(options), kept_(kept) {}

  /// Reads what the index holds, so that later comparisons need no query.
  Status load();
  /// Brings one path up to date inside the caller's transaction. `etag`: what the file holds now,
  /// empty if gone or unknown.
  struct Indexed {
    FileChange change = FileChange::None;
    std::string etag;
  };
  Result<Indexed> index_path(const std::string& path);
  /// The file of a path as a scan lists it; nullopt: the vault shows none there.
  Result<std::optional<FileInfo>> find(const std::string& path) const;
  /// Whether size and mtime are those of the index, so that the file need not be read again.
  bool is_unchanged(const FileInfo& file) const;
  /// How files compare with what the index knew of them, in order of paths.
  struct Difference {
    std::deque<FileInfo> to_read;
    std::deque<std::string> gone;
    std::vector<std::string> coming;  ///< of those to read, what the index does not know
    std::int64_t unchanged = 0;
  };
  /// `listed`: all files of the vault, in order of paths. With `rebuild` unchanged ones are to be
  /// read too.
  Difference compare(std::vector<FileInfo> listed, bool rebuild,
                     const std::function<bool(const std::string& path)>& is_wanted) const;
  /// These files whatever their size and time: somebody found that they are to be read.
  Result<Difference> look_at_named(const std::vector<std::string>& paths) const;
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
  ParsedNotes* kept_;
  std::map<std::string, IndexedFile> known_;
};

}  // namespace indx
