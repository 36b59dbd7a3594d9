#pragma once
#include "base/cancel.hpp"
#include "base/event.hpp"
#include "base/http_client.hpp"
#include "cli/remote_dispatcher.hpp"
#include "cli/sse_reader.hpp"
#include "ops/principal.hpp"

#include <mutex>
#include <string>

namespace indx {

/// What the threads of one remote dispatcher share.
struct RemoteWire {
  RemoteTarget target;
  std::mutex mutex;
  std::string epoch;  // of the last event seen
  CancelToken closing;

  /// With the token, and as `principal` where the server honours that; without a time limit.
  HttpClientRequest request(const std::string& method, const std::string& path_and_query,
                            const Principal* principal) const;
};

/// The error that a response with a status of failure tells.
Error error_of_response(const HttpClientResponse& response);
/// `*epoch`, unless null, is set to the one that the event's id names.
Event event_of(const SseFrame& frame, std::string* epoch);

}  // namespace indx
