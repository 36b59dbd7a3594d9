#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace indx::embed {

using PieceId = std::uint16_t;
inline constexpr PieceId kUnknownPiece = 0;

/// Cuts text into the pieces of a unigram vocabulary (Kudo 2018). Safe from any thread.
class Tokenizer {
 public:
  /// Both by piece id; the views and the scores must outlive it. The first kReservedPieces ids are
  /// never found in a text.
  Tokenizer(std::span<const std::string_view> vocabulary, std::span<const double> scores);

  /// The segmentation with the highest sum of scores, after NFKC, with a word mark in front and for
  /// each space. A character that begins no piece is kUnknownPiece; neighbours of these are one.
  /// Empty for an empty text.
  std::vector<PieceId> encode(std::string_view text) const;

  bool begins_word(PieceId piece) const;

 private:
  struct Entry {
    std::string_view text;
    PieceId id;
  };
  template <typename Use>
  void for_each_prefix(std::string_view text, Use use) const;

  std::span<const std::string_view> vocabulary_;
  std::span<const double> scores_;
  std::vector<Entry> sorted_;               ///< by text, then id
  std::array<std::uint16_t, 257> first_{};  ///< where the pieces begin that begin with a byte
};

}  // namespace indx::embed
