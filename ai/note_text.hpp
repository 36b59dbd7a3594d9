#pragma once
#include "ai/tagging.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace indx {

/// Ends a sentence in `NoteText::prose`, where Markdown's structure does and no punctuation stands.
inline constexpr char kHardBreak = '\x1E';

/// Whether a letter or a digit stands in it: punctuation alone stands everywhere and proves
/// nothing.
bool has_word(std::string_view text);

/// A note as evidence: where its body begins, what of it is prose, and where a byte stands. Keeps a
/// view of the bytes.
class NoteText {
 public:
  explicit NoteText(std::string_view bytes);

  std::string_view body() const { return bytes_.substr(body_begin_); }
  std::size_t body_begin() const { return body_begin_; }
  /// As long as the file, byte for byte; frontmatter, code, URLs, comments and tags are blanked.
  const std::string& prose() const { return prose_; }
  bool is_heading(std::size_t at) const;

  /// The bytes [begin, end) as evidence.
  TagEvidence evidence(std::size_t begin, std::size_t end) const;
  /// The sentence around [begin, end), at most about 200 bytes.
  TagEvidence sentence_around(std::size_t begin, std::size_t end) const;
  /// The quote in the body, exactly or with other white space; nullopt when it is not there. The
  /// first that begins at `from` or behind it and ends at `to` or before it.
  std::optional<TagEvidence> find_quote(std::string_view quote, std::size_t from = 0,
                                        std::size_t to = std::string_view::npos) const;

 private:
  struct Heading {
    std::size_t begin, end;  ///< of its line
    std::string slug;
  };
  void scan_lines();
  void scan_heading(std::size_t begin, std::size_t end);
  std::string unique_slug(const std::string& base);
  void blank(std::size_t begin, std::size_t end);
  void blank_inline();
  std::size_t line_begin(std::size_t at) const;
  std::size_t line_end(std::size_t at) const;

  std::string_view bytes_;
  std::size_t body_begin_ = 0;
  std::string prose_;
  std::vector<std::size_t> lines_;  ///< where each begins
  std::vector<Heading> headings_;
  std::unordered_map<std::string, int> slug_counts_;
  std::unordered_set<std::string> slugs_;
};

}  // namespace indx
