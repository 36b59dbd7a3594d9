#pragma once
#include "base/config.hpp"
#include "cli/args.hpp"

#include <string>

namespace indx {

/// Serves a vault until a signal comes. `program` is how this program was called, for the commands
/// that it suggests.
int run_serve(const Invocation& invocation, const Environment& env, const Registry& registry,
              const std::string& program);

/// What a newcomer reads: address, token file, three commands to try.
struct Banner {
  std::string program, vault_dir, url, token_path, socket_path;
  bool has_provider = false;
};
std::string banner_text(const Banner& banner);
/// For a POSIX shell, quoted only when it must be.
std::string shell_word(const std::string& text);

}  // namespace indx
