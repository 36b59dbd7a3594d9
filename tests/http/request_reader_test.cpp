#include "http/request_reader.hpp"

#include "base/text.hpp"

#include <catch2/catch.hpp>

using namespace indx;

namespace {

RequestReader fed(const std::string& bytes, std::size_t max_body = 1000) {
  RequestReader reader(max_body);
  reader.feed(bytes);
  return reader;
}

int refusal_of(const std::string& bytes) {
  auto reader = fed(bytes);
  return reader.state() == RequestReader::State::Refused ? reader.refusal().status : 0;
}

std::string post(const std::string& headers, const std::string& body = {}) {
  return "POST /a HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n" + body;
}

}  // namespace

TEST_CASE("a request is the same however its bytes are cut", "[http]") {
  const std::string bytes =
      "POST /n/%20a?q=1%202&q=b+c HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: "
      "5\r\n\r\nhello";
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    RequestReader reader(100);
    for (std::size_t at = 0; at < bytes.size(); at += step)
      reader.feed(std::string_view(bytes).substr(at, step));

    REQUIRE(reader.state() == RequestReader::State::Complete);
    const auto parsed = reader.take();
    CHECK(parsed.request.method == "POST");
    CHECK(parsed.request.path == "/n/%20a");
    CHECK(parsed.request.query ==
          std::vector<std::pair<std::string, std::string>>{{"q", "1 2"}, {"q", "b c"}});
    CHECK(parsed.request.header("x-a") == "1, 2");
    CHECK(parsed.request.body == "hello");
    CHECK(parsed.keep_alive);
    CHECK(reader.state() == RequestReader::State::Idle);
  }
}

TEST_CASE("a chunked body is put together, whatever the cuts, and ends the connection", "[http]") {
  const std::string bytes =
      post("Transfer-Encoding: chunked\r\n", "5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nT: 1\r\n\r\n");
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    RequestReader reader(100);
    for (std::size_t at = 0; at < bytes.size(); at += step)
      reader.feed(std::string_view(bytes).substr(at, step));

    REQUIRE(reader.state() == RequestReader::State::Complete);
    const auto parsed = reader.take();
    CHECK(parsed.request.body == "hello!");
    CHECK_FALSE(parsed.keep_alive);
  }
}

TEST_CASE("pipelined requests come out one after another", "[http]") {
  auto reader =
      fed("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\nGET /3");

  CHECK(reader.take().request.path == "/1");
  REQUIRE(reader.state() == RequestReader::State::Complete);
  CHECK(reader.take().request.path == "/2");
  CHECK(reader.state() == RequestReader::State::Head);
}

TEST_CASE("framing that two readers could understand differently is refused", "[http]") {
  CHECK(refusal_of(post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")) == 400);
  CHECK(refusal_of(post("Content-Length: 5\r\nContent-Length: 5\r\n")) == 400);
  CHECK(refusal_of(post("Content-Length: 5, 5\r\n")) == 400);
  CHECK(refusal_of(post("Content-Length: -5\r\n")) == 400);
  CHECK(refusal_of(post("Content-Length: +5\r\n")) == 400);
  CHECK(refusal_of(post("Content-Length: 5x\r\n")) == 400);
  CHECK(refusal_of(post("Content-Length: 0x5\r\n")) == 400);
  CHECK(refusal_of(post("Content-Length: 99999999999999999999999\r\n")) == 400);
  CHECK(refusal_of(post("Content-Length : 5\r\n")) == 400);
  CHECK(refusal_of(post("X: a\r\n Content-Length: 5\r\n")) == 400);
  CHECK(refusal_of(post("X: a\rContent-Length: 5\r\n")) == 400);
  CHECK(refusal_of(post("Transfer-Encoding: gzip, chunked\r\n")) == 501);
  CHECK(refusal_of(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")) == 501);
  CHECK(refusal_of("POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n") == 400);
  CHECK(refusal_of(post("Content-Length: 1001\r\n")) == 413);
  CHECK(refusal_of(post("Transfer-Encoding: chunked\r\n", "3e9\r\n")) == 413);
  CHECK(refusal_of(post("Transfer-Encoding: chunked\r\n", "-1\r\n")) == 400);
  CHECK(refusal_of(post("Transfer-Encoding: chunked\r\n", "2\r\nabc\r\n")) == 400);
  CHECK(refusal_of("GET / HTTP/1.1\r\n\r\n") == 400);
  CHECK(refusal_of("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n") == 400);
  CHECK(refusal_of("GET / HTTP/2.0\r\nHost: a\r\n\r\n") == 505);
  CHECK(refusal_of("GET a HTTP/1.1\r\nHost: a\r\n\r\n") == 400);
  CHECK(refusal_of("nonsense\r\n\r\n") == 400);
  CHECK(refusal_of("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(20000, 'a')) == 431);
  CHECK(refusal_of("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(9000, 'a') + "\r\n\r\n") ==
        431);
}

TEST_CASE("a request that announces no body has none, and ends the connection", "[http]") {
  auto reader = fed(post(""));

  REQUIRE(reader.state() == RequestReader::State::Complete);
  const auto parsed = reader.take();
  CHECK(parsed.request.body.empty());
  CHECK_FALSE(parsed.keep_alive);
}

TEST_CASE("a body goes into a file, under the limit that its plan gives", "[http][A25]") {
  const auto file = std::make_shared<FileBytes>(FileBytes::make_temp("/tmp").value());
  const PlanBody plan = [&](const HttpRequest& head) {
    BodyPlan answer{head.path == "/a" ? 6U : 0U, file, std::nullopt};
    if (head.header("x-no") == "1") answer.refusal = HttpResponse{401, {}, "no"};
    return answer;
  };
  RequestReader reader(3, plan);
  reader.feed(post("Content-Length: 5\r\n", "he"));
  reader.feed("llo");
  REQUIRE(reader.state() == RequestReader::State::Complete);
  CHECK(reader.take().request.body.empty());
  CHECK(*file->read_all() == "hello");

  RequestReader large(3, plan);
  large.feed(post("Content-Length: 7\r\n"));
  CHECK(large.refusal().status == 413);
  RequestReader refused(3, plan);
  refused.feed(post("X-No: 1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n"));
  REQUIRE(refused.state() == RequestReader::State::Refused);
  CHECK_FALSE(refused.take_continue());
  CHECK(refused.refusal().response->body == "no");
}

TEST_CASE("a client that waits for 100 Continue is told once", "[http]") {
  auto reader = fed(post("Content-Length: 5\r\nExpect: 100-continue\r\n"));

  CHECK(reader.take_continue());
  CHECK_FALSE(reader.take_continue());
}

TEST_CASE("a header is taken as it came, also one that mail would decode", "[http][B72]") {
  auto reader =
      fed("GET / HTTP/1.1\r\nHost: x\r\nMcp-Name:  =?base64?bm90ZV93cml0ZQ==?= \r\nA: 1\r\na: "
          "2:3\r\n\r\n");

  const auto headers = reader.take().request.headers;
  CHECK(headers.at("mcp-name") == "=?base64?bm90ZV93cml0ZQ==?=");
  CHECK(headers.at("a") == "1, 2:3");
}

TEST_CASE("an absolute target is its path", "[http]") {
  auto reader = fed("GET http://example.org/a?b=c HTTP/1.1\r\nHost: x\r\n\r\n");

  CHECK(reader.take().request.path == "/a");
}
