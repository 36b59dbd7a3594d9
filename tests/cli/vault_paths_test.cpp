#include "cli/vault_paths.hpp"

#include "ops/operation.hpp"
#include "tests/support/temp_dir.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

/// The input of a real operation with its paths made relative; the message where that is refused.
Json relative_input(const std::string& operation, const Json& input, const std::string& vault) {
  const Registry registry = make_registry();
  const auto made = with_vault_paths(registry.find(operation)->input, input, vault);
  return made ? *made : Json(made.error().message);
}

}  // namespace

TEST_CASE("an absolute path inside of the vault is the relative one on the command line", "[cli]") {
  const TempDir vault;
  const auto& root = vault.path();

  CHECK(relative_input("note_read", {{"path", root + "/a/b.md"}}, root) ==
        Json{{"path", "a/b.md"}});
  CHECK(relative_input("note_read", {{"path", root + "//a/../b.md"}}, root + "/") ==
        Json{{"path", "b.md"}});
  CHECK(relative_input("note_move", {{"from", root + "/a.md"}, {"to", root + "/b/"}}, root) ==
        Json{{"from", "a.md"}, {"to", "b/"}});
  CHECK(relative_input("notes_read", {{"paths", {"x.md", root + "/a.md"}}}, root) ==
        Json{{"paths", {"x.md", "a.md"}}});
  CHECK(relative_input("ai_tag", {{"scope", {{"kind", "note"}, {"path", root + "/a.md"}}}},
                       root)["scope"]["path"] == "a.md");
}

TEST_CASE("a vault that is reached over a link is the same vault", "[cli]") {
  const TempDir vault, elsewhere;
  const auto link = elsewhere.path() + "/notes";
  std::filesystem::create_symlink(vault.path(), link);

  CHECK(relative_input("note_read", {{"path", vault.path() + "/a.md"}}, link) ==
        Json{{"path", "a.md"}});
  CHECK(relative_input("note_read", {{"path", link + "/a.md"}}, vault.path()) ==
        Json{{"path", "a.md"}});
}

TEST_CASE("an absolute path that is not in the vault is refused and says what paths are", "[cli]") {
  const TempDir vault;
  const auto outside = "is outside of the vault. Paths are relative to the vault";

  for (const auto& path :
       {std::string("/etc/passwd"), vault.path() + "2/a.md", vault.path() + "/../a.md"}) {
    const auto told = relative_input("note_read", {{"path", path}}, vault.path());
    CHECK(told.dump().find(outside) != std::string::npos);
  }
  CHECK(relative_input("note_read", {{"path", "/v/a.md"}}, "").dump().find("is not known here") !=
        std::string::npos);
}

TEST_CASE("what is no path keeps its slash", "[cli]") {
  for (const auto& [operation, input] :
       {std::pair<std::string, Json>{"vault_search", {{"q", "/etc"}}},
        {"tag_rename", {{"from", "/a"}, {"to", "/b"}}},
        {"note_read", {{"path", "a.md"}, {"heading", "/etc"}}}})
    CHECK(relative_input(operation, input, "/v") == input);
}

}  // namespace indx
