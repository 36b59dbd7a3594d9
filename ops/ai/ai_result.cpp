#include "ops/ai/ai_result.hpp"

#include "base/json_text.hpp"
#include "base/unicode.hpp"

namespace indx {
namespace {

constexpr std::size_t kMaxSnippetBytes = 300;

void add_usage(AiUsageView& total, const AiUsageView& usage, bool is_first) {
  total.input_tokens += usage.input_tokens;
  total.output_tokens += usage.output_tokens;
  if (usage.cost_usd) total.cost_usd = total.cost_usd.value_or(0) + *usage.cost_usd;
  if (is_first || usage.source == "estimated") total.source = usage.source;
}

}  // namespace

Fields<AiCitation> AiCitation::fields() {
  return {field("path", &AiCitation::path, "The note."),
          field("etag", &AiCitation::etag, "The version that was read."),
          field("anchor", &AiCitation::anchor, "Slug of the heading above."),
          field("line", &AiCitation::line, "1-based line."),
          field("span", &AiCitation::span, "First byte and byte after the last one, in the file."),
          field("snippet", &AiCitation::snippet, "The text, verbatim.")};
}

AiCitation to_citation(const Evidence& evidence, const std::string& path, const std::string& etag) {
  AiCitation citation;
  citation.path = path;
  citation.etag = etag;
  const auto snippet = prefix_at_grapheme(evidence.quote, kMaxSnippetBytes);
  citation.snippet = replace_invalid_utf8(snippet);
  if (!evidence.anchor.empty()) citation.anchor = evidence.anchor;
  if (evidence.line > 0) {
    citation.line = evidence.line;
    citation.span = {evidence.begin, evidence.begin + snippet.size()};
  }
  return citation;
}

Fields<AiProposedPatch> AiProposedPatch::fields() {
  return {field("path", &AiProposedPatch::path, "The note."),
          field("if_match", &AiProposedPatch::if_match, "Etag to guard it with."),
          field("ops", &AiProposedPatch::ops, "Steps for note_patch.")};
}

Fields<AiScopeView> AiScopeView::fields() {
  return {field("kind", &AiScopeView::kind, "As asked."),
          field("count", &AiScopeView::count, "Notes."),
          field("paths", &AiScopeView::paths, "Their paths, sorted."),
          field("excluded", &AiScopeView::excluded, "Notes that AI may not read."),
          field("total_tokens", &AiScopeView::total_tokens,
                "Estimated tokens of the notes that were read.")};
}

AiScopeView to_view(const AiScope& asked, const ResolvedScope& found) {
  AiScopeView view;
  view.kind = asked.kind;
  view.count = found.notes.size();
  view.excluded = found.excluded;
  for (const auto& note : found.notes) view.paths.push_back(note.path);
  return view;
}

Fields<AiUsageView> AiUsageView::fields() {
  return {field("input_tokens", &AiUsageView::input_tokens, "Tokens sent."),
          field("output_tokens", &AiUsageView::output_tokens, "Tokens received."),
          field("cost_usd", &AiUsageView::cost_usd, "Known cost; null: unknown.", nullable),
          field("source", &AiUsageView::source, "Who counted.", one_of({"reported", "estimated"}))};
}

Json ai_warning(std::string_view code, const std::string& path, const std::string& reason) {
  return Json{{"code", std::string(code)}, {"path", path}, {"reason", reason}};
}

std::string shown_value(const Json& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

Fields<AiCost> AiCost::fields() {
  return {field("usage", &AiCost::usage, ""), field("model_calls", &AiCost::model_calls, ""),
          field("cache_hits", &AiCost::cache_hits, "")};
}

void AiCost::add(const AiUsage& one) {
  AiUsageView view;
  view.input_tokens = one.input_tokens;
  view.output_tokens = one.output_tokens;
  view.cost_usd = one.cost_usd;
  view.source = one.source;
  add_usage(usage, view, model_calls == 0);
  ++model_calls;
}

void AiTotal::add(const AiCost& cost) {
  usage_.cache_hits += cost.cache_hits;
  if (cost.model_calls > 0) {
    if (!has_any_) usage_.cost_usd.reset();
    add_usage(usage_, cost.usage, !std::exchange(has_any_, true));
    usage_.model_calls += cost.model_calls;
  } else if (!has_any_ && cost.cache_hits > 0) {
    usage_.cost_usd = 0;
    usage_.source = "reported";
  }
}

}  // namespace indx
