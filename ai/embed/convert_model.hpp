#pragma once
#include "base/result.hpp"

#include <string>
#include <string_view>

namespace indx::embed {

/// Makes a model file of the weights as they are published: `model.json` (the graph and what is in
/// the shards), the shards, and `vocab.json`, all in `folder`. Errors: `not_found` for a missing
/// file, `parse_failed` where the files are not those of `source_sha256` (kSourceSha256 but for
/// tests) or have another shape.
Result<std::string> convert_model(const std::string& folder, std::string_view source_sha256);

}  // namespace indx::embed
