#pragma once
#include "base/ids.hpp"
#include "ops/ai_stream.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace indx {

/// The streamed calls that wait for jobs of this process, by job. A call owns its stream; what it
/// leaves behind here is forgotten with the next one. Thread-safe.
class AnswerStreams {
 public:
  void add(const JobId& job, const std::shared_ptr<AiStream>& stream) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(streams_, [](const auto& entry) { return entry.second.expired(); });
    streams_.try_emplace(job, stream);
  }
  /// Null: nobody listens.
  std::shared_ptr<AiStream> of(const JobId& job) const {
    const std::scoped_lock lock(mutex_);
    const auto it = streams_.find(job);
    return it == streams_.end() ? nullptr : it->second.lock();
  }

 private:
  mutable std::mutex mutex_;
  std::map<JobId, std::weak_ptr<AiStream>> streams_;
};

}  // namespace indx
