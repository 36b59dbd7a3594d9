#pragma once
#include "base/cancel.hpp"
#include "base/file_bytes.hpp"
#include "base/result.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace indx {

struct HttpClientRequest {
  std::string method = "GET";
  std::string url;  ///< http://… or https://…, or unix:<path, percent-encoded>:<target>
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::shared_ptr<const FileBytes> body_file = {};  ///< instead of `body`; shared: with the caller
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds timeout{30000};  ///< for the whole exchange; 0: none
  std::size_t max_response_bytes = 16U << 20U;
  /// From the end of the request to the first byte of the answer; 0: no limit of its own.
  std::chrono::milliseconds first_byte_timeout{0};
  std::chrono::milliseconds idle_timeout{0};  ///< between two pieces of the answer; 0: likewise
  std::string proxy = {};  ///< http://[user:password@]host[:port], see http_proxy.hpp; empty: none
};

struct HttpClientResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

/// One exchange; redirects are not followed, TLS is verified. Errors: `timeout` {limit: connect |
/// first_byte | idle | whole}, `cancelled`, `unavailable` (no connection), `too_large`. Cancel
/// closes the socket, so a blocked read returns at once.
Result<HttpClientResponse> http_exchange(const HttpClientRequest& request,
                                         const CancelToken& cancel);

/// The same, but hands over each received piece of the body as it comes (for SSE), however many;
/// `on_data` returns false to stop. `on_head` gets status and headers before the first piece.
Result<HttpClientResponse> http_stream(
    const HttpClientRequest& request, const CancelToken& cancel,
    const std::function<bool(std::string_view)>& on_data,
    const std::function<void(const HttpClientResponse& head)>& on_head = {});

}  // namespace indx
