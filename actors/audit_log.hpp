#pragma once
#include "base/result.hpp"

#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace indx {

/// `events.log`: one JSON object a line, a tail of the events table. Rolls to `events.log.1` … `.5`
/// at 10 MiB. Plain class, one thread.
class AuditLog {
 public:
  AuditLog(std::string dir, std::string epoch, std::size_t max_bytes = 10U << 20U);

  /// Id of the last whole line of this epoch (0: none); a torn line from a crash is cut off. Call
  /// once, first.
  Result<std::int64_t> last_id();
  /// A line without its end.
  Status append(std::string_view line);
  Status flush();

 private:
  Status roll();

  std::string path_, epoch_;
  std::size_t max_bytes_;
  std::size_t size_ = 0;
  std::ofstream out_;
};

}  // namespace indx
