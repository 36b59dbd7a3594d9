#pragma once
#include <functional>
#include <optional>
#include <string>

namespace indx {

/// The HTTP proxies for outgoing calls, as the environment names them.
struct ProxySettings {
  std::string http, https;  ///< http://[user:password@]host[:port]; empty: none
  std::string bypass;       ///< comma list of hosts and domains that are called directly; *: all
};

/// Reads http_proxy, https_proxy, all_proxy and no_proxy, each also in upper case; lower case wins.
ProxySettings proxies_of(
    const std::function<std::optional<std::string>(const std::string& name)>& environment);

/// The proxy for a call of `url`; empty: none. This machine is always called directly.
std::string proxy_for(const ProxySettings& proxies, const std::string& url);

/// Whether the URL leads to this machine: localhost, 127.0.0.0/8 or ::1.
bool is_loopback_url(const std::string& url);

}  // namespace indx
