#include "ops/search/retrieval.hpp"

#include "ops/context.hpp"

#include <algorithm>
#include <map>

namespace indx {
namespace {

double reciprocal(int rank) { return rank == 0 ? 0 : 1 / (kFusionK + rank); }

RetrievedNote& note_at(std::map<std::string, RetrievedNote>& notes, const std::string& path) {
  auto& note = notes[path];
  note.path = path;
  return note;
}

void sort_by(std::vector<RetrievedNote>& notes, double RetrievedNote::*score) {
  std::sort(notes.begin(), notes.end(), [score](const auto& a, const auto& b) {
    return a.*score != b.*score ? a.*score > b.*score : a.path < b.path;
  });
}

std::vector<std::string> paths_of(const std::vector<RetrievedNote>& notes, std::size_t most) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < std::min(most, notes.size()); ++i) paths.push_back(notes[i].path);
  return paths;
}

/// The least of what is known; 0: nothing is.
double least_of(const std::vector<RetrievedNote>& notes,
                std::optional<double> NoteEvidence::*cosine) {
  std::optional<double> least;
  for (const auto& note : notes)
    if (const auto& value = note.evidence.*cosine) least = std::min(least.value_or(*value), *value);
  return least.value_or(0);
}

bool is_model_trouble(const Error& error) {
  return error.reason == Reason::AiUnavailable || error.reason == Reason::AiProviderError ||
         error.reason == Reason::AiQuotaExceeded || error.reason == Reason::AiInputTooLarge ||
         error.reason == Reason::RateLimited;
}

bool can_search(Vectors vectors) {
  return vectors == Vectors::Ready || vectors == Vectors::Incomplete;
}

Result<std::vector<RetrievedNote>> by_words(RetrievalSource& source, std::size_t top_k) {
  auto notes = fuse(INDX_TRY(source.lexical(top_k)), {});
  for (auto& note : notes) note.score = note.lexical_score;
  return notes;
}

Result<std::vector<RetrievedNote>> by_meaning(RetrievalSource& source, std::size_t top_k) {
  auto notes = fuse({}, INDX_TRY(source.nearest(top_k)));
  for (auto& note : notes) note.score = note.similarity;
  return notes;
}

Result<std::vector<RetrievedNote>> by_both(RetrievalSource& source, std::size_t top_k) {
  const auto depth = std::max(kRetrievalDepth, top_k);
  const auto lexical = INDX_TRY(source.lexical(depth));
  auto notes = fuse(lexical, INDX_TRY(source.nearest(depth)));
  add_linked(notes, INDX_TRY(source.linked(paths_of(notes, kLinkedFrom))));
  add_bm25(notes, INDX_TRY(source.scores(paths_of(notes, notes.size()))));
  rerank(notes);  // by what the lists say; the best are looked at
  if (const auto most = std::max(kReranked, top_k); notes.size() > most) notes.resize(most);
  auto evidence = INDX_TRY(source.evidence(paths_of(notes, notes.size())));
  for (std::size_t i = 0; i < std::min(notes.size(), evidence.size()); ++i)
    notes[i].evidence = std::move(evidence[i]);
  rerank(notes);
  return notes;
}

}  // namespace

std::vector<std::string> warnings_of(Vectors vectors) {
  switch (vectors) {
    case Vectors::Ready:
      return {};
    case Vectors::Incomplete:
      return {"embeddings_incomplete"};
    case Vectors::OtherModel:
      return {"embeddings_unavailable", "embedding_model_changed"};
    case Vectors::None:
    case Vectors::Off:
      break;
  }
  return {"embeddings_unavailable"};
}

std::string_view name(Vectors vectors) {
  switch (vectors) {
    case Vectors::Ready:
      return "ready";
    case Vectors::Incomplete:
      return "incomplete";
    case Vectors::None:
      return "none";
    case Vectors::OtherModel:
      return "other_model";
    case Vectors::Off:
      break;
  }
  return "off";
}

std::vector<RetrievedNote> fuse(const std::vector<RankedPath>& lexical,
                                const std::vector<NearChunk>& chunks) {
  std::map<std::string, RetrievedNote> notes;
  int rank = 0;
  for (const auto& [path, score] : lexical) {
    auto& note = note_at(notes, path);
    note.lexical_rank = ++rank;
    note.lexical_score = score;
  }
  rank = 0;
  for (const auto& chunk : chunks) {
    auto& note = note_at(notes, chunk.path);
    if (note.chunks.empty()) {
      note.vector_rank = ++rank;
      note.similarity = chunk.similarity;
    }
    note.chunks.push_back(chunk);
  }
  std::vector<RetrievedNote> fused;
  for (auto& [path, note] : notes) {
    note.fused_score = reciprocal(note.lexical_rank) + reciprocal(note.vector_rank);
    note.score = note.fused_score;
    fused.push_back(std::move(note));
  }
  sort_by(fused, &RetrievedNote::fused_score);
  rank = 0;
  for (auto& note : fused) note.fused_rank = ++rank;
  return fused;
}

void add_linked(std::vector<RetrievedNote>& notes, const std::vector<LinkedPath>& links) {
  std::map<std::string, std::vector<std::string>> sources;
  for (const auto& [from, to] : links) sources[to].push_back(from);
  for (auto& note : notes) {
    const auto linked = sources.find(note.path);
    if (linked == sources.end()) continue;
    note.linked_from = std::move(linked->second);
    sources.erase(linked);
  }
  for (auto& [path, from] : sources) {
    RetrievedNote note;
    note.path = path;
    note.linked_from = std::move(from);
    notes.push_back(std::move(note));
  }
}

void add_bm25(std::vector<RetrievedNote>& notes, const std::vector<RankedPath>& bm25) {
  std::map<std::string, double> scores;
  for (const auto& [path, score] : bm25) scores[path] = score;
  for (auto& note : notes) {
    note.bm25_score = scores[note.path];
    note.evidence.path = note.path;
    note.evidence.passage_words = note.bm25_score;
    if (note.vector_rank > 0) note.evidence.nearest = note.evidence.mean = note.similarity;
  }
  std::erase_if(notes, [](const RetrievedNote& note) {
    return note.bm25_score <= 0 && note.vector_rank == 0;
  });
  sort_by(notes, &RetrievedNote::bm25_score);
  int rank = 0;
  for (auto& note : notes)
    if (note.bm25_score > 0) note.bm25_rank = ++rank;
}

void rerank(std::vector<RetrievedNote>& notes) {
  const double least_near = least_of(notes, &NoteEvidence::nearest);
  const double least_mean = least_of(notes, &NoteEvidence::mean);
  for (auto& note : notes) {
    const auto& found = note.evidence;
    note.rerank_words = kWordsWeight * (note.bm25_score + found.passage_words);
    note.rerank_meaning =
        (found.nearest.value_or(least_near) + found.mean.value_or(least_mean)) / 2;
    note.score = note.rerank_words + note.rerank_meaning;
  }
  sort_by(notes, &RetrievedNote::score);
}

Json explain(const RetrievedNote& note) {
  Json stages{{"lexical", nullptr}, {"vector", nullptr}, {"fusion", nullptr},
              {"links", nullptr},   {"rerank", nullptr}, {"score", note.score}};
  if (note.lexical_rank > 0)
    stages["lexical"] = {{"rank", note.lexical_rank}, {"score", note.lexical_score}};
  if (note.vector_rank > 0) {
    const auto& chunk = note.chunks.front();
    stages["vector"] = {{"rank", note.vector_rank},
                        {"similarity", note.similarity},
                        {"heading_path", chunk.heading_path},
                        {"char_start", chunk.char_start},
                        {"char_end", chunk.char_end}};
  }
  if (note.fused_rank > 0)
    stages["fusion"] = {{"rank", note.fused_rank}, {"score", note.fused_score}, {"k", kFusionK}};
  if (!note.linked_from.empty()) stages["links"] = {{"from", note.linked_from}};
  if (!note.evidence.path.empty())
    stages["rerank"] = {{"rank", note.bm25_rank > 0 ? Json(note.bm25_rank) : Json(nullptr)},
                        {"score", note.bm25_score},
                        {"passage", note.evidence.passage_words},
                        {"words", note.rerank_words},
                        {"meaning", note.rerank_meaning}};
  return stages;
}

Result<Retrieved> retrieve_by_meaning(Context& ctx, const RetrievalRequest& request) {
  Retrieved out;
  if (request.mode == "lexical") return out;
  auto& retrieval = ctx.retrieval();
  auto vectors = INDX_TRY(retrieval.vectors());
  if (can_search(vectors)) {
    auto source = retrieval.ask(request.question, true);
    if (source.has_value())
      out.source = std::move(*source);
    else if (!is_model_trouble(source.error()))
      return source.error();
    else if (vectors = INDX_TRY(retrieval.vectors()); can_search(vectors))
      vectors = Vectors::Off;  // of no use to this question
  }
  out.warnings = warnings_of(vectors);
  if (!out.source) return out;
  out.mode_used = request.mode;
  out.notes = request.mode == "semantic" ? INDX_TRY(by_meaning(*out.source, request.top_k))
                                         : INDX_TRY(by_both(*out.source, request.top_k));
  if (out.notes.size() > request.top_k) out.notes.resize(request.top_k);
  return out;
}

Result<Retrieved> retrieve(Context& ctx, const RetrievalRequest& request) {
  Retrieved out = INDX_TRY(retrieve_by_meaning(ctx, request));
  if (out.source) return out;
  out.source = INDX_TRY(ctx.retrieval().ask(request.question, false));
  out.notes = INDX_TRY(by_words(*out.source, request.top_k));
  return out;
}

}  // namespace indx
