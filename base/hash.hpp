#pragma once
#include "base/json.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace indx {

/// The 16 lower-case hex digits of XXH64 (seed 0) over the bytes: the ETag of a file.
std::string etag_of(std::string_view bytes);
/// 64 lower-case hex digits of SHA-256.
std::string sha256_hex(std::string_view bytes);
/// SHA-256 over the value with object keys sorted, so that equal values hash equally.
std::string canonical_hash(const Json& value);
/// 64 lower-case hex digits of HMAC-SHA-256: only who knows the key can make them for a text.
std::string hmac_sha256_hex(std::string_view key, std::string_view text);
/// Whether both are equal, in time that depends on the lengths only.
bool equal_in_constant_time(std::string_view a, std::string_view b);

std::string base64_encode(std::string_view bytes);
/// Empty text with `ok == false` when the input is not base64.
struct Base64 {
  std::string bytes;
  bool ok = false;
};
Base64 base64_decode(std::string_view text);

}  // namespace indx
