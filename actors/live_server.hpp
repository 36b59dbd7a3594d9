#pragma once
#include "base/config.hpp"
#include "base/result.hpp"

#include <optional>
#include <string>

namespace indx {

/// `server.json` of a live holder of the vault at `index_dir`: valid only while the lock on the
/// vault is held.
struct LiveServer {
  std::string url;          ///< http://127.0.0.1:8080, empty if none
  std::string socket_path;  ///< empty if none
  int pid = 0;
  std::string version;
  bool is_indexing = false;  ///< a command that indexes and takes no calls
};
/// The holder of the vault; nullopt: there is none. Takes the lock for a moment to find out.
Result<std::optional<LiveServer>> find_live_server(const Config& config);
/// What the last holder said of itself, whether or not it lives; nullopt: it ended in order.
std::optional<LiveServer> announced_server(const Config& config);

}  // namespace indx
