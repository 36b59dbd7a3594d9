#include "base/text.hpp"
#include "base/unicode.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/raw_http.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace indx {
namespace {

using SessionHeaders = std::vector<std::pair<std::string, std::string>>;
using Seconds = std::chrono::seconds;

constexpr Seconds kStdioEndTime{5};  // 2 s by design; the rest is for busy machines

const Json kMcpInitialize = {
    {"jsonrpc", "2.0"},
    {"id", 1},
    {"method", "initialize"},
    {"params", {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}}}};
const Json kMcpPing = {{"jsonrpc", "2.0"}, {"id", 2}, {"method", "ping"}};

SessionHeaders open_mcp_session(const RunningServer& server) {
  const auto reply = server.call("POST", "/mcp", kMcpInitialize);
  REQUIRE(reply.status == 200);
  for (const auto& [name, value] : reply.headers)
    if (to_lower(name) == "mcp-session-id")
      return {{"Mcp-Session-Id", value}, {"Accept", "application/json, text/event-stream"}};
  FAIL("initialize opened no session");
  return {};
}

/// A client that listens to its session.
std::unique_ptr<test::RawClient> listen_to(const RunningServer& server,
                                           const SessionHeaders& session) {
  const auto colon = server.url().rfind(':');
  auto client = std::make_unique<test::RawClient>(std::stoi(server.url().substr(colon + 1)));
  client->send(cat("GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n",
                   "Authorization: Bearer ", server.token(),
                   "\r\nMcp-Session-Id: ", session.front().second, "\r\n\r\n"));
  return client;
}

std::size_t resident_kilobytes(pid_t pid) {
  std::ifstream file(cat("/proc/", pid, "/status"));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  return 0;
}

/// A process that is over, though nobody may have asked for its exit code yet.
bool has_ended(pid_t pid) {
  std::ifstream file(cat("/proc/", pid, "/stat"));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto name_end = text.rfind(')');
  return name_end == std::string::npos || text.at(name_end + 2) == 'Z';
}

ProcessSpec stdio_spec(const TempFolder& vault, const std::vector<std::string>& more = {}) {
  std::vector<std::string> args = {"mcp", "serve", "--stdio", "--vault", vault.path()};
  args.insert(args.end(), more.begin(), more.end());
  return indx_spec(args);
}

void fill_large_vault(const TempFolder& vault) {
  for (int i = 0; i < 3000; ++i) {
    std::string body = cat("# Note ", i, "\n");
    for (int line = 0; line < 40; ++line) body += cat("Line ", line, " with [[Note ", i, "]]\n");
    vault.write(cat("Folder ", i % 50, "/Note ", i, ".md"), body);
  }
}

/// Every line that came is JSON-RPC.
void check_pure(const std::string& out) {
  CHECK_FALSE(out.empty());
  for (const auto& line : split(out, '\n')) {
    if (line.empty()) continue;
    const Json message = Json::parse(line, nullptr, false);
    INFO(line);
    CHECK(message.is_object());
    if (message.is_object()) CHECK(message.value("jsonrpc", "") == "2.0");
  }
}

}  // namespace

TEST_CASE("a session of before a restart is 404 on every method, and a new one works",
          "[end_to_end][B8][mcp-7]") {
  const TempFolder vault;
  fill_vault(vault);
  SessionHeaders session;
  {
    RunningServer before(vault);
    session = open_mcp_session(before);
    CHECK(before.call("POST", "/mcp", kMcpPing, session).status == 200);
    before.kill();
  }
  RunningServer after(vault);

  for (const char* method : {"POST", "GET", "DELETE"}) {
    INFO(method);
    CHECK(after.call(method, "/mcp", method == std::string("POST") ? kMcpPing : Json(), session)
              .status == 404);
  }
  CHECK(after.call("POST", "/mcp", kMcpPing, open_mcp_session(after)).status == 200);
}

TEST_CASE("a listener that comes back at once takes the stream over, and hears what happens next",
          "[end_to_end][B8][mcp-8]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  const auto session = open_mcp_session(server);
  server.call("POST", "/mcp", {{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}},
              session);
  const auto first = listen_to(server, session);
  REQUIRE(first->read_until("data: \n\n", Seconds(30)).find(" 200 ") != std::string::npos);

  const auto second = listen_to(server, session);  // the first was not even closed
  REQUIRE(second->read_until("data: \n\n", Seconds(30)).find(" 200 ") != std::string::npos);
  CHECK(first->read_to_end(Seconds(30)));
  first->leave();
  const auto third = listen_to(server, session);
  REQUIRE(third->read_until("data: \n\n", Seconds(30)).find(" 200 ") != std::string::npos);
  vault.write("By an editor.md", "# New\n");

  CHECK(third->read_until("list_changed", Seconds(30)).find("list_changed") != std::string::npos);
  CHECK(second->received().find("list_changed") == std::string::npos);
}

TEST_CASE("500 sessions that listen cost less than 8 MB", "[end_to_end]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  for (int i = 0; i < 50; ++i) open_mcp_session(server);  // what the first ones warm up is no cost
  const std::size_t idle = resident_kilobytes(server.process().pid());

  std::vector<std::unique_ptr<test::RawClient>> clients;
  for (int i = 0; i < 500; ++i) clients.push_back(listen_to(server, open_mcp_session(server)));
  for (const auto& client : clients)
    REQUIRE(client->read_until("data: \n\n", Seconds(30)).find(" 200 ") != std::string::npos);

  const std::size_t listening = resident_kilobytes(server.process().pid());
  INFO(idle << " kB idle, " << listening << " kB with listeners");
  CHECK(listening < idle + 8192);
}

TEST_CASE("the cap of sessions is configured, and the one that was idle the longest goes",
          "[end_to_end]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault, {}, {{"INDX_MCP_MAX_SESSIONS", "2"}});
  const auto first = open_mcp_session(server), second = open_mcp_session(server);
  CHECK(server.call("POST", "/mcp", kMcpPing, first).status == 200);

  open_mcp_session(server);

  CHECK(server.call("POST", "/mcp", kMcpPing, second).status == 404);
  CHECK(server.call("POST", "/mcp", kMcpPing, first).status == 200);
}

TEST_CASE("how long a session may be idle is configured, and one that is used goes on",
          "[end_to_end][B8]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault, {}, {{"INDX_MCP_SESSION_IDLE_MS", "2000"}});
  const auto idle = open_mcp_session(server), used = open_mcp_session(server);
  const auto over = std::chrono::steady_clock::now() + std::chrono::milliseconds(2100);

  int status = 0;
  CHECK(wait_until([&] {
    status = server.call("POST", "/mcp", kMcpPing, used).status;
    return status != 200 || std::chrono::steady_clock::now() > over;
  }));

  CHECK(status == 200);
  CHECK(server.call("POST", "/mcp", kMcpPing, idle).status == 404);
}

TEST_CASE(
    "the end of stdin and SIGTERM end a stdio server at once, in the middle of its first "
    "index too",
    "[end_to_end][B7]") {
  for (const bool is_signal : {false, true}) {
    const TempFolder vault;
    fill_large_vault(vault);
    Process process(stdio_spec(vault));
    process.write(kMcpInitialize.dump() + "\n");
    REQUIRE(process.wait_for_out("\"id\":1", Seconds(60)));

    const auto start = std::chrono::steady_clock::now();
    if (is_signal)
      process.signal(SIGTERM);
    else
      process.close_input();
    const auto code = process.wait(Seconds(30));
    const auto took = std::chrono::steady_clock::now() - start;

    CHECK(code == 0);
    CHECK(took < kStdioEndTime);
    check_pure(process.out());
  }
}

TEST_CASE("a stdio server ends before any handshake when its input does", "[end_to_end][B7]") {
  const TempFolder vault;
  fill_vault(vault);
  auto spec = stdio_spec(vault);
  spec.input = "";

  const auto done = run_process(spec);

  CHECK(done.code == 0);
  CHECK(done.out.empty());
}

TEST_CASE("a stdio server ends when its parent dies, though others keep its pipes open",
          "[end_to_end][B7]") {
  const TempFolder vault;
  fill_vault(vault);
  ProcessSpec spec = stdio_spec(vault);
  spec.args = {"-c",
               "sleep 20 2>/dev/null | \"$0\" mcp serve --stdio --vault \"$1\" >/dev/null 2>&1 & "
               "echo $!; exec sleep 60",
               spec.program, vault.path()};
  spec.program = "/bin/sh";
  Process parent(spec);
  REQUIRE(parent.wait_for_out("\n"));
  const pid_t child = std::stoi(parent.out());
  REQUIRE(wait_until([&] { return std::filesystem::exists(vault.path() + "/.indx/socket"); },
                     Seconds(60)));

  parent.signal(SIGKILL);

  CHECK(wait_until([&] { return has_ended(child); }, kStdioEndTime));
}

TEST_CASE("stdout carries the protocol only, at the highest log level and without a stderr",
          "[end_to_end][B7][mcp-5]") {
  const TempFolder vault;
  fill_vault(vault);
  vault.write("Broken.md", "---\nx: [1\n---\n\xFF\xFE\n[[");
  ProcessSpec spec = stdio_spec(vault, {"--log-level", "debug"});
  const auto talk_to_it = [&] {
    spec.input = kMcpInitialize.dump() + "\noops\n" + kMcpPing.dump() + "\n";
    return run_process(spec, Seconds(60));
  };

  check_pure(talk_to_it().out);

  const std::string program = spec.program;
  spec.args.insert(spec.args.begin(), {"-c", "exec \"$0\" \"$@\" 2>&-", program});
  spec.program = "/bin/sh";
  const auto without = talk_to_it();
  check_pure(without.out);
  CHECK(without.out.find("\"id\":2") != std::string::npos);
  CHECK(without.out.find("-32700") != std::string::npos);
}

}  // namespace indx
