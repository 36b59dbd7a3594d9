#include "actors/own_writes.hpp"

namespace indx {
namespace {

constexpr std::size_t kMostClaims = 20000;
constexpr const char* kAnyBytes = "*";

/// The paths that a write changes, with what will be there.
template <typename Visit>
void visit_changes(const WriteOutcome& outcome, Visit visit) {
  const auto& to = outcome.path.str();
  if (outcome.moved_files.empty()) visit(to, outcome.etag);
  if (!outcome.moved_from.empty()) visit(outcome.moved_from, std::string());
  for (const auto& file : outcome.moved_files) {
    visit(to + "/" + file, std::string(kAnyBytes));
    visit(outcome.moved_from + "/" + file, std::string());
  }
}

}  // namespace

void OwnWrites::put(const std::string& path, const std::string& etag) {
  if (etags_.insert_or_assign(path, etag).second) order_.push_back(path);
  for (; order_.size() > kMostClaims; order_.pop_front()) etags_.erase(order_.front());
}

void OwnWrites::expect(const WriteOutcome& outcome) {
  const std::scoped_lock lock(mutex_);
  visit_changes(outcome, [this](const auto& path, const auto& etag) { put(path, etag); });
}

void OwnWrites::forget(const WriteOutcome& outcome) {
  const std::scoped_lock lock(mutex_);
  visit_changes(outcome, [this](const auto& path, const auto&) { etags_.erase(path); });
}

bool OwnWrites::are_ours(const std::string& path, const std::string& etag) {
  const std::scoped_lock lock(mutex_);
  const auto it = etags_.find(path);
  if (it == etags_.end()) return false;
  if (it->second == kAnyBytes && !etag.empty()) it->second = etag;
  if (it->second == etag) return true;
  etags_.erase(it);
  return false;
}

}  // namespace indx
