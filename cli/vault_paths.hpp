#pragma once
#include "base/result.hpp"
#include "ops/schema.hpp"

#include <string>

namespace indx {

/// The input with each absolute path in it made relative to the vault, wherever the schema wants a
/// path of the vault: shells complete absolute ones. `vault_dir`: the folder, empty for the vault
/// of a server, which is not known here. A path outside is refused with `validation_failed`.
Result<Json> with_vault_paths(const SchemaNode& schema, Json input, const std::string& vault_dir);

}  // namespace indx
