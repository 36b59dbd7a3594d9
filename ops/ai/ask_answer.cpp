#include "ops/ai/ask_answer.hpp"

#include "ai/answer.hpp"
#include "ai/extractive/answerer.hpp"
#include "ai/extractive/language.hpp"
#include "ai/prompt.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/ai/ai_grounding.hpp"
#include "ops/ai/wikilink_target.hpp"
#include "ops/notes/note_view.hpp"
#include "ops/retrieval.hpp"

#include <algorithm>
#include <map>

namespace indx {
namespace {

constexpr int kAskVersion = 3;  // raise it with prompt and rules: stored steps are not reused then
constexpr std::int64_t kMinBlockTokens = 64;
constexpr std::size_t kEmbedBatch = 32;

/// The notes of a context at their versions, and the chunks of those that still are at them.
struct AskSources {
  std::map<std::string, AiNote> notes;
  std::vector<AskChunk> chunks;
  std::vector<Json> warnings;
};

Result<AskSources> read_sources(Context& ctx, const AskContext& context) {
  AskSources sources;
  std::set<std::string> gone;
  std::optional<Error> first_error;
  for (const auto& chunk : context.chunks) {
    if (gone.contains(chunk.path)) continue;
    if (!sources.notes.contains(chunk.path)) {
      auto note = read_scoped(ctx, {chunk.path, chunk.etag});
      if (!note) {
        const Error& error = note.error();
        if (error.reason != Reason::EtagMismatch && error.reason != Reason::NotFound) return error;
        if (!first_error) first_error = error;
        gone.insert(chunk.path);
        sources.warnings.push_back(ai_warning(error.name(), chunk.path, error.message));
        continue;
      }
      sources.notes.emplace(chunk.path, std::move(*note));
    }
    sources.chunks.push_back(chunk);
  }
  if (sources.chunks.empty() && first_error) return *first_error;
  return sources;
}

AnswerBlock to_block(const AskChunk& chunk, const AiNote& source) {
  const auto& bytes = source.file.bytes;
  return {chunk.path, title_of(*source.note, source.file.path), join(chunk.heading_path, " > "),
          chunk.etag, bytes.substr(chunk.begin, chunk.end - chunk.begin)};
}

AnswerOptions options_of(const AskCall& call) {
  return {call.style, call.language, call.cite, call.history};
}

/// What fits into a prompt, the best pieces first; the first of all may be cut, others are left out
/// whole. The chunks are cut with their blocks.
Result<std::vector<AnswerBlock>> fitting_blocks(Context& ctx, const AskCall& call,
                                                AskSources& sources) {
  const auto overhead = answer_overhead(call.question, options_of(call));
  auto room = ctx.config().ai.max_input_tokens - overhead;
  std::vector<AnswerBlock> blocks;
  std::vector<AskChunk> kept;
  for (const auto& chunk : sources.chunks) {
    auto block = to_block(chunk, sources.notes.at(chunk.path));
    auto tokens = block_tokens(block);
    if (tokens > room && !blocks.empty()) continue;
    if (tokens > room) {
      const auto rest = room - block_overhead(block);
      if (rest < kMinBlockTokens)
        return make_error(Reason::AiInputTooLarge,
                          "The question, its history and a piece of one note do not fit into "
                          "ai.max_input_tokens. Ask shorter, or with less history.",
                          Json{{"tokens", overhead + block_overhead(block) + kMinBlockTokens}});
      block.text = std::string(fit_tokens(block.text, rest));
      tokens = block_tokens(block);
    }
    room -= tokens;
    kept.push_back(chunk);
    kept.back().end = chunk.begin + block.text.size();
    blocks.push_back(std::move(block));
  }
  sources.chunks = std::move(kept);
  return blocks;
}

/// The citation that a claim stands for, when its snippet stands in one of the pieces shown.
AiSources::Verdict verify_shown(const AiSources& notes, const std::vector<AskChunk>& shown,
                                AiClaim claim) {
  AiSources::Verdict verdict;
  bool is_shown = false;
  for (const auto& chunk : shown) {
    if (chunk.path != claim.path) continue;
    is_shown = true;
    claim.span = {chunk.begin, chunk.end};
    verdict = notes.verify(claim, claim.snippet);
    if (verdict.citation) return verdict;
  }
  return is_shown ? verdict : notes.verify(claim, claim.snippet);
}

std::string lowered(const std::string& confidence) {
  if (confidence == "high") return "medium";
  return confidence == "medium" ? "low" : confidence;
}

void verify_citations(const AnswerReply& reply, const AskSources& sources, AskResult& result) {
  AiSources notes;
  for (const auto& [path, note] : sources.notes) notes.add(note);
  std::set<std::pair<std::string, std::vector<std::size_t>>> seen;
  bool has_dropped = false;
  for (const auto& given : reply.citations) {
    const auto claim = claim_from_json(given);
    AiSources::Verdict verdict = verify_shown(notes, sources.chunks, claim);
    if (!verdict.citation) {
      has_dropped = true;
      result.warnings.push_back(std::move(verdict.warning));
    } else if (seen.emplace(verdict.citation->path, verdict.citation->span).second) {
      result.citations.push_back(std::move(*verdict.citation));
    }
  }
  if (has_dropped) result.confidence = lowered(result.confidence);
}

Result<AskResult> ask_the_model(Context& ctx, const AskCall& call, AskSources& sources) {
  AskResult result;
  const auto blocks = INDX_TRY(fitting_blocks(ctx, call, sources));
  const auto request = answer_prompt(call.question, blocks, options_of(call), ctx.config().ai,
                                     call.seed, call.max_tokens);
  const auto answer = INDX_TRY(ask_model(ctx, request, "answer", result.cost, result.warnings));
  AnswerReply reply = INDX_TRY(parse_answer_reply(answer));
  result.is_supported = reply.is_supported;
  if (!reply.is_supported) return result;
  result.answer = std::move(reply.answer);
  result.followups = std::move(reply.followups);
  result.confidence = answer.finish_reason == FinishReason::Length ? "unknown" : reply.confidence;
  if (call.cite) verify_citations(reply, sources, result);
  return result;
}

/// Vectors for the builtin answer; none where no embedder is, or none that knows the language.
Result<std::vector<std::vector<float>>> sentence_vectors(Context& ctx, const std::string& question,
                                                         const std::vector<std::string>& texts) {
  std::vector<std::vector<float>> vectors;
  const auto model = ctx.retrieval().model();
  const auto language = language_of(question);
  const bool is_foreign = model.starts_with("use-lite-en") && !language.empty() && language != "en";
  if (model.empty() || is_foreign) return vectors;
  for (std::size_t at = 0; at < texts.size(); at += kEmbedBatch) {
    const auto count = std::min(kEmbedBatch, texts.size() - at);
    auto batch = ctx.retrieval().embed(std::span(texts).subspan(at, count));
    if (!batch) {
      if (batch.error().reason == Reason::Cancelled) return batch.error();
      return std::vector<std::vector<float>>();  // by words then, as the search itself does
    }
    for (auto& vector : *batch) vectors.push_back(std::move(vector));
  }
  return vectors;
}

/// Quoted, with a link to the note below it; the path as it is where no link can spell it.
Result<std::string> shown_passage(Context& ctx, const AnswerPassage& passage,
                                  const NotePath& path) {
  const auto target = INDX_TRY(wikilink_target(ctx, "", path));
  const auto place = target.empty() ? path.str() : cat("[[", target, "]]");
  const auto section = passage.heading.empty() ? "" : ", " + passage.heading;
  return cat("> ", replace_all(replace_all(passage.text, "\r", ""), "\n", "\n> "), "\n>\n> \u2014 ",
             place, section);
}

Result<AskResult> quoted_answer(Context& ctx, const AskCall& call, const AskSources& sources) {
  AskResult result;
  AnswerTask task;
  task.question = call.question;
  task.gate = ctx.config().ai.ask_gate;
  task.corpus = INDX_TRY(ctx.index().corpus());
  std::map<std::string, std::size_t> places;
  for (const auto& chunk : sources.chunks) {
    const auto& source = sources.notes.at(chunk.path);
    const auto [place, is_new] = places.try_emplace(chunk.path, task.notes.size());
    if (is_new)
      task.notes.push_back(
          {chunk.path, title_of(*source.note, source.file.path), source.file.bytes});
    task.chunks.push_back({place->second, chunk.begin, chunk.end, chunk.heading_path});
  }
  const ExtractiveAnswerer answerer(task);
  const auto vectors = INDX_TRY(sentence_vectors(ctx, call.question, answerer.texts()));
  const auto found = answerer.answer(vectors);
  result.is_supported = !found.passages.empty();
  if (!result.is_supported) return result;
  result.confidence = found.is_sure ? "high" : "medium";
  result.answer = found.passages.size() == 1 ? "Best passage:" : "Best passages:";
  for (const auto& passage : found.passages) {
    const auto& source = sources.notes.at(task.notes[passage.note].path);
    result.answer += "\n\n" + INDX_TRY(shown_passage(ctx, passage, source.file.path));
    if (call.cite)
      result.citations.push_back(
          to_citation(passage.evidence, source.file.path.str(), source.file.etag));
  }
  return result;
}

}  // namespace

Fields<AskResult> AskResult::fields() {
  return {field("is_supported", &AskResult::is_supported, ""),
          field("answer", &AskResult::answer, ""),
          field("confidence", &AskResult::confidence, ""),
          field("citations", &AskResult::citations, ""),
          field("followups", &AskResult::followups, ""),
          field("warnings", &AskResult::warnings, ""),
          field("cost", &AskResult::cost, "")};
}

Result<AskResult> answer_from(Context& ctx, const AskContext& context, const AskCall& call) {
  AskResult result;
  if (context.chunks.empty()) return result;
  Json pieces = Json::array();
  for (const auto& chunk : context.chunks)
    pieces.push_back(Json::array({chunk.path, chunk.etag, chunk.begin, chunk.end}));
  Json key = call.key;
  key["ask_version"] = kAskVersion;
  key["gate"] = ctx.config().ai.ask_gate;
  const Json inputs{{"pieces", std::move(pieces)}, {"request", request_hash(ctx, std::move(key))}};
  const Json stored = INDX_TRY(ctx.step("answer", inputs, [&]() -> Result<Json> {
    AskSources sources = INDX_TRY(read_sources(ctx, context));
    auto made = ctx.models().can_generate() ? INDX_TRY(ask_the_model(ctx, call, sources))
                                            : INDX_TRY(quoted_answer(ctx, call, sources));
    made.warnings.insert(made.warnings.begin(), sources.warnings.begin(), sources.warnings.end());
    return *Codec<AskResult>::encode(made);
  }));
  Codec<AskResult>::decode(stored, result);
  return result;
}

}  // namespace indx
