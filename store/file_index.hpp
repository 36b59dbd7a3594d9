#pragma once
#include "base/clock.hpp"
#include "store/index_pool.hpp"
#include "vault/note_query.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace indx {

/// What the index knows of files that are no notes. Safe from any thread.
class FileIndex {
 public:
  explicit FileIndex(IndexPool& pool) : pool_(pool) {}

  struct Row {
    std::string path, etag;
    std::int64_t size = 0;
    Timestamp modified;
  };
  /// By path. `extensions` in lower case and without dot; empty: any.
  Result<Page<Row>> list(const NoteFilter& filter, const std::vector<std::string>& extensions,
                         int limit, const std::string& cursor);
  /// The etag that a file of this size and time had when it was indexed.
  Result<std::optional<std::string>> etag(const std::string& path, std::int64_t size,
                                          std::int64_t mtime_ns);

 private:
  IndexPool& pool_;
};

}  // namespace indx
