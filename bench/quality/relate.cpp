#include "ai/extractive/corpus.hpp"
#include "bench/quality/metrics.hpp"
#include "bench/quality/quality_vault.hpp"
#include "bench/quality/tasks.hpp"
#include "vault/frontmatter.hpp"
#include "vault/markdown.hpp"

#include <algorithm>
#include <map>

namespace indx::quality {
namespace {

constexpr std::size_t kFolds = 5, kDepth = 10;
constexpr std::size_t kAskedFor = 50;  ///< of which the notes that are linked still are taken out
constexpr double kGain = 0.02;
constexpr std::uint64_t kSeed = 1;

/// A link in a note's body that reaches another note.
struct BodyLink {
  std::string to;
  std::size_t begin = 0, end = 0;  ///< the whole construct
};
using Links = std::map<std::string, std::vector<BodyLink>>;
using Pair = std::pair<std::string, std::string>;
Pair pair_of(const std::string& a, const std::string& b) { return a < b ? Pair(a, b) : Pair(b, a); }

/// What each link of a note reaches, by its place; resolved by the engine.
std::map<std::pair<int, int>, std::string> reached(const QualityVault& vault,
                                                   const std::string& path) {
  std::map<std::pair<int, int>, std::string> result;
  Json input{{"path", path}, {"limit", 1000}};
  for (;;) {
    const Json answer = bench::need(vault.call("link_forward", input));
    for (const auto& link : answer["links"])
      if (const auto to = link.value("path", Json()); to.is_string())
        result[{link["line"].get<int>(), link["column"].get<int>()}] = to.get<std::string>();
    if (!answer.contains("next_cursor") || answer["next_cursor"].is_null()) return result;
    input["cursor"] = answer["next_cursor"];
  }
}

Links links_of(const QualityVault& vault) {
  Links result;
  for (const auto& path : notes_in(vault.vault())) {
    const auto targets = reached(vault, path);
    auto& links = result[path];
    for (const auto& link : parse_note(vault.bytes(path)).links) {
      const auto it = targets.find({link.line, link.column});
      // Links of properties stay: their text cannot be cut without breaking the YAML.
      if (it == targets.end() || link.kind == LinkKind::Property || it->second == path ||
          !it->second.ends_with(".md"))
        continue;
      links.push_back({it->second, link.begin, link.end});
    }
  }
  return result;
}

/// Each pair of linked notes falls into one fold, at random with a fixed seed.
std::map<Pair, std::size_t> folds_of(const Links& links) {
  std::set<Pair> pairs;
  for (const auto& [from, own] : links)
    for (const auto& link : own) pairs.insert(pair_of(from, link.to));
  std::vector<Pair> order(pairs.begin(), pairs.end());
  SeededRandom random(kSeed);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.next() % i)]);
  std::map<Pair, std::size_t> folds;
  for (std::size_t i = 0; i < order.size(); ++i) folds[order[i]] = i % kFolds;
  return folds;
}

struct Source {
  std::set<std::string> hidden, linked;
};

/// The note without the links of the fold, text and all.
std::string without_links(const std::string& bytes, std::vector<BodyLink> cut) {
  std::sort(cut.begin(), cut.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::string result;
  std::size_t at = 0;
  for (const auto& link : cut) {
    if (link.begin < at) continue;  // an image inside the text of a link that is cut
    result.append(bytes, at, link.begin - at);
    at = link.end;
  }
  return result.append(bytes, at);
}

/// Without what is linked still: that is no prediction.
std::vector<std::string> predictions(const std::vector<std::string>& ranked, const Source& source) {
  std::vector<std::string> result;
  for (const auto& path : ranked)
    if (!source.linked.contains(path)) result.push_back(path);
  return result;
}

using Rankings = std::map<std::string, std::vector<std::string>>;

Rankings related(const QualityVault& vault, const std::map<std::string, Source>& sources,
                 Report& report) {
  Rankings result;
  for (const auto& [path, source] : sources) {
    // One at a time: a pair of sources of one call is listed once, for the first of them.
    const auto answer = vault.call("ai_relate", {{"source", {{"kind", "paths"}, {"paths", {path}}}},
                                                 {"top_k", kAskedFor},
                                                 {"classify", false}});
    if (!answer.has_value()) {
      report.fail(cat("relate: ", answer.error().message));
      return result;
    }
    // Edges are listed by similarity; what chooses and ranks them is the score.
    std::vector<std::pair<double, std::string>> ranked;
    for (const auto& edge : answer->value("edges", Json::array()))
      ranked.emplace_back(edge["score"].get<double>(), edge["dst_path"].get<std::string>());
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& [score, to] : ranked) result[path].push_back(std::move(to));
  }
  return result;
}

struct RelateScores {
  std::vector<double> ours, tf_idf;  ///< recall, a note each
};

void measure_fold(const std::filesystem::path& folder, const std::map<std::string, Source>& sources,
                  RelateScores& scores, Report& report) {
  const QualityVault vault(folder, Embeds::Yes);
  auto ours = related(vault, sources, report);
  Corpus corpus;
  std::map<std::string, std::string> bodies;
  for (const auto& path : notes_in(vault.vault())) {
    const auto bytes = vault.bytes(path);
    bodies[path] = bytes.substr(parse_frontmatter(bytes).body_begin);
    corpus.add(path, bodies[path], {});
  }
  corpus.finish();
  for (const auto& [path, source] : sources) {
    std::vector<std::string> nearest;
    for (const auto& note : corpus.nearest(bodies[path], kAskedFor, path))
      nearest.push_back(note.path);
    scores.ours.push_back(recall_at(predictions(ours[path], source), source.hidden, kDepth));
    scores.tf_idf.push_back(recall_at(predictions(nearest, source), source.hidden, kDepth));
  }
}

RelateScores measure_pack(Packs& packs, const std::string& pack, Report& report) {
  Links links;
  {
    const QualityVault whole(packs.folder(pack), Embeds::No);
    if (!whole.has("ai_relate")) {
      report.fail("relate: there is no operation ai_relate");
      return {};
    }
    links = links_of(whole);
  }
  const auto folds = folds_of(links);
  RelateScores scores;
  for (std::size_t number = 0; number < kFolds; ++number) {
    const auto folder = packs.copy(pack);
    std::map<std::string, Source> sources;
    for (const auto& [path, own] : links) {
      std::vector<BodyLink> cut;
      for (const auto& link : own) {
        const bool is_hidden = folds.at(pair_of(path, link.to)) == number;
        if (is_hidden) cut.push_back(link);
        (is_hidden ? sources[path].hidden : sources[path].linked).insert(link.to);
        // Who links here is known too.
        if (!is_hidden) sources[link.to].linked.insert(path);
      }
      const auto file = folder / "vault" / path;
      if (!cut.empty()) write_text(file, without_links(read_text(file), std::move(cut)));
    }
    std::erase_if(sources, [](const auto& row) { return row.second.hidden.empty(); });
    measure_fold(folder, sources, scores, report);
  }
  return scores;
}

}  // namespace

void measure_relate(Packs& packs, Report& report) {
  for (const auto* pack : {"d1-tasks-docs", "d1-tasks-contributing"}) {
    const RelateScores scores = measure_pack(packs, pack, report);
    if (scores.ours.empty()) return;
    const double floor = mean(scores.tf_idf);
    report.add({.name = cat("relate/", pack, "/recall10"),
                .value = mean(scores.ours),
                .unit = "share",
                .floor = floor,
                .bar = floor + kGain,
                .bar_is_maximum = false,
                .n = scores.ours.size()});
  }
}

}  // namespace indx::quality
