#pragma once
#include "actors/protocols.hpp"

#include <mutex>

namespace indx {

/// Where each actor lives now. A restarted actor takes its predecessor's place here, so nobody
/// keeps a handle. Thread-safe.
class Directory {
 public:
  template <typename Handle>
  Handle get() const {
    const std::scoped_lock lock(mutex_);
    return slot<Handle>(*this);
  }
  template <typename Handle>
  void set(Handle handle) {
    const std::scoped_lock lock(mutex_);
    slot<Handle>(*this) = std::move(handle);
  }
  /// Drops every handle: actors that know each other through it can end.
  void clear() {
    const std::scoped_lock lock(mutex_);
    state_ = nullptr;
    writer_ = nullptr;
    indexer_ = nullptr;
    bus_ = nullptr;
    audit_ = nullptr;
    supervisor_ = nullptr;
  }

 private:
  template <typename Handle, typename Self>
  static auto& slot(Self& self) {
    if constexpr (std::is_same_v<Handle, StateActor>)
      return self.state_;
    else if constexpr (std::is_same_v<Handle, WriterActor>)
      return self.writer_;
    else if constexpr (std::is_same_v<Handle, IndexerActor>)
      return self.indexer_;
    else if constexpr (std::is_same_v<Handle, EventBusActor>)
      return self.bus_;
    else if constexpr (std::is_same_v<Handle, AuditActor>)
      return self.audit_;
    else
      return self.supervisor_;
  }
  mutable std::mutex mutex_;
  StateActor state_;
  WriterActor writer_;
  IndexerActor indexer_;
  EventBusActor bus_;
  AuditActor audit_;
  SupervisorActor supervisor_;
};

}  // namespace indx
