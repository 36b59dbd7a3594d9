#include "tests/support/process.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace indx {
namespace {

std::vector<std::string> child_environment(const std::map<std::string, std::string>& own) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    static constexpr std::string_view kForeign[] = {
        "INDX_", "OPENAI_", "ANTHROPIC_", "GEMINI_", "AI_GATEWAY_", "AI_TEST_", "NO_COLOR="};
    const bool is_foreign = std::any_of(std::begin(kForeign), std::end(kForeign),
                                        [&](auto prefix) { return text.starts_with(prefix); });
    if (!is_foreign && own.find(text.substr(0, text.find('='))) == own.end()) all.push_back(text);
  }
  for (const auto& [name, value] : own) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (auto& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// In the child: nothing but system calls.
[[noreturn]] void become(const ProcessSpec& spec, char* const* args, char* const* env, int in,
                         int out, int err) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  if (!spec.directory.empty() && ::chdir(spec.directory.c_str()) != 0) ::_exit(126);
  ::execve(spec.program.c_str(), args, env);
  ::_exit(127);
}

}  // namespace

Process::Process(const ProcessSpec& spec) {
  std::signal(SIGPIPE, SIG_IGN);
  int in[2], out[2], err[2];
  INDX_ASSERT(::pipe2(in, O_CLOEXEC) == 0 && ::pipe2(out, O_CLOEXEC) == 0 &&
              ::pipe2(err, O_CLOEXEC) == 0);
  std::vector<std::string> words = {spec.program};
  words.insert(words.end(), spec.args.begin(), spec.args.end());
  auto variables = child_environment(spec.env);
  const auto args = pointers(words);
  const auto env = pointers(variables);
  pid_ = ::fork();
  INDX_ASSERT(pid_ >= 0);
  if (pid_ == 0) become(spec, args.data(), env.data(), in[0], out[1], err[1]);
  for (const int fd : {in[0], out[1], err[1]}) ::close(fd);
  input_ = in[1];
  out_reader_ = std::jthread([this, fd = out[0]] { collect(fd, out_); });
  err_reader_ = std::jthread([this, fd = err[0]] { collect(fd, err_); });
  if (spec.input) {
    write(*spec.input);
    close_input();
  }
}

Process::~Process() {
  close_input();
  if (!code_) ::kill(pid_, SIGKILL);
  wait();
}

void Process::collect(int fd, std::string& into) {
  char buffer[4096];
  for (;;) {
    const auto count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    const std::scoped_lock lock(mutex_);
    into.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(fd);
}

void Process::write(const std::string& bytes) const {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto count = ::write(input_, bytes.data() + at, bytes.size() - at);
    if (count <= 0) return;
    at += static_cast<std::size_t>(count);
  }
}

void Process::close_input() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

void Process::signal(int number) const {
  if (!code_) ::kill(pid_, number);
}

std::optional<int> Process::wait(std::chrono::milliseconds longest) {
  const auto until = std::chrono::steady_clock::now() + longest;
  while (!code_) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      out_reader_.join();
      err_reader_.join();
    } else if (std::chrono::steady_clock::now() > until) {
      return std::nullopt;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  return code_;
}

std::string Process::out() const {
  const std::scoped_lock lock(mutex_);
  return out_;
}

std::string Process::err() const {
  const std::scoped_lock lock(mutex_);
  return err_;
}

bool Process::wait_for_out(const std::string& text, std::chrono::milliseconds longest) const {
  const auto until = std::chrono::steady_clock::now() + longest;
  while (out().find(text) == std::string::npos) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

Finished run_process(const ProcessSpec& spec, std::chrono::milliseconds longest) {
  ProcessSpec closed = spec;
  if (!closed.input) closed.input = "";
  Process process(closed);
  const auto code = process.wait(longest);
  return {code.value_or(-1), process.out(), process.err()};
}

int free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  INDX_ASSERT(::bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0);
  INDX_ASSERT(::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  ::close(probe);
  return ntohs(address.sin_port);
}

void TempFolder::write(const std::string& name, const std::string& bytes) const {
  const std::filesystem::path file = std::filesystem::path(path()) / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

std::string TempFolder::read(const std::string& name) const {
  std::ifstream in(path() + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace indx
