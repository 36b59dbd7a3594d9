#include "actors/index_files.hpp"

#include "vault/vault_move.hpp"

namespace indx {
namespace {

bool is_same_file(const IndexedFile& known, const FileInfo& file) {
  return known.size == file.size && known.mtime_ns == file.mtime_ns &&
         known.ctime_ns == file.ctime_ns && known.inode == file.inode;
}

}  // namespace
namespace {

IndexedFile known_as(const ReadyFile& ready) {
  return {ready.etag, ready.file.size, ready.file.mtime_ns, ready.file.ctime_ns, ready.file.inode};
}

}  // namespace

Status FileIndexer::load() {
  known_ = INDX_TRY(index_.files());
  return {};
}

Status FileIndexer::clear() {
  INDX_TRY(index_.clear());
  known_.clear();
  return {};
}

Result<std::optional<FileInfo>> FileIndexer::find(const std::string& path) const {
  const auto note_path = NotePath::parse(path);
  if (!note_path.has_value() || note_path->is_ignored()) return std::optional<FileInfo>();
  // A link shows a file that is indexed under its own path, or one outside (vault-rules 1.8).
  const auto there = look_at(vault_, *note_path);
  if (!there.has_value() && there.error().reason != Reason::Forbidden) return there.error();
  if (!there.has_value() || there->kind != VaultEntry::Kind::File) return std::optional<FileInfo>();
  auto file = vault_.stat(*note_path);
  if (file.has_value()) return std::optional(std::move(*file));
  if (file.error().reason != Reason::NotFound) return file.error();
  // A file that may not be read stays known by its name, as a scan would have it.
  return seen_file(vault_, *note_path);
}

Result<FileIndexer::Indexed> FileIndexer::index_path(const std::string& path) {
  const auto file = INDX_TRY(find(path));
  if (!file) return remove_path(path);
  return put(read_for_index(vault_, *file, options_, kept_), false);
}

bool FileIndexer::is_unchanged(const FileInfo& file) const {
  const auto old = known_.find(file.path.str());
  return old != known_.end() && is_same_file(old->second, file);
}

FileIndexer::Difference FileIndexer::compare(
    std::vector<FileInfo> listed, bool rebuild,
    const std::function<bool(const std::string& path)>& is_wanted) const {
  Difference difference;
  auto known = known_.begin();
  const auto pass_gone = [&](const auto& is_before) {
    for (; known != known_.end() && is_before(known->first); ++known)
      if (is_wanted(known->first)) difference.gone.push_back(known->first);
  };
  for (auto& file : listed) {  // both are sorted by path
    const auto& path = file.path.str();
    pass_gone([&](const std::string& other) { return other < path; });
    const bool is_known = known != known_.end() && known->first == path;
    const bool is_same = is_known && is_same_file(known->second, file);
    if (is_known) ++known;
    if (!is_wanted(path)) continue;
    if (!rebuild && is_same) {
      ++difference.unchanged;
      continue;
    }
    if (!is_known) difference.coming.push_back(path);
    difference.to_read.push_back(std::move(file));
  }
  pass_gone([](const std::string&) { return true; });
  return difference;
}

Result<FileIndexer::Difference> FileIndexer::look_at_named(
    const std::vector<std::string>& paths) const {
  Difference difference;
  for (const auto& path : paths) {
    auto file = INDX_TRY(find(path));
    if (!file) {
      difference.gone.push_back(path);
      continue;
    }
    if (!known_.contains(path)) difference.coming.push_back(path);
    difference.to_read.push_back(std::move(*file));
  }
  return difference;
}

// A write in between has been indexed on its own, and older bytes must not replace it.
Result<FileIndexer::Indexed> FileIndexer::index_ready(ReadyFile ready, bool force) {
  if (is_as_seen(vault_, ready.file)) return put(ready, force);
  const auto now = vault_.stat(ready.file.path);
  if (now.has_value() && (now->size != ready.file.size || now->mtime_ns != ready.file.mtime_ns))
    ready = read_for_index(vault_, *now, options_, kept_);
  return put(ready, force);
}

Result<FileIndexer::Indexed> FileIndexer::put(const ReadyFile& ready, bool force) {
  const auto& path = ready.file.path.str();
  if (ready.error && ready.error->reason == Reason::NotFound) return remove_path(path);
  const auto old = known_.find(path);
  const bool is_known = old != known_.end();
  if (is_known && !force && old->second.etag == ready.etag && !ready.etag.empty()) {
    INDX_TRY(index_.touch(ready.file));
    old->second = known_as(ready);
    return Indexed{FileChange::None, ready.etag};
  }
  if (ready.error) return put_unread(ready.file);
  if (ready.has_text)
    INDX_TRY(index_.put(ready.file, ready.etag, ready.sha256, &ready.bytes, ready.note.get(),
                        &ready.chunks));
  else
    INDX_TRY(index_.put(ready.file, ready.etag, ready.sha256, nullptr, nullptr));
  known_.insert_or_assign(path, known_as(ready));
  return Indexed{is_known ? FileChange::Updated : FileChange::Created, ready.etag};
}

// Its time of change is not kept, so that the next scan tries to read it again.
Result<FileIndexer::Indexed> FileIndexer::put_unread(FileInfo file) {
  file.ctime_ns = 0;
  const auto old = known_.find(file.path.str());
  const bool is_known = old != known_.end(), was_read = is_known && !old->second.etag.empty();
  INDX_TRY(index_.put(file, "", "", nullptr, nullptr));
  known_.insert_or_assign(file.path.str(),
                          IndexedFile{"", file.size, file.mtime_ns, file.ctime_ns, file.inode});
  if (is_known && !was_read) return Indexed{};
  return Indexed{is_known ? FileChange::Updated : FileChange::Created, ""};
}

Result<FileIndexer::Indexed> FileIndexer::remove_path(const std::string& path) {
  if (known_.erase(path) == 0) return Indexed{};
  INDX_TRY(index_.remove(path));
  return Indexed{FileChange::Deleted, ""};
}

}  // namespace indx
