#include "actors/parsed_notes.hpp"

namespace indx {

std::shared_ptr<const ParsedNote> ParsedNotes::get(const NoteFile& file) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = by_etag_.find(file.etag);
    if (found != by_etag_.end() && found->second->bytes == file.bytes) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->note;
    }
  }
  auto note = std::make_shared<const ParsedNote>(parse_note(file.bytes, options_));
  if (file.bytes.size() > most_bytes_ / 8) return note;
  const std::scoped_lock lock(mutex_);
  if (!by_etag_.try_emplace(file.etag, entries_.begin()).second) return note;
  entries_.push_front({file.etag, file.bytes, note});
  by_etag_[file.etag] = entries_.begin();
  for (bytes_ += file.bytes.size(); bytes_ > most_bytes_;) {
    bytes_ -= entries_.back().bytes.size();
    by_etag_.erase(entries_.back().etag);
    entries_.pop_back();
  }
  return note;
}

}  // namespace indx
