#include "base/hash.hpp"
#include "base/text.hpp"
#include "tests/support/process.hpp"
#include "vault/vault.hpp"
#include "vault/vault_move.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <filesystem>
#include <random>
#include <sys/stat.h>
#include <thread>

namespace indx {
namespace {

namespace fs = std::filesystem;

/// Every file below a folder with its bytes.
std::map<std::string, std::string> all_bytes(const TempFolder& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    if (entry.is_regular_file()) {
      const auto name = fs::relative(entry.path(), folder.path()).string();
      files[name] = folder.read(name);
    }
  return files;
}

}  // namespace

TEST_CASE("a folder that turns into a link between check and use leads nowhere", "[vault][race]") {
  const TempFolder vault_folder, outside;
  outside.write("a.md", "secret");
  outside.write("A.md", "secret");
  const auto outside_before = all_bytes(outside);
  const auto vault = Vault::open(vault_folder.path(), Durability::Off).value();
  fs::create_directory(vault_folder.path() + "/real");
  const auto door = vault_folder.path() + "/door";
  std::atomic<bool> is_over = false;
  std::jthread swapper([&] {
    while (!is_over) {
      ::rename((vault_folder.path() + "/real").c_str(), door.c_str());
      ::rename(door.c_str(), (vault_folder.path() + "/real").c_str());
      ::symlink(outside.path().c_str(), door.c_str());
      ::unlink(door.c_str());
    }
  });
  std::atomic<int> done = 0, escaped = 0;
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    const auto path = NotePath::parse("door/a.md").value();
    const auto other = NotePath::parse("door/b.md").value();
    for (int i = 0; i < 3000; ++i) {
      const auto temp = Vault::temp_name((std::uint64_t{random()} << 32U) | random());
      const auto now = vault.read(path);
      if (now && now->bytes == "secret") ++escaped;
      switch (random() % 6) {
        case 0:
          done += vault.replace(path, std::nullopt, "mine", temp).has_value() ? 1 : 0;
          break;
        case 1:
          if (now) done += vault.replace(path, now->bytes, cat("mine ", i), temp) ? 1 : 0;
          break;
        case 2:
          done += vault.remove(path, now ? now->bytes : "secret", random() % 2 == 0) ? 1 : 0;
          break;
        case 3:
          done += move_entry(vault, path, other, temp) ? 1 : 0;
          break;
        case 4:
          for (const auto& file : files_below(vault, NotePath::parse("door").value()))
            escaped += file.starts_with("door/") ? 0 : 1;
          if (const auto twin = vault.find_ignoring_case(NotePath::parse("door/A.md").value()))
            escaped += twin->str() == "door/A.md" ? 1 : 0;  // spelled so outside only
          break;
        default:
          done += move_entry(vault, other, path, temp) ? 1 : 0;
      }
    }
  };
  {
    const std::jthread one([&] { work(1); }), two([&] { work(2); });
  }
  is_over = true;
  swapper.join();
  CHECK(done > 0);
  CHECK(escaped == 0);
  CHECK(all_bytes(outside) == outside_before);
}

TEST_CASE("a listing bears files that vanish, loops of links and other things", "[vault][race]") {
  const TempFolder folder;
  for (int i = 0; i < 50; ++i) folder.write(cat("d", i % 5, "/n", i, ".md"), "x");
  fs::create_directory_symlink("..", folder.path() + "/d1/up");
  fs::create_directory_symlink("self", folder.path() + "/self");
  fs::create_symlink("nowhere", folder.path() + "/d2/broken.md");
  REQUIRE(::mkfifo((folder.path() + "/d3/pipe.md").c_str(), 0600) == 0);
  const auto vault = Vault::open(folder.path(), Durability::Off).value();
  CHECK(vault.list().files.size() == 50);
  CHECK_FALSE(vault.read(NotePath::parse("d3/pipe.md").value()));

  std::atomic<bool> is_over = false;
  const std::jthread remover([&] {
    for (int i = 0; !is_over; i = (i + 1) % 40) {
      std::error_code ignored;
      fs::remove(folder.path() + cat("/d", i % 5, "/n", i, ".md"), ignored);
      if (i == 20) fs::remove_all(folder.path() + "/gone", ignored);
      folder.write(cat("gone/", i, ".md"), "x");
      folder.write(cat("d", i % 5, "/n", i, ".md"), "x");
    }
  });
  for (int i = 0; i < 100; ++i) {
    const auto listing = vault.list();
    CHECK(listing.is_root_readable);
    std::size_t stable = 0;
    for (const auto& file : listing.files) {
      const auto read = vault.read(file.path);
      if (!read) CHECK(read.error().reason == Reason::NotFound);
      const auto number = std::stoi(std::string(file.path.stem()).substr(1) + "0");
      if (file.path.str().starts_with("d") && number >= 400) ++stable;
    }
    CHECK(stable == 10);
  }
  is_over = true;
}

TEST_CASE("a root that is gone is told from a vault without notes", "[vault]") {
  const TempFolder place;
  place.write("vault/a.md", "x");
  const auto vault = Vault::open(place.path() + "/vault", Durability::Off).value();
  fs::rename(place.path() + "/vault", place.path() + "/elsewhere");
  CHECK_FALSE(vault.list().is_root_readable);
  fs::create_directory(place.path() + "/vault");
  CHECK(vault.list().is_root_readable);
}

}  // namespace indx
