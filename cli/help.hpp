#pragma once
#include "cli/args.hpp"

#include <string>
#include <vector>

namespace indx {

/// Help for what the words name: nothing (the program), a noun, or a command.
std::string help_text(const std::vector<std::string>& words, const std::vector<Command>& commands);

/// `note get PATH [flags]`
std::string usage_of(const Command& command);

/// The contract for programs: one operation by name or words, or all with exit codes and global
/// flags.
Result<Json> contract(const Registry& registry, const std::vector<Command>& commands,
                      const std::string& operation);

}  // namespace indx
