#pragma once
#include "ops/links.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

namespace indx {

/// Lets one change of links run at a time, in the order in which they came. Thread-safe; outlives
/// every turn.
class LinkChanges {
 public:
  /// Blocks until the turns before it are gone. nullptr: `gives_up` said so first; it is asked
  /// every few milliseconds, under the lock, so it must not block.
  std::unique_ptr<LinkTurn> take(const std::function<bool()>& gives_up);

 private:
  class Held;
  void leave();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::uint64_t> line_;  ///< the first has its turn
  std::uint64_t next_number_ = 0;
};

}  // namespace indx
