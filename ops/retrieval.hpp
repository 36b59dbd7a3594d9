#pragma once
#include "base/result.hpp"
#include "vault/note_path.hpp"
#include "vault/retrieval_query.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace indx {

/// What one question finds, from one state of the index: the parts that a search by words and by
/// meaning is put together from (ops/search/retrieval.hpp). One thread at a time; holds a
/// connection to the index, so it must not live long.
class RetrievalSource {
 public:
  virtual ~RetrievalSource() = default;
  /// Notes with any of the words that say something, by BM25, best first.
  virtual Result<std::vector<RankedPath>> lexical(std::size_t most) = 0;
  /// Chunks nearest first, as many as `most_notes` different notes take; fewer notes only when
  /// there are fewer. Nothing for a question asked without its vector.
  virtual Result<std::vector<NearChunk>> nearest(std::size_t most_notes) = 0;
  /// Notes one hop away along links, in either direction.
  virtual Result<std::vector<LinkedPath>> linked(const std::vector<std::string>& paths) = 0;
  /// BM25 of these notes, 0 without any of the words, in their order.
  virtual Result<std::vector<RankedPath>> scores(const std::vector<std::string>& paths) = 0;
  /// A look at these notes themselves, in their order; costs their texts, so few at a time.
  virtual Result<std::vector<NoteEvidence>> evidence(const std::vector<std::string>& paths) = 0;
  struct Shown {
    std::string path;
    double score = 0;
    const NearChunk* chunk = nullptr;  ///< shown where no word was found; null: none
  };
  /// As a search shows them; `matched` may be `none`.
  virtual Result<std::vector<SearchHit>> hits(const std::vector<Shown>& shown) = 0;
};

/// Whether a question can be asked by meaning.
enum class Vectors : std::uint8_t {
  Ready,
  Incomplete,  ///< yes, though some chunks have no vector yet
  None,        ///< no vector was made yet
  OtherModel,  ///< those that there are come from another model (R20)
  Off          ///< no model for embeddings
};
std::string_view name(Vectors vectors);  ///< `ready`

/// Vectors of the vault, as one caller may ask for them.
class Retrieval {
 public:
  virtual ~Retrieval() = default;
  virtual Result<Vectors> vectors() = 0;
  /// Over the whole vault, whoever asks.
  virtual Result<EmbeddingCounts> counts() = 0;
  virtual std::string model() = 0;  ///< that embeds; empty: none

  /// Only what the caller may see is found. `by_meaning`: embeds the question, which a model
  /// elsewhere may take its time for; fails as Embedder::embed does.
  virtual Result<std::unique_ptr<RetrievalSource>> ask(const RetrievalQuestion& question,
                                                       bool by_meaning) = 0;
  /// Chunks of other notes that are near to a note as a whole, by the vectors that are there:
  /// nearest first, as many as `most_notes` notes take. Nothing where vectors cannot be searched.
  /// `not_found`, or `forbidden` outside of the caller's globs.
  virtual Result<std::vector<NearChunk>> near_note(const NotePath& path, NoteFilter filter,
                                                   std::size_t most_notes) = 0;
  /// Vectors of texts, of length 1. `ai_unavailable` where vectors are Off.
  virtual Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts) = 0;

  /// What the job `vault_embed` does; for nobody else.
  /// Chunks without a vector, in order of keys, after a key; none begins a pass over all.
  virtual Result<std::vector<ChunkToEmbed>> to_embed(const std::string& after_key, int limit) = 0;
  /// Durable when it returns. `conflict`: the index has vectors of another model.
  virtual Status keep(const std::vector<EmbeddedChunk>& chunks) = 0;
  virtual Status forget_all() = 0;
  virtual Status forget_left_out() = 0;
  /// Drops vectors of chunks that are long gone; gives how many.
  virtual Result<std::int64_t> tidy() = 0;
  /// The last pass found nothing to do.
  virtual void end_pass() = 0;
};

}  // namespace indx
