#pragma once
#include "ai/extractive/tokens.hpp"
#include "ai/note_text.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace indx {

/// A heading, a sentence or a list item of a note.
struct NoteSentence {
  std::size_t begin = 0;  ///< of the marks in front of the first word, in bytes of the file
  std::size_t end = 0;    ///< where the white space behind the last word begins
  bool is_heading = false;
  bool is_item = false;      ///< in the first line of a bullet
  bool is_numbered = false;  ///< in the first line of an item with a number
  std::vector<Token> words;
};

/// Headings, and what of the body is prose, in order: no code, frontmatter, table rows, embeds or
/// callout markers. `text` is of the same bytes.
std::vector<NoteSentence> note_sentences(std::string_view bytes, const NoteText& text);

/// Whether a line, without white space in front of it, begins an item with a number: `3. Mix`.
bool is_numbered_item(std::string_view line);

}  // namespace indx
