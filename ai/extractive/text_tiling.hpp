#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace indx {

/// A stretch of a text that is about one thing: bytes [begin, end).
struct TextTile {
  std::size_t begin = 0, end = 0;
};

/// Cuts bytes [begin, end) of a text without headings where its words change: TextTiling (Hearst:
/// "TextTiling: Segmenting Text into Multi-paragraph Subtopic Passages", Computational Linguistics
/// 23(1), 1997, section 5). Sequences of 20 words are compared in blocks by the cosine of their
/// word counts; a border stands where the curve has a valley deeper than the mean less half a
/// standard deviation, at the nearest gap between paragraphs, or between sentences where there are
/// none. `prose`: of NoteText. At most `most` tiles, parted at the deepest valleys, in order and
/// without gaps; one tile where the text is short or about one thing, none where it is empty.
/// Deterministic; time is linear but for sorting valleys.
std::vector<TextTile> text_tiles(std::string_view prose, std::size_t begin, std::size_t end,
                                 std::size_t most);

}  // namespace indx
