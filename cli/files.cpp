#include "cli/files.hpp"

#include "base/text.hpp"
#include "cli/output.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace indx {
namespace {

/// Block by block; false when the reader is gone or the disk is full.
bool copy_to(int fd, const FileBytes& file) {
  for (std::uint64_t at = 0; at < file.size();) {
    const auto block = file.read(at, 1U << 20U);
    if (!block || block->empty() || !write_all(fd, *block)) return false;
    at += block->size();
  }
  return true;
}

Error cannot_write(const std::string& output, int error) {
  return make_error(
      Reason::Internal,
      cat("`", output, "` cannot be written: ", std::generic_category().message(error), "."),
      Json{{"path", output}});
}

}  // namespace

std::string temp_folder() {
  const char* folder = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): never set here
  return folder == nullptr || *folder == '\0' ? "/tmp" : folder;
}

Result<std::shared_ptr<const Upload>> read_upload_file(const std::string& file,
                                                       std::uint64_t max_bytes) {
  if (file != "-") {
    auto bytes = INDX_TRY(FileBytes::open(file));
    return std::make_shared<const Upload>(
        Upload{std::move(bytes), file.substr(file.rfind('/') + 1)});
  }
  auto bytes = INDX_TRY(FileBytes::make_temp(temp_folder()));
  INDX_TRY(bytes.append_from(STDIN_FILENO, max_bytes));
  return std::make_shared<const Upload>(Upload{std::move(bytes), {}});
}

int print_file(const std::string& output, const Json& data, const FileBytes& file) {
  if (output.empty() || output == "-") {
    const auto type = data.value("media_type", std::string());
    if (output.empty() && is_terminal(STDOUT_FILENO) && !type.starts_with("text/"))
      return print_error(invalid(
          "The file is not text and stdout is a terminal: name a file with --output, or `-`.",
          Json{{"path", "--output"}}));
    return copy_to(STDOUT_FILENO, file) ? 0 : 1;
  }
  const int fd = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return print_error(cannot_write(output, errno));
  const bool is_written = copy_to(fd, file);
  const int failure = errno;
  if (::close(fd) != 0 || !is_written) return print_error(cannot_write(output, failure));
  return print_result(data);
}

}  // namespace indx
