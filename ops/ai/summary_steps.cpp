#include "ops/ai/summary_steps.hpp"

#include "ai/extractive/summarizer.hpp"
#include "ai/prompt.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "ops/notes/note_view.hpp"
#include "vault/chunk.hpp"

#include <algorithm>
#include <limits>

namespace indx {
namespace {

constexpr int kSummaryPromptVersion = 1;  // raise it with the prompts: stored steps are not reused
constexpr std::size_t kMaxOutlineRows = 1000;
constexpr std::int64_t kMinPieceTokens = 64;

Error too_large(std::int64_t tokens, const std::string& what) {
  return make_error(Reason::AiInputTooLarge,
                    cat(what, " does not fit into ai.max_input_tokens, even in parts."),
                    Json{{"tokens", tokens}});
}

std::int64_t room_for(Context& ctx, std::int64_t overhead) {
  if (!ctx.models().can_generate()) return std::numeric_limits<std::int32_t>::max();
  return ctx.config().ai.max_input_tokens - overhead;
}

/// Cuts notes into pieces along their chunks and packs these into parts that fit.
class SummaryPlanner {
 public:
  SummaryPlanner(std::int64_t room, bool whole_notes) : room_(room), whole_notes_(whole_notes) {}

  Status add(const AiNote& source) {
    const auto& file = source.file;
    const SummarySource head{file.path.str(), title_of(*source.note, file.path), file.etag, ""};
    const auto overhead = source_overhead(head);
    if (overhead + kMinPieceTokens > room_)
      return too_large(overhead + kMinPieceTokens, "The instruction with one paragraph");
    plan_.total_tokens += estimate_tokens(file.bytes);
    for (const auto& heading : source.note->headings)
      if (plan_.outline.size() < kMaxOutlineRows)
        plan_.outline.push_back({heading.text, heading.line, head.path});
    if (whole_notes_) {
      put({head.path, file.etag, 0, file.bytes.size()}, file.bytes, overhead);
      return {};
    }
    for (const auto& chunk : chunk_note(head.path, file.bytes, *source.note)) {
      auto rest =
          std::string_view(file.bytes).substr(chunk.char_start, chunk.char_end - chunk.char_start);
      auto begin = chunk.char_start;
      while (!rest.empty()) {
        const auto piece = fit_tokens(rest, room_ - overhead);
        if (piece.empty()) return too_large(estimate_tokens(rest), cat("`", head.path, "`"));
        put({head.path, file.etag, begin, begin + piece.size()}, file.bytes, overhead);
        begin += piece.size();
        rest.remove_prefix(piece.size());
      }
    }
    return {};
  }

  SummaryPlan take() { return std::move(plan_); }

 private:
  /// Into the part at hand, as more of the same note where it follows on; else into a new one.
  void put(SummaryPiece piece, const std::string& bytes, std::int64_t overhead) {
    const auto tokens_of = [&](std::size_t begin, std::size_t end) {
      return estimate_tokens(std::string_view(bytes).substr(begin, end - begin));
    };
    if (!plan_.parts.empty()) {
      auto& pieces = plan_.parts.back().pieces;
      auto& last = pieces.back();
      if (last.path == piece.path) {
        const auto grown = used_ - last_tokens_ + tokens_of(last.begin, piece.end);
        if (grown <= room_) {
          used_ = grown;
          last.end = piece.end;
          last_tokens_ = tokens_of(last.begin, last.end);
          return;
        }
      } else if (const auto tokens = tokens_of(piece.begin, piece.end);
                 used_ + overhead + tokens <= room_) {
        used_ += overhead + tokens;
        last_tokens_ = tokens;
        pieces.push_back(std::move(piece));
        return;
      }
    }
    last_tokens_ = tokens_of(piece.begin, piece.end);
    used_ = overhead + last_tokens_;
    plan_.parts.push_back({{std::move(piece)}});
  }

  const std::int64_t room_;
  const bool whole_notes_;
  SummaryPlan plan_;
  std::int64_t used_ = 0;         ///< tokens of the part at hand
  std::int64_t last_tokens_ = 0;  ///< of its last piece
};

/// Sentences of the notes as they stand, without a model.
SummaryResult quoted_summary(const std::vector<AiNote>& notes, const SummaryCall& call) {
  std::vector<SummaryNote> sources;
  for (const auto& one : notes)
    sources.push_back({one.file.path.str(), title_of(*one.note, one.file.path), one.file.bytes});
  const auto summary = extractive_summary(sources, target_tokens(call.options.length));
  SummaryResult result;
  const bool as_list = call.options.style == "bullets";
  const ChosenSentence* best = nullptr;
  for (const auto& sentence : summary.sentences) {
    const auto& file = notes[sentence.note].file;
    const auto& quote = sentence.evidence.quote;
    const bool is_new_note = best != nullptr && !result.points.empty() &&
                             result.points.back().citations[0].path != file.path.str();
    if (as_list)
      result.text += cat(result.text.empty() ? "- " : "\n- ", replace_all(quote, "\n", " "));
    else
      result.text += cat(result.text.empty() ? "" : is_new_note ? "\n\n" : " ", quote);
    result.points.push_back({quote, {to_citation(sentence.evidence, file.path.str(), file.etag)}});
    if (best == nullptr || sentence.score > best->score) best = &sentence;
  }
  if (best != nullptr) result.tldr = best->evidence.quote;
  for (const auto& question : summary.questions)
    result.questions.push_back(question.evidence.quote);
  return result;
}

/// The points whose support holds, with a warning for each citation that does not.
void verify_points(const SummaryReply& reply, const AiSources& sources, SummaryResult& result) {
  for (const auto& claimed : reply.points) {
    SummaryPoint point{claimed.text, {}};
    for (const auto& support : claimed.support) {
      auto verdict = sources.verify(claim_from_json(support), claimed.text);
      if (verdict.citation)
        point.citations.push_back(std::move(*verdict.citation));
      else
        result.warnings.push_back(std::move(verdict.warning));
    }
    result.points.push_back(std::move(point));
  }
}

/// One part, or all there is, whose prose is then that of the answer; runs in a lane.
Result<Json> summarize_part(Context& lane, const SummaryPart& part, const SummaryCall& call,
                            bool is_whole) {
  std::vector<AiNote> notes;
  std::vector<SummarySource> prompt;
  AiSources sources;
  for (const auto& piece : part.pieces) {
    AiNote note = INDX_TRY(read_scoped(lane, {piece.path, piece.etag}));
    prompt.push_back({piece.path, title_of(*note.note, note.file.path), piece.etag,
                      note.file.bytes.substr(piece.begin, piece.end - piece.begin)});
    sources.add(note);
    notes.push_back(std::move(note));
  }
  if (!lane.models().can_generate())
    return *Codec<SummaryResult>::encode(quoted_summary(notes, call));
  SummaryResult result;
  auto request = summary_prompt(prompt, call.options, lane.config().ai, call.seed, call.max_tokens);
  if (!is_whole) request.prose_member.clear();
  const auto answer =
      INDX_TRY(ask_model(lane, request, part.pieces.front().path, result.cost, result.warnings));
  SummaryReply reply = INDX_TRY(parse_summary_reply(answer));
  result.tldr = std::move(reply.tldr);
  result.text = std::move(reply.text);
  result.questions = std::move(reply.questions);
  if (call.cite)
    verify_points(reply, sources, result);
  else
    for (const auto& point : reply.points) result.points.push_back({point.text, {}});
  return *Codec<SummaryResult>::encode(result);
}

/// Results as the reduction shows them, and what each name stands for.
struct ReduceBatch {
  std::vector<PartialSummary> partials;
  std::vector<AiCitation> cited;  ///< `c1` is the first
  Json inputs = Json::array();    ///< of the step
  std::int64_t tokens = 0;
};

PartialSummary to_partial(const SummaryResult& part, std::vector<AiCitation>& cited) {
  PartialSummary partial;
  partial.text = part.text;
  partial.questions = part.questions;
  for (const auto& point : part.points) {
    PartialSummary::Point shown{point.text, {}, {}};
    for (const auto& citation : point.citations) {
      cited.push_back(citation);
      shown.names.push_back(cat("c", cited.size()));
      shown.snippets.push_back(citation.snippet);
    }
    partial.points.push_back(std::move(shown));
  }
  return partial;
}

Result<std::vector<ReduceBatch>> batches_of(const std::vector<SummaryResult>& parts,
                                            std::int64_t room) {
  std::vector<ReduceBatch> batches;
  for (const auto& part : parts) {
    std::vector<AiCitation> alone;
    // Names get longer with their number: counted as if all were of four digits.
    const auto tokens = estimate_tokens(partial_text(to_partial(part, alone))) +
                        static_cast<std::int64_t>(alone.size()) +
                        frame_tokens(std::string(16, '0')) + 2;
    if (tokens > room) return too_large(tokens, "The summary of one part");
    if (batches.empty() || batches.back().tokens + tokens > room) batches.emplace_back();
    auto& batch = batches.back();
    batch.partials.push_back(to_partial(part, batch.cited));
    batch.inputs.push_back(canonical_hash(*Codec<SummaryResult>::encode(part)));
    batch.tokens += tokens;
  }
  return batches;
}

/// Points that name a citation which was shown.
void resolve_names(const SummaryReply& reply, const ReduceBatch& batch, bool cite,
                   SummaryResult& result) {
  for (const auto& claimed : reply.points) {
    SummaryPoint point{claimed.text, {}};
    for (const auto& support : claimed.support) {
      auto text = support.is_string() ? support.get<std::string>() : std::string();
      if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
      const bool is_name = text.starts_with('c') && text.size() > 1 && text.size() < 8 &&
                           text.find_first_not_of("0123456789", 1) == std::string::npos;
      const auto number = is_name ? std::stoul(text.substr(1)) : 0;
      if (number > 0 && number <= batch.cited.size())
        point.citations.push_back(batch.cited[number - 1]);
      else if (cite)
        result.warnings.push_back(Json{{"code", "citation_invalid"},
                                       {"key", std::string(prefix_at_grapheme(claimed.text, 100))},
                                       {"reason", "It names no citation of a part."}});
    }
    result.points.push_back(std::move(point));
  }
}

Result<Json> reduce_batch(Context& lane, const ReduceBatch& batch, const std::string& item,
                          const SummaryCall& call, bool is_last) {
  SummaryResult result;
  auto request =
      reduce_prompt(batch.partials, call.options, lane.config().ai, call.seed, call.max_tokens);
  if (!is_last) request.prose_member.clear();
  const auto answer = INDX_TRY(ask_model(lane, request, item, result.cost, result.warnings));
  SummaryReply reply = INDX_TRY(parse_summary_reply(answer));
  result.tldr = std::move(reply.tldr);
  result.text = std::move(reply.text);
  result.questions = std::move(reply.questions);
  resolve_names(reply, batch, call.cite, result);
  return *Codec<SummaryResult>::encode(result);
}

/// Decodes what a map gave, and rolls up what it cost.
std::vector<SummaryResult> rolled_up(const std::vector<std::optional<Json>>& stored, AiTotal& total,
                                     std::vector<Json>& warnings) {
  std::vector<SummaryResult> results;
  for (const auto& json : stored) {
    if (!json) continue;
    Codec<SummaryResult>::decode(*json, results.emplace_back());
    auto& result = results.back();
    total.add(result.cost);
    warnings.insert(warnings.end(), result.warnings.begin(), result.warnings.end());
    result.warnings.clear();
  }
  return results;
}

std::string call_hash(Context& ctx, const SummaryCall& call) {
  Json key = call.key;
  key["summary_prompt"] = kSummaryPromptVersion;
  return request_hash(ctx, std::move(key));
}

}  // namespace

Fields<OutlineRow> OutlineRow::fields() {
  return {field("heading", &OutlineRow::heading, "Its text."),
          field("line", &OutlineRow::line, "1-based line."),
          field("path", &OutlineRow::path, "The note.")};
}
Fields<SummaryPiece> SummaryPiece::fields() {
  return {field("path", &SummaryPiece::path, ""), field("etag", &SummaryPiece::etag, ""),
          field("begin", &SummaryPiece::begin, ""), field("end", &SummaryPiece::end, "")};
}
Fields<SummaryPart> SummaryPart::fields() { return {field("pieces", &SummaryPart::pieces, "")}; }
Fields<SummaryPlan> SummaryPlan::fields() {
  return {field("parts", &SummaryPlan::parts, ""), field("outline", &SummaryPlan::outline, ""),
          field("total_tokens", &SummaryPlan::total_tokens, ""),
          field("warnings", &SummaryPlan::warnings, "")};
}
Fields<SummaryPoint> SummaryPoint::fields() {
  return {field("text", &SummaryPoint::text, ""), field("citations", &SummaryPoint::citations, "")};
}
Fields<SummaryResult> SummaryResult::fields() {
  return {field("tldr", &SummaryResult::tldr, ""),
          field("text", &SummaryResult::text, ""),
          field("points", &SummaryResult::points, ""),
          field("questions", &SummaryResult::questions, ""),
          field("warnings", &SummaryResult::warnings, ""),
          field("cost", &SummaryResult::cost, "")};
}

Result<SummaryPlan> plan_summary(Context& ctx, const std::vector<ScopedNote>& notes,
                                 const SummaryCall& call) {
  Json versions = Json::array();
  for (const auto& note : notes) versions.push_back(Json::array({note.path, note.etag}));
  const auto room = room_for(ctx, summary_overhead(call.options));
  const Json inputs{
      {"notes", std::move(versions)}, {"request", call_hash(ctx, call)}, {"room", room}};
  const Json stored = INDX_TRY(ctx.step("plan", inputs, [&]() -> Result<Json> {
    SummaryPlanner planner(room, !ctx.models().can_generate());
    std::vector<Json> gone;
    for (const auto& scoped : notes) {
      const auto note = read_scoped(ctx, scoped);
      const bool stands_alone = notes.size() == 1;
      if (!note && (stands_alone || (note.error().reason != Reason::EtagMismatch &&
                                     note.error().reason != Reason::NotFound)))
        return note.error();
      if (note)
        INDX_TRY(planner.add(*note));
      else
        gone.push_back(ai_warning(note.error().name(), scoped.path, note.error().message));
    }
    auto plan = planner.take();
    plan.warnings = std::move(gone);
    return *Codec<SummaryPlan>::encode(plan);
  }));
  SummaryPlan plan;
  Codec<SummaryPlan>::decode(stored, plan);
  return plan;
}

Result<SummaryResult> summarize_parts(Context& ctx, const SummaryPlan& plan,
                                      const SummaryCall& call, AiTotal& total,
                                      std::vector<Json>& warnings) {
  const auto shared = call_hash(ctx, call);
  std::vector<MapItem> items;
  for (std::size_t i = 0; i < plan.parts.size(); ++i)
    items.push_back({cat(plan.parts[i].pieces.front().path, "#", i + 1),
                     Json{{"index", i},
                          {"pieces", *Codec<SummaryPart>::encode(plan.parts[i])},
                          {"request", shared}}});
  SummaryCall part_call = call;
  if (items.size() > 1) part_call.options.with_tldr = false;  // of the whole only
  const auto mapped = INDX_TRY(map_parts(
      ctx, "map", items,
      [&](Context& lane, const MapItem& item) {
        return summarize_part(lane, plan.parts[item.inputs["index"].get<std::size_t>()], part_call,
                              plan.parts.size() == 1);
      },
      warnings));
  auto results = rolled_up(mapped, total, warnings);
  if (plan.parts.size() == 1) return std::move(results.front());

  const auto room = room_for(ctx, reduce_overhead(call.options));
  for (int level = 1;; ++level) {
    const auto batches = INDX_TRY(batches_of(results, room));
    const bool is_last = batches.size() == 1;
    if (!is_last && batches.size() >= results.size()) {
      std::int64_t tokens = 0;
      for (const auto& batch : batches) tokens += batch.tokens;
      return too_large(tokens, "What the parts say");
    }
    const auto phase = is_last ? std::string("final") : cat("reduce", level);
    items.clear();
    for (std::size_t i = 0; i < batches.size(); ++i)
      items.push_back({cat(phase, "#", i + 1),
                       Json{{"index", i}, {"partials", batches[i].inputs}, {"request", shared}}});
    const auto reduced = INDX_TRY(map_parts(
        ctx, phase, items,
        [&](Context& lane, const MapItem& item) {
          return reduce_batch(lane, batches[item.inputs["index"].get<std::size_t>()], item.id, call,
                              is_last);
        },
        warnings));
    results = rolled_up(reduced, total, warnings);
    if (is_last) return std::move(results.front());
  }
}

void add_reductions(DryContext& dry, const SummaryCall& call) {
  const auto request = reduce_prompt({}, call.options, dry.config().ai, call.seed, call.max_tokens);
  const std::int64_t longest = request.max_output_tokens;
  const auto room = std::max<std::int64_t>(0, room_for(dry, reduce_overhead(call.options)));
  const auto width = std::max<std::int64_t>(2, room / longest);
  auto& counted = dry.counted();
  for (auto parts = counted.calls; parts > 1;) {
    const auto batches = (parts + width - 1) / width;
    for (std::int64_t i = 0; i < batches; ++i) counted.add(request);
    counted.input_tokens += std::min(parts * longest, batches * room);
    parts = batches;
  }
}

}  // namespace indx
