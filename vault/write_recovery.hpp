#pragma once
#include "vault/vault.hpp"

#include <optional>
#include <string>

namespace indx {

/// Looks at the temp file that an interrupted `Vault::replace` of `path` left. When it holds
/// neither the bytes that were guarded nor those that were to be written, it is somebody's edit
/// that the exchange displaced, unless the path still holds the guarded bytes: it goes back if the
/// path holds ours (G3). Gives its bytes, so that they can be kept; nullopt: nothing of others was
/// left.
Result<std::optional<std::string>> recover_displaced(const Vault& vault, const NotePath& path,
                                                     const std::string& temp_name,
                                                     const std::string& before_sha256,
                                                     const std::string& after_sha256);

}  // namespace indx
