#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// The files that a person sees.
std::map<std::string, std::string> notes_of(const TempFolder& vault) {
  auto files = vault_files(vault);
  std::erase_if(files, [](const auto& file) { return file.first.starts_with("."); });
  return files;
}

}  // namespace

TEST_CASE("an undo that was killed in the middle goes on and gives back every byte",
          "[end_to_end][revert][E5]") {
  constexpr int kNotes = 90;
  const TempFolder vault;
  for (int i = 0; i < kNotes; ++i)
    vault.write(cat("n", i, ".md"), cat("Note ", i, " about #garden things.\r\n"));
  const auto before = notes_of(vault);
  std::string renamed, undo;
  {
    RunningServer server(vault);
    renamed = server.start_job("/v1/tags/rename", {{"from", "garden"}, {"to", "yard"}});
    REQUIRE(server.wait_for_job(renamed)["state"] == "succeeded");
    REQUIRE(notes_of(vault) != before);
    EventFeed feed(server, "?kinds=note.updated");
    undo = server.start_job("/v1/jobs/" + renamed + "/revert", Json::object());
    CHECK(feed.wait_for([](const EventFeed::Frame&) { return true; }));
    server.kill();
  }
  RunningServer server(vault);
  const auto record = server.wait_for_job(undo);

  CHECK(record["state"] == "succeeded");
  CHECK(record["kind"] == "job_revert");
  CHECK(record["reverts"] == renamed);
  CHECK(record["result"]["restored"].size() == kNotes);
  CHECK(record["result"]["changed_since"].empty());
  CHECK(notes_of(vault) == before);
  CHECK(server.job(renamed)["reverted_by"] == Json({undo}));
  CHECK(server.stop() == 0);
  std::map<std::string, int> writes;
  for (const auto& line : audit_lines(vault))
    if (line["kind"] == "note.updated") ++writes[line["path"].get<std::string>()];
  CHECK(writes.size() == kNotes);
  for (const auto& [path, count] : writes) {
    INFO(path);
    CHECK(count == 2);  // by the job and by its undo
  }
}

TEST_CASE("a job is shown and undone from the command line, a running one is refused",
          "[end_to_end][revert]") {
  const TempFolder vault;
  for (int i = 0; i < 25; ++i) vault.write(cat("n", i, ".md"), cat("Note ", i, " #garden\n"));
  const auto before = notes_of(vault);
  RunningServer server(vault);
  const auto renamed = server.start_job("/v1/tags/rename", {{"from", "garden"}, {"to", "yard"}});
  REQUIRE(server.wait_for_job(renamed)["state"] == "succeeded");
  const auto after = notes_of(vault);
  vault.write("n3.md", "Edited by hand.\n");

  const auto shown =
      run_indx({"--vault", vault.path(), "job", "revert", renamed, "--dry-run", "--json"});
  INFO(shown.out << shown.err);
  CHECK(shown.code == 0);
  const auto preview = Json::parse(shown.out);
  CHECK(preview["restored"].size() == 24);
  CHECK(preview["changed_since"].size() == 1);
  CHECK(preview["restored"][0]["diff"].get<std::string>().find("-Note") != std::string::npos);
  CHECK(vault.read("n0.md") == after.at("n0.md"));

  const auto done = run_indx({"--vault", vault.path(), "job", "revert", renamed, "--json"});
  INFO(done.out << done.err);
  CHECK(done.code == 0);
  const auto report = Json::parse(done.out);
  CHECK(report["restored"].size() == 24);
  CHECK(report["changed_since"][0]["path"] == "n3.md");
  auto expected = before;
  expected["n3.md"] = "Edited by hand.\n";
  CHECK(notes_of(vault) == expected);

  const auto other = server.make_token({"vault:read", "vault:write"});
  CHECK(server.call_as(other["token"], "POST", "/v1/jobs/" + renamed + "/revert").status == 404);
}

}  // namespace indx
