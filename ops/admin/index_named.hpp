#pragma once
#include "ops/context.hpp"

#include <string>
#include <vector>

namespace indx {

/// Files and folders in the form of the index; a glob stays as it is.
Result<std::vector<std::string>> vault_patterns(const std::vector<std::string>& paths);

/// Brings the index up to date with these files, folders and globs, slice by slice, each of which
/// is a step below `key`: what was indexed before an interruption is not read again. `rebuild`:
/// unchanged files too. Gives `{created, updated, deleted, unchanged, failed, took_ms, unmatched}`,
/// the last with the patterns that name nothing; `cancelled` has the counts so far in its details.
Result<Json> index_named(Context& ctx, const std::string& key,
                         const std::vector<std::string>& patterns, bool rebuild);

}  // namespace indx
