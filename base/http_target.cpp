#include "base/http_target.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"

#include <Poco/Exception.h>
#include <Poco/URI.h>

#include <algorithm>

namespace indx {

Result<HttpTarget> parse_http_url(const std::string& url) {
  if (std::any_of(url.begin(), url.end(), [](char c) { return c <= ' ' || c == 0x7F; }))
    return invalid("The URL holds white space or control characters.");
  HttpTarget target;
  if (url.starts_with("unix:")) {
    const auto colon = url.find(':', 5);
    if (colon == url.npos || colon == 5 || url.compare(colon + 1, 1, "/") != 0)
      return invalid("A unix URL is unix:<path>:/<target>.");
    target.socket_path =
        percent_decode(url.substr(5, colon - 5));  // so that it may hold spaces and colons
    if (target.socket_path.size() > 107)
      return invalid("The path of the socket is longer than 107 bytes.");
    target.path_and_query = url.substr(colon + 1);
    target.authority = "localhost";
    return target;
  }
  try {
    const Poco::URI uri(url);
    target.is_tls = uri.getScheme() == "https";
    if (!target.is_tls && uri.getScheme() != "http")
      return invalid("The URL must begin with http://, https:// or unix:.");
    if (uri.getHost().empty()) return invalid("The URL has no host.");
    if (!uri.getUserInfo().empty())
      return invalid("The URL must not hold a user name or password.");
    target.host = uri.getHost();
    target.port = uri.getPort();
    target.path_and_query = uri.getPathEtc().substr(0, uri.getPathEtc().find('#'));
    if (!target.path_and_query.starts_with('/')) target.path_and_query.insert(0, "/");
    const bool is_v6 = target.host.find(':') != std::string::npos;
    target.authority = is_v6 ? cat('[', target.host, ']') : target.host;
    if (target.port != (target.is_tls ? 443 : 80)) target.authority += cat(':', target.port);
    return target;
  } catch (const Poco::Exception&) {
    return invalid("The URL cannot be understood.");
  }
}

Result<ProxyHop> parse_proxy_url(const std::string& url) {
  ProxyHop hop;
  if (url.empty()) return hop;
  try {
    const Poco::URI uri(url.find("://") == url.npos ? "http://" + url : url);
    if (uri.getScheme() != "http" || uri.getHost().empty())
      return invalid("The proxy must be an http:// address.");
    hop.host = uri.getHost();
    hop.port = uri.getPort();
    if (!uri.getUserInfo().empty())
      hop.credentials = "Basic " + base64_encode(percent_decode(uri.getUserInfo()));
    return hop;
  } catch (const Poco::Exception&) {
    return invalid("The address of the proxy cannot be understood.");
  }
}

}  // namespace indx
