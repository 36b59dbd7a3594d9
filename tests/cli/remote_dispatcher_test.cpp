#include "cli/remote_dispatcher.hpp"

#include "base/text.hpp"
#include "tests/cli/small_registry.hpp"
#include "tests/support/raw_server.hpp"

#include <catch2/catch.hpp>

#include <mutex>

namespace indx {
namespace {

std::string http_reply(int status, const std::string& body) {
  return cat("HTTP/1.1 ", status,
             " X\r\nContent-Type: application/json\r\nContent-Length: ", body.size(),
             "\r\nConnection: close\r\n\r\n", body);
}

Principal remote_owner() {
  Principal principal;
  principal.surface = Surface::Cli;
  principal.scopes = {Scope::VaultAdmin};
  return principal;
}

/// Answers each request with the same reply and remembers the last one.
class CannedServer {
 public:
  explicit CannedServer(std::string reply)
      : server_([this, reply = std::move(reply)](RawConnection& connection) {
          const auto request = connection.read_request();
          {
            const std::scoped_lock lock(mutex_);
            request_ = request;
          }
          connection.send(reply);
        }) {}
  std::string url() const { return cat("http://127.0.0.1:", server_.port()); }
  std::string request() const {
    const std::scoped_lock lock(mutex_);
    return request_;
  }

 private:
  mutable std::mutex mutex_;
  std::string request_;
  RawServer server_;
};

Answer call_remote(const CannedServer& server, const char* operation, Json input,
                   Principal principal = remote_owner()) {
  const auto dispatcher = make_remote_dispatcher(small_registry(), {server.url(), "indx_secret"});
  Call call;
  call.operation = dispatcher->registry().find(operation);
  call.input = std::move(input);
  call.principal = std::move(principal);
  call.idempotency_key = "k1";
  return dispatcher->call_and_wait(std::move(call));
}

}  // namespace

TEST_CASE("a call becomes a request with path, query, token and surface", "[cli][A97]") {
  const CannedServer server(http_reply(200, R"({"ok":true,"data":{"path":"a b/ü.md"}})"));

  const auto answer = call_remote(
      server, "note_read", {{"path", "a b/ü.md"}, {"include", {"x", "y"}}, {"with_body", true}});

  REQUIRE(answer.result);
  CHECK(*answer.result == Json{{"path", "a b/ü.md"}});
  const auto request = server.request();
  CHECK(request.starts_with("GET /v1/notes/a%20b/%C3%BC.md?"));
  CHECK(request.find("include=%5B%22x%22%2C%22y%22%5D") != std::string::npos);
  CHECK(request.find("with_body=true") != std::string::npos);
  CHECK(request.find("Bearer indx_secret") != std::string::npos);
  CHECK(request.find("Idempotency-Key: k1") != std::string::npos);
  CHECK(request.find("X-Indx-Surface: cli") != std::string::npos);
}

TEST_CASE("an error of the server is the same error here", "[cli][A97]") {
  const CannedServer server(http_reply(
      404,
      R"({"ok":false,"error":{"code":"not_found","message":"No note.","details":{"path":"a.md"},"request_id":"r"}})"));

  const auto answer = call_remote(server, "note_read", {{"path", "a.md"}});

  REQUIRE_FALSE(answer.result);
  CHECK(answer.result.error() == not_found("No note.", {{"path", "a.md"}}));
  CHECK(answer.http_status == 404);
}

TEST_CASE("a path that points outside is refused here as the server would", "[cli]") {
  const CannedServer server(http_reply(200, "{}"));

  const auto answer = call_remote(server, "note_read", {{"path", "../a.md"}});

  REQUIRE_FALSE(answer.result);
  CHECK(answer.result.error().reason == Reason::ValidationFailed);
  CHECK(server.request().empty());
}

TEST_CASE("a server that is not there is unavailable", "[cli]") {
  const auto dispatcher = make_remote_dispatcher(small_registry(), {"http://127.0.0.1:1", ""});
  Call call;
  call.operation = dispatcher->registry().find("note_read");
  call.input = {{"path", "a.md"}};
  call.principal = remote_owner();

  const auto answer = dispatcher->call_and_wait(std::move(call));

  REQUIRE_FALSE(answer.result);
  CHECK(answer.result.error().reason == Reason::Unavailable);
}

}  // namespace indx
