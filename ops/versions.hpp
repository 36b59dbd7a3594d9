#pragma once
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "vault/note_path.hpp"
#include "vault/note_query.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace indx {

/// A kept before-image of a note, without its bytes.
struct VersionRow {
  std::int64_t id = 0;
  std::string etag, sha256;
  std::size_t size = 0;
  Timestamp at;        ///< when the change that replaced it was made
  std::string job_id;  ///< of the job that made that change; empty: none
};
struct KeptVersion {
  VersionRow row;
  std::string bytes;
};

/// Versions of notes, as one caller may see them: `forbidden` for a path outside the caller's
/// globs.
class Versions {
 public:
  virtual ~Versions() = default;
  /// Newest first.
  virtual Result<Page<VersionRow>> list(const NotePath& path, int limit,
                                        const std::string& cursor) = 0;
  /// `not_found` when that path has no such version.
  virtual Result<KeptVersion> read(const NotePath& path, std::int64_t id) = 0;

  /// The bytes with this hash that the job found at the path before it wrote there, even if the
  /// file was moved since. `not_found` when they are kept no longer.
  virtual Result<std::string> before_image(const NotePath& path, const JobId& job,
                                           const std::string& sha256) = 0;
  /// The jobs that undo what the job wrote, oldest first. Whoever may see the job may ask.
  virtual Result<std::vector<std::string>> reverted_by(const JobId& job) = 0;
};

}  // namespace indx
