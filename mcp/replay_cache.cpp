#include "mcp/replay_cache.hpp"

#include "base/hash.hpp"
#include "base/json_text.hpp"

#include <vector>

namespace indx {

std::string ReplayCache::key(const Principal& principal, const Operation& operation,
                             const Json& input) {
  std::vector<std::string> scopes;
  for (const Scope scope : principal.scopes) scopes.emplace_back(name(scope));
  return canonical_hash(
      Json::array({principal.subject, scopes, principal.path_globs, operation.name, input}));
}

std::optional<Json> ReplayCache::find(const std::string& key, const std::string& revision) {
  const std::scoped_lock lock(mutex_);
  drop_old();
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  if (found->second->revision == revision) return Json::parse(found->second->output);
  drop(found->second);
  return std::nullopt;
}

void ReplayCache::put(const std::string& key, const std::string& revision, const Json& output) {
  if (output.is_object() && output.value("indexing", false)) return;
  Kept kept{key, revision, json_text(output), clock_.monotonic()};
  if (kept.size() > kMostBytesOfOne) return;
  const std::scoped_lock lock(mutex_);
  if (const auto found = by_key_.find(key); found != by_key_.end()) drop(found->second);
  bytes_ += kept.size();
  by_key_[key] = kept_.insert(kept_.end(), std::move(kept));
  drop_old();
}

void ReplayCache::drop(Order::iterator kept) {
  bytes_ -= kept->size();
  by_key_.erase(kept->key);
  kept_.erase(kept);
}

void ReplayCache::drop_old() {
  const auto now = clock_.monotonic();
  while (!kept_.empty() && (bytes_ > kMostBytes || now - kept_.front().at > kLife))
    drop(kept_.begin());
}

}  // namespace indx
