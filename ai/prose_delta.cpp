#include "ai/prose_delta.hpp"

#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <utility>

namespace indx {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool is_high_half(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low_half(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

/// Bytes of the character that begins so.
std::size_t bytes_of_lead(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte >= 0xF0 && byte < 0xF8) return 4;
  if (byte >= 0xE0 && byte < 0xF0) return 3;
  return byte >= 0xC0 && byte < 0xE0 ? 2 : 1;
}
bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80; }

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

}  // namespace

std::string ProseDelta::feed(std::string_view bytes) {
  for (const char byte : bytes) take(byte);
  return std::exchange(out_, {});
}

void ProseDelta::take(char byte) {
  switch (at_) {
    case At::Front:
      if (byte != '{') return;
      at_ = At::Between;
      depth_ = 1;
      is_key_next_ = true;
      return;
    case At::Between:
      return take_between(byte);
    case At::Key:
    case At::Skipped:
    case At::Prose:
      return take_in_text(byte);
    case At::End:
      return;
  }
}

void ProseDelta::take_between(char byte) {
  const bool is_outer = depth_ == 1;
  if (byte == '"') {
    at_ = !is_outer ? At::Skipped : is_key_next_ ? At::Key : is_wanted_ ? At::Prose : At::Skipped;
    is_key_next_ = is_key_next_ && !is_outer;
    if (at_ == At::Key) key_.clear();
    if (is_outer && at_ != At::Key) is_wanted_ = false;
  } else if (byte == '{' || byte == '[') {
    if (is_outer) is_wanted_ = false;
    ++depth_;
  } else if (byte == '}' || byte == ']') {
    if (--depth_ == 0) at_ = At::End;
  } else if (byte == ',' && is_outer) {
    is_key_next_ = true;
    is_wanted_ = false;
  }
}

void ProseDelta::take_in_text(char byte) {
  if (escape_ != Escape::None) return take_escaped(byte);
  if (byte == '"') return end_text();
  if (byte == '\\')
    escape_ = Escape::Begun;
  else
    add_raw(byte);
}

void ProseDelta::take_escaped(char byte) {
  if (escape_ == Escape::Hex) {
    const int value = hex_value(byte);
    if (value < 0) {  // broken JSON: the escape is dropped, its successor is not
      escape_ = Escape::None;
      add_unit(kReplacement);
      return take_in_text(byte);
    }
    hex_ = hex_ * 16 + static_cast<char32_t>(value);
    if (++digits_ < 4) return;
    escape_ = Escape::None;
    return add_unit(hex_);
  }
  escape_ = Escape::None;
  constexpr std::string_view kNames = "bfnrt", kMeant = "\b\f\n\r\t";
  if (byte == 'u') {
    escape_ = Escape::Hex;
    hex_ = 0;
    digits_ = 0;
  } else if (const auto at = kNames.find(byte); at != kNames.npos) {
    add_unit(static_cast<unsigned char>(kMeant[at]));
  } else {
    add_raw(byte);
  }
}

void ProseDelta::end_text() {
  flush_raw(true);
  if (std::exchange(high_, 0) != 0) add_text("\xEF\xBF\xBD");
  if (at_ == At::Key) is_wanted_ = key_ == member_;
  at_ = at_ == At::Prose ? At::End : At::Between;
}

/// A UTF-16 unit as an escape gives it.
void ProseDelta::add_unit(char32_t unit) {
  flush_raw(true);
  const char32_t high = std::exchange(high_, 0);
  std::string text;
  if (high != 0 && is_low_half(unit)) {
    append_utf8(text, 0x10000 + ((high - 0xD800) << 10U) + (unit - 0xDC00));
    return add_text(text);
  }
  if (high != 0) append_utf8(text, kReplacement);
  if (is_high_half(unit))
    high_ = unit;
  else
    append_utf8(text, is_low_half(unit) ? kReplacement : unit);
  add_text(text);
}

void ProseDelta::add_raw(char byte) {
  if (std::exchange(high_, 0) != 0) add_text("\xEF\xBF\xBD");
  if (!raw_.empty() && !is_continuation(byte)) flush_raw(true);
  raw_ += byte;
  flush_raw(false);
}

/// What is complete of the raw bytes; at an end all of them.
void ProseDelta::flush_raw(bool is_end) {
  if (raw_.empty() || (!is_end && raw_.size() < bytes_of_lead(raw_.front()))) return;
  add_text(replace_invalid_utf8(std::exchange(raw_, {})));
}

void ProseDelta::add_text(std::string_view text) {
  if (at_ == At::Key) {
    if (key_.size() <= member_.size()) key_ += text;  // longer ones are not it
    return;
  }
  if (at_ != At::Prose || text.empty()) return;
  const bool is_space = trim(text).empty();
  if (is_space) {
    if (has_begun_) spaces_ += text;
    return;
  }
  has_begun_ = true;
  out_ += std::exchange(spaces_, {});
  out_ += text;
}

}  // namespace indx
