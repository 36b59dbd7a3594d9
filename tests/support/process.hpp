#pragma once
#include "tests/support/temp_dir.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace indx {

/// What a program starts with. `INDX_*`, keys of AI providers and `NO_COLOR` of the tests'
/// environment are never passed on.
struct ProcessSpec {
  std::string program;
  std::vector<std::string> args;
  std::map<std::string, std::string> env;
  std::string directory;             ///< empty: the tests' own
  std::optional<std::string> input;  ///< stdin, then its end; nullopt: stdin stays open for `write`
};

/// A child process whose output is collected while it runs. Its destructor kills it.
class Process {
 public:
  explicit Process(const ProcessSpec& spec);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void write(const std::string& bytes) const;
  void close_input();
  void signal(int number) const;
  /// The exit code, 128 + signal for a killed one; nullopt when it still runs at the deadline.
  std::optional<int> wait(std::chrono::milliseconds longest = std::chrono::seconds(20));
  /// What came so far. After `wait` everything.
  std::string out() const;
  std::string err() const;
  /// Blocks until stdout holds `text`; false at the deadline.
  bool wait_for_out(const std::string& text,
                    std::chrono::milliseconds longest = std::chrono::seconds(20)) const;

 private:
  void collect(int fd, std::string& into);

  pid_t pid_ = -1;
  int input_ = -1;
  std::optional<int> code_;
  mutable std::mutex mutex_;
  std::string out_, err_;
  std::jthread out_reader_, err_reader_;
};

/// Exit code and output of a program that ended; code -1 when it did not in time.
struct Finished {
  int code = -1;
  std::string out, err;
};
Finished run_process(const ProcessSpec& spec,
                     std::chrono::milliseconds longest = std::chrono::seconds(20));

/// A loopback port that nobody listens on just now.
int free_port();

/// A temporary folder that tests fill.
class TempFolder : public TempDir {
 public:
  void write(const std::string& name, const std::string& bytes) const;
  std::string read(const std::string& name) const;
};

}  // namespace indx
