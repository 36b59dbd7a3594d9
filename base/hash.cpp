#include "base/hash.hpp"

#include "base/assert.hpp"

#include <Poco/Base64Decoder.h>
#include <Poco/Base64Encoder.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <xxhash.h>

#include <cstdio>
#include <sstream>

namespace indx {

std::string etag_of(std::string_view bytes) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(XXH64(bytes.data(), bytes.size(), 0)));
  return text;
}

// OpenSSL directly: Poco's engine reads /dev/urandom again for each hash, which costs more than the
// hash.
std::string sha256_hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const int ok = EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  INDX_ASSERT(ok == 1);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i)
    (hex += kDigits[digest[i] >> 4U]) += kDigits[digest[i] & 15U];
  return hex;
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
