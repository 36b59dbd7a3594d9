#pragma once
#include "http/router.hpp"
#include "ops/dispatch.hpp"

#include <functional>
#include <string>

namespace indx {

/// Adds a route for every operation of the registry, /healthz /readyz /version /v1/health
/// /metrics /openapi.json, and the event streams /v1/events and /v1/jobs/{id}/events.
void add_rest_routes(Router& router, Dispatcher& dispatcher);

/// How the server takes bodies in: those of operations that take a file go into nameless files in
/// `folder`, of at most `max_file_bytes` each and a few at a time, and only from callers who may
/// call the operation. Both must outlive the server.
PlanBody plan_bodies(const Router& router, Dispatcher& dispatcher, const std::string& folder,
                     std::uint64_t max_bytes, std::uint64_t max_file_bytes);

/// The principal of a request: `Authorization: Bearer indx_…`. `unauthorized` without or with a bad
/// one. The local socket forwards for other processes of the same user: headers `X-Indx-Surface`
/// and `X-Indx-Scopes` narrow the principal there.
Result<Principal> authenticate_request(const HttpRequest& request, Dispatcher& dispatcher,
                                       Surface surface);

/// `{ok:false, error:{code, message, details, request_id}}` with status, Retry-After and
/// WWW-Authenticate.
HttpResponse error_response(const Error& error, const RequestId& id);
HttpResponse json_response(int status, const Json& body, const RequestId& id);
/// `{ok:true, data}`.
HttpResponse data_response(int status, const Json& data, const RequestId& id);

/// Refuses pages of other origins, and on a listener that only this machine reaches any Host that
/// is not this server's (DNS rebinding). `http.public_names` are its own as well.
Status check_origin(const HttpRequest& request);
/// Both of them, for a REST route.
Result<Principal> admit_request(const HttpRequest& request, Dispatcher& dispatcher);

}  // namespace indx
