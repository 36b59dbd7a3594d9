#include "actors/link_changes.hpp"

#include "base/text.hpp"
#include "tests/actors/engine_fixture.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <filesystem>
#include <random>
#include <thread>

namespace indx {
namespace {

using std::chrono::milliseconds;

struct MovingEngine : ServedVault {
  explicit MovingEngine(const TempFolder& folder)
      : ServedVault(folder, [](Config& config) { config.jobs.lanes = 4; }) {}
};

constexpr int kSources = 40;  // more than a move rewrites in place

void write_sources(const TempFolder& vault, const std::string& link) {
  for (int i = 0; i < kSources; ++i) vault.write(cat("src/s", i, ".md"), cat(link, " text\n"));
}
int count_sources(const TempFolder& vault, const std::string& folder, const std::string& link) {
  int count = 0;
  for (int i = 0; i < kSources; ++i)
    count += vault.read(cat(folder, "/s", i, ".md")) == cat(link, " text\n") ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("changes of links take turns in the order in which they came", "[actors][A22]") {
  LinkChanges changes;
  auto first = changes.take([] { return false; });
  REQUIRE(first);
  CHECK_FALSE(changes.take([] { return true; }));

  std::atomic<int> running = 0, done = 0;
  std::atomic<bool> overlapped = false;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        const auto turn = changes.take([] { return false; });
        if (++running > 1) overlapped = true;
        std::this_thread::sleep_for(milliseconds(2));
        --running;
        ++done;
      });
    std::this_thread::sleep_for(milliseconds(30));
    CHECK(done == 0);
    first.reset();
  }

  CHECK(done == 4);
  CHECK_FALSE(overlapped);
  CHECK(changes.take([] { return true; }));  // free again: nobody has to give up
}

TEST_CASE("a move of what another move just moved keeps the links of both", "[actors][A22]") {
  const TempFolder vault;
  vault.write("p/a.md", "ID A\n");
  write_sources(vault, "[[p/a]]");
  const MovingEngine running(vault);

  const auto job = running.call("note_move", {{"from", "p"}, {"to", "q"}}, true).job_id;
  REQUIRE(comes_true([&] { return running.has_file("q/a.md"); }));
  const Json second = running.ask("note_move", {{"from", "q/a.md"}, {"to", "q/b.md"}});

  INFO(second.dump());
  CHECK(comes_true([&] { return running.state_of(job) == "succeeded"; }));
  CHECK(second.value("links", Json::array()).size() == kSources);
  CHECK(count_sources(vault, "src", "[[q/b]]") == kSources);
}

TEST_CASE("the files whose links a move rewrites stay where it looks for them", "[actors][A22]") {
  const TempFolder vault;
  vault.write("A.md", "A\n");
  write_sources(vault, "[[A]]");
  const MovingEngine running(vault);

  const auto job = running.call("note_move", {{"from", "A.md"}, {"to", "B.md"}}, true).job_id;
  REQUIRE(comes_true([&] { return running.has_file("B.md"); }));
  const Json second = running.ask("note_move", {{"from", "src"}, {"to", "dst"}});

  INFO(second.dump());
  CHECK(comes_true([&] { return running.state_of(job) == "succeeded"; }));
  CHECK(second.value("moved", 0) == kSources);
  CHECK(count_sources(vault, "dst", "[[B]]") == kSources);
}

TEST_CASE("what rewrites by the index waits until a start has filled it", "[actors][A22][A51]") {
  constexpr int kNotes = 600;
  const TempFolder vault;
  for (int i = 0; i < kNotes; ++i)
    vault.write(cat("f", i % 10, "/n", i, ".md"), "---\nold: 1\n---\n# H\n\n#tagx lorem ipsum\n");
  vault.write("Old.md", "old\n");
  vault.write("zz/s.md", "[[Old]]\n");
  {
    const MovingEngine running(vault);
    const Json list = running.ask("note_list", {{"limit", 100}});
    const bool is_said = list.contains("indexing");
    CHECK((is_said || list["notes"].size() == 100));

    const Json moved = running.ask("note_move", {{"from", "Old.md"}, {"to", "New.md"}});

    INFO(moved.dump());
    CHECK(moved.value("links", Json::array()).size() == 1);
    CHECK(vault.read("zz/s.md") == "[[New]]\n");
    CHECK_FALSE(running.ask("note_list", Json::object()).contains("indexing"));
  }
  std::filesystem::remove_all(vault.path() + "/.indx");
  {
    const MovingEngine running(vault);
    const Json renamed = running.ask("tag_rename", {{"from", "tagx"}, {"to", "tagy"}});
    CHECK(renamed.value("changed", Json::array()).size() == kNotes);
  }
  std::filesystem::remove_all(vault.path() + "/.indx");
  {
    const MovingEngine running(vault);
    const Json renamed = running.ask("property_rename", {{"from", "old"}, {"to", "new"}});
    CHECK(renamed.value("changed", Json::array()).size() == kNotes);
  }
  vault.write("aa/late.md", "[[New]]\n");  // while nobody watches
  {
    const MovingEngine running(vault);
    running.ask("note_move", {{"from", "New.md"}, {"to", "Newer.md"}});
    CHECK(vault.read("aa/late.md") == "[[Newer]]\n");
    CHECK(vault.read("zz/s.md") == "[[Newer]]\n");
  }
}

TEST_CASE("two who move at the same time keep the target of every link", "[actors][A22]") {
  constexpr int kNotes = 12, kMoves = 8;
  const TempFolder vault;
  std::mt19937 random(20261128);
  const auto below = [](std::mt19937& source, int limit) {
    return std::uniform_int_distribution<int>(0, limit - 1)(source);
  };
  const std::vector<std::string> folders = {"", "d0/", "d1/", "d1/e/"};
  std::vector<std::string> stems;
  for (int i = 0; i < kNotes; ++i) stems.push_back(cat(folders[below(random, 4)], "n", i));
  for (int i = 0; i < kNotes; ++i) {
    std::string text = cat("ID", i, "\n");
    for (int k = 0; k < 4; ++k) {
      const int target = below(random, kNotes);
      const auto& stem = stems[target];
      text += k % 2 == 0 ? cat("- [[", stem, "|x", target, "]]\n")
                         : cat("- [[", stem.substr(stem.rfind('/') + 1), "|x", target, "]]\n");
    }
    vault.write(stems[i] + ".md", text);
  }
  const MovingEngine running(vault);
  const auto paths = [&] {
    std::vector<std::string> all;
    const Json list = running.ask("note_list", {{"limit", 100}});
    for (const auto& note : list.value("notes", Json::array()))
      all.push_back(note["path"].get<std::string>());
    return all;
  };
  CHECK(running.ask("note_move", {{"from", stems[0] + ".md"}, {"to", "first.md"}})["failed"] ==
        Json::array());

  std::atomic<int> moved = 0, left_behind = 0;
  {
    std::vector<std::jthread> movers;
    for (unsigned seed = 1; seed <= 2; ++seed)
      movers.emplace_back([&, seed] {
        std::mt19937 own(seed);
        for (int k = 0; k < kMoves; ++k) {
          const auto known = paths();
          if (known.empty()) continue;
          const auto& from = known[below(own, static_cast<int>(known.size()))];
          const auto folder = from.substr(0, from.rfind('/') + 1);
          const bool takes_folder = !folder.empty() && below(own, 3) == 0;
          const Json answer = running.ask(
              "note_move",
              takes_folder ? Json{{"from", folder.substr(0, folder.size() - 1)},
                                  {"to", cat("g", seed, "-", k)}}
                           : Json{{"from", from},
                                  {"to", cat(folders[below(own, 4)], "m", seed, "-", k, ".md")}});
          if (!answer.contains("failed")) continue;  // the other was there first
          ++moved;
          left_behind += static_cast<int>(answer["failed"].size());
        }
      });
  }

  CHECK(moved > 0);
  CHECK(left_behind == 0);
  std::map<std::string, std::string> places;  // display text of its links -> path
  for (const auto& path : paths()) {
    const auto text = vault.read(path);
    places[cat("x", text.substr(2, text.find('\n') - 2))] = path;
  }
  CHECK(places.size() == kNotes);
  for (const auto& [id, path] : places) {
    const Json links = running.ask("link_forward", {{"path", path}, {"limit", 100}});
    INFO(path << " " << links.dump());
    CHECK_FALSE(links["links"].empty());
    for (const auto& link : links["links"])
      CHECK(link.value("path", "") == places[link.value("display", "")]);
  }
}

}  // namespace indx
