#pragma once
#include "bench/support.hpp"

#include <sqlite3.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace indx::bench {

inline std::string read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Seconds that the floor program, which lies beside this one, takes to read all notes into one
/// FTS5 table.
inline double floor_seconds(const std::string& vault, const std::string& db) {
  const auto program = std::filesystem::canonical("/proc/self/exe").parent_path() / "fts_floor";
  FILE* pipe = ::popen(cat(program.string(), " ", vault, " ", db).c_str(), "r");
  char line[1000] = {};
  if (pipe == nullptr || std::fgets(line, sizeof line, pipe) == nullptr) return 0;
  ::pclose(pipe);
  const auto json = Json::parse(line, nullptr, false);
  return json.is_object() ? json.value("total_s", 0.0) : 0;
}

/// Asks the system for the state of every file below the folder; how many there are.
inline int stat_all(const std::string& folder) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    struct stat state {};
    files += ::lstat(entry.path().c_str(), &state) == 0 && S_ISREG(state.st_mode) ? 1 : 0;
  }
  return files;
}

/// Seconds for so many durable replaces: write beside, sync, rename over; one sync of the folder at
/// the end.
inline double seconds_to_replace(const std::filesystem::path& folder, int files) {
  std::filesystem::create_directories(folder);
  const double begin = now_s();
  for (int i = 0; i < files; ++i) {
    const auto path = folder / cat("file-", i, ".md"), temp = folder / "temp";
    const int fd = ::open(temp.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    const std::string text(60, 'x');
    if (fd < 0 || ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::fsync(fd) != 0 || ::close(fd) != 0)
      std::exit(1);
    std::filesystem::rename(temp, path);
  }
  const int dir = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir < 0 || ::fsync(dir) != 0) std::exit(1);
  ::close(dir);
  return now_s() - begin;
}

/// Private memory of a process in MB (`RssAnon`); 0 when it is gone.
inline double anonymous_mb(int pid) {
  std::ifstream in(cat("/proc/", pid, "/status"));
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("RssAnon:")) return std::stod(line.substr(8)) * 1024 / 1e6;
  return 0;
}

/// The one FTS5 table that the floor program made, asked without any engine around it.
class FloorTable {
 public:
  explicit FloorTable(const std::string& path) {
    sqlite3_open(path.c_str(), &db_);
    prepare(&search_, "SELECT path FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT 10");
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

}  // namespace indx::bench
