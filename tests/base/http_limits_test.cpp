#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/http_client.hpp"
#include "base/http_proxy.hpp"
#include "base/text.hpp"
#include "tests/support/raw_server.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <thread>

namespace indx {
namespace {

constexpr auto kProxiedOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

HttpClientRequest call_of(const std::string& url) {
  HttpClientRequest request;
  request.url = url;
  return request;
}

/// The limit that the error names.
std::string limit_of(const Result<HttpClientResponse>& response) {
  return response.has_value() ? "none" : response.error().details.value("limit", "");
}

ProxySettings proxies_in(const std::map<std::string, std::string>& variables) {
  return proxies_of([&](const std::string& name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional(it->second);
  });
}

}  // namespace

TEST_CASE("a server that takes too long to begin its answer is a timeout of the first byte",
          "[base]") {
  const SilentServer server;
  auto request = call_of(cat("http://127.0.0.1:", server.port(), "/"));
  request.first_byte_timeout = milliseconds(60);

  const auto response = http_exchange(request, CancelToken());

  CHECK(limit_of(response) == "first_byte");
  CHECK(response.error().message.find("60 ms") != std::string::npos);
}

TEST_CASE("a server that falls silent in its answer is a timeout between bytes", "[base]") {
  for (const std::string head : {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
                                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf",
                                 "HTTP/1.1 200 OK\r\nX: "}) {
    RawServer server([&](RawConnection& connection) {
      connection.read_request();
      connection.send(head);
      connection.wait_for_close();
    });
    auto request = call_of(server.url());
    request.idle_timeout = milliseconds(60);

    CHECK(limit_of(http_exchange(request, CancelToken())) == "idle");
  }
}

TEST_CASE("a slow but steady answer is no timeout between bytes, and our own slowness neither",
          "[base]") {
  RawServer server([](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n");
    for (int i = 0; i < 6; ++i) {
      std::this_thread::sleep_for(milliseconds(40));  // plays a slow server
      connection.send("x");
    }
  });
  auto request = call_of(server.url());
  request.idle_timeout = milliseconds(200);
  int pieces = 0;

  const auto response = http_stream(request, CancelToken(), [&](std::string_view) {
    if (++pieces == 1) std::this_thread::sleep_for(milliseconds(300));  // plays a slow reader
    return true;
  });

  CHECK(response.has_value());
  CHECK(pieces >= 1);
}

TEST_CASE("the limit of the whole exchange is named as such", "[base]") {
  const SilentServer server;
  auto request = call_of(cat("http://127.0.0.1:", server.port(), "/"));
  request.timeout = milliseconds(60);
  request.first_byte_timeout = milliseconds(5000);
  CHECK(limit_of(http_exchange(request, CancelToken())) == "whole");
}

TEST_CASE("a stream tells status and headers before its first piece", "[base]") {
  RawServer server([](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 503 No\r\nRetry-After: 3\r\nContent-Length: 4\r\n\r\nbusy");
  });
  std::string seen;

  const auto response = http_stream(
      call_of(server.url()), CancelToken(),
      [&](std::string_view piece) {
        seen += piece;
        return true;
      },
      [&](const HttpClientResponse& head) {
        seen = cat(head.status, ' ', head.headers.at("retry-after"), ' ');
      });

  REQUIRE(response.has_value());
  CHECK(seen == "503 3 busy");
}

TEST_CASE("a plain call goes through the proxy by its whole address, with the proxy's password",
          "[base]") {
  std::string seen;
  RawServer proxy([&](RawConnection& connection) {
    seen = connection.read_request();
    connection.send(kProxiedOk);
  });
  auto request = call_of("http://models.test:8000/v1/chat?x=1");
  request.proxy = cat("http://us%65r:p@127.0.0.1:", proxy.port());

  const auto response = http_exchange(request, CancelToken());

  REQUIRE(response.has_value());
  CHECK(response->body == "ok");
  CHECK(seen.starts_with("GET http://models.test:8000/v1/chat?x=1 HTTP/1.1\r\n"));
  CHECK(seen.find("Host: models.test:8000\r\n") != seen.npos);
  CHECK(seen.find(cat("Proxy-Authorization: Basic ", base64_encode("user:p"), "\r\n")) !=
        seen.npos);
}

TEST_CASE("a TLS call asks the proxy for a tunnel, and a proxy that refuses is no connection",
          "[base]") {
  std::string seen;
  RawServer proxy([&](RawConnection& connection) {
    seen = connection.read_request();
    connection.send("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  });
  auto request = call_of("https://models.test/v1/chat");
  request.headers = {{"Authorization", "Bearer canary"}};
  request.proxy = cat("http://127.0.0.1:", proxy.port());

  const auto response = http_exchange(request, CancelToken());

  REQUIRE_FALSE(response.has_value());
  CHECK(response.error().name() == "unavailable");
  CHECK(response.error().message.find("407") != std::string::npos);
  CHECK(seen.starts_with("CONNECT models.test:443 HTTP/1.1\r\n"));
  CHECK(seen.find("canary") == seen.npos);
}

TEST_CASE("an address that is no proxy is refused without being shown", "[base]") {
  for (const char* bad : {"socks5://127.0.0.1:1", "https://user:secret@127.0.0.1:1", "http://"}) {
    auto request = call_of("http://models.test/");
    request.proxy = bad;
    const auto response = http_exchange(request, CancelToken());
    REQUIRE_FALSE(response.has_value());
    CHECK(response.error().name() == "validation_failed");
    CHECK(response.error().to_json().dump().find("secret") == std::string::npos);
  }
}

TEST_CASE("proxies are read from the environment, lower case first", "[base]") {
  const auto proxies = proxies_in({{"HTTP_PROXY", "http://upper:1"},
                                   {"http_proxy", " http://lower:1 "},
                                   {"ALL_PROXY", "http://all:1"},
                                   {"NO_PROXY", "a.test"}});
  CHECK(proxies.http == "http://lower:1");
  CHECK(proxies.https == "http://all:1");
  CHECK(proxies.bypass == "a.test");
  CHECK(proxies_in({}).http.empty());
}

TEST_CASE("the proxy is chosen by scheme and host, and this machine is called directly", "[base]") {
  const ProxySettings proxies{"http://plain:1", "http://tls:1",
                              "internal.test, .corp.test,*.lan,db.test:8443"};
  CHECK(proxy_for(proxies, "http://models.test/v1") == "http://plain:1");
  CHECK(proxy_for(proxies, "https://models.test/v1") == "http://tls:1");
  CHECK(proxy_for(proxies, "HTTPS://models.test:99/v1") == "http://tls:1");
  CHECK(proxy_for(proxies, "http://db.test/") == "http://plain:1");
  CHECK(proxy_for(proxies, "http://notinternal.test/") == "http://plain:1");
  for (const char* direct :
       {"http://localhost:11434/api", "http://127.0.0.1/", "http://127.9.9.9:1/",
        "http://[::1]:80/", "https://internal.test/", "https://a.internal.test",
        "https://x.corp.test/", "http://box.lan:1/", "https://db.test:8443/", "unix:/run/x:/y"})
    CHECK(proxy_for(proxies, direct).empty());
  CHECK(proxy_for({"http://plain:1", "", "*"}, "http://models.test/").empty());
}

TEST_CASE("a TLS handshake that does not come to an end is a timeout of the connection", "[base]") {
  const SilentServer server;
  auto request = call_of(cat("https://127.0.0.1:", server.port(), "/"));
  request.connect_timeout = milliseconds(80);
  const auto begin = std::chrono::steady_clock::now();

  CHECK(limit_of(http_exchange(request, CancelToken())) == "connect");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
}

TEST_CASE("URLs of this machine are told from those that only look so", "[base]") {
  for (const char* own : {"http://localhost/", "http://127.0.0.1:11434", "https://[::1]/x"})
    CHECK(is_loopback_url(own));
  for (const char* other : {"http://localhost.test/", "http://127.0.0.1.test/", "http://10.0.0.1",
                            "http://127.0.0.1@models.test/", "not a URL"})
    CHECK_FALSE(is_loopback_url(other));
}

}  // namespace indx
