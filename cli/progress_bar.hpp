#pragma once
#include "base/json.hpp"

#include <mutex>
#include <string>

namespace indx {

/// The bar as one line of at most `width` columns: share, items, rate, time left, current note.
std::string bar_text(const Json& progress, std::size_t width, bool has_color);
/// What is shown of `text` in `columns`; cut in front, at a character, with `…`.
std::string shortened(const std::string& text, std::size_t columns);

/// A member of a record; 0 or empty when it is missing, null, or of another type.
double number_in(const Json& object, const char* key);
std::string text_in(const Json& object, const char* key);

std::string duration_text(double seconds);                    ///< `1:15`, `2:03:04`
std::string rate_text(double rate, const std::string& unit);  ///< `4.5 notes/s`

/// Draws progress in place on a terminal. Thread-safe; nothing is drawn on what is no terminal.
class ProgressBar {
 public:
  explicit ProgressBar(int fd);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  bool is_shown() const { return is_shown_; }
  void draw(const Json& progress);
  void clear();

 private:
  const int fd_;
  const bool is_shown_;
  const bool has_color_;
  std::mutex mutex_;
  std::string drawn_;
};

}  // namespace indx
