#pragma once
#include "ops/retrieval.hpp"
#include "tests/support/fake_context.hpp"
#include "tests/support/word_embedder.hpp"
#include "vault/chunk.hpp"

#include <numeric>

namespace indx {

/// Retrieval over the files of a FakeWorld: by the number of shared words, and by WordEmbedder over
/// the chunks.
class WordRetrieval : public NoRetrieval {
 public:
  explicit WordRetrieval(FakeWorld& world) : world_(world) {}

  Vectors state = Vectors::Ready;
  WordEmbedder embedder;
  double least_similarity = 0.3;
  std::vector<RetrievalQuestion> asked;

  Result<Vectors> vectors() override { return state; }
  std::string model() override { return state == Vectors::Off ? "" : embedder.model_id(); }
  Result<std::unique_ptr<RetrievalSource>> ask(const RetrievalQuestion& question,
                                               bool by_meaning) override {
    asked.push_back(question);
    return std::unique_ptr<RetrievalSource>(std::make_unique<Source>(*this, question, by_meaning));
  }
  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts) override {
    return embedder.embed(texts, {});
  }

 private:
  class Source : public RetrievalSource {
   public:
    Source(WordRetrieval& all, RetrievalQuestion question, bool by_meaning)
        : all_(all), question_(std::move(question)), by_meaning_(by_meaning) {}

    Result<std::vector<RankedPath>> lexical(std::size_t most) override {
      std::vector<RankedPath> rows;
      for (const auto& [path, bytes] : all_.world_.files)
        if (allows(path))
          if (const auto score = shared(bytes); score > 0) rows.push_back({path, score});
      std::stable_sort(rows.begin(), rows.end(),
                       [](const auto& a, const auto& b) { return a.score > b.score; });
      if (rows.size() > most) rows.resize(most);
      return rows;
    }
    Result<std::vector<NearChunk>> nearest(std::size_t) override {
      std::vector<NearChunk> chunks;
      if (!by_meaning_) return chunks;
      const auto wanted = all_.embedder.vector_of(question_.q);
      for (const auto& [path, bytes] : all_.world_.files) {
        if (!allows(path)) continue;
        for (const auto& chunk : chunk_note(path, bytes, parse_note(bytes))) {
          const auto vector = all_.embedder.vector_of(chunk.content);
          NearChunk near;
          near.path = path;
          near.etag = etag_of(bytes);
          near.heading_path = chunk.heading_path;
          near.content = chunk.content;
          near.char_start = chunk.char_start;
          near.char_end = chunk.char_end;
          near.similarity = std::inner_product(wanted.begin(), wanted.end(), vector.begin(), 0.0);
          if (near.similarity >= all_.least_similarity) chunks.push_back(std::move(near));
        }
      }
      std::stable_sort(chunks.begin(), chunks.end(),
                       [](const auto& a, const auto& b) { return a.similarity > b.similarity; });
      return chunks;
    }
    Result<std::vector<LinkedPath>> linked(const std::vector<std::string>&) override {
      return std::vector<LinkedPath>();
    }
    Result<std::vector<RankedPath>> scores(const std::vector<std::string>& paths) override {
      std::vector<RankedPath> rows;
      for (const auto& path : paths) rows.push_back({path, shared(all_.world_.files.at(path))});
      return rows;
    }
    Result<std::vector<NoteEvidence>> evidence(const std::vector<std::string>& paths) override {
      std::vector<NoteEvidence> rows;
      for (const auto& path : paths)
        rows.push_back({path, shared(all_.world_.files.at(path)), {}, {}});
      for (const auto& chunk : *nearest(paths.size()))  // as if each note had only its nearest one
        for (auto& row : rows)
          if (row.path == chunk.path && !row.nearest) row.nearest = row.mean = chunk.similarity;
      return rows;
    }
    Result<std::vector<SearchHit>> hits(const std::vector<Shown>& shown) override {
      std::vector<SearchHit> rows;
      for (const auto& one : shown) {
        const bool has_words = shared(all_.world_.files.at(one.path)) > 0;
        rows.push_back({one.path, one.path, one.score, "", {}, {}, has_words ? "some" : "none"});
        if (has_words) rows.back().matched_in = {"body"};
      }
      return rows;
    }

   private:
    bool allows(const std::string& path) const {
      const auto& filter = question_.filter;
      const bool is_only =
          !filter.only || std::binary_search(filter.only->begin(), filter.only->end(), path);
      return is_only && all_.world_.is_visible(path) && filter.narrower.allows(path) &&
             (filter.path_glob.empty() || glob_match(filter.path_glob, path));
    }
    double shared(const std::string& bytes) const {
      double count = 0;
      for (const auto& word : content_words(question_.q))
        if (!is_stop_word(word) && fold_case(bytes).find(word) != std::string::npos) ++count;
      return count;
    }

    WordRetrieval& all_;
    const RetrievalQuestion question_;
    const bool by_meaning_;
  };

  FakeWorld& world_;
};

}  // namespace indx
