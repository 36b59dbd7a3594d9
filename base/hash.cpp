#include "base/hash.hpp"

#include <Poco/Base64Decoder.h>
#include <Poco/Base64Encoder.h>
#include <Poco/Crypto/DigestEngine.h>
#include <openssl/crypto.h>
#include <xxhash.h>

#include <cstdio>
#include <sstream>

namespace indx {

std::string etag_of(std::string_view bytes) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(XXH64(bytes.data(), bytes.size(), 0)));
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Poco::Crypto::DigestEngine engine("SHA256");
  engine.update(bytes.data(), bytes.size());
  return Poco::DigestEngine::digestToHex(engine.digest());
}

std::string canonical_hash(const Json& value) {
  // The unordered alias of the same library sorts its keys.
  const nlohmann::json sorted = value;
  return sha256_hex(sorted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string base64_encode(std::string_view bytes) {
  std::ostringstream out;
  Poco::Base64Encoder encoder(out);
  encoder.rdbuf()->setLineLength(0);
  encoder.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  encoder.close();
  return out.str();
}

Base64 base64_decode(std::string_view text) {
  try {
    std::istringstream in{std::string(text)};
    in.exceptions(std::ios::badbit);
    Poco::Base64Decoder decoder(in);
    decoder.exceptions(std::ios::badbit);
    std::ostringstream out;
    out << decoder.rdbuf();
    return {out.str(), true};
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace indx
