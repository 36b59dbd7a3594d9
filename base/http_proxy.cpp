#include "base/http_proxy.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace indx {
namespace {

struct HostAndPort {
  std::string host, port;
};

/// Of `host`, `host:port` and `[v6]:port`; the port is empty when it is not there.
HostAndPort split_host(std::string_view text) {
  if (text.starts_with('[')) {
    const auto end = std::min(text.find(']'), text.size());
    const auto rest = text.substr(std::min(text.size(), end + 1));
    return {to_lower(text.substr(1, end - 1)),
            std::string(rest.starts_with(':') ? rest.substr(1) : std::string_view())};
  }
  const auto colon = text.rfind(':');
  const bool is_v6 = colon != text.npos && text.find(':') != colon;
  if (colon == text.npos || is_v6) return {to_lower(text), ""};
  return {to_lower(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

HostAndPort host_of_url(std::string_view url) {
  const auto begin = url.find("://");
  if (begin == url.npos) return {};
  const bool is_https = to_lower(url.substr(0, begin)) == "https";
  auto rest = url.substr(begin + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const auto at = rest.rfind('@'); at != rest.npos) rest = rest.substr(at + 1);
  auto found = split_host(rest);
  if (found.port.empty()) found.port = is_https ? "443" : "80";
  return found;
}

bool is_this_machine(const std::string& host) {
  const bool is_v4 = std::all_of(host.begin(), host.end(),
                                 [](unsigned char c) { return c == '.' || std::isdigit(c) != 0; });
  return host == "localhost" || host.ends_with(".localhost") || host == "::1" ||
         (is_v4 && host.starts_with("127."));
}

bool is_bypassed(const std::string& bypass, const HostAndPort& target) {
  for (const auto& part : split(bypass, ',')) {
    const auto entry = trim(part);
    if (entry == "*") return true;
    auto [domain, port] = split_host(entry);
    if (!port.empty() && port != target.port) continue;
    if (domain.starts_with("*.")) domain.erase(0, 1);
    const auto bare = domain.starts_with('.') ? domain.substr(1) : domain;
    if (!bare.empty() && (target.host == bare || target.host.ends_with("." + bare))) return true;
  }
  return false;
}

}  // namespace

ProxySettings proxies_of(
    const std::function<std::optional<std::string>(const std::string& name)>& environment) {
  const auto value = [&](const std::string& lower, const std::string& upper) {
    const auto found = environment(lower).value_or("");
    return std::string(trim(found.empty() ? environment(upper).value_or("") : found));
  };
  const auto all = value("all_proxy", "ALL_PROXY");
  ProxySettings proxies{value("http_proxy", "HTTP_PROXY"), value("https_proxy", "HTTPS_PROXY"),
                        value("no_proxy", "NO_PROXY")};
  if (proxies.http.empty()) proxies.http = all;
  if (proxies.https.empty()) proxies.https = all;
  return proxies;
}

std::string proxy_for(const ProxySettings& proxies, const std::string& url) {
  const auto target = host_of_url(url);
  if (target.host.empty() || is_this_machine(target.host) || is_bypassed(proxies.bypass, target))
    return "";
  return to_lower(url.substr(0, 8)) == "https://" ? proxies.https : proxies.http;
}

bool is_loopback_url(const std::string& url) { return is_this_machine(host_of_url(url).host); }

}  // namespace indx
