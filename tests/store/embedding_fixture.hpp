#pragma once
#include "store/embedding_index.hpp"
#include "store/retrieval_run.hpp"
#include "store/vector_cache.hpp"
#include "tests/store/index_fixture.hpp"
#include "tests/support/word_embedder.hpp"

namespace indx {

/// An index whose chunks have vectors of their words.
struct EmbeddedIndex : IndexFixture {
  WordEmbedder embedder{"words-1", {{"automobile", "car"}, {"vehicle", "car"}}};
  VectorCache cache{folder.str(), 1};

  EmbeddingIndex rows() const { return EmbeddingIndex(reader->pool()); }

  /// Gives every chunk its vector, as the job does; gives how many there were.
  std::size_t embed_all() {
    std::size_t count = 0;
    std::string after;
    for (;;) {
      const auto chunks = rows().to_embed(after, 32).value();
      if (chunks.empty()) return count;
      std::vector<EmbeddedChunk> done;
      std::vector<std::string> texts;
      for (const auto& chunk : chunks) texts.push_back(chunk.text);
      auto vectors = embedder.embed(texts, CancelToken()).value();
      for (std::size_t i = 0; i < chunks.size(); ++i)
        done.push_back({chunks[i].key, std::move(vectors[i])});
      writer.put_embeddings(embedder.model_id(), done).value();
      after = chunks.back().key;
      count += chunks.size();
    }
  }
  void build_graph() {
    while (writer.work_on(cache).value()) {
    }
  }
  std::unique_ptr<RetrievalRun> ask(const std::string& q, const NoteFilter& filter = {}) {
    const auto vector = embedder.vector_of(text_of_question(q).value());
    return reader->retrieve({q, filter}, &vector, &cache).value();
  }
  /// Paths of the notes whose chunks are nearest, each once.
  PathList near(const std::string& q, std::size_t notes, const NoteFilter& filter = {}) {
    PathList paths;
    const auto chunks = ask(q, filter)->nearest(notes).value();
    for (const auto& chunk : chunks)
      if (std::find(paths.begin(), paths.end(), chunk.path) == paths.end())
        paths.push_back(chunk.path);
    return paths;
  }
};

inline PathList paths_of(const std::vector<RankedPath>& rows) {
  PathList paths;
  for (const auto& row : rows) paths.push_back(row.path);
  return paths;
}

}  // namespace indx
