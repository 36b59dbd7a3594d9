#pragma once
#include "base/clock.hpp"
#include "base/file_bytes.hpp"
#include "vault/note_path.hpp"
#include "vault/note_query.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace indx {

/// A file that came with a call, beside its input.
struct Upload {
  FileBytes bytes;
  std::string name;  ///< what the sender calls it; empty: nothing. Not to be trusted as a path
};

/// A file of the vault that is no note, without its bytes.
struct AttachmentRow {
  std::string path, etag;
  std::uint64_t size = 0;
  Timestamp modified;
};

struct AttachmentFilter {
  std::string path_glob;                ///< empty: all
  std::vector<std::string> extensions;  ///< lower case, without the dot; empty: any
  PathScope scope;
};

struct OpenedFile {
  AttachmentRow row;
  FileBytes bytes;
};

/// Files that are no notes, as one caller may see them.
class Files {
 public:
  virtual ~Files() = default;
  /// By path.
  virtual Result<Page<AttachmentRow>> list(AttachmentFilter filter, int limit,
                                           const std::string& cursor) = 0;
  /// `not_found` for missing and ignored paths, `forbidden` outside the caller's globs.
  virtual Result<OpenedFile> open(const NotePath& path) = 0;
};

}  // namespace indx
