#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace indx {

/// Flags that every command understands, before or after its words.
struct GlobalFlags {
  std::optional<std::string> vault, remote, token, idempotency_key, if_match, log_level, log_format;
  bool local = false, yes = false, ndjson = false, json = false, stream = false, dry_run = false,
       is_async = false, no_scan = false;
  bool help = false, version = false;
};

/// One row of the table that args, help and completion share.
struct GlobalFlag {
  std::string_view name, value, help;
  std::optional<std::string> GlobalFlags::*text = nullptr;
  bool GlobalFlags::*is_on = nullptr;
};
std::span<const GlobalFlag> global_flags();
const GlobalFlag* find_global_flag(std::string_view name);

}  // namespace indx
