#include "base/http_client.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"
#include "tests/support/raw_http.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <set>

namespace indx {
namespace {

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
bool has_program(const std::string& path) { return std::filesystem::exists(path); }

Finished run_shell(const std::string& shell, const std::string& script,
                   const std::map<std::string, std::string>& env = {}) {
  ProcessSpec spec;
  spec.program = shell;
  spec.args = {"-c", script};
  spec.env = env;
  spec.input = "";
  return run_process(spec, std::chrono::seconds(60));
}

std::string quoted_args(const std::vector<std::string>& args) {
  std::string line = INDX_PROGRAM;
  for (const auto& arg : args) line += " '" + arg + "'";
  return line;
}

/// What a person sees: both outputs on one terminal of 80 columns.
std::string on_terminal(const std::vector<std::string>& args,
                        const std::map<std::string, std::string>& env = {}) {
  auto all = env;
  all.try_emplace("TERM", "xterm");
  return run_shell("/bin/sh",
                   cat("exec script -qec \"stty cols 80; ", quoted_args(args), "\" /dev/null"), all)
      .out;
}

}  // namespace

TEST_CASE("tables and colours are for terminals that want them", "[end_to_end][A93]") {
  if (!has_program("/usr/bin/script")) {
    WARN("skipped: no /usr/bin/script here, so nothing can be a terminal");
    return;
  }
  const TempFolder vault;
  fill_vault(vault);
  const std::vector<std::string> list = {"--vault", vault.path(), "note", "list"};

  const auto table = on_terminal(list);
  CHECK(says(table, "\x1b[1mpath"));
  CHECK(says(table, "Budget.md"));
  CHECK_FALSE(says(table, "{"));
  CHECK_FALSE(says(on_terminal(list, {{"NO_COLOR", "1"}}), "\x1b["));
  CHECK_FALSE(says(on_terminal(list, {{"TERM", "dumb"}}), "\x1b["));
  CHECK(says(on_terminal({"--json", "--vault", vault.path(), "note", "list"}), "\"notes\""));
  CHECK(says(on_terminal({"nothing"}), "\x1b[1;31merror:"));
  const auto piped = run_indx(list);
  CHECK(Json::parse(piped.out, nullptr, false)["notes"].size() == 3);
}

TEST_CASE("what was mistyped is named with what was meant", "[end_to_end][A93]") {
  const TempFolder vault;
  fill_vault(vault);
  const auto error_of = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"--vault", vault.path()});
    return run_indx(args).err;
  };

  CHECK(says(error_of({"note", "get", "Plan.md", "--inclde", "raw"}), "Did you mean `--include`?"));
  const auto broken = error_of({"note", "patch", "Plan.md", "--ops", "[{\"op\": "});
  CHECK(says(broken, "--ops"));
  CHECK(says(broken, "JSON"));
  const auto renamed = run_indx({"--vault", vault.path(), "tag", "rename", "finanse", "money"});
  CHECK(renamed.code == 0);
  CHECK(says(renamed.out,
             "No note has the tag `finanse`; nothing was renamed. Did you mean "
             "`finance`?"));
  vault.write(".indx/config.json", R"({"http": {"worker": 3}})");
  CHECK(says(error_of({"note", "get", "Plan.md"}), "Did you mean http.workers?"));
  CHECK(
      says(run_indx({"--vault", vault.path(), "vault", "status"}, {{"INDX_DURABILTY", "off"}}).err,
           "Did you mean INDX_DURABILITY?"));
}

TEST_CASE("a second server says who serves the vault already", "[end_to_end][A73]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);

  const auto second = run_indx({"serve", "--vault", vault.path(), "--port", "0"});

  CHECK(second.code == 4);
  CHECK(says(second.err, cat("process ", server.process().pid(), ", at ", server.url())));
}

TEST_CASE("a request that forgets its body gets a typed answer", "[end_to_end][A79][A84]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  const int port = std::stoi(server.url().substr(server.url().rfind(':') + 1));
  const auto ask = [&](const std::string& line) {
    test::RawClient client(port);
    client.send(line + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + server.token() +
                "\r\n\r\n");
    return client.response();
  };

  const auto rename = ask("POST /v1/tags/rename");
  CHECK(rename.status == 400);
  CHECK(rename.json()["error"]["code"] == "validation_failed");
  const auto notes = ask("POST /v1/notes");
  CHECK(notes.status == 405);
  CHECK(notes.json()["error"]["code"] == "method_not_allowed");
  CHECK(ask("PUT /v1/files/x.png").status == 200);
}

TEST_CASE("the configuration is shown and set, secrets and mistakes refused", "[end_to_end][A78]") {
  const TempFolder vault;
  fill_vault(vault);
  const auto indx = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"--vault", vault.path()});
    return run_indx(args, {{"INDX_OPENAI_API_KEY", "sk-secret"}});
  };

  const auto set = indx({"vault", "config", "set", "http.workers=3"});
  INFO(set.err);
  CHECK(set.code == 0);
  CHECK(Json::parse(vault.read(".indx/config.json"))["http"]["workers"] == 3);
  const auto one = Json::parse(indx({"vault", "config", "get", "http.workers"}).out);
  CHECK(one["config"][0]["value"] == 3);
  CHECK(one["config"][0]["source"] == "file");
  const auto all = indx({"vault", "config", "get"});
  CHECK_FALSE(says(all.out, "sk-secret"));
  const auto before = vault.read(".indx/config.json");
  for (const auto* bad :
       {"http.workers=0", "http.wrkers=3", "openai.api_key=x", "port=1", "time_zone=sk-abc"})
    CHECK(indx({"vault", "config", "set", bad}).code == 2);
  CHECK(says(indx({"vault", "config", "set", "http.wrkers=3"}).err, "Did you mean http.workers?"));
  CHECK(indx({"vault", "config", "get", "htp"}).code == 3);
  CHECK(vault.read(".indx/config.json") == before);
  CHECK(indx({"vault", "config", "set", "http.workers=null"}).code == 0);
  CHECK_FALSE(says(vault.read(".indx/config.json"), "workers"));
}

TEST_CASE("shells complete words, flags, notes and tags", "[end_to_end][A94]") {
  const TempFolder vault;
  fill_vault(vault);
  vault.write("My plans/A b.md", "# A b\n");
  CHECK(run_indx({"--vault", vault.path(), "vault", "index"}).code == 0);
  const auto ask = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"__complete", "--", "--vault", vault.path()});
    return run_indx(words).out;
  };

  CHECK(says(ask({"no"}), "note\t"));
  CHECK(says(ask({"note", "get", "Pl"}), "Plan.md\tPlan\n"));
  CHECK(says(ask({"note", "get", "My\\ pl"}), "My plans/A b.md"));
  CHECK(says(ask({"tag", "notes", ""}), "finance"));
  CHECK(says(ask({"attachment", "put", "x.png", ""}), ":files"));
  if (!has_program("/bin/bash")) {
    WARN("skipped the loading of the scripts: no /bin/bash here");
    return;
  }
  const auto bash = run_shell(
      "/bin/bash",
      cat("eval \"$(", INDX_PROGRAM, " completion bash)\"; COMP_WORDS=(", INDX_PROGRAM, " --vault ",
          vault.path(), " note get My); COMP_CWORD=5; _indx; printf '%s\\n' \"${COMPREPLY[@]}\""));
  CHECK(bash.out == "My\\ plans/A\\ b.md\n");
  for (const std::string shell : {"zsh", "fish"}) {
    if (!has_program("/usr/bin/" + shell)) continue;
    const auto loaded =
        run_shell("/usr/bin/" + shell, cat(INDX_PROGRAM, " completion ", shell, " > ", vault.path(),
                                           "/.script; ", shell, " -n ", vault.path(), "/.script"));
    CHECK(loaded.code == 0);
    CHECK(loaded.err.empty());
  }
}

TEST_CASE("a long list comes whole as lines, page by page", "[end_to_end][A24][A96]") {
  const TempFolder vault;
  for (int i = 0; i < 1203; ++i) vault.write(cat("n", i, ".md"), cat("# N", i, "\n"));
  RunningServer server(vault);
  const auto paths_in = [](const std::string& lines) {
    std::set<std::string> paths;
    std::size_t count = 0;
    for (const auto& line : split(lines, '\n')) {
      if (line.empty()) continue;
      ++count;
      paths.insert(Json::parse(line)["path"].get<std::string>());
    }
    CHECK(count == paths.size());
    return paths;
  };
  const auto lines_of = [&](const std::string& target) {
    HttpClientRequest request;
    request.url = server.url() + target;
    request.headers = {{"Authorization", "Bearer " + server.token()},
                       {"Accept", "application/x-ndjson"}};
    const auto response = http_exchange(request, {});
    REQUIRE(response);
    return *response;
  };

  const auto whole = lines_of("/v1/notes");
  CHECK(whole.headers.at("transfer-encoding") == "chunked");
  CHECK(paths_in(whole.body).size() == 1203);
  const auto page = lines_of("/v1/notes?limit=7");
  CHECK(paths_in(page.body).size() == 7);
  CHECK(page.headers.count("x-indx-next-cursor") == 1);
  CHECK(lines_of("/v1/notes?path_glob=n1.md").headers.count("content-length") == 1);
  CHECK(lines_of("/v1/notes?tag=").status == lines_of("/v1/notes?tag=&limit=1").status);
  const auto printed = run_indx({"--vault", vault.path(), "--ndjson", "note", "list"});
  CHECK(printed.out == whole.body);
  const auto one = run_indx({"--vault", vault.path(), "--ndjson", "note", "list", "--limit", "7"});
  CHECK(one.out == page.body);
  CHECK(says(one.err, "next_cursor: "));
  server.stop();
  CHECK(run_indx({"--vault", vault.path(), "--ndjson", "note", "list"}).out == whole.body);
}

TEST_CASE("a client that leaves a list early ends the work for it", "[end_to_end][A24]") {
  const TempFolder vault;
  for (int i = 0; i < 3000; ++i) vault.write(cat("n", i, ".md"), "x\n");
  RunningServer server(vault);
  const int port = std::stoi(server.url().substr(server.url().rfind(':') + 1));
  for (int i = 0; i < 50; ++i) {
    test::RawClient client(port, 4096);
    client.send(
        "GET /v1/notes HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\n"
        "Authorization: Bearer " +
        server.token() + "\r\n\r\n");
    if (i % 2 == 0) client.read_until("\n{\"path\"");
    client.leave();
  }
  CHECK(server.call("GET", "/v1/notes?limit=1").status == 200);
  CHECK(server.stop() == 0);
}

TEST_CASE("the manual page has no mistakes", "[end_to_end][A94]") {
  const auto page = run_indx({"man"});
  REQUIRE(page.code == 0);
  CHECK(says(page.out, ".SS indx attachment get PATH"));
  const TempFolder folder;
  folder.write("indx.1", page.out);
  const auto file = folder.path() + "/indx.1";
  if (has_program("/usr/bin/groff"))
    CHECK(run_shell("/bin/sh", "groff -ww -man -Tutf8 " + file + " > /dev/null").err.empty());
  if (has_program("/usr/bin/mandoc")) {
    const auto lint = run_shell("/bin/sh", "mandoc -T lint -W warning " + file);
    CHECK(lint.out.empty());
  }
}

}  // namespace indx
