#include "ops/ai/ask_context.hpp"

#include "ai/extractive/question.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/search/retrieval.hpp"
#include "vault/chunk.hpp"

#include <algorithm>
#include <cctype>

namespace indx {
namespace {

constexpr std::size_t kMostQuestionWords = 150;
constexpr std::size_t kChunksPerHit = 2;  ///< on average: a note alone may give more

void add_once(std::vector<Json>& warnings, const Json& warning) {
  if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
    warnings.push_back(warning);
}

bool names_notes(const AiScope& scope) { return scope.kind == "paths" || scope.kind == "note"; }

/// Narrows the filter to the scope, and gives the notes that it names.
Result<std::vector<std::string>> apply_scope(Context& ctx, const AskCall& call, NoteFilter& filter,
                                             std::vector<Json>& warnings) {
  std::vector<std::string> named;
  if (call.scope.kind.empty()) return named;
  ScopePaths found = INDX_TRY(scope_paths(ctx, call.scope));
  for (const auto& warning : found.warnings) add_once(warnings, warning);
  if (names_notes(call.scope)) {
    for (const auto& text : found.paths) {
      const NotePath path = INDX_TRY(NotePath::parse(text));
      if (ctx.notes().exists(path)) {
        named.push_back(text);
        continue;
      }
      auto gone = not_found(cat("`", text, "` does not exist."), Json{{"path", text}});
      if (found.paths.size() == 1) return gone;
      warnings.push_back(Json{{"code", "not_found"}, {"path", text}, {"reason", gone.message}});
    }
  }
  filter.only = std::move(found.paths);
  return named;
}

/// What the search would have found but for the globs of the configuration. By words: notes that
/// are hidden have no vectors.
Result<std::vector<std::string>> hidden_hits(Context& ctx, const RetrievalQuestion& question,
                                             std::size_t most) {
  std::vector<std::string> hidden;
  const auto& ai = ctx.config().ai;
  if (ai.allow_globs.empty() && ai.deny_globs.empty()) return hidden;
  RetrievalQuestion open = question;
  open.filter.narrower = {};
  const auto source = INDX_TRY(ctx.retrieval().ask(open, false));
  for (const auto& row : INDX_TRY(source->lexical(most)))
    if (!ai_may_read(ai, row.path)) hidden.push_back(row.path);
  std::sort(hidden.begin(), hidden.end());
  return hidden;
}

Result<std::vector<RetrievedNote>> search_notes(Context& ctx, const RetrievalQuestion& question,
                                                const AskCall& call, AskContext& out) {
  Retrieved found = INDX_TRY(retrieve(ctx, {question, call.mode, call.top_k}));
  out.mode_used = found.mode_used;
  for (const auto& warning : found.warnings) add_once(out.warnings, warning);
  std::vector<RetrievalSource::Shown> shown;
  for (const auto& note : found.notes)
    shown.push_back({note.path, note.score, note.chunks.empty() ? nullptr : &note.chunks.front()});
  for (const auto& hit : INDX_TRY(found.source->hits(shown)))
    out.hits.push_back({hit.path, hit.score, hit.matched_in});
  return std::move(found.notes);
}

/// The chunks of a note as it is now, best first: near to the question in meaning, and with many of
/// its words. Empty when the note is gone.
Result<std::vector<AskChunk>> ranked_chunks(Context& ctx, const std::string& text,
                                            const RetrievedNote* hit,
                                            const std::set<std::string>& words) {
  const NotePath path = INDX_TRY(NotePath::parse(text));
  const auto file = ctx.notes().read(path);
  if (!file) {
    if (file.error().reason == Reason::NotFound) return std::vector<AskChunk>();
    return file.error();
  }
  const auto note = ctx.notes().parse(*file);
  struct Ranked {
    AskChunk chunk;
    double score = 0;
  };
  std::vector<Ranked> ranked;
  for (auto& chunk : chunk_note(text, file->bytes, *note)) {
    const auto keys = word_keys(cat(join(chunk.heading_path, "\n"), "\n", chunk.content));
    const auto held = std::count_if(words.begin(), words.end(),
                                    [&](const std::string& word) { return keys.contains(word); });
    double score =
        words.empty() ? 0 : static_cast<double>(held) / static_cast<double>(words.size());
    if (hit != nullptr)
      for (const auto& near : hit->chunks)
        if (near.char_start == chunk.char_start && near.char_end == chunk.char_end)
          score += std::max(0.0, near.similarity);
    ranked.push_back(
        {{text, file->etag, chunk.char_start, chunk.char_end, std::move(chunk.heading_path)},
         score});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
  std::vector<AskChunk> chunks;
  for (auto& one : ranked) chunks.push_back(std::move(one.chunk));
  return chunks;
}

/// The best chunk of each note in order, then the second best of each, and so on.
std::vector<AskChunk> in_rounds(std::vector<std::vector<AskChunk>> by_note, std::size_t most) {
  std::vector<AskChunk> chunks;
  for (std::size_t round = 0;; ++round) {
    bool has_more = false;
    for (auto& note : by_note) {
      if (round >= note.size()) continue;
      if (chunks.size() == most) return chunks;
      has_more = true;
      chunks.push_back(std::move(note[round]));
    }
    if (!has_more) return chunks;
  }
}

Result<AskContext> look_up(Context& ctx, const AskCall& call) {
  AskContext out;
  RetrievalQuestion question;
  question.filter = INDX_TRY(filter_of(call.filters, "retrieve.filters"));
  question.filter.narrower = {ctx.config().ai.allow_globs, ctx.config().ai.deny_globs};
  const auto named = INDX_TRY(apply_scope(ctx, call, question.filter, out.warnings));
  question.q = plain_question(call.question);
  std::vector<RetrievedNote> notes;
  if (!question.q.empty()) {
    notes = INDX_TRY(search_notes(ctx, question, call, out));
    if (call.scope.kind.empty())
      if (auto hidden = INDX_TRY(hidden_hits(ctx, question, call.top_k)); !hidden.empty())
        out.warnings.push_back(Json{{"code", "globs_excluded"},
                                    {"reason", "ai.allow_globs and ai.deny_globs"},
                                    {"paths", std::move(hidden)}});
  }
  const auto is_hit = [&](const std::string& path) {
    return std::any_of(out.hits.begin(), out.hits.end(),
                       [&](const AskHit& hit) { return hit.path == path; });
  };
  if (call.filters.empty())  // a filter means those that pass it, found or not at all
    for (const auto& path : named)
      if (out.hits.size() < call.top_k && !is_hit(path)) out.hits.push_back({path, 0, {}});

  const auto words = word_keys(call.question);
  std::vector<std::vector<AskChunk>> by_note;
  for (const auto& hit : out.hits) {
    const auto note = std::find_if(notes.begin(), notes.end(),
                                   [&](const auto& one) { return one.path == hit.path; });
    by_note.push_back(
        INDX_TRY(ranked_chunks(ctx, hit.path, note == notes.end() ? nullptr : &*note, words)));
  }
  out.chunks = in_rounds(std::move(by_note), kChunksPerHit * call.top_k);
  return out;
}

}  // namespace

Fields<AskHit> AskHit::fields() {
  return {field("path", &AskHit::path, "The note."),
          field("score", &AskHit::score, "As of vault_search; 0: named by the scope only."),
          field("matched_in", &AskHit::matched_in,
                "Where words of the question stand; empty: near in meaning only.",
                one_of({"title", "body", "tags", "frontmatter"}))};
}
Fields<AskChunk> AskChunk::fields() {
  return {field("path", &AskChunk::path, ""), field("etag", &AskChunk::etag, ""),
          field("begin", &AskChunk::begin, ""), field("end", &AskChunk::end, ""),
          field("heading_path", &AskChunk::heading_path, "")};
}
Fields<AskContext> AskContext::fields() {
  return {field("mode_used", &AskContext::mode_used, ""), field("hits", &AskContext::hits, ""),
          field("chunks", &AskContext::chunks, ""), field("warnings", &AskContext::warnings, "")};
}

std::string plain_question(std::string_view question) {
  const auto text = replace_invalid_utf8(question);
  std::string clean;
  bool has_word = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = decode_at(text, at);
    const auto next = at + point.length;
    const char c = text[at];
    const bool is_last = next >= text.size() || is_space(decode_at(text, next).value);
    const bool is_sentence_mark = std::string_view(".,;!?").find(c) != std::string_view::npos;
    const bool is_mark = static_cast<unsigned char>(c) < 0x80 && std::ispunct(c) != 0 && c != '\'';
    if (is_mark && !(is_sentence_mark && is_last))
      clean += ' ';
    else
      clean += text.substr(at, point.length);
    has_word = has_word || is_letter(point.value) || is_digit(point.value);
    at = next;
  }
  if (!has_word) return {};
  std::string out;
  std::size_t count = 0;
  for (std::size_t at = 0; at < clean.size() && count < kMostQuestionWords; ++count) {
    const auto begin = clean.find_first_not_of(" \t\r\n", at);
    if (begin == clean.npos) break;
    at = std::min(clean.size(), clean.find_first_of(" \t\r\n", begin));
    const auto word = clean.substr(begin, at - begin);
    if (word.find_first_not_of(".,;!?'") == word.npos) continue;
    out += cat(out.empty() ? "" : " ", word == "OR" ? "or" : word);
  }
  return out;
}

Result<AskContext> find_context(Context& ctx, const AskCall& call) {
  const Json inputs{{"question", call.question},
                    {"scope", *Codec<AiScope>::encode(call.scope)},
                    {"mode", call.mode},
                    {"top_k", call.top_k},
                    {"filters", call.filters}};
  const Json stored = INDX_TRY(ctx.step("retrieve", inputs, [&]() -> Result<Json> {
    return *Codec<AskContext>::encode(INDX_TRY(look_up(ctx, call)));
  }));
  AskContext context;
  Codec<AskContext>::decode(stored, context);
  return context;
}

}  // namespace indx
