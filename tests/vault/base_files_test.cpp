#include "vault/base_files.hpp"

#include "vault/frontmatter.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace indx {
namespace {

TEST_CASE("one property of a file is what all of them hold under its name", "[base][A56]") {
  std::mt19937 random(56);
  const auto pick = [&](const std::vector<Json>& choices) {
    return choices[random() % choices.size()];
  };
  const std::vector<Json> names = {"price", "Price", "PRICE",  "é",   "É", "É",    "a\"b", "a\\",
                                   "",      "k",     "\u212A", "a b", "{", "tags", "x\n"};
  const std::vector<Json> values = {1,
                                    -2.5,
                                    "text",
                                    "with \" and \\",
                                    "]}",
                                    ",\"price\":3",
                                    nullptr,
                                    true,
                                    "é",
                                    Json::array(),
                                    Json::object(),
                                    Json::parse(R"(["a",{"price":[1,"}"]},[]])"),
                                    Json::parse(R"({"price":{"k":"\\"}})")};
  for (int i = 0; i < 3000; ++i) {
    Json object = Json::object();
    for (auto count = random() % 6; count > 0; --count)
      object[pick(names).get<std::string>()] = pick(values);
    BaseFileRow row;
    row.properties = object.dump();
    const BaseFiles files({row});
    for (const auto& name : names) {
      INFO(row.properties << " " << name);
      const auto* expected = find_property(object, name.get<std::string>());

      const auto found = files.property(0, name.get<std::string>());

      REQUIRE(found.has_value() == (expected != nullptr));
      if (found) CHECK(*found == *expected);
    }
  }
}

}  // namespace
}  // namespace indx
