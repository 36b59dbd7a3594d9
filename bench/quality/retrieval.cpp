// rows: E6 G25
#include "bench/quality/metrics.hpp"
#include "bench/quality/quality_vault.hpp"
#include "bench/quality/sets.hpp"
#include "bench/quality/tasks.hpp"

#include <map>

namespace indx::quality {
namespace {

constexpr std::size_t kRecallDepth = 5, kRankDepth = 10;
constexpr int kResamples = 10000;
constexpr std::uint64_t kSeed = 1;
constexpr const char* kModes[] = {"lexical", "semantic", "hybrid"};

/// The measures of one mode, a question each, in the order of the set.
struct Scores {
  std::vector<double> recall, rank;
};
using ByMode = std::map<std::string, Scores>;

std::vector<std::string> search(const QualityVault& vault, const Question& question,
                                const char* mode, Report& report) {
  const auto found =
      vault.call("vault_search",
                 {{"q", question.text}, {"mode", mode}, {"limit", static_cast<int>(kRankDepth)}});
  std::vector<std::string> paths;
  if (!found.has_value()) {
    report.fail(cat(question.id, " ", mode, ": ", found.error().message));
    return paths;
  }
  if ((*found)["mode_used"] != mode)
    report.fail(cat(question.id, ": ", mode, " was asked for and not used"));
  for (const auto& hit : (*found)["results"]) paths.push_back(hit["path"]);
  return paths;
}

void add(Scores& scores, const Question& question, const std::vector<std::string>& ranked) {
  // Any of the relevant notes answers: one of them is all that can be missed.
  scores.recall.push_back(hits_at(ranked, question.relevant, kRecallDepth) > 0 ? 1 : 0);
  scores.rank.push_back(reciprocal_rank(ranked, question.relevant, kRankDepth));
}

void show(Report& report, const std::string& part, ByMode& modes, bool is_whole) {
  const Scores& words = modes["lexical"];
  for (const auto* mode : kModes) {
    const Scores& scores = modes[mode];
    const bool has_bar = is_whole && std::string(mode) == "hybrid";
    const auto floor = &scores == &words ? std::nullopt : std::optional(mean(words.recall));
    const auto rank_floor = &scores == &words ? std::nullopt : std::optional(mean(words.rank));
    report.add({.name = cat("retrieval", part, "/", mode, "_recall5"),
                .value = mean(scores.recall),
                .unit = "share",
                .floor = floor,
                .bar = has_bar ? std::optional(0.78) : std::nullopt,
                .bar_is_maximum = false,
                .n = scores.recall.size()});
    report.add({.name = cat("retrieval", part, "/", mode, "_mrr10"),
                .value = mean(scores.rank),
                .unit = "mean reciprocal rank",
                .floor = rank_floor,
                .bar = has_bar ? std::optional(0.70) : std::nullopt,
                .bar_is_maximum = false,
                .n = scores.rank.size()});
  }
}

void show_gain(Report& report, const Scores& hybrid, const Scores& words) {
  const auto interval = paired_bootstrap(hybrid.rank, words.rank, kResamples, kSeed);
  const double gain = mean(hybrid.rank) - mean(words.rank);
  report.add({.name = "retrieval/mrr10_gain",
              .value = gain,
              .unit = "mean reciprocal rank",
              .n = hybrid.rank.size()});
  report.add({.name = "retrieval/mrr10_gain_low95",
              .value = interval.low,
              .unit = "mean reciprocal rank",
              .bar = above(0),
              .bar_is_maximum = false,
              .n = hybrid.rank.size()});
  report.add({.name = "retrieval/mrr10_gain_high95",
              .value = interval.high,
              .unit = "mean reciprocal rank",
              .n = hybrid.rank.size()});
  report.add({.name = "retrieval/recall5_gain",
              .value = mean(hybrid.recall) - mean(words.recall),
              .unit = "share",
              .bar = 0,
              .bar_is_maximum = false,
              .n = hybrid.recall.size()});
}

}  // namespace

void measure_retrieval(Packs& packs, Report& report) {
  std::map<std::string, std::vector<Question>> by_pack;
  for (auto& question : retrieval_questions()) by_pack[question.pack].push_back(question);
  ByMode all;
  std::map<std::string, ByMode> parts;
  for (const auto& [pack, questions] : by_pack) {
    const QualityVault vault(packs.folder(pack), Embeds::Yes);
    for (const auto& question : questions)
      for (const auto* mode : kModes) {
        const auto ranked = search(vault, question, mode, report);
        add(all[mode], question, ranked);
        add(parts["/" + pack][mode], question, ranked);
        add(parts["/" + question.kind][mode], question, ranked);
      }
  }
  show(report, "", all, true);
  show_gain(report, all["hybrid"], all["lexical"]);
  for (auto& [part, modes] : parts) show(report, part, modes, false);
}

}  // namespace indx::quality
