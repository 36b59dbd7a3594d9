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

/// What is embedded of a chunk: a first line of title and headings (`Title: A > B`), then the text
/// without the heading lines at its start, unless it has nothing else.
std::string embedding_text(std::string_view title, const std::vector<std::string>& heading_path,
                           std::string_view content);
/// Names what `embedding_text` gives, so that equal keys have equal vectors wherever the note lies:
/// the first 32 hex digits of a SHA-256 over title, headings and the content's own hash.
std::string embedding_key(std::string_view title, const std::vector<std::string>& heading_path,
                          std::string_view content_sha256);

}  // namespace indx
