#include "actors/storage_trouble.hpp"

#include <algorithm>
#include <utility>

namespace indx {
namespace {

constexpr std::chrono::minutes kTellEvery{1};
constexpr std::chrono::milliseconds kFirstWait{100}, kLongestWait{5000};

}  // namespace

std::optional<Json> StorageTrouble::failed(std::string_view doing, const Error& error,
                                           std::chrono::nanoseconds now) {
  if (failures_in_all_++ == 0) began_ = now;
  ++failures_untold_;
  if (told_ && now - *told_ < kTellEvery) return std::nullopt;
  told_ = now;
  is_told_ = true;
  return Json{
      {"doing", doing}, {"error", error.message}, {"failures", std::exchange(failures_untold_, 0)}};
}

std::optional<Json> StorageTrouble::worked(std::chrono::nanoseconds now) {
  if (is_over()) return std::nullopt;
  const auto failures = std::exchange(failures_in_all_, 0);
  if (!std::exchange(is_told_, false)) return std::nullopt;
  return Json{{"failures", failures},
              {"seconds", std::chrono::duration_cast<std::chrono::seconds>(now - began_).count()}};
}

std::chrono::milliseconds StorageTrouble::wait() const {
  auto wait = kFirstWait;
  for (std::int64_t i = 1; i < failures_in_all_ && wait < kLongestWait; ++i) wait *= 2;
  return std::min(wait, kLongestWait);
}

}  // namespace indx
