// MCP over HTTP: note_read as a tool against the same call of the REST API, the memory of 500
// sessions that listen, and the time that tools/list takes inside the server. The load generator
// shares the machine with the server.
#include "bench/engine.hpp"
#include "bench/http_client.hpp"
#include "mcp/server.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <thread>

namespace {

using namespace indx;
using namespace indx::bench;

constexpr int kNotes = 1000, kSessions = 500, kLists = 2000;
constexpr const char* kVersion = "2025-11-25";

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "mcp: %s\n", why.c_str());
  std::exit(1);
}

/// An endpoint and its owner's token.
struct Endpoint {
  int port = 0;
  std::string token;
};

std::string post(const Endpoint& at, const std::string& body, const std::string& headers = {}) {
  return cat("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:", at.port, "\r\nAuthorization: Bearer ",
             at.token, "\r\nContent-Type: application/json\r\nAccept: application/json, ",
             "text/event-stream\r\nContent-Length: ", body.size(), "\r\n", headers, "\r\n", body);
}

std::string session_headers(const std::string& session) {
  return cat("Mcp-Session-Id: ", session, "\r\nMCP-Protocol-Version: ", kVersion, "\r\n");
}

/// What comes until the text holds `end`.
std::string read_until(int fd, const std::string& end) {
  std::string text;
  char chunk[4096];
  while (text.find(end) == text.npos) {
    const auto n = ::recv(fd, chunk, sizeof chunk, 0);
    if (n <= 0) fail("the server closed a connection after " + text);
    text.append(chunk, static_cast<std::size_t>(n));
  }
  return text;
}

std::string open_session(const Endpoint& at, int fd) {
  const Json hello = {{"jsonrpc", "2.0"},
                      {"id", 1},
                      {"method", "initialize"},
                      {"params",
                       {{"protocolVersion", kVersion},
                        {"capabilities", Json::object()},
                        {"clientInfo", {{"name", "bench"}, {"version", "1"}}}}}};
  constexpr std::string_view kHeader = "Mcp-Session-Id: ";
  send_all(fd, post(at, hello.dump()));
  const std::string head = read_until(fd, "\r\n\r\n");
  const auto begin = head.find(kHeader);
  if (begin == head.npos) fail("no session: " + head);
  const auto from = begin + kHeader.size();
  return head.substr(from, head.find('\r', from) - from);
}

/// The same note, whole, through both surfaces. Of three rounds the middle ratio counts.
void measure_calls(const Endpoint& at) {
  const int fd = connect_to(at.port);
  const std::string headers = session_headers(open_session(at, fd));
  std::vector<std::string> reads, calls;
  for (int i = 0; i < kNotes; ++i) {
    const std::string path = cat("area-", i % 40, "/note-", i, ".md");
    reads.push_back(cat("GET /v1/notes/", path, " HTTP/1.1\r\nHost: 127.0.0.1:", at.port,
                        "\r\nAuthorization: Bearer ", at.token, "\r\n\r\n"));
    const Json call = {{"jsonrpc", "2.0"},
                       {"id", i},
                       {"method", "tools/call"},
                       {"params", {{"name", "note_read"}, {"arguments", {{"path", path}}}}}};
    calls.push_back(post(at, call.dump(), headers));
  }
  ::close(fd);
  std::vector<std::pair<double, double>> rounds;
  for (int i = 0; i < 3; ++i) {
    const double rest = requests_per_s(at.port, reads);
    rounds.emplace_back(requests_per_s(at.port, calls), rest);
  }
  std::sort(rounds.begin(), rounds.end(),
            [](const auto& a, const auto& b) { return a.first / a.second < b.first / b.second; });
  const auto [value, floor] = rounds[1];
  print({.name = "mcp_note_read",
         .value = value,
         .unit = "requests/s",
         .floor = floor,
         .bar = .6 * floor,
         .bar_is_maximum = false});
}

/// Only keeps what the server says.
class LastAnswer : public McpReply {
 public:
  void notify(const Json&) override {}
  void answer(McpAnswer answer) override { message = std::move(answer.message); }
  void drop(CancelReason) override {}
  Json message;
};

/// The floor is writing the same answer as text, which a server must do at least.
void measure_list(Dispatcher& dispatcher) {
  McpServer server(dispatcher, {});
  McpPeer peer;
  peer.protocol = find_protocol(kVersion);
  peer.principal = {
      .subject = "local", .surface = Surface::Mcp, .scopes = {Scope::VaultRead, Scope::VaultWrite}};
  peer.calls = std::make_shared<OpenCalls>();
  RpcMessage message;
  message.id = 1;
  message.method = "tools/list";
  const auto reply = std::make_shared<LastAnswer>();
  const auto times = times_ms(kLists, [&](std::size_t) { server.request(peer, message, reply); });
  if (!reply->message.contains("result")) fail("no list: " + reply->message.dump());
  std::size_t bytes = 0;
  const auto dumps =
      times_ms(kLists, [&](std::size_t) { bytes += dump_rpc(reply->message).size(); });
  print({.name = "mcp_tools_list",
         .value = percentile(times, .5),
         .unit = "ms",
         .floor = percentile(dumps, .5),
         .bar = .3,
         .n = bytes / kLists});
}

/// The real program, so that the memory of the clients is not counted.
class ServingProgram {
 public:
  explicit ServingProgram(const char* self, const std::filesystem::path& vault) {
    const auto build = std::filesystem::canonical(self).parent_path().parent_path();
    const std::string program = (build / "cli" / "indx").string();
    int out[2] = {};
    if (::pipe(out) != 0) fail("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      const int nowhere = ::open("/dev/null", O_WRONLY);
      ::dup2(nowhere, STDERR_FILENO);
      ::setenv("INDX_RATE_LIMIT_PER_MINUTE", "0", 1);
      ::execl(program.c_str(), "indx", "serve", "--vault", vault.c_str(), "--port", "0", nullptr);
      ::_exit(127);
    }
    ::close(out[1]);
    std::string banner;
    char chunk[1024];
    while (banner.find("Ctrl-C") == banner.npos) {
      const auto n = ::read(out[0], chunk, sizeof chunk);
      if (n <= 0) fail("the program did not start");
      banner.append(chunk, static_cast<std::size_t>(n));
    }
    out_ = out[0];
    const auto at = banner.find("http://");
    endpoint_.port = std::atoi(banner.c_str() + banner.find(':', at + 7) + 1);
    std::ifstream(vault / ".indx" / "token") >> endpoint_.token;
  }
  ServingProgram(const ServingProgram&) = delete;
  ServingProgram& operator=(const ServingProgram&) = delete;
  ~ServingProgram() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
    ::close(out_);
  }
  const Endpoint& endpoint() const { return endpoint_; }
  /// When it has come to rest.
  double resident() const {
    std::this_thread::sleep_for(std::chrono::seconds(5));
    return resident_mb(pid_);
  }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  Endpoint endpoint_;
};

/// Against the memory of the same program before the first session.
void measure_sessions(const ServingProgram& program) {
  const Endpoint& at = program.endpoint();
  const int warm = connect_to(at.port);  // what the first request brings stays
  open_session(at, warm);
  ::close(warm);
  const double idle = program.resident();
  std::vector<int> sockets;
  for (int i = 0; i < kSessions; ++i) {
    const int fd = connect_to(at.port);
    const std::string session = open_session(at, fd);
    ::close(fd);
    sockets.push_back(connect_to(at.port));
    send_all(sockets.back(),
             cat("GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:", at.port, "\r\nAuthorization: Bearer ",
                 at.token, "\r\nAccept: text/event-stream\r\n", session_headers(session), "\r\n"));
    const std::string head = read_until(sockets.back(), "\r\n\r\n");
    if (head.find(" 200 ") == head.npos) fail("no stream: " + head);
  }
  const double more = program.resident() - idle;
  for (const int fd : sockets) ::close(fd);
  print({.name = "mcp_500_sessions_memory", .value = more, .unit = "MB", .floor = {}, .bar = 8});
}

}  // namespace

int main(int /*argc*/, char** argv) {
  raise_file_limit();
  const Folder folder("mcp");
  generate_vault(folder.path / "vault", kNotes);
  {
    const ServingProgram program(argv[0], folder.path / "vault");
    measure_calls(program.endpoint());
  }
  {
    const ServingProgram program(argv[0], folder.path / "vault");
    measure_sessions(program);
  }
  const auto registry = make_registry();
  auto config = vault_config(folder.path);
  config.ai.provider = "builtin";  // with it the list is longest
  const auto engine = need(Engine::start(config, registry, {}));
  const auto dispatcher = make_dispatcher(registry, *engine);
  measure_list(*dispatcher);
  engine->stop();
}
