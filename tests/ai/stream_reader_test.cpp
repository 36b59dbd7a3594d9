#include "ai/stream_reader.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace indx {
namespace {

using Events = std::vector<StreamEvent>;

/// Fed in pieces of the given sizes, in turn.
Events read_in_pieces(StreamFraming framing, std::string_view bytes,
                      const std::vector<std::size_t>& sizes) {
  StreamReader reader(framing);
  Events all;
  const auto add = [&](Events&& events) { all.insert(all.end(), events.begin(), events.end()); };
  for (std::size_t at = 0, turn = 0; at < bytes.size(); ++turn) {
    const auto size = sizes[turn % sizes.size()];
    add(reader.feed(bytes.substr(at, size)));
    at += size;
  }
  add(reader.finish());
  return all;
}

Events read_whole(StreamFraming framing, std::string_view bytes) {
  return read_in_pieces(framing, bytes, {bytes.size() + 1});
}

constexpr auto kSse = StreamFraming::ServerSentEvents;

}  // namespace

TEST_CASE("server-sent events are read by the rules of their standard", "[ai]") {
  CHECK(read_whole(kSse, "data: a\n\n") == Events{{"", "a"}});
  CHECK(read_whole(kSse, "data:a\n\n") == Events{{"", "a"}});
  CHECK(read_whole(kSse, "data:  a \n\n") == Events{{"", " a "}});
  CHECK(read_whole(kSse, "event: x\ndata: a\ndata: b\nid: 1\n\ndata: c\n\n") ==
        Events{{"x", "a\nb"}, {"", "c"}});
  CHECK(read_whole(kSse, "data: a\r\n\r\ndata: b\r\rdata: c\n\n") ==
        Events{{"", "a"}, {"", "b"}, {"", "c"}});
  CHECK(read_whole(kSse, ": keep-alive\n\n:\n\ndata: a\n\n") == Events{{"", "a"}});
  CHECK(read_whole(kSse,
                   "\xEF\xBB\xBF"
                   "data: a\n\n") == Events{{"", "a"}});
  CHECK(read_whole(kSse, "data\n\n") == Events{{"", ""}});
  CHECK(read_whole(kSse, "data:\ndata:\n\n") == Events{{"", "\n"}});
}

TEST_CASE("an event without data or without its blank line is none", "[ai]") {
  CHECK(read_whole(kSse, "event: ping\n\n").empty());
  CHECK(read_whole(kSse, "event: lost\n\ndata: a\n\n") == Events{{"", "a"}});
  CHECK(read_whole(kSse, "data: a\n\ndata: b").size() == 1);
  CHECK(read_whole(kSse, "data: a\n\ndata: b\n").size() == 1);
  CHECK(read_whole(kSse, "").empty());
}

TEST_CASE("lines are events, the last one also without its end", "[ai]") {
  CHECK(read_whole(StreamFraming::Lines, "{\"a\":1}\n\r\n  \n{\"b\":2}\r\n{\"c\":3}") ==
        Events{{"", "{\"a\":1}"}, {"", "{\"b\":2}"}, {"", "{\"c\":3}"}});
}

TEST_CASE("events do not depend on how the bytes are cut, inside characters and line ends too",
          "[ai]") {
  const std::string text =
      "\xEF\xBB\xBF: comment\r\n\r\nevent: déjà\r\ndata: Grüße 東京\r\ndata: 👋🏽\r\n\r\n"
      "data: \r\rdata: x\n\n\n\nevent: e\ndata: {\"a\": \"\\u00e4\"}\n\ndata: cut";
  const auto whole = read_whole(kSse, text);
  REQUIRE(whole.size() == 4);
  CHECK(whole[0] == StreamEvent{"déjà", "Grüße 東京\n👋🏽"});

  for (std::size_t size = 1; size < text.size(); ++size)
    CHECK(read_in_pieces(kSse, text, {size}) == whole);
  for (std::size_t cut = 1; cut < text.size(); ++cut)
    CHECK(read_in_pieces(kSse, text, {cut, text.size()}) == whole);
}

TEST_CASE("random bytes in random pieces are read alike and hold nothing back that ended", "[ai]") {
  std::mt19937 random(20260316);
  const std::string alphabet = "data: event:\r\n\n\n:x\xC3\xA4\xF0\x9F\x91\x8B{}\xFF";
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    const auto length = random() % 60;
    for (std::size_t i = 0; i < length; ++i) {
      if (random() % 3 == 0)
        text += "data: ";
      else
        text += alphabet[random() % alphabet.size()];
    }
    for (const auto framing : {kSse, StreamFraming::Lines}) {
      const std::vector<std::size_t> sizes{1 + random() % 5, 1 + random() % 9, 1 + random() % 3};
      CAPTURE(text);
      CHECK(read_in_pieces(framing, text, sizes) == read_whole(framing, text));
    }
  }
}

TEST_CASE("what is held back is counted, so that an endless event can be refused", "[ai]") {
  StreamReader reader(kSse);
  CHECK(reader.feed("data: " + std::string(1000, 'x')).empty());
  CHECK(reader.pending_bytes() == 1006);
  CHECK(reader.feed("\n").empty());
  CHECK(reader.pending_bytes() == 1000);
  CHECK(reader.feed("\n").size() == 1);
  CHECK(reader.pending_bytes() == 0);
}

}  // namespace indx
