// How the vault's work grows with its notes: vault_bench [NOTES…], default 1000 10000 100000. For
// each size the whole engine over a generated vault: full index, restart with nothing changed,
// searches, questions about links and bases, reads, a patch, an edit by another program until it is
// found, a move that rewrites 1,000 notes, and memory at rest. The floor of each is measured beside
// it.
// rows: A100 A101 A102 A103 A104
#include "bench/engine.hpp"
#include "bench/floor.hpp"

#include <csignal>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace indx;
using namespace indx::bench;

constexpr int kManyBacklinks = 1000;

/// An engine over the vault, at rest when constructed.
class Running {
 public:
  Running(const std::filesystem::path& folder, bool watch, Durability durability) {
    auto config = vault_config(folder);
    config.watch = watch;
    config.durability = durability;
    registry_ = make_registry();
    const double begin = now_s();
    engine_ = need(Engine::start(config, *registry_, {}));
    dispatcher_ = make_dispatcher(make_registry(), *engine_);
    while (ask("vault_status")["indexing"]["state"] != "idle")
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    took_s = now_s() - begin;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { engine_->stop(); }

  Json ask(const char* operation, const Json& input = Json::object()) {
    return bench::ask(*dispatcher_, operation, input);
  }

  double took_s = 0;  ///< from the start to rest

 private:
  std::optional<Registry> registry_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

class VaultBench {
 public:
  explicit VaultBench(int notes) : notes_(notes), folder_("vault"), vault_(folder_.path / "vault") {
    generate_vault(vault_, notes_);
    // A thousand notes link to the hub, in a folder of their own.
    for (int i = 0; i < kManyBacklinks; ++i)
      write(cat("linking/link-", i, ".md"), cat("# Link ", i, "\n\nSee [[hub]] and [[note-1]].\n"));
    write("hub.md", "# Hub\n\nA note with many backlinks.\n");
    write("large.md", large_note());
  }

  void run() {
    index();
    restart();
    {
      Running engine(folder_.path, true, Durability::Full);
      search(engine);
      links(engine);
      reads(engine);
      external_edits(engine);
      move(engine);
      writes(engine);
    }
    unsynced_patch();
    memory();
  }

 private:
  std::string named(const char* name) const { return cat(name, '/', notes_); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((vault_ / path).parent_path());
    std::ofstream(vault_ / path, std::ios::binary) << text;
  }
  std::string note(std::size_t number) const {
    const auto n = number % static_cast<std::size_t>(notes_);
    return cat("area-", n % 40, "/note-", n, ".md");
  }

  /// About 50 kB in 200 sections.
  static std::string large_note() {
    std::string text = "# Large\n\n";
    for (int i = 0; i < 200; ++i)
      text += cat("## Section ", i, "\n\n", std::string(200, 'w'), " some words.\n\n");
    return text;
  }

  void times(const char* name, const std::vector<double>& ours, double floor,
             std::optional<double> p50_bar, std::optional<double> p95_bar) const {
    print({.name = named(cat(name, "_p50").c_str()),
           .value = percentile(ours, .5),
           .unit = "ms",
           .floor = floor,
           .bar = p50_bar});
    print({.name = named(cat(name, "_p95").c_str()),
           .value = percentile(ours, .95),
           .unit = "ms",
           .floor = floor,
           .bar = p95_bar});
  }

  void index() {
    floor_seconds(vault_.string(), (folder_.path / "warm.db").string());  // fills the page cache
    const double floor = floor_seconds(vault_.string(), (folder_.path / "floor.db").string());
    const Running engine(folder_.path, false, Durability::Full);
    const double all = notes_ + kManyBacklinks + 2;
    print({.name = named("index"),
           .value = all / engine.took_s,
           .unit = "notes/s",
           .floor = all / floor,
           .bar = all / floor / 3,
           .bar_is_maximum = false});
  }

  void restart() {
    const double begin = now_s();
    const auto files = stat_all(vault_.string());
    const double floor = (now_s() - begin) * 1000;
    const Running engine(folder_.path, false, Durability::Full);
    print({.name = named("restart_unchanged"),
           .value = engine.took_s * 1000,
           .unit = "ms",
           .floor = files > 0 ? floor : 0,
           // For large vaults: a start costs some milliseconds without any note.
           .bar = notes_ >= 100000 ? std::optional(floor * 2.5) : std::nullopt});
  }

  void search(Running& engine) {
    SeededRandom random(7);
    SeededRandom random_of_vault(1);
    const auto words = vocabulary(random_of_vault);
    const auto pick = [&](std::size_t from, std::size_t to) {
      return words[from + random.next() % (to - from)];
    };
    std::vector<std::string> two, common;
    for (int i = 0; i < 300; ++i) two.push_back(pick(50, 5000) + " " + pick(50, 5000));
    for (int i = 0; i < 100; ++i) common.push_back(pick(0, 5) + " " + pick(0, 5));
    FloorTable table((folder_.path / "floor.db").string());
    const auto raw = times_ms(100, [&](std::size_t i) { table.search(two[i]); });
    const auto raw_common = times_ms(20, [&](std::size_t i) { table.search(common[i]); });
    const auto ask = [&](const std::string& q, const char* match) {
      Json input{{"q", q}, {"limit", 10}};
      if (match != nullptr) input["match"] = match;
      return engine.ask("vault_search", input);
    };
    for (const auto& q : common) ask(q, nullptr);
    times("search_two_words", times_ms(300, [&](std::size_t i) { ask(two[i], "all"); }),
          percentile(raw, .5), 5, 20);
    times("search_two_words_all_then_any",
          times_ms(300, [&](std::size_t i) { ask(two[i], nullptr); }), percentile(raw, .5), {}, {});
    times("search_common_words", times_ms(100, [&](std::size_t i) { ask(common[i], "all"); }),
          percentile(raw_common, .5), {}, 30);
  }

  void links(Running& engine) {
    FloorTable table((folder_.path / "floor.db").string());
    const double floor = percentile(times_ms(50, [&](std::size_t) { table.list(100); }), .5);
    const auto ask = [&](const char* operation, const Json& input) {
      return times_ms(50, [&](std::size_t) { engine.ask(operation, input); });
    };
    times("backlinks_of_hub", ask("link_backlinks", {{"path", "hub.md"}}), floor, {}, 20);
    times("unresolved", ask("link_unresolved", Json::object()), floor, {}, 20);
    times("orphans", ask("link_orphans", Json::object()), floor, {}, 20);
    times("note_list_100", ask("note_list", {{"limit", 100}}), floor, {}, {});
    times("base_simple_filter",
          times_ms(10,
                   [&](std::size_t) {
                     engine.ask("base_query_inline",
                                {{"definition",
                                  R"({"filters":"created == \"2026-01-12\"","views":[{"order":)"
                                  R"(["file.name","created"]}]})"}});
                   }),
          floor, {}, 150);
  }

  void reads(Running& engine) {
    SeededRandom random(8);
    std::vector<std::string> paths;
    for (int i = 0; i < 500; ++i) paths.push_back(note(random.next()));
    const auto raw = times_ms(500, [&](std::size_t i) { read_whole(vault_ / paths[i]); });
    times("note_read",
          times_ms(500,
                   [&](std::size_t i) {
                     engine.ask("note_read", {{"path", paths[i]}});
                   }),
          percentile(raw, .5), 5, 50);
  }

  /// From the edit of another program until a search finds the word.
  void external_edits(Running& engine) {
    const auto times_to_found = times_ms(40, [&](std::size_t i) {
      const auto word = cat("fresh", i, "word");
      const auto path = vault_ / note(i * 977 + 3);
      std::ofstream(path, std::ios::binary | std::ios::app) << "\n" << word << "\n";
      while (engine.ask("vault_search", {{"q", word}})["results"].empty())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    times("edit_to_found", times_to_found, 20, {}, 80);  // the quiet time is waited for
  }

  void move(Running& engine) {
    const double floor = seconds_to_replace(folder_.path / "replace", kManyBacklinks);
    const double begin = now_s();
    engine.ask("note_move", {{"from", "hub.md"}, {"to", "area-0/moved hub.md"}});
    const double took = now_s() - begin;
    print({.name = named("move_1000_backlinks"),
           .value = took,
           .unit = "s",
           .floor = floor,
           .bar = 1.5 + 1.3 * floor});
  }

  void writes(Running& engine) {
    constexpr int kWrites = 200;
    const double floor = seconds_to_replace(folder_.path / "replace", kWrites);
    const double begin = now_s();
    for (int i = 0; i < kWrites; ++i)
      engine.ask("note_write", {{"path", cat("written/note-", i, ".md")}, {"body", "# Written\n"}});
    print({.name = named("writes"),
           .value = kWrites / (now_s() - begin),
           .unit = "notes/s",
           .floor = kWrites / floor,
           .bar = 50,
           .bar_is_maximum = false});
  }

  void unsynced_patch() {
    Running engine(folder_.path, false, Durability::Off);
    const auto raw = times_ms(50, [&](std::size_t) {
      const auto text = read_whole(vault_ / "large.md");
      std::ofstream(vault_ / "large.tmp", std::ios::binary) << text;
      std::filesystem::rename(vault_ / "large.tmp", vault_ / "large.md");
    });
    const auto patch = [&](std::size_t section) {
      engine.ask("note_patch", {{"path", "large.md"},
                                {"ops",
                                 {{{"op", "append_to_section"},
                                   {"heading", cat("Section ", section)},
                                   {"markdown", "One more line.\n"}}}}});
    };
    times("patch_50kB", times_ms(100, patch), percentile(raw, .5), 6, {});
    std::vector<double> renamed;
    for (std::size_t i = 0; i < 100; ++i) {
      const double begin = now_s();
      std::jthread watcher([&, old = inode_of("large.md")] {
        while (inode_of("large.md") == old) {
        }
        renamed.push_back((now_s() - begin) * 1000);
      });
      patch(i);
    }
    times("patch_50kB_renamed", renamed, percentile(raw, .5), 2, {});
  }

  std::uint64_t inode_of(const char* path) const {
    struct stat info {};
    return ::stat((vault_ / path).c_str(), &info) == 0 ? info.st_ino : 0;
  }

  /// Private memory of `indx serve` over the indexed vault, at rest.
  void memory() {
    const auto program =
        (std::filesystem::canonical("/proc/self/exe").parent_path().parent_path() / "cli" / "indx")
            .string();
    const auto vault = vault_.string(), index = (folder_.path / "index").string();
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (std::freopen("/dev/null", "w", stdout) == nullptr ||
          std::freopen("/dev/null", "w", stderr) == nullptr)
        ::_exit(1);
      ::setenv("INDX_INDEX_DIR", index.c_str(), 1);
      ::execl(program.c_str(), "indx", "serve", "--vault", vault.c_str(), "--port", "0", nullptr);
      ::_exit(127);
    }
    std::this_thread::sleep_for(std::chrono::seconds(5 + notes_ / 20000));
    const double private_mb = anonymous_mb(pid);
    ::kill(pid, SIGTERM);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (private_mb <= 0) {
      std::fprintf(stderr, "indx serve did not stay up\n");
      std::exit(1);
    }
    print({.name = named("rss_anon_idle"),
           .value = private_mb,
           .unit = "MB",
           .floor = anonymous_mb(::getpid()),
           .bar = 80});
  }

  int notes_;
  Folder folder_;
  std::filesystem::path vault_;
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<int> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
  if (sizes.empty()) sizes = {1000, 10000, 100000};
  for (const int size : sizes) VaultBench(size).run();
}
