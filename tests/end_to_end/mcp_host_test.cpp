#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

namespace indx {
namespace {

constexpr std::chrono::milliseconds kLongestEnd{2000}, kLongestHandshake{1000};  // as promised

std::string host_line(const Json& id, const std::string& method, Json params = Json::object()) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}
             .dump() +
         "\n";
}
std::string host_hello() {
  return host_line(1, "initialize",
                   {{"protocolVersion", "2025-11-25"},
                    {"capabilities", Json::object()},
                    {"clientInfo", {{"name", "host"}, {"version", "1"}}}}) +
         "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
}
std::string host_call(const Json& id, const std::string& tool, Json arguments) {
  return host_line(id, "tools/call", {{"name", tool}, {"arguments", std::move(arguments)}});
}

/// The messages on stdout, each of which must be JSON-RPC on a line of its own.
std::vector<Json> host_messages(const std::string& out) {
  std::vector<Json> messages;
  for (const std::string& line : split(out, '\n')) {
    if (line.empty()) continue;
    messages.push_back(Json::parse(line, nullptr, false));
    INFO(line);
    REQUIRE(messages.back().is_object());
    CHECK(messages.back().value("jsonrpc", Json()) == "2.0");
  }
  return messages;
}
Json host_answer(const std::string& out, const Json& id) {
  for (const Json& message : host_messages(out.substr(0, out.rfind('\n') + 1)))
    if (message.value("id", Json()) == id) return message;
  return nullptr;
}
bool wait_for_answer(const Process& process, int id,
                     std::chrono::milliseconds longest = std::chrono::seconds(60)) {
  return process.wait_for_out(cat("\"id\":", id, ","), longest) ||
         process.wait_for_out(cat("\"id\":", id, "}"), std::chrono::milliseconds(1));
}

std::unique_ptr<Process> start_host(const TempFolder& vault,
                                    std::map<std::string, std::string> env = {}) {
  env["INDX_VAULT"] = vault.path();
  auto process = std::make_unique<Process>(indx_spec({"mcp", "serve", "--stdio"}, env));
  process->write(host_hello());
  return process;
}

/// The program as a child of a shell, whose script finds it in "$1" and the vault in "$2".
std::unique_ptr<Process> start_below_shell(const TempFolder& vault, const std::string& script) {
  auto spec = indx_spec({});
  const std::string program = spec.program;
  spec.program = "/bin/sh";
  spec.args = {"-c", script, "sh", program, vault.path()};
  auto process = std::make_unique<Process>(spec);
  process->write(host_hello());
  return process;
}

/// Gone, or a zombie that nobody waits for.
bool is_over(const std::string& pid) {
  std::ifstream in("/proc/" + pid + "/stat");
  std::string text;
  std::getline(in, text);
  const auto at = text.rfind(") ");
  return at == text.npos || text[at + 2] == 'Z' || text[at + 2] == 'X';
}

bool has_open(pid_t pid, const std::string& name) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(cat("/proc/", pid, "/fd"), error)) {
    const auto target = std::filesystem::read_symlink(entry.path(), error);
    if (!error && target.filename() == name) return true;
  }
  return false;
}

void check_index(const TempFolder& vault) {
  const auto done = run_indx({"doctor", "--vault", vault.path()});
  INFO(done.out << done.err);
  CHECK(done.code == 0);
}

}  // namespace

TEST_CASE("stdout carries protocol only, whatever the program has to complain about",
          "[end_to_end][B7][B72][mcp-5]") {
  const TempFolder vault;
  fill_vault(vault);
  CHECK(run_indx({"--vault", vault.path(), "vault", "status"}).code == 0);  // makes the index
  vault.write("Broken.md", "---\ntags: [unclosed\n: : :\n---\n\xff\xfe bytes \xc3\n");
  Process holder({"/bin/sh",
                  {"-c",
                   "{ echo 'BEGIN IMMEDIATE;'; echo '.shell echo held'; sleep 2; } | sqlite3 -bail "
                   "-cmd '.timeout 10000' "
                   "\"$1\"",
                   "sh", vault.path() + "/.indx/index.db"},
                  {},
                  {},
                  ""});
  REQUIRE(holder.wait_for_out("held\n"));

  const auto process = start_host(vault, {{"INDX_LOG_LEVEL", "debug"},
                                          {"INDX_AI_PROVIDER", "builtin"},
                                          {"INDX_EMBEDDINGS_MODEL_FILE", vault.path() + "/none"}});
  process->write(host_line(2, "tools/list") + "this is no message\n" +
                 host_call(3, "note_read", {{"path", "Broken.md"}}) +
                 host_call(4, "vault_search", {{"q", "plan"}, {"mode", "hybrid"}}) +
                 host_call(5, "note_read", {{"path", "none.md"}}));
  for (int id = 1; id <= 5; ++id) CHECK(wait_for_answer(*process, id));
  process->close_input();
  CHECK(process->wait() == 0);

  CHECK(host_messages(process->out()).size() >= 6);
  CHECK_FALSE(process->err().empty());
}

TEST_CASE("a server that will refuse every call is told in the host's log at the start",
          "[end_to_end][B7]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  const auto host_of = [](const std::string& url, const std::string& token) {
    auto process = std::make_unique<Process>(
        indx_spec({"--remote", url, "--token", token, "mcp", "serve", "--stdio"}));
    process->write(host_hello());
    CHECK(wait_for_answer(*process, 1));
    return process;
  };
  const auto is_warned = [](const Process& process, const std::string& code) {
    return wait_until(
               [&] { return process.err().find("server refuses calls") != std::string::npos; }) &&
           process.err().find(code) != std::string::npos;
  };
  const auto good = host_of(server.url(), server.token());
  good->write(host_call(2, "vault_status", Json::object()));
  CHECK(wait_for_answer(*good, 2));
  CHECK(good->err().find("refuses") == std::string::npos);

  const auto bad = host_of(server.url(), "not-a-token");
  CHECK(is_warned(*bad, "unauthorized"));
  server.kill();
  const auto dead = host_of(server.url(), server.token());
  CHECK(is_warned(*dead, "unavailable"));
}

TEST_CASE("a host of a server lists what its token allows, and no more than it asks for itself",
          "[end_to_end][B7][B9]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  const std::string reader = server.make_token({"vault:read"})["token"];
  const auto listed_by = [&](const std::string& token, const std::vector<std::string>& flags) {
    std::vector<std::string> args = {"--remote", server.url(), "--token", token,
                                     "mcp",      "serve",      "--stdio"};
    args.insert(args.end(), flags.begin(), flags.end());
    Process process(indx_spec(args));
    process.write(host_hello() + host_line(2, "tools/list"));
    CHECK(wait_for_answer(process, 2));
    process.close_input();
    CHECK(process.wait() == 0);  // so that all of the answer is there
    std::set<std::string> names;
    const Json answer = host_answer(process.out(), 2);
    for (const Json& tool : answer["result"]["tools"])
      names.insert(tool["name"].get<std::string>());
    return names;
  };

  const auto read_only = listed_by(reader, {});
  CHECK(read_only.contains("note_read"));
  CHECK_FALSE(read_only.contains("note_write"));
  CHECK(listed_by(reader, {"--scopes", "vault:admin"}) == read_only);
  CHECK(listed_by(server.token(), {"--scopes", "vault:read"}) == read_only);
  const auto whole = listed_by(server.token(), {});
  CHECK(whole.contains("note_write"));
  CHECK_FALSE(whole.contains("vault_reindex"));  // nobody asked for admin
}

TEST_CASE("a host that sees some folders knows nothing of the owner's jobs", "[end_to_end]") {
  const TempFolder vault;
  vault.write("private/Secret.md", "# Secret\n\n#old\n");
  vault.write("Public/Plan.md", "# Plan\n\n#old\n");
  const bool is_served = GENERATE(false, true);
  CAPTURE(is_served);
  REQUIRE(run_indx({"--vault", vault.path(), "vault", "index", "--rebuild"}).code == 0);
  std::optional<RunningServer> server;
  if (is_served) server.emplace(vault);

  const auto jobs_of = [&](const std::string& scopes) {
    Process process(
        indx_spec({"--vault", vault.path(), "mcp", "serve", "--stdio", "--scopes", scopes}));
    process.write(host_hello() + host_call(2, "vault_lists", {{"action", "job_list"}}));
    CHECK(wait_for_answer(process, 2));
    const Json result = host_answer(process.out(), 2)["result"];
    INFO(result.dump());
    CHECK(result["isError"] == false);
    const Json jobs = result["structuredContent"]["jobs"];
    process.close_input();
    CHECK(process.wait() == 0);
    return jobs;
  };
  CHECK(jobs_of("vault:read,vault:admin").size() == 1);
  CHECK(jobs_of("vault:read,path:Public/**").empty());
  CHECK(jobs_of("vault:admin,path:My Notes/**").empty());
}

TEST_CASE("a large vault that was never indexed does not keep a host waiting",
          "[end_to_end][B7][slow][mcp-6]") {
  constexpr int kNotes = 50'000, kFolders = 100;
  const TempFolder vault;
  for (int folder = 0; folder < kFolders; ++folder) {
    const std::string path = cat(vault.path(), "/f", folder);
    std::filesystem::create_directory(path);
    for (int i = 0; i < kNotes / kFolders; ++i)
      std::ofstream(cat(path, "/n", i, ".md")) << "# Note " << i << "\n\ncompost [[n1]]\n";
  }

  const auto process = start_host(vault);
  process->write(host_line(2, "tools/list"));
  CHECK(wait_for_answer(*process, 1, kLongestHandshake));
  CHECK(wait_for_answer(*process, 2, kLongestHandshake));
  process->write(host_call(3, "vault_search", {{"q", "compost"}}));
  REQUIRE(wait_for_answer(*process, 3));

  const Json found = host_answer(process->out(), 3);
  INFO(process->err());
  CHECK(found["result"]["structuredContent"].value("indexing", Json()) == true);

  // How far it is, once the files have been counted.
  int id = 3;
  CHECK(wait_until([&] {
    process->write(host_call(++id, "vault_search", {{"q", cat("compost ", id)}}));
    if (!wait_for_answer(*process, id)) return false;
    const Json told = host_answer(process->out(), id)["result"];
    if (told.is_null()) return false;
    const Json indexed = told["structuredContent"].value("indexed", Json::object());
    const auto line = told["content"][0]["text"].get<std::string>();
    return indexed.value("total", 0) > 0 &&
           line.find(cat("(indexing, ", indexed.value("done", 0), " of ", indexed.value("total", 0),
                         " files)")) != line.npos;
  }));
  process->signal(SIGKILL);
}

TEST_CASE("eight hosts on one vault are served by one indexer", "[end_to_end][B7]") {
  const TempFolder vault;
  fill_vault(vault);
  std::vector<std::unique_ptr<Process>> hosts;
  for (int i = 0; i < 8; ++i) hosts.push_back(start_host(vault));
  for (std::size_t i = 0; i < hosts.size(); ++i)
    hosts[i]->write(
        host_call(2, "note_write", {{"path", cat("Host ", i, ".md")}, {"body", "hello"}}));

  int indexers = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    INFO(hosts[i]->err());
    REQUIRE(wait_for_answer(*hosts[i], 2));
    CHECK_FALSE(host_answer(hosts[i]->out(), 2)["result"].value("isError", false));
    CHECK(trim(vault.read(cat("Host ", i, ".md"))) == "hello");
    if (has_open(hosts[i]->pid(), "index.db")) ++indexers;
  }
  CHECK(indexers == 1);

  for (const auto& host : hosts) host->close_input();
  for (const auto& host : hosts) CHECK(host->wait() == 0);
  check_index(vault);
}

TEST_CASE("when the host that holds the vault goes, another takes its place", "[end_to_end][B7]") {
  const TempFolder vault;
  fill_vault(vault);
  auto first = start_host(vault);
  REQUIRE(wait_for_answer(*first, 1));
  const auto second = start_host(vault), third = start_host(vault);
  const auto writes = [&](const Process& host, int id) {
    host.write(host_call(id, "note_write", {{"path", cat("Note ", id, ".md")}, {"body", "x"}}));
    INFO(host.err());
    REQUIRE(wait_for_answer(host, id));
    INFO(host_answer(host.out(), id).dump());
    CHECK_FALSE(host_answer(host.out(), id)["result"].value("isError", false));
    CHECK(trim(vault.read(cat("Note ", id, ".md"))) == "x");
  };
  writes(*second, 2);
  writes(*third, 3);

  SECTION("killed") {
    first->signal(SIGKILL);
    writes(*second, 4);
  }
  SECTION("in order") {
    first->close_input();
    writes(*third, 4);
  }
  SECTION("asked to") {
    first->signal(SIGTERM);
    writes(*second, 4);
  }
  CHECK(first->wait().has_value());
  writes(*second, 5);
  writes(*third, 6);
  const auto fourth = start_host(vault);
  writes(*fourth, 7);

  // And the one that took it over may go as well.
  const bool second_holds = has_open(second->pid(), "index.db");
  CHECK(second_holds != has_open(third->pid(), "index.db"));
  const auto& holder = second_holds ? second : third;
  const auto& guest = second_holds ? third : second;
  holder->close_input();
  CHECK(holder->wait(kLongestEnd) == 0);
  writes(*guest, 8);
  writes(*fourth, 9);
  for (const auto* host : {&guest, &fourth}) {
    (*host)->close_input();
    CHECK((*host)->wait(kLongestEnd) == 0);
  }
  check_index(vault);
}

TEST_CASE("a host whose holder is silent answers pings and ends at once, calls or not",
          "[end_to_end][mcp-5]") {
  const TempFolder vault;
  fill_vault(vault);
  const auto holder = start_host(vault);
  REQUIRE(wait_for_answer(*holder, 1));
  const auto pinged = start_host(vault), closed = start_host(vault), stopped = start_host(vault);
  for (const auto* guest : {&pinged, &closed, &stopped}) REQUIRE(wait_for_answer(**guest, 1));

  holder->signal(SIGSTOP);
  for (const auto* guest : {&pinged, &closed, &stopped}) {
    (*guest)->write(host_line(10, "tools/list", Json::object()));
    for (int id = 11; id < 16; ++id)
      (*guest)->write(host_call(id, "note_read", {{"path", "a.md"}}));
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto took = [&] { return std::chrono::steady_clock::now() - begin; };
  pinged->write(host_line(20, "ping", Json::object()));
  closed->close_input();
  stopped->signal(SIGTERM);
  CHECK(wait_for_answer(*pinged, 20));
  CHECK(took() < std::chrono::seconds(3));
  CHECK(closed->wait(std::chrono::seconds(4)) == 0);
  CHECK(stopped->wait(std::chrono::seconds(4)).has_value());
  holder->signal(SIGCONT);
  CHECK(wait_for_answer(*pinged, 15));  // a silent holder is not a lost one
}

TEST_CASE("a host finds its jobs whether or not it is the one that holds the vault",
          "[end_to_end][B7]") {
  const TempFolder vault;
  fill_vault(vault);
  vault.write("Tagged.md", "# T\n\n#old\n");
  const auto alone = start_host(vault);
  REQUIRE(wait_for_answer(*alone, 1));
  alone->write(host_line(2, "tools/call",
                         {{"name", "tag_rename"},
                          {"arguments", {{"from", "old"}, {"to", "new"}}},
                          {"task", Json::object()}}));
  INFO(alone->err());
  REQUIRE(wait_for_answer(*alone, 2));
  const std::string task = host_answer(alone->out(), 2)["result"]["task"]["taskId"];

  const auto beside = start_host(vault);
  beside->write(host_line(2, "tasks/get", {{"taskId", task}}));
  REQUIRE(wait_for_answer(*beside, 2));
  CHECK(host_answer(beside->out(), 2)["result"]["taskId"] == task);
}

TEST_CASE("a host that goes away in any way takes the process with it, and the index stays whole",
          "[end_to_end][B7]") {
  const TempFolder vault;
  fill_vault(vault);
  const std::string write = host_call(2, "note_write", {{"path", "New.md"}, {"body", "new"}});

  SECTION("its end of stdin is closed") {
    const auto process = start_host(vault);
    REQUIRE(wait_for_answer(*process, 1));
    process->write(write);
    process->close_input();
    CHECK(process->wait(kLongestEnd) == 0);
    CHECK(trim(vault.read("New.md")) == "new");
  }
  SECTION("it sends SIGTERM") {
    const auto process = start_host(vault);
    REQUIRE(wait_for_answer(*process, 1));
    process->write(write);
    process->signal(SIGTERM);
    CHECK(process->wait(kLongestEnd).has_value());
  }
  SECTION("nobody reads stdout any more") {
    const auto process =
        start_below_shell(vault, "\"$1\" mcp serve --stdio --vault \"$2\" | head -n 1");
    REQUIRE(process->wait_for_out("\"id\":1"));
    process->write(write);
    CHECK(process->wait(kLongestEnd).has_value());
  }
  SECTION("its process dies, while others hold the pipes") {
    const auto process = start_below_shell(
        vault,
        "exec 3<&0; \"$1\" mcp serve --stdio --vault \"$2\" <&3 & echo \"$!\" > \"$2/pid\"; wait");
    REQUIRE(process->wait_for_out("\"id\":1"));
    const std::string pid(trim(vault.read("pid")));
    REQUIRE_FALSE(is_over(pid));
    process->signal(SIGKILL);
    CHECK(wait_until([&] { return is_over(pid); }, kLongestEnd));
  }
  check_index(vault);
}

}  // namespace indx
