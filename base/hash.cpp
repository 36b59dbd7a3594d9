#include "base/hash.hpp"

#include "base/assert.hpp"
#include "base/file_bytes.hpp"

#include <Poco/Base64Decoder.h>
#include <Poco/Base64Encoder.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <xxhash.h>

#include <memory>
#include <sstream>

namespace indx {

namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

std::string etag_text(XXH64_hash_t hash) {
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, hash >>= 4U)
    *digit = kHexDigits[hash & 15U];
  return text;
}

std::string hex_text(const unsigned char* digest, unsigned int size) {
  std::string hex;
  for (unsigned int i = 0; i < size; ++i)
    (hex += kHexDigits[digest[i] >> 4U]) += kHexDigits[digest[i] & 15U];
  return hex;
}

/// Looked up once, for that costs more than to hash a short text.
const EVP_MD* sha256() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  INDX_ASSERT(algorithm != nullptr);
  return algorithm;
}

/// One SHA-256 after another.
class Sha256 {
 public:
  void begin() { INDX_ASSERT(EVP_DigestInit_ex(context_.get(), sha256(), nullptr) == 1); }
  void add(std::string_view bytes) {
    INDX_ASSERT(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }
  std::string hex() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    INDX_ASSERT(EVP_DigestFinal_ex(context_.get(), digest, &size) == 1);
    return hex_text(digest, size);
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(),
                                                                   &EVP_MD_CTX_free};
};

/// Calls `visit` for the bytes block by block.
template <typename Visit>
Status for_each_block(const FileBytes& bytes, Visit visit) {
  constexpr std::size_t kBlock = 1U << 20U;
  for (std::uint64_t at = 0; at < bytes.size(); at += kBlock) {
    const std::string block = INDX_TRY(bytes.read(at, kBlock));
    if (block.empty()) return internal_error("A file became shorter while it was read.");
    visit(block);
  }
  return {};
}

/// Poco's decoder passes over what it does not know. Blanks and ends of lines are no mistake.
bool is_base64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::size_t digits = 0, padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    if (c == '=')
      ++padding;
    else if (padding > 0 || kAlphabet.find(c) == std::string_view::npos)
      return false;
    else
      ++digits;
  }
  return padding <= 2 && (digits + padding) % 4 == 0 && digits % 4 != 1;
}

}  // namespace

std::string etag_of(std::string_view bytes) {
  return etag_text(XXH64(bytes.data(), bytes.size(), 0));
}

Result<std::string> etag_of_file(const FileBytes& bytes) {
  const std::unique_ptr<XXH64_state_t, decltype(&XXH64_freeState)> state(XXH64_createState(),
                                                                         &XXH64_freeState);
  XXH64_reset(state.get(), 0);
  INDX_TRY(for_each_block(bytes, [&](const std::string& block) {
    XXH64_update(state.get(), block.data(), block.size());
  }));
  return etag_text(XXH64_digest(state.get()));
}

Result<FileHashes> hash_file(const FileBytes& bytes) {
  const std::unique_ptr<XXH64_state_t, decltype(&XXH64_freeState)> state(XXH64_createState(),
                                                                         &XXH64_freeState);
  Sha256 sha;
  XXH64_reset(state.get(), 0);
  sha.begin();
  INDX_TRY(for_each_block(bytes, [&](const std::string& block) {
    XXH64_update(state.get(), block.data(), block.size());
    sha.add(block);
  }));
  return FileHashes{etag_text(XXH64_digest(state.get())), sha.hex()};
}

// OpenSSL directly: Poco's engine reads /dev/urandom again for each hash, which costs more than the
// hash.
std::string sha256_hex(std::string_view bytes) {
  thread_local Sha256 sha;
  sha.begin();
  sha.add(bytes);
  return sha.hex();
}

std::string canonical_hash(const Json& value) {
  // The unordered alias of the same library sorts its keys.
  const nlohmann::json sorted = value;
  return sha256_hex(sorted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string hmac_sha256_hex(std::string_view key, std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const auto* made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
  INDX_ASSERT(made != nullptr);
  return hex_text(digest, size);
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
  if (!is_base64(text)) return {};
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
