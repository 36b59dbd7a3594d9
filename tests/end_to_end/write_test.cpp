#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace indx {
namespace {

namespace fs = std::filesystem;

Json append_of(const std::string& markdown) {
  return {{"ops", {{{"op", "append_body"}, {"markdown", markdown}}}}};
}

/// A body that shows whether it is whole.
std::string version_body(int number) {
  return cat("begin ", number, "\n", std::string(20000, static_cast<char>('a' + number % 26)),
             "\nend ", number, "\n");
}

/// The version that these bytes are; -1: none, or a mix.
int version_of(const std::string& bytes) {
  if (!bytes.starts_with("begin ")) return -1;
  const int number = std::atoi(bytes.c_str() + 6);
  return bytes == version_body(number) ? number : -1;
}

std::string mcp_write(const std::string& path, const std::string& body) {
  const Json initialize{{"jsonrpc", "2.0"},
                        {"id", 1},
                        {"method", "initialize"},
                        {"params",
                         {{"protocolVersion", "2025-11-25"},
                          {"capabilities", Json::object()},
                          {"clientInfo", {{"name", "t"}, {"version", "1"}}}}}};
  const Json call{
      {"jsonrpc", "2.0"},
      {"id", 2},
      {"method", "tools/call"},
      {"params", {{"name", "note_write"}, {"arguments", {{"path", path}, {"body", body}}}}}};
  return initialize.dump() + "\n" + R"({"jsonrpc":"2.0","method":"notifications/initialized"})" +
         "\n" + call.dump() + "\n";
}

}  // namespace

TEST_CASE("a crash between two notes of a batch leaves each whole, changed or untouched",
          "[end_to_end][A23]") {
  constexpr int kBatch = 300;
  const TempFolder vault;
  const auto name = [](int i) { return cat("note-", 100 + i, ".md"); };
  const std::string before = "# Note\n\n#old " + std::string(3000, 'x') + "\n",
                    after = "# Note\n\n#new " + std::string(3000, 'x') + "\n";
  for (int i = 0; i < kBatch; ++i) vault.write(name(i), before);
  RunningServer server(vault);
  const auto changed = [&] {
    int count = 0;
    for (int i = 0; i < kBatch; ++i) count += vault.read(name(i)) == after ? 1 : 0;
    return count;
  };

  const auto id = server.start_job("/v1/tags/rename", {{"from", "old"}, {"to", "new"}});
  REQUIRE(wait_until([&] { return changed() > 0; }));
  server.kill();

  const int complete = changed();
  int untouched = 0;
  for (int i = 0; i < kBatch; ++i) untouched += vault.read(name(i)) == before ? 1 : 0;
  CHECK(complete > 0);
  CHECK(untouched > 0);
  CHECK(complete + untouched == kBatch);
  RunningServer again(vault);
  CHECK(again.wait_for_job(id)["state"] == "succeeded");
  CHECK(changed() == kBatch);
}

TEST_CASE("note operations leave canvases, bases and other files alone", "[end_to_end]") {
  const TempFolder vault;
  const std::vector<std::string> names = {"c.canvas", "q.base", "p.png", "Foo"};
  for (const auto& name : names)
    if (name != "Foo") vault.write(name, "{}");
  RunningServer server(vault);

  for (const auto& name : names) {
    INFO(name);
    const auto put = server.call("PUT", "/v1/notes/" + name, {{"body", "junk"}});
    CHECK(put.status == 400);
    CHECK(put.body["error"]["code"] == "validation_failed");
    CHECK(server.call("PATCH", "/v1/notes/" + name, append_of("junk")).status == 400);
    CHECK(run_indx({"--vault", vault.path(), "note", "update", name, "--body", "x"}).code == 2);
    if (name != "Foo") CHECK(vault.read(name) == "{}");
  }
  CHECK_FALSE(fs::exists(vault.path() + "/Foo"));
}

TEST_CASE("of two writers with the same etag one wins", "[end_to_end][A11]") {
  const TempFolder vault;
  vault.write("a.md", "start\n");
  RunningServer server(vault);

  for (int round = 0; round < 20; ++round) {
    const auto etag = server.call("GET", "/v1/notes/a.md").body["data"]["etag"].get<std::string>();
    std::vector<RunningServer::Reply> replies(2);
    {
      std::vector<std::jthread> writers;
      for (int writer = 0; writer < 2; ++writer)
        writers.emplace_back([&, writer] {
          const Json body{{"body", cat("round ", round, " writer ", writer, "\n")}};
          replies[static_cast<std::size_t>(writer)] =
              server.call("PUT", "/v1/notes/a.md", body, {{"If-Match", "\"" + etag + "\""}});
        });
    }
    const bool first_won = replies[0].status == 200;
    const auto& winner = replies[first_won ? 0 : 1];
    const auto& loser = replies[first_won ? 1 : 0];
    REQUIRE(winner.status == 200);
    REQUIRE(loser.status == 412);
    CHECK(loser.body["error"]["code"] == "etag_mismatch");
    CHECK(loser.body["error"]["details"]["expected"] == etag);
    CHECK(loser.body["error"]["details"]["actual"] == winner.body["data"]["etag"]);
    CHECK(vault.read("a.md") == cat("round ", round, " writer ", first_won ? 0 : 1, "\n"));
  }
}

TEST_CASE("a server killed while it writes leaves whole notes", "[end_to_end][kill_loop][A13]") {
  const char* kills = std::getenv("INDX_TEST_KILLS");
  const int rounds = kills != nullptr ? std::atoi(kills) : 5;
  const TempFolder vault;
  std::atomic<int> next = 1;
  std::array<std::atomic<int>, 4> answered{};
  const auto name_of = [](std::size_t writer) { return cat("notes/n", writer, ".md"); };
  for (std::size_t writer = 0; writer < answered.size(); ++writer)
    vault.write(name_of(writer), version_body(0));

  for (int round = 0; round < rounds; ++round) {
    RunningServer server(vault, {}, {{"INDX_RATE_LIMIT_PER_MINUTE", "0"}});
    for (const auto& [name, bytes] : vault_files(vault)) {
      INFO(name);
      CHECK((name == "notes" || (name.starts_with("notes/n") && name.ends_with(".md"))));
      if (name != "notes") CHECK(version_of(bytes) >= 0);
    }
    const int begin = next;
    std::vector<std::jthread> writers;
    for (std::size_t writer = 0; writer < answered.size(); ++writer)
      writers.emplace_back([&, writer] {
        for (;;) {
          const int number = next++;
          if (server.call("PUT", "/v1/notes/" + name_of(writer), {{"body", version_body(number)}})
                  .status != 200)
            return;
          answered[writer] = number;
        }
      });
    CHECK(wait_until([&] { return next > begin + 15 + round * 7 % 40; }));
    server.kill();
    writers.clear();
    for (std::size_t writer = 0; writer < answered.size(); ++writer)
      CHECK(version_of(vault.read(name_of(writer))) >= answered[writer]);
  }

  RunningServer server(vault);
  CHECK(vault_files(vault).size() == answered.size() + 1);
  for (std::size_t writer = 0; writer < answered.size(); ++writer) {
    const auto read = server.call("GET", "/v1/notes/" + name_of(writer)).body["data"]["body"];
    CHECK(version_of(read.get<std::string>()) >= answered[writer]);
  }
}

TEST_CASE("a patch answers with the note as it is now", "[end_to_end][A15]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);

  auto patched = server.call("PATCH", "/v1/notes/Plan.md", append_of("More. #urgent"));
  const auto read = server.call("GET", "/v1/notes/Plan.md");
  const auto found = server.call("GET", "/v1/tags");

  REQUIRE(patched.status == 200);
  CHECK(patched.headers["etag"] == read.headers.at("etag"));
  for (const auto& [key, value] : read.body["data"].items())
    CHECK(patched.body["data"][key] == value);
  CHECK(found.body.dump().find("urgent") != std::string::npos);
}

TEST_CASE("the same write from four surfaces has four actors, each once in the log",
          "[end_to_end][A14][A90][A91][A92]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  EventFeed feed(server);

  CHECK(server.call("PUT", "/v1/notes/api.md", {{"body", "hello\n"}}).status == 200);
  CHECK(run_indx({"--vault", vault.path(), "note", "update", "cli.md", "--body", "hello\n"}).code ==
        0);
  CHECK(run_indx({"mcp", "serve", "--stdio"}, {{"INDX_VAULT", vault.path()}},
                 mcp_write("mcp.md", "hello\n"))
            .code == 0);
  vault.write("fs.md", "hello\n");
  CHECK(feed.wait_for("note.created", "fs.md"));
  CHECK(server.call("PATCH", "/v1/notes/api.md", append_of("more")).status == 200);
  CHECK(server.call("POST", "/v1/tags/rename", {{"from", "finance"}, {"to", "money"}}).status ==
        200);
  CHECK(server.call("DELETE", "/v1/notes/cli.md").status == 200);
  CHECK(feed.wait_for("note.deleted", "cli.md"));
  CHECK(server.stop() == 0);

  std::vector<std::string> seen;
  std::set<std::string> ids;
  for (const auto& line : audit_lines(vault)) {
    if (!line["kind"].get<std::string>().starts_with("note.")) continue;
    CHECK(ids.insert(line["id"].get<std::string>()).second);
    for (const std::string key : {"path", "etag", "actor", "at", "subject"})
      CHECK(line.contains(key));
    const auto etag = line["etag"].get<std::string>();
    CHECK(etag.size() == (line["kind"] == "note.deleted" ? 0U : 16U));
    seen.push_back(join({line["actor"].get<std::string>(), line["kind"].get<std::string>(),
                         line["path"].get<std::string>()},
                        " "));
  }
  CHECK(seen == std::vector<std::string>{"api note.created api.md", "cli note.created cli.md",
                                         "mcp note.created mcp.md", "fs note.created fs.md",
                                         "api note.updated api.md", "api note.updated Budget.md",
                                         "api note.deleted cli.md"});
}

TEST_CASE("a patch repeated with its key is applied once, also across a kill",
          "[end_to_end][A85]") {
  const TempFolder vault;
  vault.write("a.md", "start\n");
  const std::vector<std::pair<std::string, std::string>> key = {{"Idempotency-Key", "k1"}};
  RunningServer::Reply first;
  {
    RunningServer server(vault);
    first = server.call("PATCH", "/v1/notes/a.md", append_of("once"), key);
    const auto again = server.call("PATCH", "/v1/notes/a.md", append_of("once"), key);
    const auto other = server.call("PATCH", "/v1/notes/a.md", append_of("twice"), key);
    CHECK(first.status == 200);
    CHECK_FALSE(first.headers.contains("x-indx-idempotent-replay"));
    CHECK(again.headers.at("x-indx-idempotent-replay") == "true");
    CHECK(again.body == first.body);
    CHECK(other.status == 409);
    CHECK(other.body["error"]["code"] == "idempotency_key_reused");
    server.kill();
  }
  RunningServer server(vault);

  const auto after = server.call("PATCH", "/v1/notes/a.md", append_of("once"), key);

  CHECK(after.headers.at("x-indx-idempotent-replay") == "true");
  CHECK(after.body == first.body);
  CHECK(vault.read("a.md") == "start\n\nonce\n");
}

TEST_CASE("a patch killed on its way and repeated is applied once",
          "[end_to_end][A85][kill_loop]") {
  const TempFolder vault;
  vault.write("a.md", "start\n");
  int sent = 0;
  for (int round = 0; round < 3; ++round) {
    const auto patch = [&](const RunningServer& server, int number) {
      return server
          .call("PATCH", "/v1/notes/a.md", append_of(cat("line ", number)),
                {{"Idempotency-Key", cat("key-", number)}})
          .status;
    };
    int unanswered = -1;
    {
      RunningServer server(vault);
      std::atomic<int> answered = 0;
      std::jthread writer([&] {
        while (patch(server, sent) == 200) ++sent, ++answered;
        unanswered = sent;
      });
      CHECK(wait_until([&] { return answered > 5 + round; }));
      server.kill();
    }
    RunningServer server(vault);
    CHECK(patch(server, unanswered) == 200);
    ++sent;
  }

  std::string expected = "start\n";
  for (int i = 0; i < sent; ++i) expected += cat("\nline ", i, "\n");
  CHECK(vault.read("a.md") == expected);
}

TEST_CASE("1,000 parallel writes lose nothing, and reads go on meanwhile", "[end_to_end][E23]") {
  constexpr int kNotes = 20, kThreads = 8, kWrites = 125;
  const TempFolder vault;
  for (int i = 0; i < kNotes; ++i) vault.write(cat("n", i, ".md"), "start\n");
  RunningServer server(vault, {}, {{"INDX_RATE_LIMIT_PER_MINUTE", "0"}});
  std::atomic<int> failed = 0, reads = 0, failed_reads = 0, running = kThreads;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kWrites; ++i) {
        const auto target = cat("/v1/notes/n", (thread * kWrites + i) % kNotes, ".md");
        if (server.call("PATCH", target, append_of(cat("line ", thread, "-", i, "."))).status !=
            200)
          ++failed;
      }
      --running;
    });
  threads.emplace_back([&] {
    for (int i = 0; running > 0; ++i, ++reads)
      if (server.call("GET", cat("/v1/notes/n", i % kNotes, ".md")).status != 200) ++failed_reads;
  });
  threads.clear();

  CHECK(failed == 0);
  CHECK(failed_reads == 0);
  CHECK(reads > 20);
  std::multiset<std::string> lines;
  for (int i = 0; i < kNotes; ++i)
    for (const auto& line : split(vault.read(cat("n", i, ".md")), '\n'))
      if (line.starts_with("line ")) lines.insert(line);
  CHECK(lines.size() == kThreads * kWrites);
  CHECK(std::set<std::string>(lines.begin(), lines.end()).size() == kThreads * kWrites);
}

}  // namespace indx
