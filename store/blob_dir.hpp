#pragma once
#include "base/result.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace indx {

/// Files that belong to rows of state.db and are too large for them, named by SHA-256. A file is
/// durable before its row is committed and deleted only after the row is gone for good, so a row
/// never names a missing file.
class BlobDir {
 public:
  explicit BlobDir(std::string dir) : dir_(std::move(dir)) {}
  /// Durable on return. Fails with `unavailable` when there is no space.
  Status write(const std::string& name, std::string_view bytes) const;
  /// Fails with `not_found`.
  Result<std::string> read(const std::string& name) const;
  /// Deletes what `is_referenced` denies, and what is left of writes cut short. Gives how many
  /// files. Call it outside a transaction only.
  Result<int> sweep(
      const std::function<Result<bool>(const std::string& name)>& is_referenced) const;

 private:
  std::string dir_;
};

}  // namespace indx
