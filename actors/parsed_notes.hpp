#pragma once
#include "vault/markdown.hpp"
#include "vault/vault.hpp"

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace indx {

/// The notes that were read last, parsed, by their etag: whoever reads one again pays for its bytes
/// only. Bounded by the bytes of the notes, the least recently read go first. Safe from any thread.
class ParsedNotes {
 public:
  ParsedNotes(ParseOptions options, std::size_t most_bytes)
      : options_(options), most_bytes_(most_bytes) {}

  std::shared_ptr<const ParsedNote> get(const NoteFile& file);

 private:
  struct Entry {
    std::string etag, bytes;  ///< compared, for an etag can be forged
    std::shared_ptr<const ParsedNote> note;
  };

  const ParseOptions options_;
  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  ///< the last read first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_etag_;
};

}  // namespace indx
