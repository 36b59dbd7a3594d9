#pragma once
#include "http/rest.hpp"
#include "http/server.hpp"
#include "tests/support/fake_dispatcher.hpp"
#include "tests/support/metrics_text.hpp"
#include "tests/support/raw_http.hpp"

#include <catch2/catch.hpp>

namespace indx::test {

inline const std::string kOwnerToken = "Authorization: Bearer indx_owner\r\n";

/// REST routes over a dispatcher whose answers the test decides, with counting.
struct CountedServer {
  CountedServer() {
    add_rest_routes(router, dispatcher);
    dispatcher.on("note_read", [](const Call&) { return answered(Json::object()); });
    ServerConfig config;
    config.metrics = dispatcher.metrics();
    auto started =
        HttpServer::start(config, [this](const HttpRequest& request, const Responder& responder) {
          router.handle(request, responder);
        });
    REQUIRE(started.has_value());
    server = std::move(*started);
  }
  ~CountedServer() { server->stop(); }
  CountedServer(const CountedServer&) = delete;
  CountedServer& operator=(const CountedServer&) = delete;

  void send(RawClient& client, const std::string& method, const std::string& target,
            const std::string& headers) const {
    client.send(cat(method, " ", target, " HTTP/1.1\r\nHost: localhost\r\n", headers, "\r\n"));
  }
  RawResponse ask(const std::string& method, const std::string& target,
                  const std::string& headers = kOwnerToken) const {
    RawClient client(server->port());
    send(client, method, target, headers);
    return client.response();
  }
  MetricsText metrics() const {
    auto read = parse_metrics(ask("GET", "/metrics", "").body);
    INFO(read.fault);
    CHECK(read.fault.empty());
    return read;
  }

  FakeDispatcher dispatcher;
  Router router;
  std::unique_ptr<HttpServer> server;
};

}  // namespace indx::test
