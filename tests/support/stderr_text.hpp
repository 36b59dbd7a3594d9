#pragma once
#include "tests/support/process.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace indx {

/// Takes what this process writes to stderr while it lives: the log.
class StderrText {
 public:
  StderrText() : before_(::dup(STDERR_FILENO)) {
    folder.write("err", "");
    const int file = ::open((folder.path() + "/err").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    REQUIRE(file >= 0);
    REQUIRE(::dup2(file, STDERR_FILENO) >= 0);
    ::close(file);
  }
  ~StderrText() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }
  StderrText(const StderrText&) = delete;
  StderrText& operator=(const StderrText&) = delete;

  std::string text() const { return folder.read("err"); }

  const TempFolder folder;

 private:
  int before_;
};

}  // namespace indx
