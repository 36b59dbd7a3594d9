#pragma once
#include "vault/markdown.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// A piece of a note's body for retrieval: headings first, at most `kMaxChunkChars` code points.
struct Chunk {
  std::string chunk_id;  ///< sha256(path, char_start, content_sha256), first 32 hex
  std::string heading;   ///< text of the nearest heading; empty before the first
  std::vector<std::string> heading_path;  ///< from the top heading down
  std::string content;
  std::string content_sha256;
  std::size_t char_start = 0, char_end = 0;  ///< byte offsets in the whole file
};

inline constexpr std::size_t kTargetChunkChars = 2000;
inline constexpr std::size_t kMaxChunkChars = 3000;

/// Chunks in order, covering all text of the body that is not blank.
std::vector<Chunk> chunk_note(std::string_view path, std::string_view bytes,
                              const ParsedNote& note);

}  // namespace indx
