#include "base/hash.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("a keyed digest is that of RFC 4231, and another key or text has another", "[base]") {
  const std::string text = "what do ya want for nothing?";

  CHECK(hmac_sha256_hex("Jefe", text) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hmac_sha256_hex("jefe", text) != hmac_sha256_hex("Jefe", text));
  CHECK(hmac_sha256_hex("Jefe", text + " ") != hmac_sha256_hex("Jefe", text));
}

TEST_CASE("base64 is read strictly, but for blanks and ends of lines", "[base]") {
  CHECK(base64_decode("/w==").bytes == "\xff");
  CHECK(base64_decode("").ok);
  CHECK(base64_decode("aGVs\r\nbG8=").bytes == "hello");
  for (const auto* wrong : {"not base64!", "aGVsbG8", "a===", "aGVs=bG8", "====", "a"})
    CHECK_FALSE(base64_decode(wrong).ok);
}

}  // namespace indx
