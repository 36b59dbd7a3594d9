#include "base/secret_box.hpp"

#include "tests/support/temp_dir.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

namespace indx {

TEST_CASE("a sealed text opens with its key only, and whole", "[base][jobs-65]") {
  const TempDir dir;
  const auto key = read_or_make_secret_key(dir.path() + "/key").value();
  const auto other = read_or_make_secret_key(dir.path() + "/other").value();
  const std::string text("a secret\0with a zero", 20);

  const auto sealed = seal(key, text).value();

  CHECK(unseal(key, sealed).value() == text);
  CHECK(unseal(key, seal(key, "").value()).value().empty());
  CHECK(sealed.find("secret") == std::string::npos);
  CHECK(seal(key, text).value() != sealed);  // never the same nonce
  CHECK_FALSE(unseal(other, sealed));
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    auto damaged = sealed;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    CHECK_FALSE(unseal(key, damaged));
    CHECK_FALSE(unseal(key, sealed.substr(0, i)));
  }
  CHECK_FALSE(seal("short", text));
}

TEST_CASE("the key for secrets is made once, for its owner only", "[base][jobs-65]") {
  namespace fs = std::filesystem;
  const TempDir dir;
  const auto path = dir.path() + "/key";

  const auto key = read_or_make_secret_key(path).value();

  CHECK(key.size() == kSecretKeyBytes);
  CHECK(read_or_make_secret_key(path).value() == key);
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()) == 1);
  std::ofstream(path, std::ios::app) << "more";
  CHECK(read_or_make_secret_key(path).error().reason == Reason::Unavailable);
  CHECK(read_or_make_secret_key(dir.path() + "/none/key").error().reason == Reason::Unavailable);
}

}  // namespace indx
