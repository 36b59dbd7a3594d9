#include "vault/vault.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "vault/vault_move.hpp"
#include "vault/vault_place.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace indx {
namespace {

namespace fs = std::filesystem;

/// A folder `vault` with a folder `outside` beside it; removed at the end.
struct VaultFolder {
  VaultFolder() {
    std::string pattern = (fs::temp_directory_path() / "indx-vault-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    base = pattern;
    root = base / "vault";
    fs::create_directories(root);
    fs::create_directories(base / "outside");
  }
  ~VaultFolder() {
    std::error_code ignored;
    fs::remove_all(base, ignored);
  }
  VaultFolder(const VaultFolder&) = delete;
  VaultFolder& operator=(const VaultFolder&) = delete;

  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path, std::ios::binary) << text;
  }
  std::string get(const std::string& path) const {
    std::ifstream file(root / path, std::ios::binary);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }
  Vault open() const { return *Vault::open(root.string(), Durability::Off); }
  std::string listed() const {
    std::vector<std::string> paths;
    for (const FileInfo& file : open().list().files) paths.push_back(file.path.str());
    return join(paths, " ");
  }

  fs::path base, root;
};

NotePath at(std::string_view path) { return *NotePath::parse(path); }
const std::string kTemp = ".indx-0123456789abcdef";

}  // namespace

TEST_CASE("a vault lists its files by path and skips what is hidden", "[vault][A6]") {
  VaultFolder folder;
  for (const char* path : {"b.md", "a/x.md", "a.md", ".obsidian/x.md", ".trash/y.md", ".git/z.md",
                           "node_modules/m.md", "a.md~", "img.png", ".indx-0123456789abcdef"})
    folder.put(path, "x");

  CHECK(folder.listed() == "a.md a/x.md b.md img.png");
  CHECK(folder.open().stat(at(".obsidian/x.md")).error().reason == Reason::NotFound);
  CHECK(folder.open().stat(at("a")).error().reason == Reason::NotFound);
}

TEST_CASE("a vault whose own folder is hidden lists normally (W-06)", "[vault][A6]") {
  VaultFolder folder;
  fs::create_directories(folder.base / ".notes");
  std::ofstream(folder.base / ".notes" / "a.md") << "x";

  CHECK(Vault::open((folder.base / ".notes").string())->list().files.size() == 1);
}

TEST_CASE("a read gives the exact bytes and their etag", "[vault][A10]") {
  VaultFolder folder;
  folder.put("a b/n.md", "x\r\n\xFF");

  const auto note = folder.open().read(at("a b/n.md"));

  REQUIRE(note.has_value());
  CHECK(note->bytes == "x\r\n\xFF");
  CHECK(note->etag == etag_of("x\r\n\xFF"));
  CHECK(folder.open().stat(at("a b/n.md"))->size == 4);
  CHECK(folder.open().read(at("none.md")).error().reason == Reason::NotFound);
}

TEST_CASE("links that leave the vault are refused and inner links give no duplicates (P-03)",
          "[vault][A2]") {
  VaultFolder folder;
  std::ofstream(folder.base / "outside" / "secret.md") << "secret";
  folder.put("real/n.md", "n");
  fs::create_symlink(folder.base / "outside" / "secret.md", folder.root / "link.md");
  fs::create_symlink("../outside", folder.root / "out");
  fs::create_symlink("real", folder.root / "inner");
  fs::create_symlink(".", folder.root / "loop");
  const Vault vault = folder.open();

  CHECK(folder.listed() == "real/n.md");
  CHECK(vault.list().warnings.size() == 2);
  for (const char* path : {"link.md", "out/secret.md"}) {
    CHECK(vault.read(at(path)).error().reason == Reason::Forbidden);
    CHECK(vault.stat(at(path)).error().reason == Reason::NotFound);
    CHECK(vault.replace(at(path), std::nullopt, "y", kTemp).error().reason == Reason::Forbidden);
    CHECK(vault.replace(at(path), "secret", "y", kTemp).error().reason == Reason::Forbidden);
    CHECK(vault.remove(at(path), "secret", true).error().reason == Reason::Forbidden);
  }
  CHECK(vault.replace(at("out/new.md"), std::nullopt, "y", kTemp).error().reason ==
        Reason::Forbidden);
  CHECK(vault.read(at("inner/n.md"))->bytes == "n");
  CHECK(vault.read(at("loop/loop/real/n.md"))->bytes == "n");
  CHECK(std::distance(fs::directory_iterator(folder.base / "outside"), {}) == 1);
}

TEST_CASE("a link inside the vault is read only as the file that it leads to", "[vault][A2]") {
  VaultFolder folder;
  folder.put("real/n.md", "n");
  fs::create_symlink("real", folder.root / "inner");
  fs::create_symlink("real/n.md", folder.root / "link.md");
  const Vault vault = folder.open();
  const Vault::MayFollow never = [](const NotePath&) { return false; };
  const Vault::MayFollow real = [](const NotePath& target) { return target.str() == "real/n.md"; };

  for (const char* path : {"inner/n.md", "link.md"}) {
    CHECK(vault.read(at(path), never).error().reason == Reason::NotFound);
    CHECK(vault.stat(at(path), never).error().reason == Reason::NotFound);
    CHECK(vault.open_file(at(path), never).error().reason == Reason::NotFound);
    CHECK(vault.read(at(path), real)->bytes == "n");
    CHECK(vault.read_in_place(at(path)).error().reason == Reason::Forbidden);
  }
  CHECK(vault.read(at("real/n.md"), never)->bytes == "n");
  CHECK(vault.read_in_place(at("real/n.md"))->bytes == "n");
}

TEST_CASE("while the vault folder is gone no note counts as missing", "[vault]") {
  VaultFolder folder;
  folder.put("n.md", "n");
  const Vault vault = folder.open();
  fs::rename(folder.root, folder.base / "away");

  CHECK(vault.read(at("n.md")).error().reason == Reason::Unavailable);
  CHECK(vault.stat(at("n.md")).error().reason == Reason::Unavailable);
  CHECK(vault.replace(at("n.md"), "n", "m", kTemp).error().reason == Reason::Unavailable);
  CHECK(vault.replace(at("new.md"), std::nullopt, "m", kTemp).error().reason ==
        Reason::Unavailable);
  CHECK(vault.remove(at("n.md"), "n", false).error().reason == Reason::Unavailable);
  CHECK_FALSE(fs::exists(folder.root));
}

TEST_CASE("names on disk in decomposed form are reached by their composed path", "[vault][A1]") {
  VaultFolder folder;
  folder.put("cafe\xCC\x81/e\xCC\x81.md", "x");
  folder.put("n\xC2\xA0n.md", "y");
  folder.put("e\xCC\x81.md", "1");
  folder.put("\xC3\xA9.md", "2");
  const Vault vault = folder.open();

  // Signs whose normal form is ASCII: Kelvin, the Greek question mark, the Greek varia.
  folder.put("\xE2\x84\xAA/\xCD\xBE \xE1\xBF\xAF.md", "k");
  CHECK(vault.read(at("K/; `.md"))->bytes == "k");
  fs::remove_all(folder.root / "\xE2\x84\xAA");

  CHECK(vault.read(at("caf\xC3\xA9/\xC3\xA9.md"))->bytes == "x");
  CHECK(vault.read(at("n n.md"))->bytes == "y");
  CHECK(vault.read(at("\xC3\xA9.md"))->bytes == "2");
  const VaultListing listing = vault.list();
  CHECK(listing.files.size() == 3);
  CHECK(listing.warnings.size() == 1);
  CHECK_FALSE(
      vault.replace(at("caf\xC3\xA9/\xC3\xA9.md"), "x", "z", kTemp)->displaced_external_edit);
  CHECK(folder.get("cafe\xCC\x81/e\xCC\x81.md") == "z");
}

TEST_CASE("a note is created in new folders and replaced with its mode kept", "[vault][A13]") {
  VaultFolder folder;
  const Vault vault = *Vault::open(folder.root.string(), Durability::Full);

  CHECK_FALSE(vault.replace(at("p/q/n.md"), std::nullopt, "one", kTemp)->displaced_external_edit);
  CHECK(folder.get("p/q/n.md") == "one");
  ::chmod((folder.root / "p/q/n.md").c_str(), 0640);
  CHECK_FALSE(vault.replace(at("p/q/n.md"), "one", "two", kTemp)->displaced_external_edit);
  CHECK(folder.get("p/q/n.md") == "two");
  struct stat info {};
  REQUIRE(::stat((folder.root / "p/q/n.md").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777U) == 0640U);
  CHECK_FALSE(fs::exists(folder.root / "p/q" / kTemp));
  CHECK(vault.replace(at("p/a#b.md"), std::nullopt, "x", kTemp).error().reason ==
        Reason::ValidationFailed);
  CHECK(vault.replace(at(".obsidian/x.md"), std::nullopt, "x", kTemp).error().reason ==
        Reason::ValidationFailed);
  CHECK_FALSE(fs::exists(folder.root / ".obsidian"));
}

TEST_CASE("what is refused leaves no folder behind that was made for it", "[vault]") {
  VaultFolder folder;
  folder.put("a/n.md", "x");
  const Vault vault = folder.open();

  CHECK_FALSE(move_entry(vault, at("a"), at("a/b/c"), kTemp));
  CHECK_FALSE(fs::exists(folder.root / "a/b"));
  {
    const auto place =
        walk_to(folder.root.string(), at("p/q/r/n.md"), MissingFolders::Create, Durability::Off);
    REQUIRE(place);
    CHECK(fs::exists(folder.root / "p/q/r"));
    folder.put("p/other.md", "somebody's");
  }
  CHECK_FALSE(fs::exists(folder.root / "p/q"));
  CHECK(folder.get("p/other.md") == "somebody's");
  CHECK(vault.replace(at("s/t/n.md"), std::nullopt, "x", kTemp));
  CHECK(folder.get("s/t/n.md") == "x");
}

TEST_CASE("a file that may not be written is not replaced either", "[vault]") {
  VaultFolder folder;
  folder.put("n.md", "one");
  const auto file = (folder.root / "n.md").string();
  ::chmod(file.c_str(), 0444);
  constexpr uid_t kNobody = 65534;
  if (::geteuid() == 0)  // whom modes do not bind: what follows runs as somebody else
    for (const auto& path : {folder.base.string(), folder.root.string(), file})
      REQUIRE(::chown(path.c_str(), kNobody, kNobody) == 0);

  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(2);
    const auto replaced = folder.open().replace(at("n.md"), "one", "two", kTemp);
    if (replaced || replaced.error().reason != Reason::Forbidden) ::_exit(1);
    // One that may not even be read is listed, and told.
    ::chmod(file.c_str(), 0);
    const auto listing = folder.open().list();
    const std::vector<std::string> told = {"unreadable_file: n.md"};
    ::_exit(listing.files.size() == 1 && listing.warnings == told ? 0 : 3);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  ::chmod(file.c_str(), 0444);
  CHECK(folder.get("n.md") == "one");
}

TEST_CASE("a folder that differs only by case from one that is there is found", "[vault]") {
  VaultFolder folder;
  folder.put("Case/Inner/n.md", "x");
  folder.put("both/n.md", "x");
  folder.put("Both/n.md", "x");
  const Vault vault = folder.open();
  const auto twin = [&](std::string_view path) {
    const auto found = folder_twin(vault, at(path));
    return found ? found->str() : std::string();
  };

  CHECK(twin("case/new.md") == "Case");
  CHECK(twin("Case/inner/deep/new.md") == "Case/Inner");
  for (const auto* path : {"Case/new.md", "Case/Inner/N.md", "both/new.md", "Both/new.md",
                           "other/case/new.md", "new.md", "Case/n/new.md"})
    CHECK(twin(path).empty());
}

TEST_CASE("an edit from outside is found, put back and reported", "[vault][A13]") {
  VaultFolder folder;
  folder.put("n.md", "external");
  const Vault vault = folder.open();

  const auto changed = vault.replace(at("n.md"), "guarded", "ours", kTemp);
  REQUIRE(changed.has_value());
  CHECK(changed->displaced_external_edit);
  CHECK(changed->displaced == "external");
  CHECK(folder.get("n.md") == "external");

  const auto created = vault.replace(at("n.md"), std::nullopt, "ours", kTemp);
  CHECK(created->displaced_external_edit);
  CHECK(created->displaced == "external");
  CHECK(folder.get("n.md") == "external");

  CHECK(vault.replace(at("gone.md"), "guarded", "ours", kTemp)->displaced_external_edit);
  CHECK(vault.replace(at("no/folder.md"), "guarded", "ours", kTemp)->displaced_external_edit);
  CHECK(folder.listed() == "n.md");
  CHECK_FALSE(fs::exists(folder.root / kTemp));
}

TEST_CASE("readers see the old or the new text while a note is replaced", "[vault][A13]") {
  VaultFolder folder;
  const std::string one(100'000, 'a'), two(150'000, 'b');
  folder.put("n.md", one);
  const Vault vault = folder.open();
  bool torn = false;

  std::thread reader([&] {
    for (int i = 0; i < 300; ++i) {
      const auto note = vault.read(at("n.md"));
      torn = torn || !note || (note->bytes != one && note->bytes != two);
    }
  });
  for (int i = 0; i < 100; ++i)
    REQUIRE_FALSE(vault
                      .replace(at("n.md"), i % 2 == 0 ? one : two, i % 2 == 0 ? two : one,
                               Vault::temp_name(static_cast<std::uint64_t>(i)))
                      ->displaced_external_edit);
  reader.join();

  CHECK_FALSE(torn);
}

TEST_CASE("a deleted note goes to the trash under a free name", "[vault]") {
  VaultFolder folder;
  const Vault vault = folder.open();
  for (const char* expected : {".trash/a/n.md", ".trash/a/n 1.md", ".trash/a/n 2.md"}) {
    folder.put("a/n.md", "x");
    CHECK(*vault.remove(at("a/n.md"), "x", false) == expected);
    CHECK(folder.get(expected) == "x");
    CHECK_FALSE(fs::exists(folder.root / "a/n.md"));
  }
  folder.put("a/n.md", "x");
  CHECK(vault.remove(at("a/n.md"), "x", true)->empty());
  CHECK_FALSE(fs::exists(folder.root / "a/n.md"));
  CHECK(std::distance(fs::directory_iterator(folder.root / ".trash/a"), {}) == 3);
  folder.put("a/n.md", "new");
  CHECK(vault.remove(at("a/n.md"), "x", true).error().reason == Reason::EtagMismatch);
  CHECK(folder.get("a/n.md") == "new");
  CHECK(vault.remove(at("none.md"), "x", false).error().reason == Reason::NotFound);
}

TEST_CASE("a path is found without regard to case", "[vault][A8]") {
  VaultFolder folder;
  folder.put("Ordner/\xC3\x84pfel.md", "x");
  folder.put("README.md", "x");
  const Vault vault = folder.open();

  CHECK(vault.find_ignoring_case(at("ordner/\xC3\xA4PFEL.md"))->str() == "Ordner/\xC3\x84pfel.md");
  CHECK(vault.find_ignoring_case(at("readme.MD"))->str() == "README.md");
  CHECK(vault.find_ignoring_case(at("README.md"))->str() == "README.md");
  CHECK_FALSE(vault.find_ignoring_case(at("none.md")));
}

TEST_CASE("left-over temp files are removed unless something wants them", "[vault][A13]") {
  VaultFolder folder;
  folder.put(".indx-0000000000000001", "x");
  folder.put("a/.indx-0000000000000002", "x");
  folder.put("a/.indx-zz", "x");
  const Vault vault = folder.open();

  CHECK(vault.clean_temp_files(
            [](const std::string& name) { return name == ".indx-0000000000000001"; }) == 1);
  CHECK(fs::exists(folder.root / ".indx-0000000000000001"));
  CHECK(fs::exists(folder.root / "a/.indx-zz"));
  CHECK(Vault::temp_name(255) == ".indx-00000000000000ff");
}

TEST_CASE("one holder locks a vault at a time", "[vault]") {
  VaultFolder folder;
  auto first = VaultLock::acquire(folder.root.string());
  REQUIRE(first.has_value());

  CHECK(VaultLock::acquire(folder.root.string()).error().reason == Reason::VaultLocked);
  { const VaultLock moved = std::move(*first); }
  CHECK(VaultLock::acquire(folder.root.string()).has_value());
  CHECK(Vault::open((folder.root / "none").string()).error().reason == Reason::NotFound);
}

}  // namespace indx
