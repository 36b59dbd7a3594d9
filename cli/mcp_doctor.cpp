#include "cli/mcp_doctor.hpp"

#include "base/text.hpp"
#include "cli/child_process.hpp"
#include "cli/mcp_checks.hpp"
#include "cli/mcp_config.hpp"
#include "cli/output.hpp"
#include "cli/place.hpp"
#include "cli/serve.hpp"
#include "mcp/json_rpc.hpp"
#include "mcp/protocol.hpp"

#include <filesystem>
#include <optional>
#include <unistd.h>

namespace indx {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kHandshakeLimit{10'000}, kGoodHandshake{1'000}, kAnswerLimit{20'000};
constexpr seconds kEndLimit{5};

/// Whether the folder can be used, and by which configuration.
std::optional<Config> check_vault(McpReport& report, const Invocation& invocation,
                                  const Environment& env) {
  const auto config = load_vault_config(invocation.global, env, ".");
  if (!config) {
    const bool is_folder = config.error().reason != Reason::NotFound;
    report.fail(
        "vault", config.error().message,
        is_folder
            ? "Correct that variable or key; docs/configuration.md lists the values."
            : "Give the absolute path of the folder with --vault, as in `indx mcp config HOST`.");
    return std::nullopt;
  }
  if (::access(config->vault_dir.c_str(), R_OK | X_OK) != 0) {
    report.fail("vault", cat(config->vault_dir, " cannot be read."),
                "Let the user that the host runs as read the folder.");
    return std::nullopt;
  }
  const std::string remark = current_folder_remark(invocation.global, env);
  report.ok("vault", cat(config->vault_dir, remark.empty() ? "" : ". " + remark));
  if (::access(config->vault_dir.c_str(), W_OK) != 0)
    report.warn("permissions", "The vault is read-only for this user.",
                "Writing tools will fail; use --scopes vault:read, or allow writing.");
  std::error_code failure;
  const std::string& index = config->index_dir;
  const bool exists = std::filesystem::is_directory(index, failure);
  const auto parent = std::filesystem::path(index).parent_path().string();
  if (::access((exists ? index : parent).c_str(), W_OK | X_OK) != 0) {
    report.fail("index", cat("The index folder ", index, " cannot be written."),
                "Allow writing there, or set INDX_INDEX_DIR to another folder.");
    return std::nullopt;
  }
  report.ok("index", cat(index, exists ? "" : " (will be made)"));
  return *config;
}

/// The server as a host would start it.
class StartedServer {
 public:
  explicit StartedServer(ChildProcess process) : process_(std::move(process)) {}

  void notify(std::string_view method) {
    process_.write_line(dump_rpc(rpc_notification(method, Json::object())));
  }
  Result<Json> ask(std::string_view method, Json params, milliseconds longest) {
    const Json id = ++last_id_;
    if (!process_.write_line(dump_rpc(rpc_request(id, method, std::move(params)))))
      return no_answer(longest);
    const auto until = std::chrono::steady_clock::now() + longest;
    while (true) {
      const auto left =
          std::chrono::duration_cast<milliseconds>(until - std::chrono::steady_clock::now());
      const auto line = process_.read_line(left);
      if (!line) return no_answer(longest);
      const Json message = Json::parse(*line, nullptr, false);
      if (!message.is_object())
        return make_error(Reason::ParseFailed, "A line on stdout is no JSON-RPC message.");
      if (message.value("id", Json()) != id) continue;
      if (const auto error = message.find("error"); error != message.end())
        return make_error(Reason::Internal, error->value("message", "an error"));
      return message.value("result", Json::object());
    }
  }
  std::optional<int> end() {
    process_.close_input();
    return process_.wait(kEndLimit);
  }

 private:
  Error no_answer(milliseconds longest) {
    process_.close_input();
    if (const auto code = process_.wait(milliseconds(500))) {
      const std::string why = process_.last_error();
      return make_error(Reason::Unavailable, cat("The server ended with exit code ", *code,
                                                 why.empty() ? "." : ": ", why));
    }
    return make_error(Reason::Timeout, cat("No answer in ", longest.count() / 1000, " s."));
  }

  ChildProcess process_;
  int last_id_ = 0;
};

std::vector<std::string> serve_command(const Invocation& invocation, const Config& config) {
  std::vector<std::string> command = {own_program(), "mcp",     "serve",
                                      "--stdio",     "--vault", config.vault_dir};
  if (const auto scopes = invocation.input.find("scopes"); scopes != invocation.input.end())
    for (const Json& scope : *scopes) {
      command.emplace_back("--scopes");
      command.push_back(scope.get<std::string>());
    }
  return command;
}

/// The command as one pastes it.
std::string shell_line(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (const std::string& word : command) words.push_back(shell_word(word));
  return join(words, " ");
}

void check_stdio(McpReport& report, const Invocation& invocation, const Environment& env) {
  report.ok("program", own_program());
  const auto config = check_vault(report, invocation, env);
  if (!config) return;
  const auto command = serve_command(invocation, *config);
  auto process = ChildProcess::start(command);
  if (!process)
    return report.fail("start", process.error().message, "Check the permissions of the program.");
  StartedServer client(std::move(*process));
  const auto started = std::chrono::steady_clock::now();
  const auto greeting =
      client.ask("initialize", initialize_params(newest_legacy_version()), kHandshakeLimit);
  if (!greeting)
    return report.fail("handshake", greeting.error().message,
                       cat("Run `", shell_line(command), "` in a terminal: stderr says more."));
  const auto took =
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - started);
  const std::string finding =
      cat("version ", greeting->value("protocolVersion", "?"), " in ", took.count(), " ms");
  if (took > kGoodHandshake)
    report.warn("handshake", finding, "Hosts wait 10 to 30 s; look what else the machine does.");
  else
    report.ok("handshake", finding);
  client.notify("notifications/initialized");
  const auto ask = [&](std::string_view method, Json params) {
    return client.ask(method, std::move(params), kAnswerLimit);
  };
  const auto catalog = ask("tools/list", Json::object());
  if (!catalog)
    return report.fail("tools", catalog.error().message,
                       "`indx doctor` says more about the vault.");
  check_catalog(report, *catalog);
  check_ai(report, ask, *catalog, &config->ai);
  check_read(report, ask);
  if (client.end() == 0) return report.ok("end", "The server ends when the host does.");
  report.warn("end", "The server did not end by itself within 5 s.", "It was ended by force.");
}

}  // namespace

int run_mcp_doctor(const Invocation& invocation, const Environment& env) {
  McpReport report;
  const std::string url = invocation.input.value(
      "url", invocation.global.remote.value_or(
                 invocation.global.vault ? "" : env("INDX_URL").value_or("")));
  if (url.empty())
    check_stdio(report, invocation, env);
  else
    check_http(report, url, invocation.global.token.value_or(env("INDX_TOKEN").value_or("")),
               invocation.global.vault.value_or(""));
  const std::string text =
      invocation.global.json ? data_text(report.json(), is_terminal(STDOUT_FILENO)) : report.text();
  const bool is_read = write_all(STDOUT_FILENO, text);
  return is_read && report.is_healthy() ? 0 : 1;
}

}  // namespace indx
