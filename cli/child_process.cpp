#include "cli/child_process.hpp"

#include "base/text.hpp"
#include "cli/output.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace indx {
namespace {

using std::chrono::steady_clock;

struct Pipe {
  int read_end = -1, write_end = -1;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return internal_error("No pipe could be opened.");
  return Pipe{ends[0], ends[1]};
}

/// Starts with the signals of a program that nobody prepared. `errors` below 0: nobody reads them.
pid_t spawn_program(const std::vector<std::string>& command, int input, int output, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (errors >= 0)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  else
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);

  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int failed =
      ::posix_spawn(&pid, words.front().c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? pid : -1;
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& command) {
  const Pipe to = INDX_TRY(make_pipe());
  const auto from = make_pipe();
  // In memory, and appended to: a pipe that nobody empties would stop the program.
  const int errors = ::memfd_create("stderr", MFD_CLOEXEC);
  if (errors >= 0) ::fcntl(errors, F_SETFL, O_APPEND);
  const pid_t pid = from ? spawn_program(command, to.read_end, from->write_end, errors) : -1;
  ::close(to.read_end);
  if (from) ::close(from->write_end);
  if (pid > 0) return ChildProcess(pid, to.write_end, from->read_end, errors);
  if (errors >= 0) ::close(errors);
  ::close(to.write_end);
  if (from) ::close(from->read_end);
  return make_error(Reason::Unavailable, cat("`", command.front(), "` cannot be started."));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      rest_(std::move(other.rest_)) {}

ChildProcess::~ChildProcess() {
  close_input();
  if (output_ >= 0) ::close(output_);
  if (errors_ >= 0) ::close(errors_);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool ChildProcess::write_line(const std::string& line) const {
  return input_ >= 0 && write_all(input_, line + "\n");
}

std::optional<std::string> ChildProcess::read_line(std::chrono::milliseconds longest) {
  const auto until = steady_clock::now() + longest;
  while (true) {
    if (const auto end = rest_.find('\n'); end != std::string::npos) {
      std::string line = rest_.substr(0, end);
      rest_.erase(0, end + 1);
      return line;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd source{output_, POLLIN, 0};
    const int ready = ::poll(&source, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) return std::nullopt;
    if (ready <= 0) continue;
    std::array<char, 65536> buffer{};
    const auto count = ::read(output_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    rest_.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::string ChildProcess::last_error() const {
  std::array<char, 8192> buffer{};
  const auto size = errors_ < 0 ? 0 : ::lseek(errors_, 0, SEEK_END);
  const auto start = std::max<off_t>(size - static_cast<off_t>(buffer.size()), 0);
  const auto count = size > 0 ? ::pread(errors_, buffer.data(), buffer.size(), start) : 0;
  std::string last;
  for (const auto& line :
       split(std::string(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0), '\n')) {
    const auto text = trim(line);
    const bool is_error = text.starts_with("error: ");
    if (is_error || (!text.empty() && !text.starts_with('{') && !last.starts_with("error: ")))
      last = text;
  }
  return last.starts_with("error: ") ? last.substr(7) : last;
}

void ChildProcess::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

std::optional<int> ChildProcess::wait(std::chrono::milliseconds longest) {
  const auto until = steady_clock::now() + longest;
  while (pid_ > 0) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    if (steady_clock::now() > until) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return std::nullopt;
}

}  // namespace indx
