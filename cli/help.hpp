#pragma once
#include "cli/args.hpp"

#include <string>
#include <vector>

namespace indx {

/// Help for what the words name: nothing (the program), a noun, or a command.
std::string help_text(const std::vector<std::string>& words, const std::vector<Command>& commands);

/// `note get PATH [flags]`
std::string usage_of(const Command& command);

/// `--limit N`, or `--no-cite` for a switch that is on by default.
std::string flag_usage(const Flag& flag);
/// What the flag does, whether it is required, and its default.
std::string flag_about(const Flag& flag);

struct FlagMember {
  std::string name, about;
};
/// Of a flag that takes a list of objects, what each of them may hold; else empty.
std::vector<FlagMember> members_of(const Flag& flag);

/// A call that could be made: `indx note diff Projects/Plan.md --from 3`.
std::string example_of(const Command& command);

/// The contract for programs: one operation by name or words, or all with exit codes and global
/// flags.
Result<Json> contract(const Registry& registry, const std::vector<Command>& commands,
                      const std::string& operation);

}  // namespace indx
