#pragma once
#include "base/config.hpp"
#include "cli/commands.hpp"
#include "cli/global_flags.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

/// The script that a shell loads; empty for a shell that is not known. It asks the program for
/// every word, so it never goes stale.
std::string completion_script(const std::string& shell);

/// What may stand where the cursor is.
struct Completion {
  struct Word {
    std::string text, about;
  };
  std::vector<Word> words;
  bool takes_file = false;  ///< names of files on this machine
  std::string value_of;     ///< `note`, `attachment`, `tag`, `job`: names that the vault has
  std::string prefix;       ///< what is typed of the word, without quotes
  GlobalFlags global = {};  ///< as far as they were typed
};
/// `typed`: the words after the program, the last one as far as it goes. Shells give them as they
/// were typed: quotes and backslashes are taken off.
Completion complete(const std::vector<std::string>& typed, const std::vector<Command>& commands);

/// Answers the scripts: a candidate a line, with a tab before what is said of it; `:files` where
/// names of files may follow. Opens the vault only for names in it, and trusts the index.
int run_complete(const std::vector<std::string>& typed, const Environment& env,
                 const Registry& registry, const std::vector<Command>& commands);

/// The word by which the scripts ask.
inline constexpr std::string_view kCompleteWord = "__complete";

}  // namespace indx
