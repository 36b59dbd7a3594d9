#pragma once
#include "store/search_query.hpp"

namespace indx {

/// White space between the tokens of a query; NUL counts as such.
bool is_query_space(char c);

/// Whether the word's last character belongs to an indexed word: `cat` does, `cat)` does not.
bool ends_in_word(std::string_view word);

/// What a word of a query asks for. Sentence punctuation around it is dropped; punctuation inside
/// it, which the tokenizer drops, is checked on the raw text (`exact`).
QueryText text_of_word(std::string_view word, bool is_prefix);

/// What `"…"` asks for; the quotes and escapes are gone already.
QueryText text_of_phrase(std::string_view phrase);

}  // namespace indx
