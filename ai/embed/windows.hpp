#pragma once
#include "ai/embed/tokenizer.hpp"

#include <string_view>
#include <vector>

namespace indx::embed {

/// Where a window is full; a model's limit is a little above.
inline constexpr std::size_t kWindowPieces = 90;
/// The most of the first line that stands in front of every window.
inline constexpr std::size_t kMaxHeadPieces = 32;

/// Whole sentences, as many as fit, of a text of any length; a longer sentence is cut between
/// words. Where the text has several lines, the first stands in front of every window, as a
/// sentence. White space counts as one space. No window for a text without characters.
std::vector<std::vector<PieceId>> windows_of(const Tokenizer& tokenizer, std::string_view text);

}  // namespace indx::embed
