#pragma once
#include "base/result.hpp"

#include <cstdint>
#include <string>

namespace indx {

/// Where a URL points.
struct HttpTarget {
  bool is_tls = false;
  std::string host;  ///< without brackets; empty for a socket file
  std::uint16_t port = 0;
  std::string socket_path;
  std::string path_and_query;
  std::string authority;  ///< the Host header and the name in messages
};

/// The HTTP proxy on the way to it.
struct ProxyHop {
  std::string host;  ///< empty: none
  std::uint16_t port = 0;
  std::string credentials;  ///< the value of Proxy-Authorization; empty: none
};

/// Of http://…, https://… and unix:<path, percent-encoded>:<target>. Errors: `validation_failed`.
Result<HttpTarget> parse_http_url(const std::string& url);

/// Of http://[user:password@]host[:port]; an empty URL is no proxy. Errors (`validation_failed`)
/// name no part of the URL: it may hold a password.
Result<ProxyHop> parse_proxy_url(const std::string& url);

}  // namespace indx
