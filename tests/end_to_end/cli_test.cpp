#include "base/text.hpp"
#include "tests/end_to_end/running_server.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

namespace indx {
namespace {

Json json_of(const std::string& text) { return Json::parse(text, nullptr, false); }

/// The JSON of the error, which is the second line.
Json error_of(const Finished& done) {
  for (const auto& line : split(done.err, '\n'))
    if (line.starts_with('{')) return json_of(line);
  return {};
}

}  // namespace

TEST_CASE("help names every noun and ends with 0", "[end_to_end][A94]") {
  const auto done = run_indx({"--help"});

  CHECK(done.code == 0);
  for (const std::string noun : {"note", "link", "tag", "vault", "job", "token", "ai", "search",
                                 "mcp", "serve", "schema", "completion"})
    CHECK(done.out.find("\n  " + noun) != std::string::npos);
}

TEST_CASE("usage errors leave stdout empty and end with 2", "[end_to_end][A93][A98]") {
  for (const std::vector<std::string>& args : {std::vector<std::string>{},
                                               {"nte", "get", "a.md"},
                                               {"note", "get"},
                                               {"note", "get", "a.md", "--nope"}}) {
    const auto done = run_indx(args);
    CHECK(done.code == 2);
    CHECK(done.out.empty());
  }
  const auto done = run_indx({"nte", "get", "a.md"});
  CHECK(error_of(done)["code"] == "validation_failed");
  CHECK(done.err.find("`note`") != std::string::npos);
}

TEST_CASE("a command works on a folder without a server", "[end_to_end][A93][A97]") {
  const TempFolder vault;
  fill_vault(vault);

  const auto done = run_indx({"--vault", vault.path(), "note", "get", "Plan.md"});

  CHECK(done.code == 0);
  CHECK(json_of(done.out)["path"] == "Plan.md");
  CHECK(done.out.find('\x1b') == std::string::npos);
}

TEST_CASE("a note is read while another command holds the vault, and nothing is made",
          "[end_to_end][A93]") {
  const TempFolder vault;
  fill_vault(vault);
  const int root = ::open(vault.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(::flock(root, LOCK_EX | LOCK_NB) == 0);

  const auto done = run_indx({"--vault", vault.path(), "note", "get", "Plan.md"});
  const auto local = run_indx({"--local", "--vault", vault.path(), "note", "exists", "Plan.md"});
  ::close(root);

  CHECK(done.code == 0);
  CHECK(json_of(done.out)["path"] == "Plan.md");
  CHECK(local.code == 0);
  CHECK_FALSE(std::filesystem::exists(vault.path() + "/.indx"));
}

TEST_CASE("the vault is INDX_VAULT, or the folder one stands in", "[end_to_end][A3]") {
  const TempFolder vault;
  fill_vault(vault);
  auto here = indx_spec({"note", "exists", "Plan.md"});
  here.directory = vault.path();

  const auto by_variable = run_indx({"note", "exists", "Plan.md"}, {{"INDX_VAULT", vault.path()}});
  const auto by_folder = run_process(here);

  CHECK(json_of(by_variable.out)["exists"] == true);
  CHECK(by_variable.out == by_folder.out);
}

TEST_CASE("INDX_INDEX_DIR keeps the index out of the vault", "[end_to_end][A7]") {
  const TempFolder vault, index;
  fill_vault(vault);

  const auto done = run_indx({"--vault", vault.path(), "search", "quarterly"},
                             {{"INDX_INDEX_DIR", index.path()}});

  CHECK(done.code == 0);
  CHECK(vault.read(".indx/token").empty());
  CHECK_FALSE(index.read("token").empty());
}

TEST_CASE("exit codes tell what went wrong", "[end_to_end][A98]") {
  const TempFolder vault;
  fill_vault(vault);
  const auto code_of = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"--vault", vault.path()});
    const auto done = run_indx(args);
    CHECK((done.code == 0) != done.out.empty());
    return done.code;
  };

  CHECK(code_of({"note", "get", "Missing.md"}) == 3);
  CHECK(code_of({"note", "get", "../outside.md"}) == 2);
  CHECK(code_of({"note", "list", "--limit", "many"}) == 2);
  CHECK(code_of({"note", "delete", "Plan.md"}) == 4);
  CHECK(code_of({"note", "update", "Plan.md", "--body", "x", "--if-match", "0000000000000000"}) ==
        4);
  CHECK(code_of({"note", "delete", "Plan.md", "--dry-run"}) == 0);
  CHECK(code_of({"note", "delete", "Plan.md", "--yes"}) == 0);
  CHECK(run_indx({"--vault", vault.path() + "/none", "note", "list"}).code == 3);
}

TEST_CASE("a body comes from a file or from stdin", "[end_to_end][A96]") {
  const TempFolder vault, files;
  fill_vault(vault);
  files.write("text.md", "# From a file\n");

  const auto from_file = run_indx({"--vault", vault.path(), "note", "update", "A.md", "--body",
                                   "@" + files.path() + "/text.md"});
  const auto from_stdin = run_indx(
      {"--vault", vault.path(), "note", "update", "B.md", "--body", "-"}, {}, "# From stdin\n");

  CHECK(from_file.code == 0);
  CHECK(from_stdin.code == 0);
  CHECK(vault.read("A.md") == "# From a file\n");
  CHECK(vault.read("B.md") == "# From stdin\n");
}

TEST_CASE("an idempotency key on the command line replays the write", "[end_to_end][A96]") {
  const TempFolder vault;
  fill_vault(vault);
  const std::vector<std::string> args = {
      "--vault", vault.path(), "--idempotency-key", "k1", "note", "update", "New.md",
      "--body",  "one",        "--if-not-exists"};

  const auto first = run_indx(args);
  const auto second = run_indx(args);

  CHECK(first.code == 0);
  CHECK(second.code == 0);
  CHECK(first.out == second.out);
}

TEST_CASE("ndjson prints one item a line", "[end_to_end][A96]") {
  const TempFolder vault;
  fill_vault(vault);

  const auto done = run_indx({"--vault", vault.path(), "--ndjson", "note", "list"});

  const auto lines = split(std::string(trim(done.out)), '\n');
  REQUIRE(lines.size() == 3);
  CHECK(json_of(lines[0])["path"] == "Budget.md");
}

TEST_CASE("ndjson of many notes says at its end which could not be read", "[end_to_end][A96]") {
  const TempFolder vault;
  fill_vault(vault);

  const auto done = run_indx({"--vault", vault.path(), "--ndjson", "notes", "read", "--paths",
                              "none.md", "--paths", "Budget.md"});

  const auto lines = split(std::string(trim(done.out)), '\n');
  REQUIRE(lines.size() == 2);
  CHECK(json_of(lines[0])["path"] == "Budget.md");
  CHECK(json_of(lines[1])["left_out"]["path"] == "none.md");
}

TEST_CASE("the contract describes every operation", "[end_to_end][A94]") {
  const auto done = run_indx({"schema"});
  const auto one = run_indx({"schema", "note_read"});

  CHECK(json_of(done.out)["operations"].size() > 15);
  CHECK(json_of(one.out)["http"]["path"] == "/v1/notes/{path}");
  CHECK(run_indx({"schema", "note_raed"}).code == 3);
}

}  // namespace indx
