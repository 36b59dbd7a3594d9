#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

struct sqlite3;

namespace indx {

/// Reads a text as search words: runs of letters and numbers without case and combining marks
/// (vault-rules 7.3), and one word for each character of an unspaced script (7.4). Both sides of a
/// search go through it.
class WordReader {
 public:
  explicit WordReader(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  /// Moves to the next word; false at the end.
  bool next();
  std::string_view word() const {
    return {word_.data(), length_};
  }  ///< folded; valid until the next call
  std::size_t begin() const {
    return begin_;
  }  ///< bytes of the word in the text, its marks included
  std::size_t end() const { return at_; }

 private:
  void read_ascii_run();
  void append(char32_t letter);
  void skip_marks();

  std::string_view text_;
  std::size_t at_, begin_ = 0, length_ = 0;
  std::array<char, 256> word_;  // NOLINT: longer words are cut alike on both sides
};

/// The whole text folded as words are, other characters kept, curly quotes made straight: for
/// checks on raw text.
std::string fold_for_search(std::string_view text);

/// Registers the FTS5 tokenizer `indx` (a WordReader) on a connection. Returns an SQLite result
/// code.
int register_tokenizer(sqlite3* db);

}  // namespace indx
