#pragma once
#include "base/json.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace indx::bench {

inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The value; ends the program with the error when there is none.
template <typename T>
T need(Result<T> result) {
  if (!result.has_value()) {
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, result.error().message.c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

/// One result: a JSON object on a line. `floor` is the least that the machine must do for the same
/// work, measured in the same run; null only where doing nothing costs nothing. `bar` where one is
/// stated.
struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<double> floor;
  std::optional<double> bar;
  bool bar_is_maximum = true;
  std::optional<std::size_t> n = {};  ///< of how many the value is a mean, where that matters
};

/// Whether the bar is kept, if one is stated.
inline bool holds(const Figure& figure) {
  if (!figure.bar) return true;
  return figure.bar_is_maximum ? figure.value <= *figure.bar : figure.value >= *figure.bar;
}

inline void print(const Figure& figure) {
  Json json{{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}};
  json["floor"] = figure.floor ? Json(*figure.floor) : Json();
  json["ratio"] = figure.floor && *figure.floor > 0 ? Json(figure.value / *figure.floor) : Json();
  if (figure.n) json["n"] = *figure.n;
  if (figure.bar) json["bar"] = *figure.bar, json["ok"] = holds(figure);
  std::printf("%s\n", json.dump().c_str());
  std::fflush(stdout);
}

inline double percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return values.empty()
             ? 0
             : values[std::min(values.size() - 1,
                               static_cast<std::size_t>(p * static_cast<double>(values.size())))];
}

/// Milliseconds of each of `runs` calls of `fn(i)`.
template <typename Fn>
std::vector<double> times_ms(int runs, Fn fn) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const double begin = now_s();
    fn(static_cast<std::size_t>(i));
    times.push_back((now_s() - begin) * 1000);
  }
  return times;
}

/// A folder that is removed when destroyed.
struct Folder {
  std::filesystem::path path;
  explicit Folder(const std::string& name)
      : path(std::filesystem::temp_directory_path() /
             cat("indx-bench-", name, "-", SystemRandom().hex(4))) {
    std::filesystem::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

/// The words of generated vaults; the first ones are in nearly every note.
inline std::vector<std::string> vocabulary(SeededRandom& random) {
  std::vector<std::string> words;
  for (int i = 0; i < 20000; ++i) {
    std::string word;
    for (std::uint64_t length = 3 + random.next() % 8; length > 0; --length)
      word += static_cast<char>('a' + random.next() % 26);
    words.push_back(word);
  }
  return words;
}

/// Notes of about 1.6 kB: properties, headings, prose over a vocabulary with a Zipf-like spread,
/// links and tags. The same seed gives the same vault.
inline void generate_vault(const std::filesystem::path& root, int notes, std::uint64_t seed = 1) {
  SeededRandom random(seed);
  const auto words = vocabulary(random);
  const auto word = [&]() -> const std::string& {
    const double u = random.uniform();
    return words[static_cast<std::size_t>(u * u * u * static_cast<double>(words.size()))];
  };
  for (int i = 0; i < notes; ++i) {
    const auto folder = root / cat("area-", i % 40);
    std::filesystem::create_directories(folder);
    std::ofstream out(folder / cat("note-", i, ".md"));
    out << "---\ntags:\n  - topic/" << word() << "\n  - " << words[random.next() % 50]
        << "\ncreated: 2026-01-" << 10 + i % 20 << "\n---\n# " << word() << " " << word() << "\n\n";
    for (int section = 0; section < 3; ++section) {
      out << "## " << word() << " " << word() << "\n\n";
      for (int sentence = 0; sentence < 6; ++sentence) {
        for (int k = 0; k < 11; ++k) out << word() << ' ';
        out << (sentence % 3 == 0
                    ? cat("[[note-", random.next() % static_cast<std::uint64_t>(notes), "]]")
                    : word())
            << ". ";
      }
      out << "#" << words[random.next() % 50] << "\n\n";
    }
  }
}

/// Resident memory of a process in MB; 0 when it is gone.
inline double resident_mb(int pid) {
  std::ifstream in(cat("/proc/", pid, "/statm"));
  double total = 0, resident = 0;
  in >> total >> resident;
  return resident * 4096 / 1e6;
}

}  // namespace indx::bench
