#include "ops/ai/toc_words.hpp"

#include "ai/toc.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "ops/ai/ai_grounding.hpp"

#include <algorithm>
#include <set>

namespace indx {
namespace {

constexpr int kTocPromptVersion = 1;  // raise it with the prompt: stored steps are not reused

/// What the one model step stores.
struct WordedToc {
  std::map<std::string, std::string> titles, descriptions;
  std::vector<Json> warnings;
  AiCost cost;
  static Fields<WordedToc> fields() {
    return {field("titles", &WordedToc::titles, ""),
            field("descriptions", &WordedToc::descriptions, ""),
            field("warnings", &WordedToc::warnings, ""), field("cost", &WordedToc::cost, "")};
  }
};

std::string id_of(const TocPlan& plan, std::size_t index) {
  return cat(plan.entries[index].is_group ? "g" : "n", index + 1);
}

TocWork work_of(const TocPlan& plan, const TocWordsCall& call) {
  TocWork work;
  work.with_descriptions = call.with_descriptions;
  work.language = call.language;
  for (std::size_t i = 0; i < plan.entries.size(); ++i) {
    const auto& entry = plan.entries[i];
    if (entry.is_group) {
      work.with_titles = true;
      work.groups.push_back({id_of(plan, i), entry.title, {}});
      continue;
    }
    if (work.groups.empty()) work.groups.emplace_back();
    work.groups.back().items.push_back(
        {id_of(plan, i), entry.title, entry.evidence ? entry.evidence->snippet : ""});
  }
  return work;
}

Result<Json> ask_for_words(Context& lane, const TocWordsCall& call, TocWork work) {
  const auto& config = lane.config().ai;
  WordedToc worded;
  const auto left_out = INDX_TRY(fit_toc_work(work, config, call.max_tokens));
  if (left_out > 0)
    worded.warnings.push_back(Json{{"code", "truncated"},
                                   {"reason", cat("the model was not asked about ", left_out,
                                                  " entries, which did not fit its limits")}});
  const auto request = toc_prompt(work, config, call.seed, call.max_tokens);
  const auto reply = INDX_TRY(ask_model(lane, request, "toc", worded.cost, worded.warnings));
  auto wording = INDX_TRY(parse_toc_reply(work, reply));
  worded.titles = std::move(wording.titles);
  worded.descriptions = std::move(wording.descriptions);
  worded.warnings.insert(worded.warnings.end(), wording.warnings.begin(), wording.warnings.end());
  return *Codec<WordedToc>::encode(worded);
}

/// The model's words in the plan.
Status ask_for_plan(Context& ctx, const TocWordsCall& call, TocPlan& plan, AiTotal& total) {
  const auto work = work_of(plan, call);
  const bool has_text =
      std::any_of(plan.entries.begin(), plan.entries.end(),
                  [](const TocEntry& entry) { return entry.evidence.has_value(); });
  if (!work.with_titles && !(work.with_descriptions && has_text)) return {};
  Json key = call.key;
  key["toc_prompt"] = kTocPromptVersion;
  const auto entries = *Codec<std::vector<TocEntry>>::encode(plan.entries);
  const Json inputs{{"entries", canonical_hash(entries)}, {"request", request_hash(ctx, key)}};
  const auto stored = INDX_TRY(map_parts(
      ctx, "word", {{"toc", inputs}},
      [&](Context& lane, const MapItem&) { return ask_for_words(lane, call, work); },
      plan.warnings));
  WordedToc worded;
  Codec<WordedToc>::decode(stored.front().value(), worded);
  total.add(worded.cost);
  plan.warnings.insert(plan.warnings.end(), worded.warnings.begin(), worded.warnings.end());
  for (std::size_t i = 0; i < plan.entries.size(); ++i) {
    auto& entry = plan.entries[i];
    const auto& words = entry.is_group ? worded.titles : worded.descriptions;
    const auto found = words.find(id_of(plan, i));
    if (found != words.end()) (entry.is_group ? entry.title : entry.description) = found->second;
  }
  return {};
}

void drop_drifted_entries(Context& ctx, TocPlan& plan) {
  std::vector<AiCitation> cited;
  for (const auto& entry : plan.entries)
    if (entry.evidence) cited.push_back(*entry.evidence);
  drop_drifted(ctx, cited, plan.warnings);
  std::set<std::pair<std::string, std::string>> current;
  for (const auto& citation : cited) current.emplace(citation.path, citation.etag);
  for (auto& entry : plan.entries) {
    if (!entry.evidence || current.contains({entry.evidence->path, entry.evidence->etag})) continue;
    entry.evidence.reset();
    entry.description.clear();
  }
}

}  // namespace

Status word_toc(Context& ctx, const TocWordsCall& call, TocPlan& plan, AiTotal& total) {
  if (ctx.models().can_generate()) INDX_TRY(ask_for_plan(ctx, call, plan, total));
  for (auto& entry : plan.entries)
    if (call.with_descriptions && entry.description.empty() && entry.evidence)
      entry.description = plain_title(entry.evidence->snippet);
  drop_drifted_entries(ctx, plan);
  return {};
}

}  // namespace indx
