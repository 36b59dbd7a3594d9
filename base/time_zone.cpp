#include "base/time_zone.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

namespace indx {
namespace {

constexpr std::size_t kMaxZoneBytes = 1U << 16U;  // the largest has 4 kB
constexpr std::size_t kHeaderBytes = 44;
/// Further than any time that is asked about, and small enough to be added to.
constexpr std::int64_t kFarMillis = std::int64_t{1} << 53U;
constexpr std::string_view kZonesDir = "/usr/share/zoneinfo/";

std::optional<std::string> read_zone_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string bytes(kMaxZoneBytes, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

std::int64_t big_endian(const std::string& bytes, std::size_t at, std::size_t length) {
  std::uint64_t value = (static_cast<unsigned char>(bytes[at]) & 0x80U) != 0 ? ~0ULL : 0;
  for (std::size_t i = 0; i < length; ++i)
    value = (value << 8U) | static_cast<unsigned char>(bytes[at + i]);
  return static_cast<std::int64_t>(value);
}

bool is_zone_name(const std::string& name) {
  return !name.empty() && name.size() <= 100 && name.front() != '/' &&
         name.find("..") == name.npos && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("_-+/").find(c) != std::string_view::npos;
         });
}

/// What `TZ` says; empty: nothing.
std::string zone_of_environment() {
  const char* set = std::getenv("TZ");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  if (set == nullptr) return {};
  return set[0] == ':' ? set + 1 : set;
}

}  // namespace

Result<TimeZone> TimeZone::load(const std::string& name) {
  const auto wanted = name.empty() ? zone_of_environment() : name;
  if (wanted == "UTC") return TimeZone();
  if (wanted.empty()) {
    const auto local = read_zone_file("/etc/localtime");
    return local ? parse(*local) : TimeZone();
  }
  const auto bytes = is_zone_name(wanted) ? read_zone_file(cat(kZonesDir, wanted)) : std::nullopt;
  if (!bytes)
    return invalid(
        cat("This system knows no time zone `", wanted, "`; give a name such as Europe/Berlin."),
        {{"path", "time_zone"}});
  return parse(*bytes);
}

Result<TimeZone> TimeZone::parse(const std::string& tzif) {
  const auto damaged = [] { return internal_error("A time zone file cannot be read."); };
  const auto count = [&](std::size_t header, std::size_t field) {
    return static_cast<std::size_t>(
        std::max<std::int64_t>(0, big_endian(tzif, header + 20 + 4 * field, 4)));
  };
  if (tzif.size() < kHeaderBytes || !tzif.starts_with("TZif")) return damaged();
  // Counts in the header: utc/local marks, standard/wall marks, leap seconds, times, types, chars.
  std::size_t header = 0, width = 4;
  if (tzif[4] >= '2') {
    header = kHeaderBytes + count(0, 3) * 5 + count(0, 4) * 6 + count(0, 5) + count(0, 2) * 8 +
             count(0, 1) + count(0, 0);
    width = 8;
    if (tzif.size() < header + kHeaderBytes) return damaged();
  }
  const auto times = count(header, 3), types = count(header, 4);
  const auto times_at = header + kHeaderBytes, index_at = times_at + times * width,
             types_at = index_at + times;
  if (types == 0 || tzif.size() < types_at + types * 6) return damaged();
  const auto offset_of = [&](std::size_t type) {
    return static_cast<std::int32_t>(big_endian(tzif, types_at + type * 6, 4));
  };
  TimeZone zone;
  zone.first_offset_ = offset_of(0);
  for (std::size_t i = 0; i < times; ++i) {
    const std::size_t type = static_cast<unsigned char>(tzif[index_at + i]);
    if (type >= types) return damaged();
    zone.changes_.push_back({big_endian(tzif, times_at + i * width, width), offset_of(type)});
  }
  return zone;
}

std::string TimeZone::local_name() {
  std::error_code failed;
  const auto link = std::filesystem::read_symlink("/etc/localtime", failed).string();
  const auto zones = link.find("zoneinfo/");
  for (const auto& name :
       {zone_of_environment(), zones == link.npos ? std::string() : link.substr(zones + 9)})
    if (!name.empty() && load(name).has_value()) return name;
  return "UTC";
}

TimeZone::Stretch TimeZone::stretch_at(Timestamp time) const {
  const auto second = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  const auto after = std::upper_bound(
      changes_.begin(), changes_.end(), second,
      [](std::int64_t value, const Change& change) { return value < change.from; });
  Stretch stretch{from_millis(-kFarMillis), from_millis(kFarMillis),
                  std::chrono::seconds(first_offset_)};
  if (after != changes_.end()) stretch.end = from_millis(after->from * 1000);
  if (after != changes_.begin()) {
    const auto& last = *std::prev(after);
    stretch.begin = from_millis(last.from * 1000);
    stretch.offset = std::chrono::seconds(last.offset);
  }
  return stretch;
}

}  // namespace indx
