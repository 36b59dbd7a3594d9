#include "base/lazy.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace indx {

TEST_CASE("a lazy value is made once, for all its copies, when it is asked for", "[base]") {
  int made = 0;
  const Lazy<std::string> lazy([&made] { return ++made, std::string("text"); });
  const Lazy<std::string> copy = lazy;

  CHECK(made == 0);
  CHECK(copy->size() == 4);
  CHECK(*lazy == "text");
  CHECK(made == 1);
  CHECK(*Lazy<std::string>(std::string("there")) == "there");
  CHECK(Lazy<std::string>()->empty());
}

}  // namespace indx
