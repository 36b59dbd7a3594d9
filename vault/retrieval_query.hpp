#pragma once
#include "vault/note_query.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace indx {

// Questions by meaning, and what keeps the vectors for them, as values (see note_query.hpp).

/// The vectors of an index. Chunks with the same key (vault/chunk.hpp) count once.
struct EmbeddingCounts {
  std::string model;    ///< that all vectors are of; empty: there are none yet
  std::size_t dim = 0;  ///< numbers in each, by the first one
  std::int64_t chunks = 0;
  std::int64_t embedded = 0;
  std::int64_t left_out = 0;  ///< not to be read by AI, or refused by the model
  std::int64_t unused = 0;    ///< vectors of chunks that are gone
  /// Whether so many are unused that they should go; some are kept, for moved notes come back.
  bool is_untidy() const { return unused > 1000 && unused >= (embedded + unused) / 4; }
  std::int64_t pending() const { return chunks - embedded - left_out; }
};

struct ChunkToEmbed {
  std::string key;                 ///< embedding_key()
  std::vector<std::string> paths;  ///< of the notes that have it, sorted
  std::string text;                ///< embedding_text()
};

struct EmbeddedChunk {
  std::string key;
  std::vector<float> vector;  ///< of length 1; empty: the chunk is left out
};

/// A chunk that is near to a question.
struct NearChunk {
  std::string path, title, etag;  ///< of its note
  std::vector<std::string> heading_path;
  std::string content;
  std::size_t char_start = 0, char_end = 0;  ///< byte offsets in the whole file
  int line = 1;                              ///< 1-based, where it begins
  double similarity = 0;                     ///< cosine, -1..1
};

struct RankedPath {
  std::string path;
  double score = 0;  ///< larger is better
};

/// What speaks for a note, by a look at its text and its vectors.
struct NoteEvidence {
  std::string path;
  double passage_words = 0;  ///< BM25 of its best chunk, 0 without any of the words
  /// Cosines of its chunks with the question: the largest, and their mean; nullopt: it has no
  /// vectors.
  std::optional<double> nearest, mean;
};

/// One hop along links, in either direction.
struct LinkedPath {
  std::string from, to;
};

struct RetrievalQuestion {
  std::string q;  ///< in the syntax of vault_search
  NoteFilter filter;
};

}  // namespace indx
