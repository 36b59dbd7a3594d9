#include "base/http_client.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>

namespace indx {
namespace {

namespace fs = std::filesystem;

void fill_for_a_long_scan(const TempFolder& vault) {
  for (int i = 0; i < 4000; ++i) vault.write(cat("n", i, ".md"), cat("# Note ", i, "\n\nwords\n"));
}

}  // namespace

TEST_CASE("a server on 1,000 notes it never saw says within 2 s that it is ready",
          "[end_to_end][A88]") {
  const TempFolder vault;
  for (int i = 0; i < 1000; ++i)
    vault.write(cat("folder ", i % 20, "/Note ", i, ".md"),
                cat("---\ntags: [t", i % 7, "]\n---\n# Note ", i, "\n\nSee [[Note ", (i + 1) % 1000,
                    "]].\n\n- [ ] read it\n"));
  const auto port = std::to_string(free_port());
  HttpClientRequest health;
  health.url = cat("http://127.0.0.1:", port, "/v1/health");
  Json body;
  const auto begin = std::chrono::steady_clock::now();

  Process process(indx_spec({"serve", "--vault", vault.path(), "--port", port}));
  const bool is_ready = wait_until([&] {
    const auto answer = http_exchange(health, {});
    if (!answer || answer->status != 200) return false;
    body = Json::parse(answer->body, nullptr, false);
    return true;
  });
  const auto took = std::chrono::steady_clock::now() - begin;

  REQUIRE(is_ready);
  CHECK(body["ok"] == true);
  CHECK(took < std::chrono::seconds(2));
  process.signal(SIGTERM);
  CHECK(process.wait() == 0);
}

TEST_CASE("who asks a server to index while it does so is told that it runs already",
          "[end_to_end][A73]") {
  const TempFolder vault;
  fill_for_a_long_scan(vault);
  RunningServer server(vault);
  const Json rebuild{{"rebuild", true}};

  const std::vector<std::string> ids = {server.start_job("/v1/vault/reindex", rebuild),
                                        server.start_job("/v1/vault/reindex", rebuild)};

  std::vector<Json> refused;
  for (const auto& id : ids) {
    auto record = server.wait_for_job(id);
    if (record["state"] != "succeeded") refused.push_back(std::move(record));
  }
  REQUIRE(refused.size() == 1);
  INFO(refused[0].dump());
  CHECK(refused[0]["state"] == "failed");
  CHECK(refused[0]["error"].dump().find("Indexing is already running") != std::string::npos);
  CHECK(refused[0]["error"].dump().find("conflict") != std::string::npos);
  CHECK(server.call("POST", "/v1/vault/reindex", Json::object()).status == 200);
}

TEST_CASE("a command that wants to index while another does so is told that it runs already",
          "[end_to_end][A73]") {
  const TempFolder vault;
  fill_for_a_long_scan(vault);
  const std::vector<std::string> index = {"--vault", vault.path(), "vault", "index", "--rebuild"};
  Process first(indx_spec(index));
  REQUIRE(wait_until(
      [&] { return vault.read(".indx/server.json").find("indexing") != std::string::npos; }));
  first.signal(SIGSTOP);  // so that it surely indexes still when the second comes

  const auto begin = std::chrono::steady_clock::now();
  const auto second = run_indx(index);
  const auto took = std::chrono::steady_clock::now() - begin;
  const auto note = run_indx({"--vault", vault.path(), "note", "get", "n7.md"});
  first.signal(SIGCONT);

  CHECK(second.code == 4);
  CHECK(second.out.empty());
  CHECK(second.err.find("vault_locked") != std::string::npos);
  CHECK(second.err.find("Indexing is already running") != std::string::npos);
  CHECK(second.err.find(std::to_string(first.pid())) != std::string::npos);
  CHECK(took < std::chrono::seconds(4));  // who wants something else waits longer
  CHECK(note.code == 0);
  CHECK(first.wait(std::chrono::seconds(60)) == 0);
  CHECK_FALSE(fs::exists(vault.path() + "/.indx/server.json"));
  CHECK(run_indx(index).code == 0);
}

}  // namespace indx
