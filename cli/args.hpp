#pragma once
#include "base/result.hpp"
#include "cli/commands.hpp"
#include "cli/global_flags.hpp"

#include <functional>
#include <string>
#include <vector>

namespace indx {

/// A command line, understood.
struct Invocation {
  GlobalFlags global;
  const Command* command = nullptr;  ///< nullptr: help is wanted, or nothing was typed
  std::vector<std::string> words;    ///< the words that name a command or a noun
  Json input = Json::object();
  std::string file;    ///< to send, for an operation that takes one
  std::string output;  ///< where to write the file that comes back; empty: stdout
};

/// The bytes of a file, or of stdin for `-`.
using ReadSource = std::function<Result<std::string>(const std::string& file)>;

/// Understands what was typed after the program's name. Errors are `validation_failed`; unknown
/// words and flags are named with the nearest known one. Checks no types beyond what text needs:
/// `validate` does.
Result<Invocation> parse_args(const std::vector<std::string>& args,
                              const std::vector<Command>& commands, const ReadSource& read);

/// Reads a file or stdin.
Result<std::string> read_source(const std::string& file);

}  // namespace indx
