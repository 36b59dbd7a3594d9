#include "ai/embed/tokenizer.hpp"

#include "ai/embed/model_file.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace indx::embed {
namespace {

constexpr std::string_view kWordMark = "\xE2\x96\x81";  // U+2581

std::string with_word_marks(std::string_view text) {
  const auto normal = to_nfkc(text);
  if (normal.empty()) return {};
  std::string marked(kWordMark);
  marked.reserve(normal.size() + normal.size() / 2);
  for (const char c : normal)
    if (c == ' ')
      marked += kWordMark;
    else
      marked += c;
  return marked;
}

}  // namespace

Tokenizer::Tokenizer(std::span<const std::string_view> vocabulary, std::span<const double> scores)
    : vocabulary_(vocabulary), scores_(scores) {
  for (std::size_t id = kReservedPieces; id < vocabulary.size(); ++id)
    sorted_.push_back({vocabulary[id], static_cast<PieceId>(id)});
  std::sort(sorted_.begin(), sorted_.end(), [](const Entry& a, const Entry& b) {
    return a.text != b.text ? a.text < b.text : a.id < b.id;
  });
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const auto begin = std::partition_point(sorted_.begin(), sorted_.end(), [&](const Entry& e) {
      return static_cast<unsigned char>(e.text.front()) < byte;
    });
    first_[byte] = static_cast<std::uint16_t>(begin - sorted_.begin());
  }
  first_[256] = static_cast<std::uint16_t>(sorted_.size());
}

/// Narrows the sorted pieces byte by byte to those that go on like the text. Where two pieces have
/// one text, the later id stands for both.
template <typename Use>
void Tokenizer::for_each_prefix(std::string_view text, Use use) const {
  const auto front = static_cast<unsigned char>(text.front());
  auto low = sorted_.begin() + first_[front], high = sorted_.begin() + first_[front + 1U];
  for (std::size_t length = 1; low != high; ++length) {
    const auto longer =
        std::find_if(low, high, [&](const Entry& e) { return e.text.size() != length; });
    if (longer != low) use(*(longer - 1));
    low = longer;
    if (length == text.size()) return;
    const auto next = static_cast<unsigned char>(text[length]);
    const auto byte = [&](const Entry& e) { return static_cast<unsigned char>(e.text[length]); };
    low = std::partition_point(low, high, [&](const Entry& e) { return byte(e) < next; });
    high = std::partition_point(low, high, [&](const Entry& e) { return byte(e) <= next; });
  }
}

std::vector<PieceId> Tokenizer::encode(std::string_view text) const {
  const auto marked = with_word_marks(text);
  struct Step {
    double score = -std::numeric_limits<double>::infinity();
    std::size_t begin = 0;
    PieceId id = kUnknownPiece;
  };
  std::vector<Step> best(marked.size() + 1);  // by where the last piece ends, in bytes
  best[0].score = 0;
  const auto offer = [&](std::size_t begin, std::size_t end, PieceId id, double score) {
    const double sum = best[begin].score + score;
    if (sum >= best[end].score) best[end] = {sum, begin, id};
  };
  for (std::size_t at = 0; at < marked.size(); at += decode_at(marked, at).length) {
    bool is_known = false;
    for_each_prefix(std::string_view(marked).substr(at), [&](const Entry& piece) {
      offer(at, at + piece.text.size(), piece.id, scores_[piece.id]);
      is_known = true;
    });
    if (!is_known) offer(at, at + decode_at(marked, at).length, kUnknownPiece, 0);
  }
  std::vector<PieceId> pieces;
  for (std::size_t end = marked.size(); end > 0; end = best[end].begin) {
    const auto id = best[end].id;
    if (id != kUnknownPiece || pieces.empty() || pieces.back() != kUnknownPiece)
      pieces.push_back(id);
  }
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

bool Tokenizer::begins_word(PieceId piece) const {
  return vocabulary_[piece].starts_with(kWordMark);
}

}  // namespace indx::embed
