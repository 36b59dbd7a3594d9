#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace indx {

bool is_valid_utf8(std::string_view bytes);
/// Replaces every invalid sequence by U+FFFD; for search and display only, never for writing back.
std::string replace_invalid_utf8(std::string_view bytes);
std::string to_nfc(std::string_view text);
std::string to_nfkc(std::string_view text);
/// NFC plus Unicode case folding, final sigma included: the key under which names and tags compare.
std::string fold_case(std::string_view text);
std::string to_lower(std::string_view text);

/// The code point at `at` and its length in bytes; an invalid byte gives U+FFFD and length 1.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
};
CodePoint decode_at(std::string_view text, std::size_t at);
void append_utf8(std::string& out, char32_t code_point);

bool is_letter(char32_t c);
bool is_digit(char32_t c);  ///< Unicode Nd
bool is_mark(char32_t c);
bool is_space(char32_t c);  ///< ASCII white space, U+0085, U+00A0, and Zs
bool is_upper(char32_t c);
bool is_emoji_or_symbol(char32_t c);  ///< categories So, Sk and emoji modifiers
/// Han, Kana, Hangul, Thai, Lao, Khmer, Myanmar: scripts written without spaces between words
/// (Hangul: searched by syllable).
bool is_unspaced_script(char32_t c);

/// Letters, numbers and private-use characters of every script: what search words are made of.
bool is_word_character(char32_t c);
/// The lower-case letter without its combining marks, final sigma joined (vault-rules 7.3); `ß`,
/// `ı`, `ø` and Hangul syllables stay as they are.
char32_t search_letter(char32_t c);

/// The longest prefix of at most `max_bytes` that ends at a grapheme border.
std::string_view prefix_at_grapheme(std::string_view text, std::size_t max_bytes);
std::size_t count_code_points(std::string_view text);

}  // namespace indx
