// Full index of a generated 10,000-note vault by the whole engine, against reading the same files
// and inserting their text into one FTS5 table in one transaction; then search and note list on it.
#include "actors/engine.hpp"
#include "bench/support.hpp"

#include <sqlite3.h>

#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace indx;
using namespace indx::bench;

constexpr int kNotes = 10000;

/// Seconds that the floor program takes; it prints its own JSON.
double floor_seconds(const std::string& program, const std::string& vault, const std::string& db) {
  FILE* pipe = ::popen(cat(program, " ", vault, " ", db).c_str(), "r");
  char line[1000] = {};
  if (pipe == nullptr || std::fgets(line, sizeof line, pipe) == nullptr) return 0;
  ::pclose(pipe);
  const auto json = Json::parse(line, nullptr, false);
  return json.is_object() ? json.value("total_s", 0.0) : 0;
}

/// The one FTS5 table that the floor program made, asked without any engine around it.
class FloorTable {
 public:
  explicit FloorTable(const std::string& path) {
    sqlite3_open(path.c_str(), &db_);
    prepare(&search_, "SELECT path FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT 20");
    prepare(&list_, "SELECT path FROM notes LIMIT ?");
  }
  FloorTable(const FloorTable&) = delete;
  FloorTable& operator=(const FloorTable&) = delete;
  ~FloorTable() {
    sqlite3_finalize(search_);
    sqlite3_finalize(list_);
    sqlite3_close(db_);
  }
  void search(const std::string& words) {
    sqlite3_bind_text(search_, 1, words.data(), static_cast<int>(words.size()), SQLITE_STATIC);
    drain(search_);
  }
  void list(int rows) {
    sqlite3_bind_int(list_, 1, rows);
    drain(list_);
  }

 private:
  void prepare(sqlite3_stmt** statement, const char* sql) {
    if (sqlite3_prepare_v2(db_, sql, -1, statement, nullptr) != SQLITE_OK) fail();
  }
  void drain(sqlite3_stmt* statement) {
    int state = SQLITE_ROW;
    while (state == SQLITE_ROW) state = sqlite3_step(statement);
    if (state != SQLITE_DONE) fail();
    sqlite3_reset(statement);
  }
  [[noreturn]] void fail() {
    std::fprintf(stderr, "floor: %s\n", sqlite3_errmsg(db_));
    std::exit(1);
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt *search_ = nullptr, *list_ = nullptr;
};

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Json call(Dispatcher& dispatcher, const char* operation, const Json& input) {
  Call one;
  one.operation = dispatcher.registry().find(operation);
  one.input = input;
  one.principal = {.subject = "local", .surface = Surface::Cli, .scopes = {Scope::VaultAdmin}};
  auto answer = dispatcher.call_and_wait(one);
  if (!answer.result.has_value()) {
    std::fprintf(stderr, "%s failed: %s\n", operation, answer.result.error().message.c_str());
    std::exit(1);
  }
  return std::move(answer.result).value();
}

}  // namespace

int main(int /*argc*/, char** argv) {
  const Folder folder("index");
  const auto vault = folder.path / "vault";
  generate_vault(vault, kNotes);
  const auto floor_program = (std::filesystem::path(argv[0]).parent_path() / "fts_floor").string();
  floor_seconds(floor_program, vault.string(),
                (folder.path / "warm.db").string());  // both find the files in the page cache
  const double floor =
      floor_seconds(floor_program, vault.string(), (folder.path / "floor.db").string());

  Config config;
  config.vault_dir = vault.string();
  config.index_dir = (folder.path / "index").string();
  config.watch = false;
  config.rate_limit_per_minute = 0;
  const Registry registry = make_registry();
  const double begin = now_s();
  auto engine = Engine::start(config, registry, {});
  if (!engine.has_value()) return std::fprintf(stderr, "%s\n", engine.error().message.c_str()), 1;
  auto dispatcher = make_dispatcher(make_registry(), **engine);
  while (call(*dispatcher, "vault_status", Json::object())["indexing"]["state"] != "idle")
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const double took = now_s() - begin;
  print({.name = "index_10k_notes",
         .value = kNotes / took,
         .unit = "notes/s",
         .floor = kNotes / floor,
         .bar = kNotes / 30.0,
         .bar_is_maximum = false});

  SeededRandom random(7);
  std::vector<std::string> words;
  const auto rows = call(*dispatcher, "vault_search", {{"q", "a*"}, {"limit", 50}})["results"];
  for (const auto& row : rows)
    for (const auto& part : split(row["title"].get<std::string>(), ' ')) words.push_back(part);
  std::vector<std::string> questions, notes;
  for (int i = 0; i < 400 && !words.empty(); ++i) {
    questions.push_back(words[random.next() % words.size()]);
    if (i % 2 == 0) questions.back() += " " + words[random.next() % words.size()];
  }
  for (int i = 0; i < 2000; ++i) {
    const auto n = random.next() % kNotes;
    notes.push_back(cat("area-", n % 40, "/note-", n, ".md"));
  }
  FloorTable table((folder.path / "floor.db").string());
  const auto raw_searches = times_ms(400, [&](std::size_t i) { table.search(questions[i]); });
  const auto searches = times_ms(400, [&](std::size_t i) {
    call(*dispatcher, "vault_search", {{"q", questions[i]}});
  });
  const auto raw_lists = times_ms(200, [&](std::size_t) { table.list(100); });
  const auto lists = times_ms(200, [&](std::size_t) {
    call(*dispatcher, "note_list", {{"limit", 100}});
  });
  const auto raw_reads = times_ms(2000, [&](std::size_t i) { read_whole(vault / notes[i]); });
  const auto reads = times_ms(2000, [&](std::size_t i) {
    call(*dispatcher, "note_read", {{"path", notes[i]}});
  });
  const auto figure = [](const char* name, const std::vector<double>& ours,
                         const std::vector<double>& raw, double p, std::optional<double> bar) {
    print({.name = name,
           .value = percentile(ours, p),
           .unit = "ms",
           .floor = percentile(raw, p),
           .bar = bar});
  };
  figure("search_p50", searches, raw_searches, .5, 30);
  figure("search_p95", searches, raw_searches, .95, 200);
  figure("note_list_100_p50", lists, raw_lists, .5, std::nullopt);
  figure("note_read_p50", reads, raw_reads, .5, 5);
  figure("note_read_p95", reads, raw_reads, .95, 50);
  (*engine)->stop();
}
