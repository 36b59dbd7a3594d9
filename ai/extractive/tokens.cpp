#include "ai/extractive/tokens.hpp"

#include "ai/extractive/corpus.hpp"
#include "ai/note_text.hpp"
#include "base/unicode.hpp"
#include "base/word_stem.hpp"

#include <algorithm>

namespace indx {
namespace {

constexpr std::size_t kMaxTokenBytes = 64;
constexpr std::string_view kTransparent = " \t\r\n*_~=";

enum class Script : std::uint8_t { None, Spaced, Han, Katakana, Hiragana, Other };

Script script_of(char32_t c) {
  if (!is_letter(c) && !is_digit(c) && !is_mark(c))
    return c == 0x30FC ? Script::Katakana : Script::None;
  if (c >= 0x3040 && c < 0x30A0) return Script::Hiragana;
  if ((c >= 0x30A0 && c < 0x3100) || (c >= 0xFF66 && c < 0xFFA0)) return Script::Katakana;
  if (!is_unspaced_script(c) || (c >= 0x1100 && c < 0x1200) || (c >= 0xAC00 && c < 0xD7B0))
    return Script::Spaced;  // Hangul too
  return (c >= 0x2E80 && c < 0xA000) || (c >= 0xF900 && c < 0xFB00) || c >= 0x20000 ? Script::Han
                                                                                    : Script::Other;
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      const auto point = decode_at(text_, at_);
      const auto script = script_of(point.value);
      if (script == Script::None || is_mark(point.value))
        gap(point);
      else
        word(script);
    }
    return std::move(tokens_);
  }

 private:
  void gap(const CodePoint& point) {
    const char c = text_[at_];
    const auto next = at_ + point.length;
    if (c == kHardBreak || point.value == 0x3002 || point.value == 0xFF01 ||
        point.value == 0xFF1F) {
      end_sentence();
    } else if (std::string_view(".!?").find(c) != std::string_view::npos) {
      breaks_ = true;
      if (next >= text_.size() || is_space(decode_at(text_, next).value)) end_sentence();
    } else if (kTransparent.find(c) == std::string_view::npos && !is_space(point.value)) {
      breaks_ = true;
    }
    at_ = next;
  }

  void end_sentence() {
    breaks_ = true;
    if (has_words_) ++sentence_;
    has_words_ = false;
  }

  void word(Script script) {
    const auto begin = at_;
    while (at_ < text_.size()) {
      const auto point = decode_at(text_, at_);
      const auto here = script_of(point.value);
      const bool joins =
          script == Script::Spaced && is_joiner(point.value) && next_is_spaced(at_ + point.length);
      if (here != script && !joins) break;
      at_ += point.length;
    }
    if (script == Script::Hiragana || at_ - begin > kMaxTokenBytes) {  // particles and endings
      breaks_ = true;
      return;
    }
    push(begin, script);
  }

  static bool is_joiner(char32_t c) { return c == '-' || c == '\'' || c == 0x2019; }
  bool next_is_spaced(std::size_t at) const {
    return at < text_.size() && script_of(decode_at(text_, at).value) == Script::Spaced;
  }

  void push(std::size_t begin, Script script) {
    Token token;
    auto word = text_.substr(begin, at_ - begin);
    for (const std::string_view ending : {"'s", "\u2019s"})
      if (word.ends_with(ending)) word.remove_suffix(ending.size());
    token.folded = fold_case(word);
    token.begin = begin;
    token.end = begin + word.size();
    token.sentence = sentence_;
    token.breaks_before = breaks_ || tokens_.empty();
    std::size_t letters = 0, uppers = 0, digits = 0, points = 0;
    for (std::size_t i = 0; i < word.size(); ++points) {
      const auto point = decode_at(word, i);
      letters += is_letter(point.value) ? 1 : 0;
      uppers += is_upper(point.value) ? 1 : 0;
      digits += is_digit(point.value) ? 1 : 0;
      i += point.length;
    }
    token.is_capital = is_upper(decode_at(word, 0).value);
    token.is_acronym = uppers > 1 && uppers == letters;
    token.is_number = letters == 0;
    const auto plain = token.folded.find("\u2019") == token.folded.npos
                           ? token.folded
                           : plain_apostrophes(token.folded);
    token.is_stop = is_stop_word(plain) || (points < 2 && script == Script::Spaced) ||
                    (points < 2 && script == Script::Han);
    breaks_ = false;
    has_words_ = true;
    tokens_.push_back(std::move(token));
  }

  static std::string plain_apostrophes(std::string word) {
    for (auto at = word.find("\u2019"); at != word.npos; at = word.find("\u2019"))
      word.replace(at, 3, "'");
    return word;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int sentence_ = 0;
  bool breaks_ = false, has_words_ = false;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) { return Tokenizer(text).run(); }

std::string phrase_key(std::string_view phrase) {
  auto folded = fold_case(phrase);
  std::string key, word;
  for (std::size_t i = 0; i <= folded.size(); ++i) {
    const char c = i < folded.size() ? folded[i] : ' ';
    if (c != ' ' && c != '-' && c != '_' && c != '/' && c != '\t' && c != '\n' && c != '\r') {
      word += c;
      continue;
    }
    if (word.empty()) continue;
    if (!key.empty()) key += ' ';
    key += singular(std::move(word));
    word.clear();
  }
  return key;
}

std::set<std::string> numbers_in(std::string_view text) {
  std::set<std::string> numbers;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = std::min(text.find_first_of("0123456789", at), text.size());
    const auto end = std::min(text.find_first_not_of("0123456789", begin), text.size());
    if (end > begin) numbers.emplace(text.substr(begin, end - begin));
    at = end;
  }
  return numbers;
}

}  // namespace indx
