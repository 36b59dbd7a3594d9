// Memory of the real program, serving 1,000 notes, after it has come to rest; against this process,
// which links the same standard library and does nothing.
#include "bench/support.hpp"

#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

int main(int /*argc*/, char** argv) {
  using namespace indx;
  using namespace indx::bench;
  const auto build = std::filesystem::canonical(argv[0]).parent_path().parent_path();
  const Folder folder("idle");
  generate_vault(folder.path / "vault", 1000);
  const auto program = (build / "cli" / "indx").string(), vault = (folder.path / "vault").string();
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (std::freopen("/dev/null", "w", stdout) == nullptr ||
        std::freopen("/dev/null", "w", stderr) == nullptr)
      ::_exit(1);
    ::execl(program.c_str(), "indx", "serve", "--vault", vault.c_str(), "--port", "0", nullptr);
    ::_exit(127);
  }
  std::this_thread::sleep_for(std::chrono::seconds(5));
  const double resident = resident_mb(pid);
  ::kill(pid, SIGTERM);
  int status = 0;
  ::waitpid(pid, &status, 0);
  print({.name = "rss_idle_1000_notes",
         .value = resident,
         .unit = "MB",
         .floor = resident_mb(::getpid())});
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 && resident > 0 ? 0 : 1;
}
