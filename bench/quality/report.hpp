#pragma once
#include "bench/support.hpp"

#include <cstdio>
#include <string>

namespace indx::quality {

/// A bar that must be passed, not only reached.
inline double above(double value) { return value + 1e-6; }

/// Prints each figure as it comes and remembers whether a bar was missed.
class Report {
 public:
  void add(const bench::Figure& figure) {
    bench::print(figure);
    is_good_ = is_good_ && bench::holds(figure);
  }
  /// Something that was to be measured and could not be.
  void fail(const std::string& what) {
    std::fprintf(stderr, "quality_bench: %s\n", what.c_str());
    is_good_ = false;
  }
  bool is_good() const { return is_good_; }

 private:
  bool is_good_ = true;
};

}  // namespace indx::quality
