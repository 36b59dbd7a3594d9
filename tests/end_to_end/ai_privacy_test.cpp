// Nothing leaves the machine that was not configured: the real program under a watch of its
// sockets, tests/support/socket_watch.cpp, which would also refuse it.
#include "base/text.hpp"
#include "tests/end_to_end/ai_suite.hpp"
#include "tests/support/socket_record.hpp"

#include <catch2/catch.hpp>

#include <set>

namespace indx {
namespace {

/// The variables, and the watch. The address of no proxy of the tests' environment is passed on: a
/// program that used one would reach it, and fail the test, only where there is one.
std::map<std::string, std::string> watched_env(const SocketRecord& record,
                                               std::map<std::string, std::string> env) {
  for (const char* name :
       {"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"})
    env.emplace(name, "");
  env.merge(record.env(INDX_SOCKET_WATCH));
  return env;
}

std::string address_of(const RunningServer& server) {
  return server.url().substr(std::string("http://").size());
}

/// Every AI operation and kind of search, over REST.
void call_everything(const RunningServer& server, int status_of_ai) {
  for (const char* mode : {"lexical", "semantic", "hybrid"}) {
    const auto found = server.call("GET", cat("/v1/search?q=compost&mode=", mode));
    INFO(mode << found.body.dump());
    CHECK(found.status == 200);
  }
  CHECK(server.call("GET", "/v1/similar/Garden.md").status != 500);
  CHECK(server.call("GET", "/v1/vault/status").status == 200);
  CHECK(server.call("GET", "/v1/ai/status").status == 200);
  for (const auto& call : suite_calls()) {
    const auto reply = server.call("POST", call.target, call.input);
    INFO(call.name << reply.body.dump());
    CHECK(reply.status == status_of_ai);
  }
}

/// The same as commands that do it themselves, without a server. Gives how many there were.
std::size_t run_everything(const TempFolder& vault, const std::map<std::string, std::string>& env,
                           int code_of_ai) {
  const std::string scope = "Garden.md";
  const std::vector<std::vector<std::string>> searches = {
      {"search", "compost"},
      {"search", "compost", "--mode", "semantic"},
      {"search", "compost", "--mode", "hybrid"},
      {"vault", "status"}};
  const std::vector<std::vector<std::string>> operations = {
      {"ai", "summarize", "--scope-paths", scope},
      {"ai", "ask", "When are roses pruned?"},
      {"ai", "relate", "--source-note", scope},
      {"ai", "tag", "--scope-paths", scope},
      {"ai", "metadata", "--scope-paths", scope, "--fields",
       R"([{"key": "owner", "type": "string"}])"},
      {"ai", "extract", "--scope-paths", scope, "--schema",
       R"({"type": "object", "properties": {"owner": {"type": "string"}}})"}};
  const auto run = [&](std::vector<std::string> words, int code) {
    words.insert(words.begin(), {"--vault", vault.path(), "--json"});
    const auto done = run_indx(words, env);
    INFO(join(words, " ") << '\n' << done.out << done.err);
    CHECK(done.code == code);
  };
  for (const auto& words : searches) run(words, 0);
  for (const auto& words : operations) run(words, code_of_ai);
  return searches.size() + operations.size();
}

constexpr int kOffExit = 6;  // ai_unavailable

}  // namespace

TEST_CASE("without a provider no socket leads away from this machine", "[end_to_end][D1]") {
  const TempFolder vault;
  fill_suite_vault(vault);
  const SocketRecord record;
  const auto env = watched_env(record, {});
  std::size_t programs = 2;
  std::string address;
  {
    RunningServer server(vault, {}, env);
    address = address_of(server);
    call_everything(server, 503);
    CHECK(run_indx({"--vault", vault.path(), "vault", "status"}, env).code == 0);
    CHECK(server.stop() == 0);
  }
  programs += run_everything(vault, env, kOffExit);

  CHECK(record.watched() >= programs);
  for (const auto& target : record.reached()) CHECK(target == address);
}

TEST_CASE("the builtin provider answers everything without a socket that leads away",
          "[end_to_end][D1]") {
  const TempFolder vault;
  fill_suite_vault(vault);
  const SocketRecord record;
  // A key alone is no consent: it is there, and the provider that it is for is not chosen.
  const auto env = watched_env(
      record, {{"INDX_AI_PROVIDER", "builtin"}, {"OPENAI_API_KEY", "sk-not-to-be-used"}});
  std::size_t programs = 2;
  std::string address;
  {
    RunningServer server(vault, {}, env);
    address = address_of(server);
    call_everything(server, 200);
    CHECK(run_indx({"--vault", vault.path(), "vault", "status"}, env).code == 0);
    CHECK(server.stop() == 0);
  }
  programs += run_everything(vault, env, 0);

  CHECK(record.watched() >= programs);
  for (const auto& target : record.reached()) CHECK(target == address);
}

TEST_CASE("a provider on this machine is the only one that is contacted, and no name is looked up",
          "[end_to_end][D1][D72]") {
  const TempFolder vault;
  fill_suite_vault(vault);
  ModelServer model;
  script_suite(model);
  const SocketRecord record;
  const auto env = watched_env(record, {{"INDX_AI_PROVIDER", "openai"},
                                        {"INDX_AI_MODEL", "test"},
                                        {"INDX_EMBEDDINGS_PROVIDER", "openai"},
                                        {"INDX_OPENAI_BASE_URL", model.base_url()},
                                        {"INDX_OPENAI_API_KEY", "k"}});
  const auto model_address = cat("127.0.0.1:", model.port());
  {
    RunningServer server(vault, {}, env);
    embed_suite(server);
    call_everything(server, 200);
    CHECK(server.stop() == 0);
  }

  CHECK(model.counts()["calls"].get<int>() > 0);
  CHECK(record.watched() >= 1);
  CHECK(record.reached() == std::set<std::string>{model_address});
}

TEST_CASE("the watch of sockets sees and refuses what leads away", "[end_to_end][D1]") {
  const TempFolder vault;
  fill_suite_vault(vault);
  const auto ask_at = [&](const std::string& base_url, const std::string& wanted) {
    const SocketRecord record;
    const auto env = watched_env(record, {{"INDX_AI_PROVIDER", "openai"},
                                          {"INDX_AI_MODEL", "test"},
                                          {"INDX_OPENAI_BASE_URL", base_url},
                                          {"INDX_OPENAI_API_KEY", "k"}});
    // Not even a packet that nobody answers: first whether the watch is in the program at all.
    REQUIRE(run_indx({"--vault", vault.path(), "vault", "status"}, env).code == 0);
    REQUIRE(record.watched() == 1);
    const Process command(
        indx_spec({"--vault", vault.path(), "ai", "tag", "--scope-paths", "Garden.md"}, env));
    INFO(base_url);
    CHECK(wait_until([&] { return record.reached().contains(wanted); }));
  };

  ask_at("http://192.0.2.1:9/v1", "refused connect 192.0.2.1:9");  // an address for documents
  ask_at("http://model.invalid:9/v1", "refused resolve model.invalid");
}

}  // namespace indx
