#include "actors/read_ahead.hpp"

#include "base/hash.hpp"
#include "vault/canvas_content.hpp"

namespace indx {

ReadyFile read_for_index(const Vault& vault, const FileInfo& file, const ParseOptions& options,
                         ParsedNotes* kept) {
  ReadyFile ready{.file = file};
  // Read as a whole even when it is indexed by name only: the etag is of the bytes.
  auto read = vault.read(file.path);
  if (!read.has_value()) {
    ready.error = read.error();
    return ready;
  }
  ready.sha256 = sha256_hex(read->bytes);
  const bool is_canvas = is_canvas_path(file.path.str());
  ready.has_text = (file.path.is_note() || is_canvas) && read->bytes.size() <= kMaxIndexedBytes;
  if (ready.has_text && !is_canvas)
    ready.note = kept != nullptr
                     ? kept->get(*read)
                     : std::make_shared<const ParsedNote>(parse_note(read->bytes, options));
  ready.bytes = std::move(read->bytes);
  ready.etag = std::move(read->etag);
  if (!ready.has_text) return ready;
  if (is_canvas) {
    auto content = canvas_content(ready.bytes);
    ready.bytes = std::move(content.text);
    ready.note = std::make_shared<const ParsedNote>(std::move(content.note));
  } else {
    ready.chunks = chunk_note(file.path.str(), ready.bytes, *ready.note);
  }
  return ready;
}

ReadAhead::ReadAhead(const Vault& vault, ParseOptions options, std::deque<FileInfo> files)
    : vault_(vault), options_(options), files_(std::move(files)), total_(files_.size()) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

ReadAhead::~ReadAhead() { thread_.request_stop(); }

void ReadAhead::run(const std::stop_token& stop) {
  for (; !files_.empty(); files_.pop_front()) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return has_room(); })) return;
    }
    ReadyFile file = read_for_index(vault_, files_.front(), options_);
    const std::scoped_lock lock(mutex_);
    ready_bytes_ += file.bytes.size();
    ready_.push_back(std::move(file));
    changed_.notify_all();
  }
}

std::optional<ReadyFile> ReadAhead::next() {
  if (is_done()) return std::nullopt;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty(); });
  ReadyFile file = std::move(ready_.front());
  ready_.pop_front();
  ready_bytes_ -= file.bytes.size();
  ++taken_;
  changed_.notify_all();
  return file;
}

}  // namespace indx
