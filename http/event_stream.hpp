#pragma once
#include "http/router.hpp"
#include "ops/dispatch.hpp"

#include <string>

namespace indx {

/// One SSE frame; an empty id is left out.
std::string sse_frame(const std::string& id, const std::string& event, const Json& data);
/// The head of an event stream, with its first frame.
HttpResponse event_stream_head(std::string first_frame);
bool accepts(const HttpRequest& request, std::string_view media_type);

/// GET /v1/events and GET /v1/jobs/{id}/events. The dispatcher outlives the router.
void add_event_routes(Router& router, Dispatcher& dispatcher);

}  // namespace indx
