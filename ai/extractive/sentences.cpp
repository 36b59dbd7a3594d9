#include "ai/extractive/sentences.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <utility>

namespace indx {
namespace {

constexpr std::size_t kMostMarks = 300;      ///< looked through, in bytes
constexpr std::size_t kMaxMarkBytes = 4096;  ///< marks and code behind the last word of a sentence

bool begins_bullet(std::string_view line) {
  return line.size() > 1 && line[1] == ' ' &&
         std::string_view("-*+").find(line[0]) != std::string_view::npos;
}

/// Embeds, table rows and the first lines of callouts say nothing by themselves.
bool is_prose_line(std::string_view line) {
  const bool is_callout = line.starts_with('>') && line.find("[!") != line.npos;
  return !line.starts_with('|') && !line.starts_with("![") && !is_callout;
}

/// From the first word back over the marks in front of it: `**Port**`, `[[Plan|the plan]]`.
std::size_t begin_with_marks(std::string_view bytes, std::size_t begin) {
  const auto before = bytes.substr(0, begin).substr(begin > kMostMarks ? begin - kMostMarks : 0);
  const auto line = before.substr(before.rfind('\n') + 1);  // npos + 1: from the start
  auto from = line.rfind("[[");
  if (from == line.npos || line.find("]]", from) != line.npos) from = line.size();
  while (from > 0 && std::string_view("*_~=`[(\"'").find(line[from - 1]) != std::string_view::npos)
    --from;
  return begin - (line.size() - from);
}

class SentenceCutter {
 public:
  SentenceCutter(std::string_view bytes, const NoteText& text) : bytes_(bytes), text_(text) {}

  std::vector<NoteSentence> run() {
    std::vector<Token> sentence;
    for (auto& token : tokenize(text_.prose())) {
      if (!sentence.empty() && begins_new(sentence.back(), token))
        close(std::exchange(sentence, {}));
      sentence.push_back(std::move(token));
    }
    if (!sentence.empty()) close(std::move(sentence));
    return std::move(sentences_);
  }

 private:
  bool begins_new(const Token& before, const Token& token) const {
    if (token.sentence != before.sentence) return true;
    const auto gap = bytes_.substr(before.end, token.begin - before.end);
    return gap.find("\n\n") != gap.npos || gap.find("\n\r\n") != gap.npos ||
           text_.is_heading(token.begin) != text_.is_heading(before.begin);
  }

  void close(std::vector<Token> words) {
    NoteSentence sentence;
    const auto first = words.front().begin;
    sentence.begin = begin_with_marks(bytes_, first);
    sentence.end = end_behind(words.back().end);
    sentence.words = std::move(words);
    sentence.is_heading = text_.is_heading(first);
    look_at_line(first);
    if (!sentence.is_heading && (first < text_.body_begin() || !line_.is_prose)) return;
    sentence.is_item = line_.is_item;
    sentence.is_numbered = line_.is_numbered;
    sentences_.push_back(std::move(sentence));
  }

  /// Where the white space behind a word begins; the end of the word where none is near.
  std::size_t end_behind(std::size_t word_end) const {
    const auto near = bytes_.substr(word_end, kMaxMarkBytes);
    const auto stop = near.find_first_of(" \t\r\n");
    if (stop != near.npos) return word_end + stop;
    return near.size() < kMaxMarkBytes ? bytes_.size() : word_end;
  }

  /// A line may hold every sentence of the note, so it is looked at once.
  void look_at_line(std::size_t at) {
    if (at >= line_.begin && at < line_.end) return;
    const auto start = bytes_.rfind('\n', at);
    line_.begin = start == bytes_.npos ? 0 : start + 1;
    line_.end = std::min(bytes_.size(), bytes_.find('\n', at));
    const auto line = trim(bytes_.substr(line_.begin, line_.end - line_.begin));
    line_.is_prose = is_prose_line(line);
    line_.is_item = begins_bullet(line);
    line_.is_numbered = is_numbered_item(line);
  }

  struct Line {
    std::size_t begin = 0, end = 0;
    bool is_prose = false, is_item = false, is_numbered = false;
  };

  const std::string_view bytes_;
  const NoteText& text_;
  Line line_;
  std::vector<NoteSentence> sentences_;
};

}  // namespace

bool is_numbered_item(std::string_view line) {
  const auto digits = line.find_first_not_of("0123456789");
  return digits != line.npos && digits > 0 && digits < 10 &&
         (line[digits] == '.' || line[digits] == ')') && digits + 1 < line.size() &&
         line[digits + 1] == ' ';
}

std::vector<NoteSentence> note_sentences(std::string_view bytes, const NoteText& text) {
  return SentenceCutter(bytes, text).run();
}

}  // namespace indx
