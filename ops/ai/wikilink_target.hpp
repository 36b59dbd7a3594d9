#pragma once
#include "ops/context.hpp"

#include <string>

namespace indx {

/// What stands in a new wikilink from the note `source` to a file (vault-rules 5.4): its name where
/// no other file that the caller sees has it, else its path, in the first spelling that reaches it.
/// `source` need not exist yet; empty: a note at the root. Empty: no wikilink reaches the file,
/// because of what its path holds.
Result<std::string> wikilink_target(Context& ctx, const std::string& source, const NotePath& path);

}  // namespace indx
