#include "actors/index_files.hpp"

#include "base/hash.hpp"

namespace indx {

Status FileIndexer::load() {
  known_.clear();
  for (auto& file : INDX_TRY(index_.files())) {
    auto path = file.path;
    known_.emplace(std::move(path), std::move(file));
  }
  return {};
}

Status FileIndexer::clear() {
  INDX_TRY(index_.clear());
  known_.clear();
  return {};
}

Result<FileIndexer::Indexed> FileIndexer::index_path(const std::string& path) {
  const auto note_path = NotePath::parse(path);
  if (!note_path.has_value() || note_path->is_ignored()) return Indexed{};
  auto file = vault_.stat(*note_path);
  if (file.has_value()) return index_file(*file, true);
  if (file.error().reason == Reason::NotFound) return remove_path(path);
  return file.error();
}

Result<FileIndexer::Indexed> FileIndexer::index_file(const FileInfo& file, bool force) {
  const auto& path = file.path.str();
  const auto old = known_.find(path);
  const bool is_known = old != known_.end();
  if (is_known && !force && old->second.size == file.size && old->second.mtime_ns == file.mtime_ns)
    return Indexed{FileChange::None, old->second.etag};

  // Read as a whole even when it is indexed by name only: the etag is of the bytes.
  auto read = vault_.read(file.path);
  if (!read.has_value() && read.error().reason == Reason::NotFound) return remove_path(path);
  const std::string bytes = read.has_value() ? std::move(read->bytes) : std::string();
  const auto etag = read.has_value() ? read->etag : std::string();
  if (is_known && old->second.etag == etag && !etag.empty()) {
    INDX_TRY(index_.touch(file));
    old->second.size = file.size;
    old->second.mtime_ns = file.mtime_ns;
    return Indexed{FileChange::None, etag};
  }
  const auto sha256 = read.has_value() ? sha256_hex(bytes) : std::string();
  if (read.has_value() && file.path.is_note() && bytes.size() <= kMaxIndexedBytes) {
    const ParsedNote note = parse_note(bytes, {legacy_properties_});
    INDX_TRY(index_.put(file, etag, sha256, &bytes, &note));
  } else {
    INDX_TRY(index_.put(file, etag, sha256, nullptr, nullptr));
  }
  known_.insert_or_assign(path, IndexedFile{path, etag, sha256, file.size, file.mtime_ns});
  return Indexed{is_known ? FileChange::Updated : FileChange::Created, etag};
}

Result<FileIndexer::Indexed> FileIndexer::remove_path(const std::string& path) {
  if (known_.erase(path) == 0) return Indexed{};
  INDX_TRY(index_.remove(path));
  return Indexed{FileChange::Deleted, ""};
}

}  // namespace indx
