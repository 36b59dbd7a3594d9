#include "store/blob_dir.hpp"

#include "base/text.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace indx {
namespace {

class FileHandle {
 public:
  explicit FileHandle(int fd) : fd_(fd) {}
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  ~FileHandle() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

Error blob_error(std::string_view doing) {
  const int code = errno;
  if (code == ENOSPC || code == EDQUOT)
    return make_error(Reason::Unavailable,
                      cat("The disk is full while ", doing, "; free some space."));
  return make_error(Reason::Unavailable, cat("A file of the index folder failed while ", doing,
                                             ": ", std::strerror(code)));
}

Status sync_dir(const std::string& dir) {
  const FileHandle handle(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.get() < 0 || ::fsync(handle.get()) != 0) return blob_error("syncing a folder");
  return {};
}

Status write_synced(const std::string& path, std::string_view bytes) {
  const FileHandle handle(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (handle.get() < 0) return blob_error("creating a file");
  while (!bytes.empty()) {
    const ssize_t written = ::write(handle.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return blob_error("writing a file");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(handle.get()) != 0) return blob_error("syncing a file");
  return {};
}

constexpr std::string_view kPartialSuffix = ".part";

}  // namespace

Status BlobDir::write(const std::string& name, std::string_view bytes) const {
  std::error_code failed;
  if (std::filesystem::create_directories(dir_, failed))
    INDX_TRY(sync_dir(std::filesystem::path(dir_).parent_path().string()));
  if (failed)
    return make_error(Reason::Unavailable, cat("A folder cannot be made: ", failed.message()));
  const std::string path = cat(dir_, "/", name), partial = cat(path, kPartialSuffix);
  if (const auto done = write_synced(partial, bytes); !done.has_value()) {
    ::unlink(partial.c_str());
    return done.error();
  }
  if (::rename(partial.c_str(), path.c_str()) != 0) return blob_error("renaming a file");
  return sync_dir(dir_);
}

Result<std::string> BlobDir::read(const std::string& name) const {
  std::ifstream file(cat(dir_, "/", name), std::ios::binary);
  std::ostringstream bytes;
  if (file) bytes << file.rdbuf();
  if (!file) return not_found(cat("The file ", name, " of the index folder is missing."));
  return std::move(bytes).str();
}

Result<int> BlobDir::sweep(
    const std::function<Result<bool>(const std::string&)>& is_referenced) const {
  std::vector<std::string> names;
  std::error_code failed;
  for (std::filesystem::directory_iterator it(dir_, failed), end; !failed && it != end;
       it.increment(failed))
    names.push_back(it->path().filename().string());
  int deleted = 0;
  for (const auto& name : names) {
    if (INDX_TRY(is_referenced(name))) continue;
    if (::unlink(cat(dir_, "/", name).c_str()) == 0) ++deleted;
  }
  return deleted;
}

}  // namespace indx
