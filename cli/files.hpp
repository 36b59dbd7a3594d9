#pragma once
#include "cli/args.hpp"
#include "ops/dispatch.hpp"

#include <memory>

namespace indx {

/// The file that a command sends: one by name, or stdin as far as it goes.
Result<std::shared_ptr<const Upload>> read_upload_file(const std::string& file,
                                                       std::uint64_t max_bytes);

/// Writes the file of an answer where `output` says, then what the answer says about it; to stdout
/// the file alone. Gives the exit code.
int print_file(const std::string& output, const Json& data, const FileBytes& file);

/// A folder for files that have no name.
std::string temp_folder();

}  // namespace indx
