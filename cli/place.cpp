#include "cli/place.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/remote_dispatcher.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace indx {
namespace {

constexpr std::chrono::seconds kWaitForAddress{5};

Error busy_error(const LiveServer& server) {
  const Json details{{"pid", server.pid}};
  if (server.is_indexing && !is_gone(server))
    return make_error(Reason::VaultLocked,
                      cat("Indexing is already running: another indx (process ", server.pid,
                          ") indexes this vault and takes no calls. Try again when it has ended."),
                      details);
  return make_error(Reason::VaultLocked,
                    "Another indx works on this vault and takes no calls; try again in a moment.",
                    details);
}

Result<Place> remote_place(const std::string& url, const std::string& token,
                           const Registry& registry) {
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return invalid(
        cat("`", url, "` is not the address of a server: http://HOST:PORT or https://HOST."),
        Json{{"path", "--remote"}});
  Place place;
  place.dispatcher = make_remote_dispatcher(
      registry, {url.ends_with('/') ? url.substr(0, url.size() - 1) : url, token});
  place.principal = owner_principal(Surface::Cli);
  return place;
}

}  // namespace

Error locked_error(const LiveServer& server, const std::string& advice) {
  const std::string& where = server.url.empty() ? server.socket_path : server.url;
  return make_error(Reason::VaultLocked,
                    cat("Another indx (process ", server.pid, where.empty() ? "" : ", at ", where,
                        ") holds this vault. ", advice),
                    Json{{"pid", server.pid}, {"url", server.url}});
}

void Place::close() {
  if (engine) engine->stop();
  dispatcher.reset();
  files.reset();
  engine.reset();
}

Principal owner_principal(Surface surface) {
  Principal principal;
  principal.subject = "local";
  principal.surface = surface;
  principal.scopes = {Scope::VaultRead, Scope::VaultWrite, Scope::VaultAdmin};
  return principal;
}

std::string named_vault(const GlobalFlags& global, const Environment& env) {
  const bool has_url = !env("INDX_URL").value_or("").empty() && !global.local && !global.vault;
  if (global.remote || has_url) return {};
  const std::string dir = global.vault.value_or(env("INDX_VAULT").value_or(""));
  return dir.empty() ? "." : dir;
}

Result<Config> load_vault_config(const GlobalFlags& global, const Environment& env,
                                 const std::string& missing_vault) {
  std::string dir = global.vault.value_or(env("INDX_VAULT").value_or(""));
  if (dir.empty()) dir = missing_vault;
  std::error_code error;
  if (!std::filesystem::is_directory(dir, error))
    return not_found(
        cat("The vault `", dir, "` is no folder. Name one with --vault or INDX_VAULT."),
        Json{{"path", dir}});
  std::vector<std::string> warnings;
  Config config = INDX_TRY(load_config(dir, env, &warnings));
  if (global.log_level) config.log_level = *global.log_level;
  if (global.log_format)
    config.log_format = *global.log_format == "json" ? LogFormat::JsonLines : LogFormat::Text;
  for (const auto& warning : warnings) log_warn(warning);
  return config;
}

bool is_gone(const LiveServer& server) {
  return server.pid > 0 && ::kill(server.pid, 0) != 0 && errno == ESRCH;
}

bool is_reachable(const LiveServer& server) {
  return !is_gone(server) && (has_usable_socket(server) || !server.url.empty());
}

bool has_usable_socket(const LiveServer& server) {
  std::error_code error;
  return !server.socket_path.empty() && server.socket_path.size() <= kMaxSocketPath &&
         std::filesystem::exists(server.socket_path, error);
}

Result<std::optional<LiveServer>> wait_for_live_server(const Config& config, bool indexes) {
  const auto until = std::chrono::steady_clock::now() + kWaitForAddress;
  while (true) {
    const std::optional<LiveServer> server = INDX_TRY(find_live_server(config));
    if (!server) return server;
    if (is_reachable(*server)) return server;
    const bool is_same_work = indexes && server->is_indexing && !is_gone(*server);
    if (is_same_work || std::chrono::steady_clock::now() > until) return busy_error(*server);
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
}

Result<std::unique_ptr<Dispatcher>> connect_to(const LiveServer& server, const Config& config,
                                               const std::string& token, const Registry& registry,
                                               std::function<bool(const CancelToken&)> revive) {
  RemoteTarget target;
  target.revive = std::move(revive);
  target.base = has_usable_socket(server) ? "unix:" + percent_encode(server.socket_path, true) + ":"
                                          : server.url;
  target.token = token;
  if (token.empty()) {
    std::ifstream in(config.index_dir + "/token");
    target.token = std::string(trim(std::string(std::istreambuf_iterator<char>(in), {})));
    if (target.token.empty())
      return make_error(Reason::Unauthorized,
                        "The token of the live server cannot be read; give one with --token.");
  }
  return make_remote_dispatcher(registry, std::move(target));
}

Result<Place> open_place(const GlobalFlags& global, const Environment& env,
                         const Registry& registry, const PlaceOptions& options) {
  const std::string token = global.token.value_or(env("INDX_TOKEN").value_or(""));
  if (global.remote) return remote_place(*global.remote, token, registry);
  const auto url = env("INDX_URL").value_or("");
  if (!url.empty() && !global.local && !global.vault) return remote_place(url, token, registry);

  Config config = INDX_TRY(load_vault_config(global, env, "."));
  // What `--async` asks for is left to a server: begun here, it would only be broken off.
  if (global.is_async && options.resume_jobs.empty()) config.jobs.runners = 0;
  Place place;
  place.principal = owner_principal(Surface::Cli);
  if (options.needs == Needs::Files) {
    const auto server = INDX_TRY(find_live_server(config));
    // Who holds the vault and takes no calls, as another command, is not in the way of a read.
    if (!server || !is_reachable(*server)) {
      place.files = INDX_TRY(open_file_backend(config));
      place.dispatcher = make_dispatcher(registry, *place.files);
      return place;
    }
  }
  EngineOptions engine_options;
  engine_options.mode = EngineOptions::Mode::Command;
  engine_options.scan_on_start = !global.no_scan;
  engine_options.resume_jobs = options.resume_jobs;
  // Twice, since a server may take the vault between the look and the start; a command that ends
  // soon is waited for.
  for (int attempt = 0;; ++attempt) {
    const auto server = INDX_TRY(wait_for_live_server(config, options.indexes));
    if (server && !options.resume_jobs.empty())
      return locked_error(*server,
                          cat("It runs the jobs here: follow this one with `indx job watch ",
                              options.resume_jobs.front().value, "`."));
    if (server && global.local)
      return locked_error(*server, "Leave out --local to ask it, or stop it first.");
    if (server) {
      place.dispatcher = INDX_TRY(connect_to(*server, config, global.token.value_or(""), registry));
      return place;
    }
    auto engine = Engine::start(config, registry, engine_options);
    if (!engine && engine.error().reason == Reason::VaultLocked && attempt < 2) continue;
    place.engine = INDX_TRY(std::move(engine));
    if (options.indexes) INDX_TRY(place.engine->announce_indexing());
    place.dispatcher = make_dispatcher(registry, *place.engine);
    return place;
  }
}

}  // namespace indx
