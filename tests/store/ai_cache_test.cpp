#include "store/ai_cache.hpp"

#include "tests/support/fake_clock.hpp"
#include "tests/support/temp_dir.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace indx {
namespace {

using std::chrono::hours;

constexpr milliseconds kDay = hours(24);

struct CacheFolder {
  TempDir dir;
  FakeClock clock;
  std::string path() const { return dir.path() + "/ai-cache.db"; }
  AiCache open(std::int64_t max_bytes = 1'000'000) const {
    return AiCache({dir.path(), Durability::Off, max_bytes});
  }
};

Json answer(const std::string& text) { return {{"text", text}}; }

}  // namespace

TEST_CASE("an answer is found until its time is over, also by who opens the file later",
          "[store][D50][D52]") {
  CacheFolder folder;
  {
    AiCache cache = folder.open();
    cache.put({{"k", answer("x"), kDay}, {"short", answer("y"), hours(1)}}, folder.clock.now());
  }
  AiCache cache = folder.open();

  CHECK(cache.find("k", folder.clock.now(), kDay) == answer("x"));
  CHECK_FALSE(cache.find("other", folder.clock.now(), kDay));
  folder.clock.advance(hours(1));
  CHECK_FALSE(cache.find("short", folder.clock.now(), kDay));  // as long as it was kept for
  CHECK(cache.find("k", folder.clock.now(), kDay));
  CHECK_FALSE(cache.find("k", folder.clock.now(), hours(1)));  // older than the caller wants
  folder.clock.advance(kDay - hours(1) - milliseconds(1));
  CHECK(cache.find("k", folder.clock.now(), kDay));
  folder.clock.advance(milliseconds(1));
  CHECK_FALSE(cache.find("k", folder.clock.now(), kDay));
}

TEST_CASE("an answer that is there is given also where nothing can be written", "[store][D18]") {
  CacheFolder folder;
  AiCache cache = folder.open();
  cache.put({{"k", answer("x"), kDay}}, folder.clock.now());
  auto db = Database::open(folder.path(), {.durability = Durability::Off});
  REQUIRE(db.has_value());
  REQUIRE(db->execute("CREATE TRIGGER no_room BEFORE INSERT ON lookups BEGIN SELECT RAISE(ABORT, "
                      "'no room'); END")
              .has_value());

  CHECK(cache.find("k", folder.clock.now(), kDay) == answer("x"));
  CHECK_FALSE(cache.find("other", folder.clock.now(), kDay));
  CHECK(cache.lookups_since(folder.clock.now()).hits == 0);
}

TEST_CASE("the file comes with the first use, private to its owner", "[store][D18]") {
  CacheFolder folder;
  AiCache cache = folder.open();
  CHECK(cache.lookups_since(folder.clock.now()).misses == 0);
  CHECK(cache.size_bytes() == 0);
  CHECK_FALSE(std::filesystem::exists(folder.path()));

  cache.put({{"k", answer("x"), kDay}}, folder.clock.now());

  struct stat info {};
  REQUIRE(::stat(folder.path().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0600);
  CHECK(cache.size_bytes() > 0);
}

TEST_CASE("hits and misses are counted by the hour, over restarts", "[store][C88]") {
  CacheFolder folder;
  {
    AiCache cache = folder.open();
    cache.put({{"k", answer("x"), 3 * kDay}}, folder.clock.now());
    cache.find("k", folder.clock.now(), kDay);
    cache.find("none", folder.clock.now(), kDay);
  }
  const auto begin = folder.clock.now();
  AiCache cache = folder.open();
  folder.clock.advance(hours(23));
  cache.find("k", folder.clock.now(), kDay);

  const auto all = cache.lookups_since(begin);
  CHECK(all.hits == 2);
  CHECK(all.misses == 1);
  CHECK(cache.lookups_since(folder.clock.now()).hits == 1);
}

TEST_CASE("the oldest answers go when there is no room", "[store][D18]") {
  CacheFolder folder;
  AiCache cache = folder.open(4000);
  const std::string text(1000, 'x');
  for (const auto* key : {"a", "b", "c", "d", "e"}) {
    cache.put({{key, answer(text), kDay}}, folder.clock.now());
    folder.clock.advance(milliseconds(1));
  }

  CHECK_FALSE(cache.find("a", folder.clock.now(), kDay));
  CHECK_FALSE(cache.find("b", folder.clock.now(), kDay));
  for (const auto* key : {"c", "d", "e"}) CHECK(cache.find(key, folder.clock.now(), kDay));
}

TEST_CASE("a new answer takes the place of the old one, and its bytes", "[store][D18]") {
  CacheFolder folder;
  AiCache cache = folder.open(3000);
  for (int i = 0; i < 20; ++i)
    cache.put({{"k", answer(std::string(1000, static_cast<char>('a' + i))), kDay}},
              folder.clock.now());
  cache.put({{"other", answer("x"), kDay}}, folder.clock.now());

  CHECK(cache.find("k", folder.clock.now(), kDay) == answer(std::string(1000, 't')));
  CHECK(cache.find("other", folder.clock.now(), kDay));
}

TEST_CASE("a file that is damaged or of another version is made anew", "[store][D18]") {
  CacheFolder folder;
  {
    AiCache cache = folder.open();
    cache.put({{"k", answer("x"), kDay}}, folder.clock.now());
  }
  SECTION("no database") {
    for (const auto* suffix : {"-wal", "-shm"}) std::filesystem::remove(folder.path() + suffix);
    std::ofstream(folder.path(), std::ios::trunc) << std::string(8192, 'z');
  }
  SECTION("of a newer program") {
    auto db = Database::open(folder.path(), {}).value();
    REQUIRE(db.execute("PRAGMA user_version=99").has_value());
  }
  AiCache cache = folder.open();

  CHECK_FALSE(cache.find("k", folder.clock.now(), kDay));
  cache.put({{"k", answer("again"), kDay}}, folder.clock.now());
  CHECK(cache.find("k", folder.clock.now(), kDay) == answer("again"));
}

TEST_CASE("a folder that takes no file costs the answers and nothing else", "[store][D18]") {
  AiCache cache({"/proc/self/none", Durability::Off, 1000});
  const FakeClock clock;

  cache.put({{"k", answer("x"), kDay}}, clock.now());

  CHECK_FALSE(cache.find("k", clock.now(), kDay));
  CHECK(cache.lookups_since(clock.now()).hits == 0);
  CHECK(cache.size_bytes() == 0);
}

}  // namespace indx
