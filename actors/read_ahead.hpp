#pragma once
#include "actors/parsed_notes.hpp"
#include "vault/chunk.hpp"
#include "vault/vault.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace indx {

/// One file as the index wants it: read, hashed, parsed, cut into chunks.
struct ReadyFile {
  FileInfo file;
  std::optional<Error> error;  ///< it could not be read; everything below is empty then
  std::string bytes;           ///< of a canvas: its texts, as canvas_content gives them
  std::string etag, sha256;
  bool has_text = false;                   ///< false: indexed by name only
  std::shared_ptr<const ParsedNote> note;  ///< null without text; shared with those that read it
  std::vector<Chunk> chunks;
};
/// `kept`: notes that are read soon again; null: they are not.
ReadyFile read_for_index(const Vault& vault, const FileInfo& file, const ParseOptions& options,
                         ParsedNotes* kept = nullptr);

/// Reads the files of a scan in a thread of its own while the indexer stores those before: reading
/// and parsing costs about as much as storing. At most 64 files or 16 MB are held ready.
class ReadAhead {
 public:
  ReadAhead(const Vault& vault, ParseOptions options, std::deque<FileInfo> files);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead();

  /// The next file in the order given; waits for it. nullopt after the last.
  std::optional<ReadyFile> next();
  bool is_done() const { return taken_ == total_; }

 private:
  void run(const std::stop_token& stop);
  bool has_room() const {
    return ready_.empty() || (ready_.size() < 64 && ready_bytes_ < 16'000'000);
  }

  const Vault& vault_;
  ParseOptions options_;
  std::deque<FileInfo> files_;  ///< of the thread
  std::size_t total_, taken_ = 0;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<ReadyFile> ready_;
  std::size_t ready_bytes_ = 0;
  std::jthread thread_;
};

}  // namespace indx
