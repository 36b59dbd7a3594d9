#pragma once
#include "ai/extractive/tokens.hpp"
#include "ai/note_text.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace indx::quality {

/// A sentence or list item of a note's prose.
struct PlainSentence {
  std::string text;
  int section = 0;  ///< grows at each heading
};

/// The sentences of a note in order, without headings, code, and fragments of fewer than three
/// words: what the baselines choose from.
inline std::vector<PlainSentence> plain_sentences(std::string_view bytes) {
  const NoteText note(bytes);
  std::vector<PlainSentence> sentences;
  int section = 0, words = 0, number = -1;
  std::size_t begin = 0, end = 0;
  bool was_heading = false;
  const auto close = [&] {
    if (words >= 3) sentences.push_back({std::string(bytes.substr(begin, end - begin)), section});
    words = 0;
  };
  for (const auto& token : tokenize(note.prose())) {
    const bool is_heading = note.is_heading(token.begin);
    if (token.sentence != number || is_heading != was_heading) close();
    number = token.sentence;
    if (is_heading) {
      if (!was_heading) ++section;
    } else if (token.begin >= note.body_begin()) {
      if (words == 0) begin = token.begin;
      end = token.end;
      ++words;
    }
    was_heading = is_heading;
  }
  close();
  return sentences;
}

}  // namespace indx::quality
