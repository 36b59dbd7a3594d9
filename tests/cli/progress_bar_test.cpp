#include "cli/progress_bar.hpp"

#include "base/unicode.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("a bar shows share, items, rate, time left and the current note", "[cli]") {
  const Json progress{{"done", 30},
                      {"total", 120},
                      {"unit", "notes"},
                      {"phase", "suggest"},
                      {"current", "Projects/Plan.md"},
                      {"rate_per_second", 4.5},
                      {"eta_seconds", 75}};

  const auto line = bar_text(progress, 120, false);

  CHECK(line.find("25% 30/120 suggest 4.5 notes/s 1:15 left Projects/Plan.md") !=
        std::string::npos);
  CHECK(line.find('\x1b') == std::string::npos);
  CHECK(bar_text(progress, 120, true).find("\x1b[32m") == 0);
}

TEST_CASE("a bar never takes more columns than the terminal has", "[cli]") {
  const Json progress{{"done", 1},
                      {"total", 2},
                      {"unit", "notes"},
                      {"current", "日本語のとても長い名前のノート/日本語のとても長い名前.md"},
                      {"rate_per_second", 1}};

  for (std::size_t width = 1; width < 120; ++width) {
    const auto line = bar_text(progress, width, false);
    CHECK(is_valid_utf8(line));
    CHECK(count_code_points(line) <= width);
  }
}

TEST_CASE("a long name loses its front, at a character, and control characters", "[cli]") {
  CHECK(shortened("short.md", 20) == "short.md");
  CHECK(shortened("folder/note.md", 8) == "…note.md");
  CHECK(shortened("メモ/計画.md", 8) == "…計画.md");
  CHECK(shortened("a\x1b[2Jb", 20) == "a [2Jb");
}

}  // namespace indx
