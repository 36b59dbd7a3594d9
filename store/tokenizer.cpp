#include "store/tokenizer.hpp"

#include "base/unicode.hpp"
#include "store/fts5.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

namespace indx {
namespace {

enum class CharKind : std::uint8_t { Separator, Word, Single, Mark };

struct CharFold {
  char32_t letter = 0;
  CharKind kind = CharKind::Separator;
};

CharFold compute_fold(char32_t c) {
  if (is_mark(c) || c == 0x200C || c == 0x200D)
    return {c, CharKind::Mark};  // joiners stand inside words
  if (!is_word_character(c)) return {c, CharKind::Separator};
  return {search_letter(c), is_unspaced_script(c) ? CharKind::Single : CharKind::Word};
}

/// What compute_fold says for the Basic Multilingual Plane, remembered page by page as pages are
/// met.
class FoldTable {
 public:
  CharFold of(char32_t c) {
    if (c > 0xFFFF) return compute_fold(c);
    auto& slot = pages_[c >> 8U];
    const Page* page = slot.load(std::memory_order_acquire);
    if (page == nullptr) page = fill(slot, c >> 8U);
    return (*page)[c & 0xFFU];
  }
  ~FoldTable() {
    for (auto& slot : pages_) std::unique_ptr<const Page>{slot.load()};
  }

 private:
  using Page = std::array<CharFold, 256>;
  static const Page* fill(std::atomic<const Page*>& slot, char32_t number) {
    auto made = std::make_unique<Page>();
    for (char32_t i = 0; i < 256; ++i) (*made)[i] = compute_fold((number << 8U) + i);
    const Page* expected = nullptr;
    return slot.compare_exchange_strong(expected, made.get()) ? made.release() : expected;
  }
  std::array<std::atomic<const Page*>, 256> pages_{};
};

CharFold fold_of(char32_t c) {
  static FoldTable table;
  return table.of(c);
}

/// The folded letter of each ASCII word character; 0: separator. Bytes from 0x80 are 0 as well.
constexpr std::array<char, 256> make_ascii_fold() {
  std::array<char, 256> fold{};
  for (char c = '0'; c <= '9'; ++c) fold[static_cast<unsigned char>(c)] = c;
  for (char c = 'a'; c <= 'z'; ++c) {
    fold[static_cast<unsigned char>(c)] = c;
    fold[static_cast<unsigned char>(c - 32)] = c;
  }
  return fold;
}
constexpr auto kAsciiFold = make_ascii_fold();

constexpr bool is_leading_jamo(char32_t c) { return c >= 0x1100 && c <= 0x1112; }

/// A Hangul syllable written as conjoining letters, composed; `point` covers all of them. Otherwise
/// the code point.
CodePoint decode_composed(std::string_view text, std::size_t at) {
  CodePoint point = decode_at(text, at);
  if (!is_leading_jamo(point.value)) return point;
  const auto vowel = decode_at(text, at + point.length);
  if (vowel.value < 0x1161 || vowel.value > 0x1175) return point;
  point.value = 0xAC00 + ((point.value - 0x1100) * 21 + (vowel.value - 0x1161)) * 28;
  point.length += vowel.length;
  const auto tail = decode_at(text, at + point.length);
  if (tail.value < 0x11A8 || tail.value > 0x11C2) return point;
  return {point.value + (tail.value - 0x11A7), point.length + tail.length};
}

}  // namespace

void WordReader::append(char32_t letter) {
  std::string utf8;
  append_utf8(utf8, letter);
  if (length_ + utf8.size() > word_.size()) return;
  utf8.copy(word_.data() + length_, utf8.size());
  length_ += utf8.size();
}

void WordReader::skip_marks() {
  while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x80) {
    const auto point = decode_at(text_, at_);
    if (fold_of(point.value).kind != CharKind::Mark) break;
    at_ += point.length;
  }
}

void WordReader::read_ascii_run() {
  const std::size_t size = text_.size();
  while (at_ < size) {
    const char folded = kAsciiFold[static_cast<unsigned char>(text_[at_])];
    if (folded == 0) return;
    if (length_ < word_.size()) word_[length_++] = folded;
    ++at_;
  }
}

bool WordReader::next() {
  length_ = 0;
  while (at_ < text_.size()) {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte < 0x80) {
      if (kAsciiFold[byte] != 0) break;
      ++at_;
      continue;
    }
    const auto point = decode_composed(text_, at_);
    const auto fold = fold_of(point.value);
    if (fold.kind == CharKind::Single) {
      begin_ = at_;
      at_ += point.length;
      append(fold.letter);
      skip_marks();
      return true;
    }
    if (fold.kind == CharKind::Word) break;
    at_ += point.length;
  }
  begin_ = at_;
  while (at_ < text_.size()) {
    if (static_cast<unsigned char>(text_[at_]) < 0x80) {
      const auto before = at_;
      read_ascii_run();
      if (at_ == before) break;
      continue;
    }
    const auto point = decode_at(text_, at_);
    const auto fold = fold_of(point.value);
    if (fold.kind == CharKind::Word)
      append(fold.letter);
    else if (fold.kind != CharKind::Mark)
      break;
    at_ += point.length;
  }
  return at_ > begin_;
}

std::string fold_for_search(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      out += byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : text[i];
      ++i;
      continue;
    }
    const auto point = decode_composed(text, i);
    const auto fold = fold_of(point.value);
    if (point.value == 0x2019 || point.value == 0x2018)
      out += '\'';
    else if (fold.kind != CharKind::Mark)
      append_utf8(out, fold.letter);
    i += point.length;
  }
  return out;
}

namespace {

int create_tokenizer(void* /*context*/, const char** /*arguments*/, int /*count*/,
                     Fts5Tokenizer** out) {
  static char stateless = 0;
  *out = reinterpret_cast<Fts5Tokenizer*>(&stateless);
  return SQLITE_OK;
}

void delete_tokenizer(Fts5Tokenizer* /*tokenizer*/) {}

using TokenCallback = int (*)(void*, int, const char*, int, int, int);

int tokenize(Fts5Tokenizer* /*tokenizer*/, void* context, int /*flags*/, const char* text, int size,
             TokenCallback emit) {
  WordReader words(text == nullptr ? std::string_view()
                                   : std::string_view(text, static_cast<std::size_t>(size)));
  while (words.next()) {
    const int code = emit(context, 0, words.word().data(), static_cast<int>(words.word().size()),
                          static_cast<int>(words.begin()), static_cast<int>(words.end()));
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

}  // namespace

int register_tokenizer(sqlite3* db) {
  return with_fts5(db, [](fts5_api& api) {
    fts5_tokenizer functions{create_tokenizer, delete_tokenizer, tokenize};
    return api.xCreateTokenizer(&api, "indx", &api, &functions, nullptr);
  });
}

}  // namespace indx
