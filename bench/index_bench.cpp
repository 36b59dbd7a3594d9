// Full index of a generated 10,000-note vault by the whole engine, against reading the same files
// and inserting their text into one FTS5 table in one transaction; then search and note list on it.
#include "actors/engine.hpp"
#include "bench/support.hpp"

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
  std::vector<double> searches, lists, reads;
  for (int i = 0; i < 400 && !words.empty(); ++i) {
    auto q = words[random.next() % words.size()];
    if (i % 2 == 0) q += " " + words[random.next() % words.size()];
    const double at = now_s();
    call(*dispatcher, "vault_search", {{"q", q}});
    searches.push_back((now_s() - at) * 1000);
  }
  for (int i = 0; i < 200; ++i) {
    const double at = now_s();
    call(*dispatcher, "note_list", {{"limit", 100}});
    lists.push_back((now_s() - at) * 1000);
  }
  for (int i = 0; i < 2000; ++i) {
    const auto n = random.next() % kNotes;
    const double at = now_s();
    call(*dispatcher, "note_read", {{"path", cat("area-", n % 40, "/note-", n, ".md")}});
    reads.push_back((now_s() - at) * 1000);
  }
  print({.name = "search_p50", .value = percentile(searches, .5), .unit = "ms", .bar = 30});
  print({.name = "search_p95", .value = percentile(searches, .95), .unit = "ms", .bar = 200});
  print({.name = "note_list_100_p50", .value = percentile(lists, .5), .unit = "ms"});
  print({.name = "note_read_p50", .value = percentile(reads, .5), .unit = "ms", .bar = 5});
  print({.name = "note_read_p95", .value = percentile(reads, .95), .unit = "ms", .bar = 50});
  (*engine)->stop();
}
