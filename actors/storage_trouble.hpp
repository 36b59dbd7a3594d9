#pragma once
#include "base/error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace indx {

/// What to say about a database that fails, and when to try again. A full disk fails thousands of
/// times a minute: that is one line a minute. Times are monotonic.
class StorageTrouble {
 public:
  /// Fields of the line that is due now, if one is: `{doing, error, failures}`, the failures since
  /// the last line.
  std::optional<Json> failed(std::string_view doing, const Error& error,
                             std::chrono::nanoseconds now);
  /// Something was stored. Fields of the line about it, `{failures, seconds}`, when there was
  /// trouble that was told of.
  std::optional<Json> worked(std::chrono::nanoseconds now);

  bool is_over() const { return failures_in_all_ == 0; }
  /// Before the next try: doubled with each failure, from 100 ms to 5 s.
  std::chrono::milliseconds wait() const;

 private:
  std::int64_t failures_in_all_ = 0;  ///< of this trouble
  std::int64_t failures_untold_ = 0;
  std::chrono::nanoseconds began_{0};
  std::optional<std::chrono::nanoseconds> told_;  ///< last line about a failure
  bool is_told_ = false;                          ///< of this trouble
};

}  // namespace indx
