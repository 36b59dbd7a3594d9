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

/// A way to search. Words alone are asked for in both ways that there are; the better is the
/// baseline.
struct Way {
  const char *name, *mode, *match;
};
constexpr Way kWays[] = {{"lexical", "lexical", nullptr},
                         {"lexical_any", "lexical", "any"},
                         {"semantic", "semantic", nullptr},
                         {"hybrid", "hybrid", nullptr}};

/// The measures of one way, a question each, in the order of the set.
struct Scores {
  std::vector<double> recall, rank;
};
using ByWay = std::map<std::string, Scores>;

std::vector<std::string> search(const QualityVault& vault, const Question& question, const Way& way,
                                Report& report) {
  Json input{{"q", question.text}, {"mode", way.mode}, {"limit", static_cast<int>(kRankDepth)}};
  if (way.match != nullptr) input["match"] = way.match;
  const auto found = vault.call("vault_search", input);
  std::vector<std::string> paths;
  if (!found.has_value()) {
    report.fail(cat(question.id, " ", way.name, ": ", found.error().message));
    return paths;
  }
  if ((*found)["mode_used"] != way.mode)
    report.fail(cat(question.id, ": ", way.mode, " was asked for and not used"));
  for (const auto& hit : (*found)["results"]) paths.push_back(hit["path"]);
  return paths;
}

void add(Scores& scores, const Question& question, const std::vector<std::string>& ranked) {
  // Any of the relevant notes answers: one of them is all that can be missed.
  scores.recall.push_back(hits_at(ranked, question.relevant, kRecallDepth) > 0 ? 1 : 0);
  scores.rank.push_back(reciprocal_rank(ranked, question.relevant, kRankDepth));
}

void show(Report& report, const std::string& part, ByWay& ways, const std::string& baseline) {
  const Scores& words = ways[baseline];
  for (const auto& way : kWays) {
    const Scores& scores = ways[way.name];
    const bool has_bar = part.empty() && std::string(way.name) == "hybrid";
    const bool is_baseline = way.name == baseline;
    report.add({.name = cat("retrieval", part, "/", way.name, "_recall5"),
                .value = mean(scores.recall),
                .unit = "share",
                .floor = is_baseline ? std::nullopt : std::optional(mean(words.recall)),
                .bar = has_bar ? std::optional(0.78) : std::nullopt,
                .bar_is_maximum = false,
                .n = scores.recall.size()});
    report.add({.name = cat("retrieval", part, "/", way.name, "_mrr10"),
                .value = mean(scores.rank),
                .unit = "mean reciprocal rank",
                .floor = is_baseline ? std::nullopt : std::optional(mean(words.rank)),
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
  ByWay all;
  std::map<std::string, ByWay> parts;
  for (const auto& [pack, questions] : by_pack) {
    const QualityVault vault(packs.folder(pack), Embeds::Yes);
    for (const auto& question : questions)
      for (const auto& way : kWays) {
        const auto ranked = search(vault, question, way, report);
        add(all[way.name], question, ranked);
        add(parts["/" + pack][way.name], question, ranked);
        add(parts["/" + question.kind][way.name], question, ranked);
      }
  }
  const std::string baseline =
      mean(all["lexical"].rank) >= mean(all["lexical_any"].rank) ? "lexical" : "lexical_any";
  show(report, "", all, baseline);
  show_gain(report, all["hybrid"], all[baseline]);
  for (auto& [part, ways] : parts) show(report, part, ways, baseline);
}

}  // namespace indx::quality
