#pragma once
#include "base/text.hpp"
#include "tests/support/process.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace indx {

/// What programs under the watch of socket_watch.cpp wanted of the network. Linux only.
class SocketRecord {
 public:
  /// Variables that put a program under watch; `library` is the file of the watch.
  std::map<std::string, std::string> env(const std::string& library) const {
    // AddressSanitizer wants to be loaded first, which matters for nothing that it checks.
    const char* sanitizer = std::getenv("ASAN_OPTIONS");
    return {{"LD_PRELOAD", library},
            {"SOCKET_WATCH_FILE", folder_.path() + "/record"},
            {"ASAN_OPTIONS",
             cat(sanitizer == nullptr ? "" : cat(sanitizer, ":"), "verify_asan_link_order=0")}};
  }

  struct Line {
    int process = 0;
    std::string act;     ///< watched | connect | send | resolve
    std::string target;  ///< unix, address:port, or a name
    bool is_refused = false;
  };
  std::vector<Line> lines() const {
    std::vector<Line> all;
    for (const auto& text : split(folder_.read("record"), '\n')) {
      const auto words = split(text, ' ');
      if (words.size() < 2) continue;
      all.push_back({std::stoi(std::string(words[0])), std::string(words[1]),
                     words.size() > 2 ? std::string(words[2]) : "", words.back() == "refused"});
    }
    return all;
  }
  /// Programs that were under watch.
  std::size_t watched() const {
    const auto all = lines();
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [](const Line& line) { return line.act == "watched"; }));
  }
  /// Everything but sockets of files: addresses with ports that were reached, and `refused …`.
  std::set<std::string> reached() const {
    std::set<std::string> targets;
    for (const auto& line : lines())
      if (line.act != "watched" && line.target != "unix")
        targets.insert(line.is_refused ? cat("refused ", line.act, ' ', line.target) : line.target);
    return targets;
  }

 private:
  TempFolder folder_;
};

}  // namespace indx
