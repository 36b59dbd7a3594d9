#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

constexpr auto kHeadingNote = "# Old\n## Sub\n[[#Old]]\n";

std::string heading_source(const std::string& name, int number) {
  return cat("---\nup: \"[[a#", name, "]]\"\n---\n[[a#", name, "#Sub|x]] ", number, "\n");
}

void fill_headings(const TempFolder& vault, int sources) {
  vault.write("a.md", kHeadingNote);
  for (int i = 0; i < sources; ++i) vault.write(cat("s", i, ".md"), heading_source("Old", i));
}

bool is_renamed(const TempFolder& vault, int sources) {
  for (int i = 0; i < sources; ++i)
    if (vault.read(cat("s", i, ".md")) != heading_source("New", i)) return false;
  return vault.read("a.md") == "# New\n## Sub\n[[#New]]\n";
}

Json rename_body() {
  return {{"ops", {{{"op", "rename_heading"}, {"from", "Old"}, {"to", "New"}}}}};
}

}  // namespace

TEST_CASE("a renamed heading is followed by few files at once and by many as a job",
          "[end_to_end][A36]") {
  const int sources = GENERATE(3, 40);
  const TempFolder vault;
  fill_headings(vault, sources);
  RunningServer server(vault);
  const auto before = vault_files(vault);

  auto dry = rename_body();
  dry["dry_run"] = true;
  const auto planned = server.call("PATCH", "/v1/notes/a.md", dry);
  CHECK(planned.body["data"]["relinked"].size() == static_cast<std::size_t>(sources));
  CHECK(vault_files(vault) == before);
  const auto etag = planned.body["data"]["old_etag"].get<std::string>();
  const auto done =
      server.call("PATCH", "/v1/notes/a.md", rename_body(), {{"If-Match", "\"" + etag + "\""}});

  INFO(done.body.dump());
  REQUIRE(done.status == 200);
  CHECK(is_renamed(vault, sources));
  CHECK(done.body["data"]["relinked"].size() == static_cast<std::size_t>(sources));
  CHECK(done.body["data"]["etag"] == planned.body["data"]["etag"]);
  CHECK(server.call("GET", "/v1/jobs?kind=note_patch").body["data"]["jobs"].size() ==
        (sources > 20 ? 1 : 0));
  CHECK(server.call("PATCH", "/v1/notes/a.md", rename_body(), {{"If-Match", "\"" + etag + "\""}})
            .status == 412);
  const auto links = server.call("GET", "/v1/links/s0.md/forward").body["data"]["links"];
  for (const auto& link : links) CHECK(link["subpath_resolved"] == true);
}

TEST_CASE("a rename that was answered at once is finished after a kill", "[end_to_end][A36]") {
  constexpr int kSources = 18;
  int renamed = 0;
  for (const int delay_ms : {4, 8, 12, 16, 24, 40}) {
    const TempFolder vault;
    fill_headings(vault, kSources);
    {
      RunningServer server(vault);
      std::jthread caller([&] { server.call("PATCH", "/v1/notes/a.md", rename_body()); });
      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
      server.kill();
    }

    RunningServer server(vault);

    INFO("killed after " << delay_ms << " ms");
    if (vault.read("a.md") == kHeadingNote) continue;
    ++renamed;
    CHECK(wait_until([&] { return is_renamed(vault, kSources); }));
  }
  CHECK(renamed > 0);
}

TEST_CASE("a job that renames a heading survives a kill at any time", "[end_to_end][A36][C81]") {
  constexpr int kSources = 50;
  for (const int delay_ms : {10, 40, 110}) {
    const TempFolder vault;
    fill_headings(vault, kSources);
    std::string id;
    {
      RunningServer server(vault);
      const auto started =
          server.call("PATCH", "/v1/notes/a.md", rename_body(), {{"Prefer", "respond-async"}});
      REQUIRE(started.status == 202);
      id = started.body["data"]["job"]["id"].get<std::string>();
      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
      server.kill();
    }

    RunningServer server(vault);

    const auto job = server.wait_for_job(id);
    INFO("killed after " << delay_ms << " ms: " << job.dump());
    CHECK(job["state"] == "succeeded");
    CHECK(is_renamed(vault, kSources));
  }
}

}  // namespace indx
