#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace indx {
namespace {

namespace fs = std::filesystem;

Finished doctor(const TempFolder& vault, std::vector<std::string> flags = {}) {
  std::vector<std::string> args = {"doctor", "--vault", vault.path()};
  args.insert(args.end(), flags.begin(), flags.end());
  return run_indx(args);
}

/// Changes the index behind its back.
void change_index(const TempFolder& vault, const std::string& sql) {
  const auto done =
      run_process({"/usr/bin/sqlite3", {vault.path() + "/.indx/index.db", sql}, {}, {}, ""});
  INFO(done.err);
  REQUIRE(done.code == 0);
}

}  // namespace

TEST_CASE("doctor finds what the index got wrong, and puts it right", "[end_to_end][doctor]") {
  const TempFolder vault;
  vault.write("a.md", "# A\n\n[[b]] #one\n");
  vault.write("b.md", "# B\n");
  const auto good = doctor(vault);
  INFO(good.err);
  CHECK(good.code == 0);
  CHECK(Json::parse(good.out)["looked_at"]["files"] == 2);

  change_index(
      vault, "UPDATE tags SET tag='two'; UPDATE links SET target_id=NULL; DELETE FROM properties");
  const auto bad = doctor(vault);
  CHECK(bad.code == 1);
  const auto said = Json::parse(bad.out);
  CHECK(said["healthy"] == false);
  CHECK(said["kinds"].contains("index_stale"));
  CHECK(said["findings"][0]["path"] == "a.md");

  const auto fixed = doctor(vault, {"--fix"});
  CHECK(fixed.code == 0);
  CHECK(Json::parse(fixed.out)["fixed"] == 1);
  CHECK(doctor(vault).code == 0);
  CHECK(vault.read("a.md") == "# A\n\n[[b]] #one\n");
  for (const auto& entry : fs::directory_iterator(vault.path() + "/.indx"))
    CHECK_FALSE(entry.path().filename().string().starts_with("doctor-"));
}

TEST_CASE("doctor asks a running server, which goes on writing", "[end_to_end][doctor]") {
  const TempFolder vault;
  fill_vault(vault);
  RunningServer server(vault);
  {
    const std::jthread writer([&](const std::stop_token& stop) {
      for (int i = 0; !stop.stop_requested() && i < 300; ++i)
        server.call("PUT", cat("/v1/notes/w", i % 20, ".md"),
                    {{"body", cat("# Note ", i, "\n\n[[w", (i + 1) % 20, "]] #t", i, "\n")}});
    });
    for (int i = 0; i < 3; ++i) {
      const auto checked = doctor(vault);
      INFO(checked.out << checked.err);
      CHECK(checked.code == 0);
    }
  }
  const auto id = server.start_job("/v1/vault/doctor", {{"limit", 10}});
  CHECK(server.wait_for_job(id)["result"]["healthy"] == true);
}

TEST_CASE("doctor notices a temp file and a damaged index", "[end_to_end][doctor]") {
  const TempFolder vault;
  fill_vault(vault);
  {
    RunningServer server(vault);
    vault.write(".indx-0123456789abcdef", "left");
    const auto checked = doctor(vault);
    CHECK(checked.code == 0);
    CHECK(Json::parse(checked.out)["findings"][0]["kind"] == "temp_file_left");
    CHECK(server.stop() == 0);
  }
  CHECK(doctor(vault).code == 0);  // the start cleared it away
  CHECK_FALSE(fs::exists(vault.path() + "/.indx-0123456789abcdef"));
}

}  // namespace indx
