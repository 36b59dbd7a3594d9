#include "base/file_bytes.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace indx {
namespace {

Error temp_file_error(int error) {
  return make_error(error == ENOSPC || error == EDQUOT ? Reason::Unavailable : Reason::Internal,
                    cat("A temporary file cannot be written: ",
                        std::generic_category().message(error), ". Make room and try again."));
}

}  // namespace

struct FileBytes::Descriptor {
  explicit Descriptor(int the_fd) : fd(the_fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(fd); }
  const int fd;
};

int FileBytes::descriptor() const { return file_->fd; }

FileBytes FileBytes::from_descriptor(int fd, std::uint64_t size) {
  FileBytes bytes(std::make_shared<const Descriptor>(fd));
  bytes.size_ = size;
  return bytes;
}

Result<FileBytes> FileBytes::open(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return not_found(cat("The file `", file, "` cannot be read."), Json{{"path", file}});
  FileBytes bytes = from_descriptor(fd, 0);
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    return not_found(cat("`", file, "` is no regular file."), Json{{"path", file}});
  bytes.size_ = static_cast<std::uint64_t>(info.st_size);
  return bytes;
}

Result<FileBytes> FileBytes::make_temp(const std::string& folder) {
  int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) {  // not every file system can
    std::string name = folder + "/.indx-XXXXXX";
    fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0) ::unlink(name.c_str());
  }
  if (fd < 0) return temp_file_error(errno);
  return from_descriptor(fd, 0);
}

Result<std::string> FileBytes::read(std::uint64_t offset, std::size_t size) const {
  if (offset >= size_) return std::string();
  std::string bytes(std::min<std::uint64_t>(size, size_ - offset), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto got = ::pread(file_->fd, bytes.data() + done, bytes.size() - done,
                             static_cast<off_t>(begin_ + offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return internal_error(cat("A file cannot be read: ", std::generic_category().message(errno)));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

FileBytes FileBytes::part(std::uint64_t offset, std::uint64_t size) const {
  FileBytes bytes(file_);
  bytes.begin_ = begin_ + std::min(offset, size_);
  bytes.size_ = std::min(size, size_ - std::min(offset, size_));
  return bytes;
}

Status FileBytes::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto done =
        ::pwrite(file_->fd, bytes.data(), bytes.size(), static_cast<off_t>(begin_ + size_));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return temp_file_error(done < 0 ? errno : ENOSPC);
    size_ += static_cast<std::uint64_t>(done);
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

Status FileBytes::append_from(int fd, std::uint64_t max_bytes) {
  std::array<char, 65536> block;
  while (true) {
    const auto got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return internal_error(
          cat("The input cannot be read: ", std::generic_category().message(errno)));
    if (got == 0) return {};
    if (size_ + static_cast<std::uint64_t>(got) > max_bytes)
      return make_error(Reason::TooLarge, cat("The input is larger than ", max_bytes, " bytes."),
                        Json{{"max_bytes", max_bytes}});
    INDX_TRY(append({block.data(), static_cast<std::size_t>(got)}));
  }
}

}  // namespace indx
