#pragma once
#include "http/router.hpp"

namespace indx {

/// What the front says about bytes that never became a request.
HttpResponse refusal_response(int status, const std::string& message, const RequestId& id);

/// The bytes of one response: status line, headers, Content-Length of all, and its `body`; the
/// parts are left to the caller.
struct WireForm {
  bool is_head = false;  ///< answers a HEAD request: no body, but its length
  bool keep_alive = false;
  bool has_length = true;  ///< false: the body ends when the connection does
};
std::string to_wire(const HttpResponse& response, const WireForm& form);

}  // namespace indx
