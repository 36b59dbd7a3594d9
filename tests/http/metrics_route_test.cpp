#include "tests/support/counted_server.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <thread>

namespace indx {
namespace {

using test::answered;
using test::CountedServer;
using test::kOwnerToken;
using test::parse_metrics;
using test::RawClient;

std::string text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("metrics are text that a strict reader accepts, without a token on this machine",
          "[http][H28]") {
  const CountedServer counted;
  CHECK(counted.ask("GET", "/v1/notes/a.md").status == 200);

  const auto response = counted.ask("GET", "/metrics", "");

  CHECK(response.status == 200);
  CHECK(response.headers.at("content-type") == "text/plain; version=0.0.4; charset=utf-8");
  const auto read = parse_metrics(response.body);
  CHECK(read.fault.empty());
  CHECK(read.types.at("indx_http_requests_total") == "counter");
  CHECK(read.value("indx_build_info") == 1.0);
  CHECK(counted.ask("GET", "/metrics", "Origin: http://evil.example\r\n").status == 403);
}

TEST_CASE("requests are counted by route pattern, method and family of the status", "[http][H28]") {
  const CountedServer counted;

  counted.ask("GET", "/v1/notes/a.md");
  counted.ask("GET", "/v1/notes/Secret/plan.md");
  counted.ask("GET", "/v1/notes/a.md", "");
  counted.ask("GET", "/v1/no/such/route");
  counted.ask("POST", "/v1/no/other/route", "Content-Length: 0\r\n");
  counted.ask("BREW", "/v1/notes/a.md");
  const auto read = counted.metrics();

  const std::map<std::string, std::string> notes{{"route", "/v1/notes/{path}"}, {"method", "GET"}};
  const auto requests = [&](const std::string& status) {
    auto labels = notes;
    labels["status"] = status;
    return read.value("indx_http_requests_total", labels);
  };
  CHECK(requests("2xx") == 2.0);
  CHECK(requests("4xx") == 1.0);
  CHECK_FALSE(requests("5xx"));
  CHECK(read.value("indx_http_request_seconds_count", notes) == 3.0);
  CHECK(read.value("indx_http_requests_total", {{"route", "unmatched"}, {"method", "GET"}}) == 1.0);
  CHECK(read.value("indx_http_requests_total", {{"route", "unmatched"}, {"method", "POST"}}) ==
        1.0);
  // Neither what a client wrote as path nor as method becomes a label.
  for (const auto& sample : read.samples)
    for (const auto& [name, value] : sample.labels) {
      CHECK(value.find("Secret") == value.npos);
      CHECK(value.find("a.md") == value.npos);
      CHECK(value != "BREW");
    }
}

TEST_CASE("open event streams are counted while they are open", "[http][H28]") {
  CountedServer counted;
  counted.dispatcher.on("job_get", [](const Call&) {
    return answered(Json{{"job", {{"id", "j1"}, {"finished_at", nullptr}}}});
  });
  const auto streams = [&] { return counted.metrics().value("indx_event_streams"); };
  const auto become = [&](double wanted) {
    for (int i = 0; i < 500 && streams() != wanted; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return streams() == wanted;
  };
  RawClient feed(counted.server->port()), job(counted.server->port());

  counted.send(feed, "GET", "/v1/events", kOwnerToken);
  counted.send(job, "GET", "/v1/jobs/j1/events", kOwnerToken);
  feed.read_until("retry");
  job.read_until("event: job");
  CHECK(become(2));
  feed.leave();
  job.leave();

  CHECK(become(0));
}

TEST_CASE("the page of metrics lists exactly those that there are", "[http]") {
  const std::string page = text_of_file(INDX_TEST_DATA "/../../docs/metrics.md");
  REQUIRE_FALSE(page.empty());
  std::map<std::string, std::string> documented;
  for (const auto& line : split(page, '\n')) {
    if (!line.starts_with("| `")) continue;
    const auto cells = split(line, '|');
    REQUIRE(cells.size() >= 5);
    const auto name = std::string(trim(cells[1]));
    documented[name.substr(1, name.size() - 2)] = cat(trim(cells[2]), " ", trim(cells[3]));
  }

  std::map<std::string, std::string> real;
  for (const auto& metric : Metrics().list())
    real[metric.name] = cat(metric.type, " ", join(metric.labels, ", "));

  CHECK(documented == real);
}

}  // namespace indx
