#include "tests/support/counted_server.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// The ids of the whole frames in what a client received, in order.
std::vector<int> frame_ids(const std::string& received) {
  std::vector<int> ids;
  for (auto at = received.find("id: e-"); at != received.npos;
       at = received.find("id: e-", at + 1)) {
    if (received.find("\n\n", at) == received.npos) break;
    ids.push_back(std::atoi(received.c_str() + at + 6));
  }
  return ids;
}

std::vector<int> numbers(int first, int last) {
  std::vector<int> all;
  for (int i = first; i <= last; ++i) all.push_back(i);
  return all;
}

}  // namespace

TEST_CASE("a slow reader of the feed is cut off, delays nobody, and loses nothing when it returns",
          "[http][A89]") {
  constexpr int kEvents = 3000;
  test::CountedServer counted;
  test::RawClient slow(counted.server->port(), 16384), quick(counted.server->port());
  counted.send(slow, "GET", "/v1/events", test::kOwnerToken);
  counted.send(quick, "GET", "/v1/events?kinds=note.*", test::kOwnerToken);
  for (auto* client : {&slow, &quick})
    REQUIRE(client->read_until("retry: 2000\n\n").find("text/event-stream") != std::string::npos);

  bool is_quick_whole = true;
  auto longest = std::chrono::steady_clock::duration::zero();
  for (int i = 1; i <= kEvents; ++i) {
    quick.forget();
    const auto began = std::chrono::steady_clock::now();
    counted.dispatcher.publish("note.updated", "",
                               {{"path", "a.md"}, {"filler", std::string(400, 'x')}});
    const auto& got = quick.read_until("\n\n");
    longest = std::max(longest, std::chrono::steady_clock::now() - began);
    is_quick_whole = is_quick_whole && frame_ids(got) == std::vector<int>{i};
  }

  CHECK(is_quick_whole);
  CHECK(longest < std::chrono::seconds(1));
  REQUIRE(slow.read_to_end(std::chrono::seconds(60)));
  const auto first = frame_ids(slow.received());
  REQUIRE_FALSE(first.empty());
  CHECK(first.size() < kEvents);
  CHECK(first == numbers(1, first.back()));
  CHECK(counted.metrics().value("indx_event_streams_dropped_total") == 1.0);

  test::RawClient back(counted.server->port());
  counted.send(back, "GET", "/v1/events",
               cat(test::kOwnerToken, "Last-Event-ID: e-", first.back(), "\r\n"));
  back.read_until(cat("id: e-", kEvents, "\n"));
  back.read_until(std::string(400, 'x') + "\"}\n\n");
  auto rest = frame_ids(back.received());
  REQUIRE_FALSE(rest.empty());
  CHECK(rest.front() == first.back() + 1);
  CHECK(rest.back() >= kEvents - 1);
  CHECK(rest == numbers(rest.front(), rest.back()));
}

TEST_CASE("streams of one job share a reading of its record where it is fresh enough",
          "[http][E12]") {
  constexpr int kStreams = 50;
  test::CountedServer counted;
  std::atomic<int> processed = 0;
  counted.dispatcher.on("job_get", [&processed](const Call&) {
    return test::answered(
        Json{{"job", {{"id", "j1"}, {"processed", processed.load()}, {"finished_at", nullptr}}}});
  });
  std::vector<std::unique_ptr<test::RawClient>> clients;
  for (int i = 0; i < kStreams; ++i) {
    clients.push_back(std::make_unique<test::RawClient>(counted.server->port()));
    counted.send(*clients.back(), "GET", "/v1/jobs/j1/events", test::kOwnerToken);
    clients.back()->read_until("event: job\n");
  }
  const auto opening = counted.dispatcher.call_count();

  for (int i = 1; i <= 20; ++i) {
    processed = i;
    counted.dispatcher.publish("job.progress", "j1", Json::object());
    for (const auto& client : clients)
      CHECK(client->read_until(cat("\"processed\":", i, ",")).find(cat("\"processed\":", i, ",")) !=
            std::string::npos);
  }

  CHECK(opening == kStreams);
  // Each stream would ask 20 times on its own.
  CHECK(counted.dispatcher.call_count() - opening < kStreams * 20 / 2);
}

TEST_CASE("the feed refuses more jobs than it can look for", "[http]") {
  const test::CountedServer counted;
  std::string jobs = "j";
  for (int i = 0; i < 1001; ++i) jobs += cat(",j", i);

  const auto refused = counted.ask("GET", "/v1/events?jobs=" + jobs);

  CHECK(refused.status == 400);
  CHECK(refused.body.find("at most 1000 jobs") != std::string::npos);
}
}  // namespace indx
