#include "actors/live_server.hpp"

#include "vault/vault.hpp"

#include <fstream>

namespace indx {

std::optional<LiveServer> announced_server(const Config& config) {
  std::ifstream in(config.index_dir + "/server.json");
  const auto json = Json::parse(in, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  LiveServer server;
  server.url = json.value("url", "");
  server.socket_path = json.value("socket", "");
  server.pid = json.value("pid", 0);
  server.version = json.value("version", "");
  server.is_indexing = json.value("indexing", false);
  return server;
}

Result<std::optional<LiveServer>> find_live_server(const Config& config) {
  auto lock = VaultLock::acquire(config.vault_dir);
  if (lock.has_value()) return std::optional<LiveServer>();
  if (lock.error().reason != Reason::VaultLocked) return lock.error();
  return std::optional(announced_server(config).value_or(LiveServer()));
}

}  // namespace indx
