#pragma once
#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace indx {

/// Small texts that must not be readable on disk: AES-256-GCM, each with a nonce of its own.

inline constexpr std::size_t kSecretKeyBytes = 32;

/// The key in that file; made of random bytes, readable by its owner only, if there is none yet.
/// Two processes that make it at once get the same. `unavailable` when it cannot be read, written,
/// or has another length.
Result<std::string> read_or_make_secret_key(const std::string& path);

/// `internal` for a key that is not of kSecretKeyBytes.
Result<std::string> seal(std::string_view key, std::string_view text);
/// What `seal` made; `internal` when the key is another or a byte was changed.
Result<std::string> unseal(std::string_view key, std::string_view sealed);

}  // namespace indx
