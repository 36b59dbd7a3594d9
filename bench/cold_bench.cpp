// One command without a server: `indx note get` on a copy of the sample vault, from the start of
// the process to its end, against a program that does nothing, started in the same way.
#include "bench/support.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace indx;         // NOLINT(google-build-using-namespace): a program of one file
using namespace indx::bench;  // NOLINT(google-build-using-namespace)

constexpr int kRuns = 25, kFirstRuns = 2;  // the first ones bring files into memory
constexpr double kBarMs = 40;

/// Runs a program to its end, its output thrown away.
void run_program(const std::string& program, const std::vector<std::string>& args) {
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const auto& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  int status = 0;
  const bool ran =
      ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ) == 0 &&
      ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  posix_spawn_file_actions_destroy(&actions);
  if (ran) return;
  std::fprintf(stderr, "cold: %s failed\n", program.c_str());
  std::exit(1);
}

std::vector<double> sorted_times(const std::string& program, const std::vector<std::string>& args) {
  auto times = times_ms(kRuns + kFirstRuns, [&](std::size_t) { run_program(program, args); });
  times.erase(times.begin(), times.begin() + kFirstRuns);
  std::sort(times.begin(), times.end());
  return times;
}

}  // namespace

int main(int /*argc*/, char** argv) {
  const auto here = std::filesystem::canonical(argv[0]).parent_path();
  const auto program = here.parent_path() / "cli" / "indx";
  const auto sample = here.parent_path().parent_path().parent_path() / "docs" / "sample-vault";
  const Folder folder("cold");
  const auto vault = folder.path / "vault";
  std::filesystem::copy(sample, vault, std::filesystem::copy_options::recursive);
  for (const auto* variable : {"INDX_VAULT", "INDX_URL", "INDX_TOKEN", "INDX_INDEX_DIR"})
    ::unsetenv(variable);

  const auto floor = sorted_times(here / "nothing", {});
  const auto version = sorted_times(program, {"version"});
  const auto get = sorted_times(program, {"note", "get", "Home.md", "--vault", vault});
  const auto tell = [](const std::string& name, double value, double least,
                       std::optional<double> bar) {
    print({.name = name, .value = value, .unit = "ms", .floor = least, .bar = bar});
  };
  tell("cold_version_p50", percentile(version, 0.5), percentile(floor, 0.5), {});
  tell("cold_note_get_best", get.front(), floor.front(), kBarMs);
  tell("cold_note_get_p50", percentile(get, 0.5), percentile(floor, 0.5), kBarMs);
  return 0;
}
