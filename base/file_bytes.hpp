#pragma once
#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace indx {

/// Bytes of an open file, or of a part of it, without holding them in memory. They stay those of
/// the file that was opened, whatever takes its name later. Reading is safe from any thread.
class FileBytes {
 public:
  /// An existing regular file, by any path; `not_found` for anything else.
  static Result<FileBytes> open(const std::string& file);
  /// A file without a name in `folder`, gone with its last user; filled by `append`.
  static Result<FileBytes> make_temp(const std::string& folder);
  /// Takes the descriptor over.
  static FileBytes from_descriptor(int fd, std::uint64_t size);

  std::uint64_t size() const { return size_; }
  int descriptor() const;
  std::uint64_t begin() const { return begin_; }  ///< where they start in the descriptor's file
  /// Bytes from `offset` on, at most `size`; fewer only where they end.
  Result<std::string> read(std::uint64_t offset, std::size_t size) const;
  Result<std::string> read_all() const { return read(0, size_); }
  /// The bytes [offset, offset + size), sharing the file.
  FileBytes part(std::uint64_t offset, std::uint64_t size) const;
  /// Only for a file of `make_temp`, and from one thread.
  Status append(std::string_view bytes);
  /// Everything that `fd` gives until its end; `too_large` past `max_bytes`.
  Status append_from(int fd, std::uint64_t max_bytes);

 private:
  struct Descriptor;
  explicit FileBytes(std::shared_ptr<const Descriptor> file) : file_(std::move(file)) {}

  std::shared_ptr<const Descriptor> file_;  // shared: by its parts
  std::uint64_t begin_ = 0, size_ = 0;
};

struct FileHashes {
  std::string etag, sha256;
};
/// Both hashes in one pass of constant memory (base/hash.hpp says of what form).
Result<FileHashes> hash_file(const FileBytes& bytes);
/// The etag alone.
Result<std::string> etag_of_file(const FileBytes& bytes);

}  // namespace indx
