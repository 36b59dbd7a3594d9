#pragma once
#include "base/result.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace indx {

/// A program that we talk to over its stdin and stdout, a line at a time; its stderr is kept in
/// memory. The destructor ends it.
class ChildProcess {
 public:
  static Result<ChildProcess> start(const std::vector<std::string>& command);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  bool write_line(const std::string& line) const;
  /// The next line of stdout; nullopt: none in time, or its end.
  std::optional<std::string> read_line(std::chrono::milliseconds longest);
  void close_input();
  /// The last line of stderr that says what went wrong, of the end of it; empty: none does.
  std::string last_error() const;
  /// The exit code, 128 + signal; nullopt: it still runs at the deadline.
  std::optional<int> wait(std::chrono::milliseconds longest);

 private:
  ChildProcess(pid_t pid, int input, int output, int errors)
      : pid_(pid), input_(input), output_(output), errors_(errors) {}

  pid_t pid_;
  int input_, output_, errors_;
  std::string rest_;
};

}  // namespace indx
