#pragma once
#include "base/metrics.hpp"
#include "http/router.hpp"
#include "ops/dispatch.hpp"

#include <optional>
#include <string>

namespace indx {

/// First bytes of a stream that clients come back to.
inline constexpr std::string_view kStreamRetry = "retry: 2000\n\n";

/// One SSE frame; an empty id is left out.
std::string sse_frame(const std::string& id, const std::string& event, const Json& data);
/// The head of an event stream, with its first frame.
HttpResponse event_stream_head(std::string first_frame);
bool accepts(const HttpRequest& request, std::string_view media_type);

/// Where a client that comes back stopped: the header, or `last_event_id` of the query.
std::optional<std::string> last_event_id(const HttpRequest& request);
/// What goes into the `id` of its frame; empty for an event that is not durable. A reset carries
/// the id to go on from, so that who comes back after it is not reset again.
std::string wire_id(const Event& event, const std::string& epoch);

/// Counts one open stream while it lives.
class OpenStream {
 public:
  explicit OpenStream(Metrics* metrics) : metrics_(metrics) {
    if (metrics_ != nullptr) metrics_->event_streams.add(1);
  }
  ~OpenStream() {
    if (metrics_ != nullptr) metrics_->event_streams.add(-1);
  }
  OpenStream(const OpenStream&) = delete;
  OpenStream& operator=(const OpenStream&) = delete;

 private:
  Metrics* const metrics_;  // outlives the server
};

/// GET /v1/events and GET /v1/jobs/{id}/events. The dispatcher outlives the router.
void add_event_routes(Router& router, Dispatcher& dispatcher);

}  // namespace indx
