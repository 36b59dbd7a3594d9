#include "vault/file_birth.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace indx {

std::optional<std::int64_t> file_birth_ms(const std::string& path) {
  struct statx status {};
  if (statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) != 0 ||
      (status.stx_mask & STATX_BTIME) == 0)
    return std::nullopt;
  return status.stx_btime.tv_sec * 1000 + status.stx_btime.tv_nsec / 1'000'000;
}

}  // namespace indx
