#include "base/json_text.hpp"

#include "base/random.hpp"

#include <catch2/catch.hpp>

#include <limits>

namespace indx {
namespace {

std::string as_the_library_says(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Bytes of every kind, most of them of texts that are UTF-8.
std::string some_text(Random& random) {
  static const std::vector<std::string> pieces = {"plain words of a note",
                                                  "\"",
                                                  "\\",
                                                  "\n",
                                                  "\r\t\b\f",
                                                  std::string(1, '\0'),
                                                  "\x1f",
                                                  "\x7f",
                                                  "Grüße",
                                                  "日本語",
                                                  "😀",
                                                  "</script>",
                                                  ""};
  std::string text;
  for (auto left = random.next() % 6; left > 0; --left)
    text += pieces[random.next() % pieces.size()];
  return text;
}

Json some_json(Random& random, int depth) {
  switch (random.next() % (depth > 0 ? 8U : 6U)) {
    case 0:
      return nullptr;
    case 1:
      return random.next() % 2 == 0;
    case 2:
      return static_cast<std::int64_t>(random.next());
    case 3:
      return random.next();
    case 4:
      return static_cast<double>(random.next() % 1000) / 7;
    case 5:
      return some_text(random);
    case 6: {
      Json list = Json::array();
      for (auto left = random.next() % 4; left > 0; --left)
        list.push_back(some_json(random, depth - 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (auto left = random.next() % 4; left > 0; --left)
        object[some_text(random)] = some_json(random, depth - 1);
      return object;
    }
  }
}

}  // namespace

TEST_CASE("JSON is written as the library writes it", "[json]") {
  SeededRandom random(7);
  for (int i = 0; i < 5000; ++i) {
    const Json value = some_json(random, 4);
    REQUIRE(json_text(value) == as_the_library_says(value));
  }
  for (const double number : {0.0, -0.0, 1e300, 5e-324, std::numeric_limits<double>::infinity()})
    CHECK(json_text(number) == as_the_library_says(number));
}

TEST_CASE("each byte is written right wherever in a long text it stands", "[json]") {
  for (int byte = 0; byte < 256; ++byte)
    for (std::size_t at = 0; at < 17; ++at) {
      std::string text(17, 'a');
      text[at] = static_cast<char>(byte);
      REQUIRE(json_text(text) == as_the_library_says(text));
    }
}

TEST_CASE("bytes that are no UTF-8 become the replacement character", "[json]") {
  const std::string text = json_text(Json{{"a\xff", "b\xc3"}, {"c", "\xed\xa0\x80"}});
  const Json read = Json::parse(text, nullptr, false);
  REQUIRE_FALSE(read.is_discarded());
  CHECK(read.at("a\xEF\xBF\xBD") == "b\xEF\xBF\xBD");
}

}  // namespace indx
