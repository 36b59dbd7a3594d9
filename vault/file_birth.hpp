#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace indx {

/// When a file came to be, in milliseconds since 1970 UTC; nullopt where the file system does not
/// keep it, or the file is gone. `path` is absolute.
std::optional<std::int64_t> file_birth_ms(const std::string& path);

}  // namespace indx
