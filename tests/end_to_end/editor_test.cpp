#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <filesystem>
#include <thread>

namespace indx {
namespace {

namespace fs = std::filesystem;

}  // namespace

TEST_CASE("what an editor saves by renaming is never lost to a write", "[end_to_end]") {
  const TempFolder vault;
  vault.write("a.md", "start\n");
  RunningServer server(vault, {}, {{"INDX_RATE_LIMIT_PER_MINUTE", "0"}});
  std::atomic<bool> is_over = false, is_paused = false;
  std::jthread client([&] {
    for (int i = 0; !is_over; ++i) {
      while (is_paused && !is_over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const Json append{{"ops", {{{"op", "append_body"}, {"markdown", cat("client ", i)}}}}};
      server.call("PATCH", "/v1/notes/a.md", append);  // 412 where the editor was faster
    }
  });
  // Between the exchange and its undoing an editor may read what a write was about to leave; what
  // it saved before is a version then (G3).
  const auto is_kept = [&](const std::string& saved) {
    const auto history = server.call("GET", "/v1/history/a.md?limit=100").body;
    for (const auto& version : history["data"]["versions"])
      if (version["sha256"] == sha256_hex(saved)) return true;
    return false;
  };
  std::string saved;
  for (int i = 0; i < 300; ++i) {
    const auto seen = vault.read("a.md");
    if (i > 0 && seen.find(cat("editor ", i - 1, "\n")) == seen.npos) {
      INFO("editor " << i - 1);
      is_paused = true;  // more writes would push it out of the history
      CHECK(wait_until([&] { return is_kept(saved); }, std::chrono::seconds(5)));
      is_paused = false;
    }
    saved = seen + cat("editor ", i, "\n");
    vault.write("a.md.tmp", saved);
    fs::rename(vault.path() + "/a.md.tmp", vault.path() + "/a.md");
  }
  is_over = true;
  client.join();
  const Json last{{"ops", {{{"op", "append_body"}, {"markdown", "last"}}}}};
  CHECK(server.call("PATCH", "/v1/notes/a.md", last).status == 200);
  CHECK(run_indx({"doctor", "--vault", vault.path()}).code == 0);
}

TEST_CASE("an edit that names no version goes on top of what an editor saves meanwhile",
          "[end_to_end]") {
  const TempFolder vault;
  vault.write("a.md", "start\n");
  RunningServer server(vault, {}, {{"INDX_RATE_LIMIT_PER_MINUTE", "0"}});
  SeededRandom random(5);
  for (int i = 0; i < 150; ++i) {
    const Json append{{"ops", {{{"op", "append_body"}, {"markdown", cat("client ", i)}}}}};
    int status = 0;
    std::jthread client([&] { status = server.call("PATCH", "/v1/notes/a.md", append).status; });
    std::this_thread::sleep_for(std::chrono::microseconds(random.next() % 4000));
    vault.write("a.md.tmp", cat("editor ", i, "\n"));
    fs::rename(vault.path() + "/a.md.tmp", vault.path() + "/a.md");
    client.join();
    CHECK(status == 200);
  }
}

TEST_CASE("two processes that write take turns and lose nothing", "[end_to_end]") {
  const TempFolder vault;
  vault.write("a.md", "start\n");
  std::vector<std::vector<std::string>> written(2);
  {
    std::vector<std::jthread> processes;
    for (int who = 0; who < 2; ++who)
      processes.emplace_back([&, who] {
        for (int i = 0; i < 5; ++i) {
          const auto line = cat("line ", who, " ", i);
          const Json ops = {{{"op", "append_body"}, {"markdown", line}}};
          if (run_indx({"note", "patch", "a.md", "--ops", ops.dump(), "--vault", vault.path()})
                  .code == 0)
            written[static_cast<std::size_t>(who)].push_back(line);
        }
      });
  }
  CHECK_FALSE((written[0].empty() && written[1].empty()));
  for (const auto& lines : written)
    for (const auto& line : lines) CHECK(vault.read("a.md").find(line + "\n") != std::string::npos);
  CHECK(run_indx({"doctor", "--vault", vault.path()}).code == 0);
}

TEST_CASE("edits in folders beyond the limit of watches are seen all the same", "[end_to_end]") {
  const TempFolder vault;
  for (int i = 0; i < 12; ++i) vault.write(cat("d", i, "/a.md"), "one\n");
  // A user namespace has limits of its own, which its root may lower.
  const std::string lower =
      "echo 4 > /proc/sys/user/max_inotify_watches || exit 77; exec \"$0\" \"$@\"";
  const auto probe =
      run_process({"/usr/bin/unshare", {"-Ur", "sh", "-c", lower, "true"}, {}, {}, ""});
  if (probe.code != 0) {
    WARN("skipped: no user namespaces here: " << probe.err);
    return;
  }
  const auto port = free_port();
  auto spec = indx_spec({"serve", "--vault", vault.path(), "--port", std::to_string(port)});
  std::vector<std::string> args = {"-Ur", "sh", "-c", lower, spec.program};
  args.insert(args.end(), spec.args.begin(), spec.args.end());
  spec.program = "/usr/bin/unshare";
  spec.args = args;
  Process process(spec);
  REQUIRE(wait_until([&] { return fs::exists(vault.path() + "/.indx/server.json"); }));
  const auto finds = [&](const std::string& word) {
    return wait_until([&] {
      const auto found = run_indx({"search", word, "--vault", vault.path()});
      return found.out.find(".md") != std::string::npos;
    });
  };
  CHECK(finds("one"));
  for (int i = 0; i < 12; ++i) vault.write(cat("d", i, "/a.md"), cat("zwei", i, "\n"));
  for (const int i : {0, 5, 11}) CHECK(finds(cat("zwei", i)));
  const auto log = process.err() + process.out();
  const auto warning = log.find("cannot be watched");
  CHECK(warning != log.npos);
  CHECK(log.find("cannot be watched", warning + 1) == log.npos);  // told once
}

TEST_CASE("a vault folder that goes and comes back loses nothing of the index", "[end_to_end]") {
  const TempFolder place, index;
  place.write("vault/a.md", "first\n");
  place.write("vault/b.md", "second\n");
  const std::map<std::string, std::string> env = {{"INDX_INDEX_DIR", index.path()}};
  const auto port = free_port();
  const auto root = place.path() + "/vault";
  Process process(indx_spec({"serve", "--vault", root, "--port", std::to_string(port)}, env));
  const auto found = [&](const std::string& word) {
    return run_indx({"search", word, "--vault", root}, env).out.find(".md") != std::string::npos;
  };
  REQUIRE(wait_until([&] { return found("second"); }));

  fs::rename(root, place.path() + "/away");
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  fs::rename(place.path() + "/away", root);
  place.write("vault/c.md", "third\n");
  CHECK(wait_until([&] { return found("third"); }));
  CHECK(found("first"));
  CHECK(run_indx({"doctor", "--vault", root}, env).code == 0);
}

}  // namespace indx
