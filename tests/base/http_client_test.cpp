#include "base/http_client.hpp"

#include "base/clock.hpp"
#include "base/text.hpp"
#include "tests/support/raw_server.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/Context.h>
#include <Poco/Net/SecureServerSocket.h>
#include <Poco/Net/SecureStreamSocket.h>
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>

namespace indx {
namespace {

constexpr auto kEmptyOk = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

Result<HttpClientResponse> get(const std::string& url, milliseconds timeout = milliseconds(5000)) {
  HttpClientRequest request;
  request.url = url;
  request.timeout = timeout;
  return http_exchange(request, CancelToken());
}

/// Answers each request with the same bytes, then closes.
RawServer server_that_says(std::string answer) {
  return RawServer([answer = std::move(answer)](RawConnection& connection) {
    connection.read_request();
    connection.send(answer);
  });
}

std::string error_name(const Result<HttpClientResponse>& result) {
  return result.has_value() ? "no error" : std::string(result.error().name());
}

std::string error_message(const Result<HttpClientResponse>& result) {
  return result.has_value() ? "" : result.error().message;
}

milliseconds elapsed_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
}

struct TempFolder {
  std::filesystem::path root;
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "indx-http-XXXXXX").string();
    root = mkdtemp(name.data());
  }
  ~TempFolder() { std::filesystem::remove_all(root); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
};

}  // namespace

TEST_CASE(
    "an exchange carries method, target, headers and body, and gives status, headers and body",
    "[base]") {
  std::string seen;
  RawServer server([&](RawConnection& connection) {
    seen = connection.read_request();
    connection.send(
        "HTTP/1.1 404 Nope\r\nX-Thing: a\r\nX-Thing: b\r\nContent-Length: 5\r\n\r\nhello");
  });
  HttpClientRequest request;
  request.method = "POST";
  request.url = server.url("/a%20b?c=d");
  request.headers = {{"X-Test", "yes"}};
  request.body = "{\"k\":1}";

  const auto response = http_exchange(request, CancelToken());

  INFO(error_message(response));
  REQUIRE(response.has_value());
  CHECK(response->status == 404);
  CHECK(response->headers.at("x-thing") == "a, b");
  CHECK(response->body == "hello");
  CHECK(seen.starts_with("POST /a%20b?c=d HTTP/1.1\r\n"));
  CHECK(seen.find(cat("Host: 127.0.0.1:", server.port(), "\r\n")) != seen.npos);
  CHECK(seen.find("X-Test: yes\r\n") != seen.npos);
  CHECK(seen.ends_with("\r\n\r\n{\"k\":1}"));
}

TEST_CASE("chunked and close-delimited bodies arrive whole", "[base]") {
  const auto chunked = server_that_says(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: 1\r\n\r\n");
  CHECK(get(chunked.url())->body == "abc0123456789");
  const auto closed = server_that_says("HTTP/1.1 200 OK\r\n\r\nall of it");
  CHECK(get(closed.url())->body == "all of it");
}

TEST_CASE("a body that ends before its length or last chunk is an error", "[base]") {
  for (const std::string tail :
       {"Content-Length: 10\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "Transfer-Encoding: chunked\r\n\r\n3\r\na",
        "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
        "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "Content-Length: -1\r\n\r\nabc",
        "Transfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n", "X: 1\r\n"}) {
    const auto server = server_that_says("HTTP/1.1 200 OK\r\n" + tail);
    CAPTURE(tail);
    CHECK(error_name(get(server.url())) == "unavailable");
  }
}

TEST_CASE("redirects are answers, not orders", "[base]") {
  const auto server = server_that_says(
      "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n");
  const auto response = get(server.url());
  REQUIRE(response.has_value());
  CHECK(response->status == 302);
  CHECK(response->headers.at("location") == "http://127.0.0.1:9/");
}

TEST_CASE("an answer above the limit is refused, declared or not", "[base]") {
  for (const std::string head : {"Content-Length: 5000\r\n\r\n", "\r\n"}) {
    const auto server = server_that_says("HTTP/1.1 200 OK\r\n" + head + std::string(5000, 'x'));
    HttpClientRequest request;
    request.url = server.url();
    request.max_response_bytes = 4999;
    CHECK(error_name(http_exchange(request, CancelToken())) == "too_large");
  }
}

TEST_CASE("a server that never answers is a timeout", "[base]") {
  const SilentServer server;
  const auto begin = std::chrono::steady_clock::now();
  CHECK(error_name(get(cat("http://127.0.0.1:", server.port(), "/"), milliseconds(80))) ==
        "timeout");
  CHECK(elapsed_since(begin) < milliseconds(1000));
}

TEST_CASE("a server that drips bytes is a timeout all the same", "[base]") {
  for (const std::string head :
       {"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", "HTTP/1.1 200 OK\r\nX: "}) {
    RawServer server([&](RawConnection& connection) {
      connection.read_request();
      connection.send(head);
      while (connection.send("x"))
        std::this_thread::sleep_for(milliseconds(5));  // the drip itself, not a wait for state
    });
    const auto begin = std::chrono::steady_clock::now();
    CHECK(error_name(get(server.url(), milliseconds(100))) == "timeout");
    CHECK(elapsed_since(begin) < milliseconds(1000));
  }
}

TEST_CASE("cancel ends a blocked read at once", "[base]") {
  const CancelToken cancel;
  RawServer server([&](RawConnection& connection) {
    connection.read_request();
    connection.send(
        "HTTP/1.1 200 OK\r\n\r\nhalf");  // its end is the close, which a cancel must not look like
    cancel.cancel(CancelReason::Requested);
    connection.wait_for_close();
  });
  HttpClientRequest request;
  request.url = server.url();
  const auto begin = std::chrono::steady_clock::now();

  const auto response = http_exchange(request, cancel);

  CHECK(error_name(response) == "cancelled");
  CHECK(elapsed_since(begin) < milliseconds(1000));
}

TEST_CASE("a cancelled token opens no connection", "[base]") {
  bool called = false;
  const CancelToken cancel;
  cancel.cancel(CancelReason::Requested);
  {
    RawServer server([&](RawConnection&) { called = true; });
    HttpClientRequest request;
    request.url = server.url();
    CHECK(error_name(http_exchange(request, cancel)) == "cancelled");
  }
  CHECK_FALSE(called);
}

TEST_CASE("nobody listening is unavailable and the message names the address without the target",
          "[base]") {
  int port = 0;
  {
    const SilentServer server;
    port = server.port();
  }
  const auto response = get(cat("http://127.0.0.1:", port, "/secret?token=1"));
  REQUIRE(error_name(response) == "unavailable");
  CHECK(response.error().details["cause"] == "connect");
  CHECK(response.error().message.find(cat("127.0.0.1:", port)) != std::string::npos);
  CHECK(response.error().message.find("secret") == std::string::npos);
}

TEST_CASE("line breaks in headers and bad URLs are refused before anything is sent", "[base]") {
  HttpClientRequest request;
  request.url = "http://127.0.0.1:1/";
  for (const auto& header :
       std::vector<std::pair<std::string, std::string>>{{"X", "a\r\nY: b"},
                                                        {"X", "a\nb"},
                                                        {"X\r\nY", "a"},
                                                        {"", "a"},
                                                        {"X", std::string("a\0b", 3)},
                                                        {"Content-Length", "1"}}) {
    request.headers = {header};
    CHECK(error_name(http_exchange(request, CancelToken())) == "validation_failed");
  }
  for (const char* url :
       {"", "ftp://127.0.0.1/", "http://", "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y",
        "http://user:pass@127.0.0.1/", "unix:/tmp/x", "unix::/a", "http://127.0.0.1:99999999999/"})
    CHECK(error_name(get(url)) == "validation_failed");
}

TEST_CASE("a unix-domain socket carries an exchange", "[base]") {
  const TempFolder folder;
  const auto path = (folder.root / "socket").string();
  std::string seen;
  RawServer server(
      [&](RawConnection& connection) {
        seen = connection.read_request();
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      },
      path);

  const auto response = get("unix:" + path + ":/v1/notes?x=1");

  REQUIRE(response.has_value());
  CHECK(response->body == "ok");
  CHECK(seen.starts_with("GET /v1/notes?x=1 HTTP/1.1\r\n"));
  CHECK(error_name(get("unix:" + path + "-none:/")) == "unavailable");
}

TEST_CASE("interim answers are skipped and endless heads refused", "[base]") {
  const auto interim =
      server_that_says(cat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", kEmptyOk));
  CHECK(get(interim.url())->status == 200);
  const auto endless =
      server_that_says("HTTP/1.1 200 OK\r\nX: " + std::string(1U << 20U, 'x') + "\r\n\r\n");
  CHECK(error_name(get(endless.url())) == "unavailable");
}

TEST_CASE("a stream hands over pieces as they come and stops when told", "[base]") {
  std::vector<std::string> pieces;
  RawServer server([&](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\n\r\ndata: 1\n\n");
    connection.wait_for_close();  // so the piece was not held back until the end
  });
  HttpClientRequest request;
  request.url = server.url();
  request.max_response_bytes = 1;

  const auto response = http_stream(request, CancelToken(), [&](std::string_view piece) {
    pieces.emplace_back(piece);
    return false;
  });

  REQUIRE(response.has_value());
  CHECK(pieces == std::vector<std::string>{"data: 1\n\n"});
}

TEST_CASE("the answer to a request whose body was not read is still seen", "[base]") {
  RawServer server([](RawConnection& connection) {
    connection.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    connection.wait_for_close();
  });
  HttpClientRequest request;
  request.method = "PUT";
  request.url = server.url();
  request.body = std::string(1000, 'x');

  const auto response = http_exchange(request, CancelToken());

  REQUIRE(response.has_value());
  CHECK(response->status == 413);
}

TEST_CASE("a name is looked up and its addresses are tried in turn", "[base]") {
  const auto server = server_that_says(kEmptyOk);
  CHECK(get(cat("http://localhost:", server.port(), "/")).has_value());
}

TEST_CASE("TLS is used only with a server whose certificate is trusted and names the host",
          "[base]") {
  const TempFolder folder;
  const auto make = [&](const std::string& name, const std::string& subject) {
    const auto base = (folder.root / name).string();
    const auto command =
        cat("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
            "-subj /CN=x -addext ",
            "subjectAltName=", subject, " -keyout ", base, ".key -out ", base, ".pem 2>/dev/null");
    REQUIRE(std::system(command.c_str()) ==
            0);  // NOLINT(concurrency-mt-unsafe): tests run on one thread
    return base;
  };
  const auto good = make("good", "IP:127.0.0.1"), other_name = make("name", "DNS:example.com"),
             stranger = make("stranger", "IP:127.0.0.1");
  REQUIRE(std::system(cat("cat ", good, ".pem ", other_name, ".pem > ", good, ".ca").c_str()) ==
          0);  // NOLINT(concurrency-mt-unsafe)
  setenv("SSL_CERT_FILE", (good + ".ca").c_str(),
         1);  // NOLINT(concurrency-mt-unsafe): tests run on one thread
  const auto name_of_get = [](const std::string& certificate) {
    Poco::Net::Context::Ptr context =
        new Poco::Net::Context(Poco::Net::Context::TLS_SERVER_USE, certificate + ".key",
                               certificate + ".pem", "", Poco::Net::Context::VERIFY_NONE);
    Poco::Net::SecureServerSocket listener(Poco::Net::SocketAddress("127.0.0.1", 0), 8, context);
    const std::jthread thread([&] {
      try {
        auto socket = listener.acceptConnection();
        char buffer[1000];
        if (socket.receiveBytes(buffer, sizeof buffer) > 0)
          socket.sendBytes(kEmptyOk, static_cast<int>(std::string_view(kEmptyOk).size()));
        socket.close();
      } catch (const Poco::Exception&) {  // a refused handshake
      }
    });
    return error_name(get(cat("https://127.0.0.1:", listener.address().port(), "/")));
  };

  CHECK(name_of_get(good) == "no error");
  CHECK(name_of_get(other_name) == "unavailable");
  CHECK(name_of_get(stranger) == "unavailable");
}

}  // namespace indx
