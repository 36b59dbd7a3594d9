#include "actors/engine_retrieval.hpp"

#include "base/text.hpp"
#include "store/embedding_index.hpp"
#include "store/retrieval_run.hpp"

namespace indx {
namespace {

/// What the store finds, as operations ask for it.
class IndexSource : public RetrievalSource {
 public:
  explicit IndexSource(std::unique_ptr<RetrievalRun> run) : run_(std::move(run)) {}
  Result<std::vector<RankedPath>> lexical(std::size_t most) override { return run_->lexical(most); }
  Result<std::vector<NearChunk>> nearest(std::size_t most_notes) override {
    return run_->nearest(most_notes);
  }
  Result<std::vector<LinkedPath>> linked(const std::vector<std::string>& paths) override {
    return run_->linked(paths);
  }
  Result<std::vector<RankedPath>> scores(const std::vector<std::string>& paths) override {
    return run_->scores(paths);
  }
  Result<std::vector<NoteEvidence>> evidence(const std::vector<std::string>& paths) override {
    return run_->evidence(paths);
  }
  Result<std::vector<SearchHit>> hits(const std::vector<Shown>& shown) override {
    std::vector<RetrievalRun::Shown> rows;
    for (const auto& [path, score, chunk] : shown) rows.push_back({path, score, chunk});
    return run_->hits(rows);
  }

 private:
  std::unique_ptr<RetrievalRun> run_;
};

Error no_embedder() {
  return make_error(Reason::AiUnavailable, "There is no model for embeddings.",
                    {{"required_role", "embeddings"}});
}

}  // namespace

// Asks no scan: a command that is about to index looks here first.
Result<Vectors> EngineRetrieval::vectors() {
  const auto& parts = core_.parts;
  if (!parts.embedder) return Vectors::Off;
  const auto db = INDX_TRY(parts.index->pool().take());
  const auto has = INDX_TRY(embedding_model_of(*db));
  if (!has) return Vectors::None;
  const auto dim = parts.embedder->dimension();
  if (has->model != parts.embedder->model_id() || (dim != 0 && dim != has->dim))
    return Vectors::OtherModel;
  const bool is_complete =
      core_.is_served ? parts.embedding.is_complete() : !INDX_TRY(has_chunk_to_embed(*db));
  return is_complete ? Vectors::Ready : Vectors::Incomplete;
}

Result<EmbeddingCounts> EngineRetrieval::counts() {
  INDX_TRY(core_.ensure_scanned());
  auto& known = core_.parts.embedding;
  std::string state;
  {
    const auto db = INDX_TRY(core_.parts.index->pool().take());
    auto query = db->prepare(
        "SELECT (SELECT group_concat(value) FROM meta WHERE key IN ('epoch', 'counter')) || ' ' || "
        "(SELECT coalesce(max(id), 0) FROM embeddings)");
    INDX_TRY(query.step());
    state = query.text(0);
  }
  const std::scoped_lock lock(known.mutex);
  if (known.counted_at == state) return known.counts;
  known.counts = INDX_TRY(EmbeddingIndex(core_.parts.index->pool()).counts());
  known.counted_at = state;
  return known.counts;
}

std::string EngineRetrieval::model() {
  return core_.parts.embedder ? core_.parts.embedder->model_id() : "";
}

/// A question that comes again, for its next page or from the same job, is not embedded again.
Result<std::vector<float>> EngineRetrieval::vector_of(const RetrievalQuestion& question) {
  const std::vector<std::string> texts = {INDX_TRY(text_of_question(question.q))};
  auto& known = core_.parts.question_vectors;
  if (auto vector = known.find(texts.front())) return std::move(*vector);
  auto embedded = INDX_TRY(embed(texts));
  if (embedded.size() != 1)
    return make_error(Reason::AiProviderError, "The model gave no vector for the question.");
  known.put(texts.front(), embedded.front());
  return std::move(embedded.front());
}

Result<std::unique_ptr<RetrievalSource>> EngineRetrieval::ask(const RetrievalQuestion& question,
                                                              bool by_meaning) {
  INDX_TRY(core_.ensure_scanned());
  RetrievalQuestion asked = question;
  asked.filter.scope = scope_;
  std::vector<float> vector;
  if (by_meaning) {
    // Before a connection is taken: a model may be far away.
    vector = INDX_TRY(vector_of(question));
    // Its first answer may tell that a server has another model by the same name now.
    if (INDX_TRY(vectors()) == Vectors::OtherModel)
      return make_error(Reason::AiUnavailable,
                        "The vectors of the index are not of the model that embeds questions.",
                        {{"required_role", "embeddings"}});
  }
  auto run = INDX_TRY(
      core_.parts.index->retrieve(asked, by_meaning ? &vector : nullptr, &core_.parts.vectors));
  return std::unique_ptr<RetrievalSource>(std::make_unique<IndexSource>(std::move(run)));
}

Result<std::vector<NearChunk>> EngineRetrieval::near_note(const NotePath& path, NoteFilter filter,
                                                          std::size_t most_notes) {
  INDX_TRY(core_.ensure_scanned());
  if (!scope_.allows(path.str()))
    return make_error(Reason::Forbidden, cat("This token may not use ", path.str(), "."),
                      {{"path", path.str()}});
  auto& index = *core_.parts.index;
  if (!INDX_TRY(index.find(path.str())))
    return not_found(cat("`", path.str(), "` does not exist."), {{"path", path.str()}});
  const auto state = INDX_TRY(vectors());
  if (state != Vectors::Ready && state != Vectors::Incomplete) return std::vector<NearChunk>();
  filter.scope = scope_;
  return index.near_note(path.str(), filter, most_notes, &core_.parts.vectors);
}

Result<std::vector<std::vector<float>>> EngineRetrieval::embed(std::span<const std::string> texts) {
  if (!core_.parts.embedder) return no_embedder();
  return embed_(texts);
}

Result<std::vector<ChunkToEmbed>> EngineRetrieval::to_embed(const std::string& after_key,
                                                            int limit) {
  INDX_TRY(core_.ensure_scanned());
  if (after_key.empty()) pass_began_at_ = core_.parts.embedding.changes;
  return EmbeddingIndex(core_.parts.index->pool()).to_embed(after_key, limit);
}

Status EngineRetrieval::keep(const std::vector<EmbeddedChunk>& chunks) {
  INDX_TRY(core_.change_vectors([model = model(), chunks](NoteIndexWriter& writer) -> Result<Json> {
    INDX_TRY(writer.put_embeddings(model, chunks));
    return Json();
  }));
  return {};
}

Status EngineRetrieval::forget_all() {
  INDX_TRY(core_.change_vectors([](NoteIndexWriter& writer) -> Result<Json> {
    INDX_TRY(writer.forget_embeddings());
    return Json();
  }));
  ++core_.parts.embedding.changes;
  core_.parts.embedding.is_of_other_model = false;
  return {};
}

Status EngineRetrieval::forget_left_out() {
  INDX_TRY(core_.change_vectors([](NoteIndexWriter& writer) -> Result<Json> {
    return Json(INDX_TRY(writer.forget_left_out()));
  }));
  return {};
}

// The writer is only asked for it where it is worth it: it looks through all vectors.
Result<std::int64_t> EngineRetrieval::tidy() {
  if (!INDX_TRY(counts()).is_untidy()) return std::int64_t{0};
  const Json dropped = INDX_TRY(core_.change_vectors(
      [&vectors = core_.parts.vectors](NoteIndexWriter& writer) -> Result<Json> {
        return Json(INDX_TRY(writer.prune_embeddings(vectors)));
      }));
  return dropped.get<std::int64_t>();
}

}  // namespace indx
