#include "vault/base_lexer.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"
#include "vault/base_expression.hpp"

#include <charconv>

namespace indx {
namespace {

bool is_name_start(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
  return is_letter(c) || is_mark(c) || is_emoji_or_symbol(c);
}
bool is_name_part(char32_t c) {
  return is_name_start(c) || (c < 0x80 ? c >= '0' && c <= '9' : is_digit(c));
}
bool is_number_digit(char c) { return c >= '0' && c <= '9'; }

class BaseLexer {
 public:
  explicit BaseLexer(std::string_view source) : source_(source) {}

  Result<std::vector<BaseToken>> run() {
    std::vector<BaseToken> tokens;
    for (;;) {
      skip_space();
      BaseToken token;
      token.at = at_;
      if (at_ == source_.size()) {
        tokens.push_back(std::move(token));
        return tokens;
      }
      INDX_TRY(read(token, tokens));
      tokens.push_back(std::move(token));
    }
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  void skip_space() {
    while (at_ < source_.size()) {
      const auto c = decode_at(source_, at_);
      if (!is_space(c.value) && c.value != 0xFEFF) return;
      at_ += c.length;
    }
  }

  Status read(BaseToken& token, const std::vector<BaseToken>& before) {
    const char c = peek();
    if (is_number_digit(c) || (c == '.' && is_number_digit(peek(1)))) return read_number(token);
    if (c == '"' || c == '\'') return read_text(token);
    if (c == '/' && !ends_operand(before)) return read_regexp(token);
    const auto first = decode_at(source_, at_);
    if (is_name_start(first.value)) {
      token.kind = BaseToken::Kind::Name;
      while (at_ < source_.size()) {
        const auto next = decode_at(source_, at_);
        if (!is_name_part(next.value)) break;
        at_ += next.length;
      }
      token.text = source_.substr(token.at, at_ - token.at);
      return {};
    }
    token.kind = BaseToken::Kind::Symbol;
    for (const std::string_view symbol : {"==", "!=", "<=", ">=", "&&", "||"})
      if (source_.substr(at_, 2) == symbol) {
        token.text = symbol;
        at_ += 2;
        return {};
      }
    if (c == '\0' || std::string_view("+-*/%<>!()[]{}.,:").find(c) == std::string_view::npos)
      return base_syntax_error(source_, at_,
                               cat("Unexpected `", source_.substr(at_, first.length), "`."));
    token.text = c;
    ++at_;
    return {};
  }

  /// Whether a slash after these tokens divides; else it begins a regular expression.
  static bool ends_operand(const std::vector<BaseToken>& before) {
    if (before.empty()) return false;
    const auto& last = before.back();
    if (last.kind != BaseToken::Kind::Symbol) return true;
    return last.text == ")" || last.text == "]" || last.text == "}";
  }

  Status read_number(BaseToken& token) {
    token.kind = BaseToken::Kind::Number;
    while (is_number_digit(peek())) ++at_;
    if (peek() == '.' && is_number_digit(peek(1))) {
      ++at_;
      while (is_number_digit(peek())) ++at_;
    }
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (is_number_digit(peek(1 + sign))) {
        at_ += 1 + sign;
        while (is_number_digit(peek())) ++at_;
      }
    }
    std::string digits(source_.substr(token.at, at_ - token.at));
    if (digits.front() == '.') digits.insert(0, "0");
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), token.number);
    if (read.ec != std::errc())
      return base_syntax_error(source_, token.at, "The number is out of range.");
    return {};
  }

  Status read_text(BaseToken& token) {
    token.kind = BaseToken::Kind::Text;
    const char quote = peek();
    ++at_;
    while (peek() != quote) {
      if (at_ >= source_.size())
        return base_syntax_error(source_, token.at, "The text has no closing quote.");
      if (peek() != '\\') {
        token.text += source_[at_++];
        continue;
      }
      ++at_;
      if (at_ >= source_.size()) continue;
      const char escape = source_[at_++];
      switch (escape) {
        case 'n':
          token.text += '\n';
          break;
        case 't':
          token.text += '\t';
          break;
        case 'r':
          token.text += '\r';
          break;
        case 'u':
          INDX_TRY(read_unicode(token.text));
          break;
        default:
          token.text += escape;
      }
    }
    ++at_;
    return {};
  }

  Result<char32_t> read_hex() {
    unsigned value = 0;
    const auto digits = source_.substr(at_, 4);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() < 4 || read.ptr != digits.data() + 4)
      return base_syntax_error(source_, at_, "`\\u` needs four hexadecimal digits.");
    at_ += 4;
    return static_cast<char32_t>(value);
  }
  Status read_unicode(std::string& out) {
    char32_t c = INDX_TRY(read_hex());
    if (c >= 0xD800 && c < 0xDC00 && source_.substr(at_, 2) == "\\u") {
      at_ += 2;
      const char32_t low = INDX_TRY(read_hex());
      c = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((c - 0xD800) << 10U) + (low - 0xDC00) : 0xFFFD;
    }
    append_utf8(out, c >= 0xD800 && c < 0xE000 ? 0xFFFD : c);
    return {};
  }

  Status read_regexp(BaseToken& token) {
    token.kind = BaseToken::Kind::Regexp;
    ++at_;
    bool is_in_class = false;
    while (peek() != '/' || is_in_class) {
      if (at_ >= source_.size() || peek() == '\n')
        return base_syntax_error(source_, token.at, "The regular expression has no closing slash.");
      if (peek() == '\\' && at_ + 1 < source_.size())
        token.text += source_[at_++];
      else if (peek() == '[')
        is_in_class = true;
      else if (peek() == ']')
        is_in_class = false;
      token.text += source_[at_++];
    }
    ++at_;
    while (peek() >= 'a' && peek() <= 'z') token.flags += source_[at_++];
    if (token.text.empty())
      return base_syntax_error(source_, token.at, "The regular expression is empty.");
    return {};
  }

  std::string_view source_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<BaseToken>> lex_base_expression(std::string_view source) {
  if (source.size() > kMaxBaseExpressionBytes)
    return base_syntax_error(source, 0, "The expression is too long (64 kB at most).");
  if (!is_valid_utf8(source)) return base_syntax_error(source, 0, "The expression is not UTF-8.");
  return BaseLexer(source).run();
}

Error base_syntax_error(std::string_view source, std::size_t at, std::string message) {
  const auto before = source.substr(0, std::min(at, source.size()));
  std::size_t line = 1, begin = 0;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] == '\n') {
      ++line;
      begin = i + 1;
    }
  return invalid(
      std::move(message),
      {{"offset", before.size()}, {"line", line}, {"column", before.size() - begin + 1}});
}

bool is_base_identifier(std::string_view text) {
  if (text.empty()) return false;
  for (std::size_t at = 0; at < text.size();) {
    const auto c = decode_at(text, at);
    if (at == 0 ? !is_name_start(c.value) : !is_name_part(c.value)) return false;
    at += c.length;
  }
  return true;
}

}  // namespace indx
