#include "cli/sse_reader.hpp"

#include <catch2/catch.hpp>

#include <vector>

namespace indx {

TEST_CASE("events are whole however the bytes are cut", "[cli]") {
  const std::string bytes =
      "retry: 2000\n\nid: e-1\nevent: job\ndata: {\"a\":\ndata: 1}\n\n: heartbeat\n\nevent: "
      "done\r\ndata: {}\r\n\r\n";
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    std::vector<SseFrame> frames;
    SseReader reader;
    for (std::size_t at = 0; at < bytes.size(); at += step)
      reader.add(std::string_view(bytes).substr(at, step),
                 [&](const SseFrame& frame) { return frames.push_back(frame), true; });

    REQUIRE(frames.size() == 2);
    CHECK(frames[0].id == "e-1");
    CHECK(frames[0].event == "job");
    CHECK(frames[0].data == "{\"a\":\n1}");
    CHECK(frames[1].event == "done");
  }
}

}  // namespace indx
