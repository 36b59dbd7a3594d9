#include "cli/serve.hpp"

#include "actors/engine.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/mcp_serve.hpp"
#include "cli/output.hpp"
#include "cli/place.hpp"
#include "cli/signals.hpp"
#include "http/rest.hpp"
#include "http/server.hpp"
#include "mcp/http_transport.hpp"

#include <algorithm>
#include <unistd.h>

namespace indx {
namespace {

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Result<Config> serve_config(const Invocation& invocation, const Environment& env) {
  Config config = INDX_TRY(load_vault_config(invocation.global, env, "/vault"));
  const Json& input = invocation.input;
  if (input.contains("host")) config.host = input["host"].get<std::string>();
  if (input.contains("port")) {
    const auto port = input["port"].is_number_integer() ? input["port"].get<std::int64_t>() : -1;
    if (port < 0 || port > 65535)
      return invalid("`--port` must be an integer from 0 to 65535.", Json{{"path", "--port"}});
    config.port = static_cast<int>(port);
  }
  if (input.value("socket_only", false)) config.host.clear();
  if (!config.host.empty() && !is_loopback(config.host))
    log_warn(
        "listening beyond this machine without TLS: every call needs a token, and tokens travel "
        "readable",
        Json{{"host", config.host}});
  return config;
}

ServerConfig server_config(const Config& config) {
  ServerConfig server;
  server.host = config.host;
  server.port = config.port;
  server.workers = config.http_workers;
  server.public_names = std::make_shared<const std::vector<std::string>>(config.public_names);
  server.unix_socket = config.index_dir + "/socket";
  if (server.unix_socket.size() > kMaxSocketPath) {
    log_info("no local socket: its path would be too long",
             Json{{"bytes", server.unix_socket.size()}});
    server.unix_socket.clear();
  }
  return server;
}

std::string url_of(const Config& config, int port) {
  if (config.host.empty()) return "";
  const bool is_any = config.host == "0.0.0.0" || config.host == "::";
  const std::string host = is_any ? "127.0.0.1" : config.host;
  return cat("http://", host.find(':') != host.npos ? "[" + host + "]" : host, ":", port);
}

/// Names the server that holds the vault already.
Error start_error(const Config& config, const Error& error) {
  if (error.reason != Reason::VaultLocked) return error;
  const auto server = wait_for_live_server(config);
  if (!server || !*server) return error;
  return locked_error(**server, "Use it as it is, or stop it first.");
}

}  // namespace

std::string shell_word(const std::string& text) {
  const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("/._-+:@,").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return is_plain ? text : "'" + replace_all(text, "'", "'\\''") + "'";
}

std::string banner_text(const Banner& banner) {
  const std::string vault = " --vault " + shell_word(banner.vault_dir);
  const std::string program = shell_word(banner.program);
  std::string text = cat("indx ", kVersion, " serves ", banner.vault_dir, "\n  address  ",
                         banner.url.empty() ? banner.socket_path : banner.url, "\n  token    ",
                         banner.token_path, "\n\nTry in another terminal:\n");
  const std::string curl =
      banner.url.empty() ? "curl --unix-socket " + shell_word(banner.socket_path) + " " : "curl ";
  text += cat("  ", curl, "-H \"Authorization: Bearer $(cat ", shell_word(banner.token_path),
              ")\" ", banner.url.empty() ? "http://localhost" : banner.url, "/v1/vault/status\n");
  if (banner.has_provider)
    text += cat("  ", program, " ai tag --scope-glob '**' --apply --async", vault, "\n  ", program,
                " job watch", vault, "\n");
  else
    text += cat("  ", program, " search 'some words'", vault, "\n  INDX_AI_PROVIDER=builtin ",
                program, " serve", vault, "   (AI that needs no key)\n");
  return text + "\nCtrl-C stops it.\n";
}

int run_serve(const Invocation& invocation, const Environment& env, const Registry& registry,
              const std::string& program) {
  const auto config = serve_config(invocation, env);
  if (!config) return print_error(config.error());
  EngineOptions options;
  options.on_stuck_stop = end_stuck_process;
  auto engine = Engine::start(*config, registry, options);
  if (!engine) return print_error(start_error(*config, engine.error()));
  const auto dispatcher = make_dispatcher(registry, **engine);
  Router router;
  add_rest_routes(router, *dispatcher);
  McpOptions limits = mcp_options(*config);
  limits.has_fixtures =
      is_loopback(config->host) && env("MCP_CONFORMANCE_FIXTURES").value_or("") == "1";
  const auto mcp = make_mcp_http(*dispatcher, limits);
  mcp->add_routes(router);
  ServerConfig listener = server_config(*config);
  listener.plan_body = plan_bodies(router, *dispatcher, config->index_dir, listener.max_body_bytes,
                                   static_cast<std::uint64_t>(config->max_attachment_bytes));
  listener.metrics = dispatcher->metrics();
  auto server =
      HttpServer::start(listener, [&router](const HttpRequest& request, Responder responder) {
        router.handle(request, std::move(responder));
      });
  if (!server) {
    (*engine)->stop();
    return print_error(server.error());
  }
  const std::string url = url_of(*config, (*server)->port());
  if (const auto announced = (*engine)->announce(url, listener.unix_socket); !announced)
    log_error("other processes will not find this server",
              Json{{"reason", announced.error().message}});
  write_all(STDOUT_FILENO,
            banner_text({program, config->vault_dir, url, (*engine)->owner_token_path(),
                         listener.unix_socket, dispatcher->has_provider()}));
  log_info("serving", Json{{"url", url}, {"pid", ::getpid()}});

  const int number = wait_for_signal();
  log_info("stopping", Json{{"signal", number}});
  const SignalWatch second([] { ::_exit(130); });
  (*server)->drain();
  (*engine)->stop();
  mcp->stop();
  (*server)->stop();
  log_info("stopped");
  return 0;
}

}  // namespace indx
