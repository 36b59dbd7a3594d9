#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/raw_server.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace indx {
namespace {

Json config_block(const TempFolder& vault, const std::string& host,
                  std::vector<std::string> flags = {}) {
  std::vector<std::string> args = {"mcp", "config", host, "--vault", vault.path()};
  args.insert(args.end(), flags.begin(), flags.end());
  const auto done = run_indx(args);
  CHECK(done.code == 0);
  CHECK_FALSE(done.err.empty());
  return Json::parse(done.out, nullptr, false);
}

const std::string kHello =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})"
    "\n";

std::vector<std::string> host_names() {
  std::vector<std::string> names;
  const Json listed = Json::parse(run_indx({"mcp", "config", "--json"}).out, nullptr, false);
  for (const Json& host : listed["hosts"]) names.push_back(host["host"]);
  REQUIRE(names.size() >= 9);
  return names;
}

/// The entry of the server in a block of JSON, or of TOML in the form that is printed: one `name =
/// value` a line, whose strings and lists are those of JSON too.
Json server_in(const std::string& block) {
  const Json json = Json::parse(block, nullptr, false);
  if (json.is_object()) {
    for (const auto& [member, servers] : json.items())
      if (servers.is_object() && servers.contains("indx")) return servers["indx"];
    return Json();
  }
  Json server = Json::object();
  for (const std::string& line : split(block, '\n')) {
    const auto at = line.find(" = ");
    if (at == line.npos) continue;
    std::string value = line.substr(at + 3);
    if (value.starts_with('{')) value = cat("{\"", replace_all(value.substr(2), " = ", "\": "));
    server[line.substr(0, at)] = Json::parse(value, nullptr, false);
  }
  return server;
}

/// The line of the doctor's report about this; empty: there is none.
std::string line_about(const std::string& check, const Finished& done) {
  for (const std::string& line : split(done.out, '\n'))
    if (line.substr(std::min<std::size_t>(line.size(), 6)).starts_with(check + ": ")) return line;
  return "";
}

Finished doctor_on(const TempFolder& vault, const std::map<std::string, std::string>& env = {}) {
  return run_indx({"mcp", "doctor", "--vault", vault.path()}, env);
}

/// An MCP endpoint whose first indexing is over after so many answers.
class IndexingServer {
 public:
  explicit IndexingServer(int answers) : left_(answers) {}
  std::string url() const { return server_.url("/mcp"); }

 private:
  std::string reply_to(const std::string& request) {
    const auto holds = [&](const char* text) { return request.find(text) != std::string::npos; };
    if (!holds("Bearer ")) return "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n";
    if (holds("Origin: ")) return "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n";
    Json result = {{"protocolVersion", "2025-11-25"}};
    if (holds("tools/list")) result = {{"tools", {{{"name", "note_read"}}}}};
    if (holds("vault_status")) result = {{"structuredContent", {{"ai", {{"enabled", false}}}}}};
    if (holds("note_list")) result = {{"structuredContent", list()}};
    const std::string body = Json{{"jsonrpc", "2.0"}, {"id", 1}, {"result", result}}.dump();
    return cat("HTTP/1.1 200 OK\r\nMcp-Session-Id: one\r\nContent-Length: ", body.size(),
               "\r\n\r\n", body);
  }
  Json list() {
    if (left_-- > 0)
      return {
          {"notes", Json::array()}, {"indexing", true}, {"indexed", {{"done", 3}, {"total", 120}}}};
    return {{"notes", {{{"path", "Plan.md"}}}}};
  }

  int left_;
  const RawServer server_{
      [this](RawConnection& client) { client.send(reply_to(client.read_request())); }};
};

/// The state of each check by its name.
std::map<std::string, std::string> states_of(const Finished& done) {
  const Json report = Json::parse(done.out, nullptr, false);
  std::map<std::string, std::string> states;
  if (report.is_object())
    for (const Json& check : report["checks"]) states[check["name"]] = check["state"];
  return states;
}

}  // namespace

TEST_CASE("each host gets its own form of the same server", "[end_to_end][mcp]") {
  const TempFolder vault;
  fill_vault(vault);

  for (const auto& [host, member] :
       std::map<std::string, std::string>{{"claude-desktop", "mcpServers"},
                                          {"claude-code", "mcpServers"},
                                          {"cursor", "mcpServers"},
                                          {"vscode", "servers"},
                                          {"windsurf", "mcpServers"},
                                          {"zed", "context_servers"},
                                          {"gemini-cli", "mcpServers"},
                                          {"generic", "mcpServers"}}) {
    const Json server = config_block(vault, host, {"--scopes", "vault:read"})[member]["indx"];
    INFO(host << " " << server.dump());
    CHECK(server["command"].get<std::string>().starts_with("/"));
    REQUIRE(server["args"].size() == 7);
    CHECK(server["args"][4] == vault.path());
    CHECK(server["args"][6] == "vault:read");
  }
  CHECK(config_block(vault, "vscode")["servers"]["indx"]["type"] == "stdio");
  const auto codex = run_indx({"mcp", "config", "codex", "--vault", vault.path()});
  CHECK(codex.out.starts_with("[mcp_servers.indx]\ncommand = \"/"));
}

TEST_CASE("the block of every host starts a server that answers, in a folder of any name",
          "[end_to_end][mcp]") {
  const TempFolder folder;
  const std::string vault = folder.path() + "/Żółć \"notes\" \\ $HOME";
  std::filesystem::create_directory(vault);
  folder.write("Żółć \"notes\" \\ $HOME/Plan.md", "# Plan\n");

  for (const std::string& host : host_names()) {
    INFO(host);
    const auto printed = run_indx({"mcp", "config", host, "--vault", vault});
    REQUIRE(printed.code == 0);
    INFO(printed.out);
    const Json server = server_in(printed.out);
    REQUIRE(server["args"].is_array());

    Process process(
        {server["command"], server["args"].get<std::vector<std::string>>(), {}, "", {}});
    process.write(kHello);
    process.write(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"note_read",)"
                  R"("arguments":{"path":"Plan.md"}}})"
                  "\n");
    CHECK(process.wait_for_out("\"serverInfo\"", std::chrono::seconds(60)));
    CHECK(process.wait_for_out("# Plan", std::chrono::seconds(60)));
    process.close_input();
    CHECK(process.wait() == 0);
  }
}

TEST_CASE("the block of every host reaches a server with the token put where it says",
          "[end_to_end][mcp]") {
  const TempFolder vault;
  fill_vault(vault);
  const RunningServer server(vault);
  const Json hello = Json::parse(kHello);

  for (const std::string& host : host_names()) {
    INFO(host);
    const auto printed = run_indx({"mcp", "config", host, "--http", "--url", server.url()});
    REQUIRE(printed.code == 0);
    INFO(printed.out);
    const Json entry = server_in(printed.out);
    if (entry.contains("command")) {  // it reads no HTTP servers, so indx is started and forwards
      Process process({entry["command"],
                       entry["args"].get<std::vector<std::string>>(),
                       {{"INDX_TOKEN", server.token()}},
                       "",
                       {}});
      CHECK(entry["env"].contains("INDX_TOKEN"));
      process.write(kHello);
      CHECK(process.wait_for_out("\"serverInfo\"", std::chrono::seconds(60)));
      continue;
    }
    std::string url;
    for (const char* member : {"url", "serverUrl", "httpUrl"}) url = entry.value(member, url);
    REQUIRE(url.starts_with(server.url()));
    std::string token = "${INDX_TOKEN}";  // Codex names the variable alone
    if (entry.contains("headers"))
      token = entry["headers"]["Authorization"].get<std::string>().substr(7);
    else
      CHECK(entry["bearer_token_env_var"] == "INDX_TOKEN");
    for (const char* place : {"${env:INDX_TOKEN}", "${input:indx_token}", "${INDX_TOKEN}",
                              "$INDX_TOKEN", "PASTE_TOKEN_HERE"})
      token = replace_all(token, place, server.token());
    CHECK(token == server.token());
    const auto reply = server.call_as(token, "POST", url.substr(server.url().size()), hello);
    CHECK(reply.status == 200);
    CHECK(reply.body["result"].contains("serverInfo"));
  }
}

TEST_CASE("for HTTP a host is told the address and where its token stands", "[end_to_end][mcp]") {
  const TempFolder vault;
  fill_vault(vault);
  const std::vector<std::string> http = {"--http", "--url", "http://127.0.0.1:9/"};

  const Json code = config_block(vault, "claude-code", http)["mcpServers"]["indx"];
  const Json windsurf = config_block(vault, "windsurf", http)["mcpServers"]["indx"];
  const Json desktop = config_block(vault, "claude-desktop", http)["mcpServers"]["indx"];
  const Json vscode = config_block(vault, "vscode", http);
  const auto codex = run_indx({"mcp", "config", "codex", "--http"});

  CHECK(code["type"] == "http");
  CHECK(code["url"] == "http://127.0.0.1:9/mcp");
  CHECK(code["headers"]["Authorization"] == "Bearer ${INDX_TOKEN}");
  CHECK(windsurf["serverUrl"] == "http://127.0.0.1:9/mcp");
  CHECK(desktop["args"][4] == "http://127.0.0.1:9");
  CHECK(vscode["inputs"][0]["password"] == true);
  CHECK(codex.out.find("bearer_token_env_var = \"INDX_TOKEN\"") != std::string::npos);
  CHECK(codex.out.find("http://127.0.0.1:8080/mcp") != std::string::npos);
}

TEST_CASE("hosts that are not known, and vaults that are none, are refused", "[end_to_end][mcp]") {
  const auto wrong = run_indx({"mcp", "config", "cursr"});
  const auto nowhere = run_indx({"mcp", "config", "cursor", "--vault", "/no/such/folder"});
  const auto list = run_indx({"mcp", "config", "--json"});

  CHECK(wrong.code == 2);
  CHECK(wrong.err.find("Did you mean `cursor`?") != std::string::npos);
  CHECK(nowhere.code == 3);
  CHECK(Json::parse(list.out, nullptr, false)["hosts"].size() == 9);
}

TEST_CASE("the doctor finds a good vault good, by itself and beside a server",
          "[end_to_end][mcp]") {
  const TempFolder vault;
  fill_vault(vault);

  const std::string read = "ok    read: A note of the vault can be listed.";
  const auto first = doctor_on(vault);  // nothing has indexed it before
  INFO(first.out);
  CHECK(first.code == 0);
  CHECK(line_about("handshake", first).find(": version 2025-11-25 in ") != std::string::npos);
  CHECK(line_about("tools", first).find("reads: yes, writes: yes, admin: no") != std::string::npos);
  CHECK(line_about("read", first) == read);

  const auto json = run_indx({"mcp", "doctor", "--vault", vault.path(), "--json"}, {}, "");
  CHECK(states_of(json)["read"] == "ok");
  CHECK(states_of(json)["end"] == "ok");

  const RunningServer server(vault);
  const auto beside = doctor_on(vault);
  INFO(beside.out);
  CHECK(beside.code == 0);
  CHECK(line_about("read", beside) == read);
}

TEST_CASE("the doctor tells an empty vault from one whose first indexing is not done",
          "[end_to_end][mcp]") {
  const TempFolder empty;
  const IndexingServer soon(2), not_soon(1'000'000);
  const auto read_at = [](const IndexingServer& server) {
    return line_about("read",
                      run_indx({"mcp", "doctor", "--url", server.url(), "--token", "indx_x"}));
  };

  CHECK(line_about("read", doctor_on(empty))
            .starts_with("warn  read: The read worked, but there is no note to see.  -> Check "));
  CHECK(read_at(soon) == "ok    read: A note of the vault can be listed.");
  CHECK(read_at(not_soon) ==
        "ok    read: The first indexing is not done yet (3 of 120 files); searches find more "
        "soon.");
}

TEST_CASE("the doctor says whether there is AI and, where there is none, what to set",
          "[end_to_end][mcp]") {
  const TempFolder vault;
  fill_vault(vault);
  const auto ai_with = [&](const std::map<std::string, std::string>& env) {
    const auto done = doctor_on(vault, env);
    CHECK(done.code == 0);
    return line_about("ai", done);
  };
  const std::map<std::string, std::string> builtin = {{"INDX_AI_PROVIDER", "builtin"}};

  CHECK(ai_with({}) == "ok    ai: off: no provider is configured, so no ai_* tools are listed.");
  CHECK(ai_with({{"INDX_AI_PROVIDER", "openai"}}) ==
        "warn  ai: off: the provider openai needs a model; set INDX_AI_MODEL or ai.model. No ai_* "
        "tools are listed.");
  CHECK(ai_with({{"INDX_AI_PROVIDER", "openai"}, {"INDX_AI_MODEL", "m"}}) ==
        "warn  ai: off: the provider openai needs a key; set INDX_OPENAI_API_KEY. No ai_* tools "
        "are listed.");
  CHECK(ai_with({{"INDX_AI_PROVIDER", "openai"},
                 {"INDX_EMBEDDINGS_PROVIDER", "openai"},
                 {"INDX_OPENAI_BASE_URL", "http://127.0.0.1:9/v1"}})
            .find(". Only these ai_* tools are listed: ") != std::string::npos);
  CHECK(ai_with(builtin) == "ok    ai: builtin, model extractive");

  const RunningServer server(vault);  // it was given no provider, whatever the host sets
  CHECK(ai_with(builtin).starts_with("warn  ai: off: the process that holds the vault has no "));
  const auto over_http =
      run_indx({"mcp", "doctor", "--url", server.url(), "--token", server.token()});
  CHECK(line_about("ai", over_http)
            .starts_with("ok    ai: off: the server uses no provider, so no ai_* tools "));
}

TEST_CASE("a wrong value of the configuration is not blamed on the folder", "[end_to_end][mcp]") {
  const TempFolder vault;

  const auto done = doctor_on(vault, {{"INDX_AI_PROVIDER", "foo"}});

  CHECK(done.code == 1);
  const std::string line = line_about("vault", done);
  CHECK(line.starts_with("fail  vault: INDX_AI_PROVIDER is `foo` but must be "));
  CHECK(
      line.ends_with("  -> Correct that variable or key; docs/configuration.md lists the "
                     "values."));
}

TEST_CASE("where no vault is named, the current folder is taken and that is said",
          "[end_to_end][mcp]") {
  const TempFolder vault;
  fill_vault(vault);
  const std::string remark = "No --vault was given: this is the current folder.";
  const auto err_of = [&](std::map<std::string, std::string> env) {
    auto spec = indx_spec({"mcp", "config", "cursor"}, env);
    spec.directory = vault.path();
    return run_process(spec).err;
  };
  auto doctor = indx_spec({"mcp", "doctor"});
  doctor.directory = vault.path();

  CHECK(err_of({}).find(remark + "\n") != std::string::npos);
  CHECK(err_of({{"INDX_VAULT", vault.path()}}).find(remark) == std::string::npos);
  CHECK(line_about("vault", run_process(doctor, std::chrono::seconds(60))) ==
        cat("ok    vault: ", vault.path(), ". ", remark));
  CHECK(line_about("vault", doctor_on(vault)) == cat("ok    vault: ", vault.path()));
}

TEST_CASE("tokens are said to be made for the vault of the server, not for the current folder",
          "[end_to_end][mcp]") {
  const std::string create = "`indx token create cursor --scopes vault:read,vault:write --vault ";
  const auto err_of = [](std::vector<std::string> flags, std::map<std::string, std::string> env) {
    flags.insert(flags.begin(), {"mcp", "config", "cursor", "--http"});
    return run_indx(flags, env).err;
  };

  CHECK(err_of({}, {}).find(create + "FOLDER` (FOLDER is the vault of the server) and ") !=
        std::string::npos);
  CHECK(err_of({}, {{"INDX_VAULT", "/My notes"}}).find(create + "'/My notes'` and ") !=
        std::string::npos);
  CHECK(err_of({"--vault", "/other"}, {{"INDX_VAULT", "/My notes"}}).find(create + "/other` ") !=
        std::string::npos);
}

TEST_CASE("a host whose block lacks the variables of AI is pointed to them, but told no key",
          "[end_to_end][mcp]") {
  const TempFolder vault;
  const std::string remark =
      "For the ai_* tools add INDX_AI_PROVIDER and its variables under \"env\".";
  const std::map<std::string, std::string> env = {{"INDX_AI_PROVIDER", "openai"},
                                                  {"INDX_OPENAI_API_KEY", "sk-secret"}};
  const std::vector<std::string> config = {"mcp", "config", "cursor", "--vault", vault.path()};

  const auto with = run_indx(config, env), without = run_indx(config);
  const auto over_http = run_indx({"mcp", "config", "cursor", "--http"}, env);

  CHECK(with.err.find(remark) != std::string::npos);
  CHECK((with.err + with.out).find("sk-secret") == std::string::npos);
  CHECK(without.err.find(remark) == std::string::npos);
  CHECK(over_http.err.find(remark) == std::string::npos);  // the server has its own
}

TEST_CASE("a host that leaves before the server has answered is not said to be refused",
          "[end_to_end][mcp]") {
  const SilentServer server;

  const auto done = run_indx(
      {"mcp", "serve", "--stdio", "--remote", cat("http://127.0.0.1:", server.port())}, {}, "");

  CHECK(done.code == 0);
  CHECK(done.err.find("refuses") == std::string::npos);
}

TEST_CASE("the doctor says what is wrong with a vault and what to do", "[end_to_end][mcp]") {
  const TempFolder vault;
  fill_vault(vault);

  const auto missing = run_indx({"mcp", "doctor", "--vault", "/no/such/folder"});
  const auto scopes = run_indx(
      {"mcp", "doctor", "--vault", vault.path(), "--scopes", "vault:everything", "--json"});

  CHECK(missing.code == 1);
  CHECK(missing.out.find("fail  vault:") != std::string::npos);
  CHECK(missing.out.find("-> ") != std::string::npos);
  CHECK(scopes.code == 1);
  CHECK(states_of(scopes)["handshake"] == "fail");
  CHECK(scopes.out.find("is no scope: vault:read") != std::string::npos);  // as the server said
}

TEST_CASE("what the doctor says to run can be pasted into a shell", "[end_to_end][mcp]") {
  const TempFolder folder;
  const std::string vault = folder.path() + "/My $(notes) & more";
  std::filesystem::create_directory(vault);

  const auto done = run_indx({"mcp", "doctor", "--vault", vault, "--scopes", "vault:everything"});

  INFO(done.out);
  CHECK(done.code == 1);
  CHECK(done.out.find(cat(" --vault '", vault, "' --scopes vault:everything`")) !=
        std::string::npos);
}

TEST_CASE("the doctor thinks of TLS where the address may begin wrongly", "[end_to_end][mcp]") {
  const TempFolder vault;
  fill_vault(vault);
  const RunningServer server(vault);
  const auto said_of = [&](const std::string& url) {
    const auto done = run_indx({"mcp", "doctor", "--url", url, "--token", server.token()});
    CHECK(done.code == 1);
    return done.out;
  };
  const std::string port = server.url().substr(server.url().rfind(':'));

  CHECK(said_of("https://127.0.0.1" + port).find("itself speaks http://") != std::string::npos);
  CHECK(said_of(cat("http://127.0.0.1:", free_port())).find("begins with https://") !=
        std::string::npos);
}

TEST_CASE("the doctor checks a server over HTTP with the token that a host would use",
          "[end_to_end][mcp]") {
  const TempFolder vault;
  fill_vault(vault);
  const RunningServer server(vault);
  const std::string reader = server.make_token({"vault:read"})["token"];
  const auto doctor = [&](const std::string& url, const std::string& token) {
    return run_indx({"mcp", "doctor", "--url", url, "--token", token, "--json"});
  };

  const auto good = doctor(server.url(), reader);
  INFO(good.out);
  CHECK(good.code == 0);
  CHECK(states_of(good)["reach"] == "ok");
  CHECK(states_of(good)["token"] == "ok");
  CHECK(states_of(good)["origin"] == "ok");
  CHECK(states_of(good)["read"] == "ok");
  CHECK(good.out.find("writes: no") != std::string::npos);
  CHECK(good.out.find(reader) == std::string::npos);

  const auto stranger = doctor(server.url(), "indx_00000000000000000000000000000000");
  CHECK(stranger.code == 1);
  CHECK(states_of(stranger)["token"] == "fail");
  CHECK(stranger.out.find("`indx token list --vault FOLDER`") != std::string::npos);
  CHECK(doctor(server.url(), "Bearer " + reader).out.find("leave out \\\"Bearer\\\"") !=
        std::string::npos);
  const auto nobody = doctor(cat("http://127.0.0.1:", free_port()), reader);
  CHECK(nobody.code == 1);
  CHECK(states_of(nobody)["reach"] == "fail");
  CHECK(doctor("127.0.0.1:8080", reader).code == 1);
  CHECK(states_of(doctor(server.url() + "/v1/other", reader))["reach"] == "fail");
}

}  // namespace indx
