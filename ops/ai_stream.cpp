#include "ops/ai_stream.hpp"

#include <utility>

namespace indx {
namespace {

constexpr const char *kPartial = "ai.partial", *kCitation = "ai.citation", *kUsage = "ai.usage";

}  // namespace

bool AiStream::tells(const Event& event) {
  return event.kind == kPartial || event.kind == kCitation || event.kind == kUsage;
}

void AiStream::tell_citation(Json citation) {
  tell(kCitation, {{"citation", std::move(citation)}});
}

void AiStream::tell_usage(Json usage) { tell(kUsage, {{"usage", std::move(usage)}}); }

void AiStream::begin_prose() {
  const std::scoped_lock lock(mutex_);
  begins_anew_ = true;
}

void AiStream::add_prose(std::string_view delta) {
  if (delta.empty()) return;
  const std::scoped_lock lock(mutex_);
  tell_delta(delta, std::exchange(begins_anew_, false) && !told_.empty());
}

void AiStream::settle_prose(std::string_view whole) {
  const std::scoped_lock lock(mutex_);
  if (whole == told_) return;
  const bool goes_on = whole.starts_with(told_);
  tell_delta(goes_on ? whole.substr(told_.size()) : whole, !goes_on);
}

void AiStream::note_unsupported() {
  const std::scoped_lock lock(mutex_);
  is_unsupported_ = true;
}

bool AiStream::is_unsupported() const {
  const std::scoped_lock lock(mutex_);
  return is_unsupported_;
}

void AiStream::end() {
  const std::scoped_lock lock(mutex_);
  listener_ = nullptr;
}

void AiStream::tell(const std::string& kind, Json data) {
  const std::scoped_lock lock(mutex_);
  tell_locked(kind, std::move(data));
}

/// Under the lock, so that events come in the order in which they were told.
void AiStream::tell_locked(const std::string& kind, Json data) {
  if (!listener_) return;
  Event event;
  event.kind = kind;
  event.data = std::move(data);
  listener_(event);
}

void AiStream::tell_delta(std::string_view delta, bool restarts) {
  if (restarts) told_.clear();
  told_ += delta;
  Json data{{"delta", std::string(delta)}};
  if (restarts) data["restart"] = true;
  tell_locked(kPartial, std::move(data));
}

}  // namespace indx
