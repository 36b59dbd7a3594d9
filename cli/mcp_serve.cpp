#include "cli/mcp_serve.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/output.hpp"
#include "cli/place.hpp"
#include "cli/signals.hpp"
#include "cli/vault_host.hpp"
#include "mcp/stdio_transport.hpp"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <thread>
#include <unistd.h>
#include <utility>

namespace indx {
namespace {

/// Hosts kill what is still there a few seconds after they have closed stdin.
constexpr std::chrono::milliseconds kStopGrace{1000};

/// Cancels when the parent of this process dies, whoever still holds the pipes.
class ParentWatch {
 public:
  explicit ParentWatch(CancelToken stop)
      : thread_([stop = std::move(stop), parent = ::getppid()](const std::stop_token& ended) {
          for (int tick = 0; !ended.stop_requested(); ++tick) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            if (tick % 10 == 0 && parent != 1 && ::getppid() != parent)
              return stop.cancel(CancelReason::Requested);
          }
        }) {}

 private:
  std::jthread thread_;
};

/// The one client, and what ends its service besides itself.
class StdioClient {
 public:
  StdioClient(Principal principal, int out) : principal_(std::move(principal)), out_(out) {}
  int serve(Dispatcher& dispatcher) const {
    return serve_mcp_stdio(dispatcher, principal_, STDIN_FILENO, out_, stop_);
  }
  const Principal& principal() const { return principal_; }

 private:
  const Principal principal_;
  const int out_;
  const CancelToken stop_;
  const ParentWatch parent_{stop_};
  const SignalWatch signals_{[stop = stop_] { stop.cancel(CancelReason::Requested); }};
};

/// Says early, in the host's log, what every call would meet: a bad token, no server. Waits for
/// nothing.
void check_remote(Dispatcher& dispatcher, const Principal& principal) {
  Call call;
  call.operation = dispatcher.registry().find("vault_status");
  call.principal = principal;
  dispatcher.call(std::move(call),
                  [](const Answer& answer) {
                    // A host that has left refuses nothing.
                    if (answer.result || answer.result.error().reason == Reason::Cancelled) return;
                    log_warn("the server refuses calls; tools are listed, but fail",
                             Json{{"code", answer.result.error().name()},
                                  {"reason", answer.result.error().message}});
                  },
                  {});
}

/// At the process that holds the vault, and at its successor, which may be this one.
int serve_at(const LiveServer& server, const Config& config, const Registry& registry,
             const StdioClient& client) {
  std::optional<VaultKeeper> keeper;
  std::function<bool(const CancelToken&)> revive;
  if (has_usable_socket(server)) {
    keeper.emplace(config, registry);
    revive = [&keeper](const CancelToken& cancel) { return keeper->ensure(cancel); };
  }
  const auto dispatcher = connect_to(server, config, "", registry, revive);
  return dispatcher ? client.serve(**dispatcher) : print_error(dispatcher.error());
}

}  // namespace

int take_stdout() {
  // Where a host gives no stderr, the next file that is opened would get its log lines.
  if (::fcntl(STDERR_FILENO, F_GETFD) < 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    if (nowhere >= 0 && nowhere != STDERR_FILENO) {
      ::dup2(nowhere, STDERR_FILENO);
      ::close(nowhere);
    }
  }
  const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return out;
}

McpOptions mcp_options(const Config& config) {
  McpOptions options;
  options.sessions = {.max_sessions = static_cast<std::size_t>(config.mcp.max_sessions),
                      .idle = config.mcp.session_idle};
  return options;
}

Result<Principal> mcp_principal(const Json& input) {
  Principal principal = owner_principal(Surface::Mcp);
  principal.scopes.clear();
  const auto given = input.find("scopes");
  if (given == input.end()) {
    principal.scopes = {Scope::VaultRead, Scope::VaultWrite};
    return principal;
  }
  std::vector<std::string> globs;
  for (const auto& item : *given) {
    const std::string text(trim(item.get_ref<const std::string&>()));
    if (text.starts_with("path:")) {
      globs.push_back(text.substr(5));
      continue;
    }
    const auto scope = parse_scope(text);
    if (!scope)
      return invalid(
          cat("`", text, "` is no scope: vault:read, vault:write, vault:admin or path:GLOB."),
          Json{{"path", "--scopes"}});
    principal.scopes.insert(*scope);
  }
  if (principal.scopes.empty()) principal.scopes = {Scope::VaultRead, Scope::VaultWrite};
  if (!globs.empty()) principal.bind_to(std::move(globs));
  return principal;
}

int run_mcp_serve(const Invocation& invocation, const Environment& env, const Registry& registry,
                  int protocol_out) {
  if (!invocation.input.value("stdio", false))
    return print_error(
        invalid("`indx mcp serve` speaks over stdin and stdout: add --stdio. `indx serve` offers "
                "MCP over HTTP at /mcp."));
  auto principal = mcp_principal(invocation.input);
  if (!principal) return print_error(principal.error());
  const StdioClient client(std::move(*principal), protocol_out);
  const bool has_globs = !client.principal().path_globs.empty();
  const auto url = invocation.global.remote.value_or(
      invocation.global.vault ? "" : env("INDX_URL").value_or(""));
  if (!url.empty()) {
    GlobalFlags global = invocation.global;
    global.remote = url;
    if (has_globs)
      return print_error(invalid(
          "`path:` scopes need the vault on this machine; make a token with these globs instead."));
    const auto place = open_place(global, env, registry, {});
    if (!place) return print_error(place.error());
    check_remote(*place->dispatcher, client.principal());
    return client.serve(*place->dispatcher);
  }
  auto config = load_vault_config(invocation.global, env, ".");
  if (!config) return print_error(config.error());
  config->jobs.stop_grace = std::min(config->jobs.stop_grace, kStopGrace);
  for (int attempt = 0;; ++attempt) {
    const auto server = wait_for_live_server(*config);
    if (!server) return print_error(server.error());
    if (*server) {
      if (!has_usable_socket(**server) && has_globs)
        return print_error(
            invalid("The live server has no local socket, so `path:` scopes cannot be passed on; "
                    "make a token with these globs instead."));
      return serve_at(**server, *config, registry, client);
    }
    const auto host = VaultHost::start(*config, registry);
    if (!host && host.error().reason == Reason::VaultLocked && attempt < 2) continue;
    return host ? client.serve((*host)->dispatcher()) : print_error(host.error());
  }
}

}  // namespace indx
