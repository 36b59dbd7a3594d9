#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>

namespace indx {
namespace {

Json data_of(const Finished& done) { return Json::parse(done.out, nullptr, false); }

}  // namespace

TEST_CASE("a served vault answers over REST until it is told to stop", "[end_to_end][E25]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);

  const auto written = server.call("PUT", "/v1/notes/New.md", {{"body", "# New\n"}});
  const auto read = server.call("GET", "/v1/notes/New.md");
  const auto began = std::chrono::steady_clock::now();
  server.process().signal(SIGTERM);
  const auto code = server.process().wait();
  const auto took = std::chrono::steady_clock::now() - began;

  CHECK(written.status / 100 == 2);
  CHECK(read.status == 200);
  CHECK(read.body["data"]["etag"] == written.body["data"]["etag"]);
  CHECK(code == 0);
  CHECK(took < std::chrono::seconds(2));
  CHECK_FALSE(std::filesystem::exists(vault.path() + "/.indx/socket"));
}

TEST_CASE("a call without a token is refused and one with it is not", "[end_to_end][A80]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);

  const auto refused = run_indx({"--remote", server.url(), "note", "list"});
  const auto allowed =
      run_indx({"note", "list"}, {{"INDX_URL", server.url()}, {"INDX_TOKEN", server.token()}});

  CHECK(refused.code == 5);
  CHECK(refused.out.empty());
  CHECK(allowed.code == 0);
}

TEST_CASE("a command prints the same whether it opens the vault or asks a server",
          "[end_to_end][A97]") {
  const TempFolder vault;
  fill_vault(vault);
  const std::vector<std::vector<std::string>> commands = {
      {"note", "get", "Plan.md"},
      {"note", "get", "Missing.md"},
      {"note", "exists", "Plan.md"},
      {"note", "exists", "Missing.md"},
      {"note", "outline", "Plan.md"},
      {"note", "list"},
      {"note", "list", "--tag", "work"},
      {"link", "forward", "Plan.md"},
      {"tag", "list"},
      {"search", "quarterly plan"},
      {"note", "get", "../outside.md"},
      {"note", "get", "Daily/2026-11-28.md"},
      {"note", "update", "Plan.md", "--body", "x", "--if-match", "0000000000000000"}};
  std::vector<Finished> local;
  for (auto args : commands) {
    args.insert(args.begin(), {"--vault", vault.path()});
    local.push_back(run_indx(args));
  }

  RunningServer server(vault);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    auto through_holder = commands[i], through_url = commands[i];
    through_holder.insert(through_holder.begin(), {"--vault", vault.path()});
    through_url.insert(through_url.begin(), {"--remote", server.url(), "--token", server.token()});
    INFO(join(commands[i], " "));
    for (const auto& done : {run_indx(through_holder), run_indx(through_url)}) {
      CHECK(done.code == local[i].code);
      CHECK(done.out == local[i].out);
    }
  }
}

TEST_CASE("a command of the vault's owner is told apart as cli", "[end_to_end][A91]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);

  const auto done =
      run_indx({"--vault", vault.path(), "note", "update", "Plan.md", "--body", "changed"});

  CHECK(done.code == 0);
  server.process().signal(SIGTERM);
  server.process().wait();
  CHECK(vault.read(".indx/events.log").find("\"actor\":\"cli\"") != std::string::npos);
}

TEST_CASE("the flag --local against a live server ends with 4", "[end_to_end][A96]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);

  const auto done = run_indx({"--vault", vault.path(), "--local", "note", "list"});

  CHECK(done.code == 4);
  CHECK(done.err.find("vault_locked") != std::string::npos);
}

TEST_CASE("a server without a port answers on its socket", "[end_to_end][A97]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault, {"--socket-only"});

  const auto done = run_indx({"--vault", vault.path(), "note", "exists", "Plan.md"});

  CHECK(data_of(done)["exists"] == true);
}

TEST_CASE("a second server on the same vault or port says why it ends", "[end_to_end]") {
  const TempFolder vault, other;
  fill_vault(vault);
  fill_vault(other);
  RunningServer server(vault);
  const auto port = server.url().substr(server.url().rfind(':') + 1);

  const auto same_vault = run_indx({"serve", "--vault", vault.path(), "--port", "0"});
  const auto same_port = run_indx({"serve", "--vault", other.path(), "--port", port});

  CHECK(same_vault.code == 4);
  CHECK(same_port.code == 1);
  CHECK(same_port.err.find(port) != std::string::npos);
}

TEST_CASE("serving a folder that is not there ends with 3", "[end_to_end][A3]") {
  CHECK(run_indx({"serve", "--vault", "/nonexistent/vault"}).code == 3);
}

TEST_CASE("a long command waits for its job and prints what the job gave", "[end_to_end][A97]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);

  const auto waited = run_indx({"--vault", vault.path(), "vault", "index", "--rebuild"});
  const auto job = run_indx({"--vault", vault.path(), "--async", "vault", "index"});
  const std::string id = data_of(job)["job"].value("id", "");
  const auto watched = run_indx({"--vault", vault.path(), "job", "watch", id});

  CHECK(waited.code == 0);
  CHECK(data_of(waited).contains("counts"));
  CHECK(watched.code == 0);
  CHECK(watched.out.find("\"state\":\"succeeded\"") != std::string::npos);
  CHECK(watched.out.find('\x1b') == std::string::npos);
}

TEST_CASE("without a server a job asked for with --async waits untouched until somebody runs it",
          "[end_to_end]") {
  const TempFolder vault;
  fill_vault(vault);
  const auto indx = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"--vault", vault.path()});
    return run_indx(words);
  };

  const auto asked = indx({"--async", "vault", "index"});
  const std::string id = data_of(asked)["job"].value("id", "");
  CHECK(asked.code == 0);
  CHECK(asked.err.find(cat("indx job run ", id)) != std::string::npos);
  const Json left = data_of(indx({"job", "get", id}))["job"];
  CHECK(left["state"] == "ready");
  CHECK(left["started_at"].is_null());

  CHECK(indx({"job", "run", id}).code == 0);
  CHECK(data_of(indx({"job", "get", id}))["job"]["state"] == "succeeded");

  RunningServer server(vault);
  const auto refused = indx({"job", "run", id});
  CHECK(refused.code == 4);
  CHECK(refused.err.find(cat("indx job watch ", id)) != std::string::npos);
}

}  // namespace indx
