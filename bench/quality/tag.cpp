#include "ai/extractive/corpus.hpp"
#include "ai/extractive/tokens.hpp"
#include "base/unicode.hpp"
#include "bench/quality/metrics.hpp"
#include "bench/quality/quality_vault.hpp"
#include "bench/quality/sets.hpp"
#include "bench/quality/tasks.hpp"
#include "vault/frontmatter.hpp"
#include "vault/markdown.hpp"

#include <algorithm>
#include <map>

namespace indx::quality {
namespace {

constexpr std::size_t kFolds = 5, kDepth = 3, kNeighbours = 15;

/// One spelling for a tag and a phrase that mean the same, so that no method loses by a plural.
std::string tag_key(const std::string& tag) { return phrase_key(fold_case(tag)); }
std::set<std::string> tag_keys(const std::set<std::string>& tags) {
  std::set<std::string> keys;
  for (const auto& tag : tags) keys.insert(tag_key(tag));
  return keys;
}

/// The note without its tags, inline and property; an error where they cannot be taken out.
Result<std::string> untagged(std::string bytes) {
  auto tags = parse_note(bytes).tags;
  std::sort(tags.begin(), tags.end(),
            [](const auto& a, const auto& b) { return a.begin > b.begin; });
  for (const auto& tag : tags)
    if (tag.end > 0) bytes.erase(tag.begin - 1, tag.end - tag.begin + 1);
  if (find_property(parse_frontmatter(bytes).values, "tags") != nullptr)
    bytes = INDX_TRY(delete_frontmatter(bytes, "tags"));
  if (!parse_note(bytes).tags.empty())
    return make_error(Reason::Conflict, "The note has tags that cannot be taken out.");
  return bytes;
}

std::string tagged(const std::string& bytes, const std::set<std::string>& tags) {
  return bench::need(set_frontmatter(bench::need(untagged(bytes)), "tags", Json(tags)));
}

std::set<std::string> own_tags(const std::string& bytes, const std::string& left_out) {
  std::set<std::string> tags;
  for (const auto& use : parse_note(bytes).tags)
    if (const auto tag = fold_case(use.tag); tag != left_out) tags.insert(tag);
  return tags;
}

/// The vault as the baselines see it: texts and tags, those of the tested notes gone.
struct Fold {
  Corpus corpus;
  std::map<std::string, std::string> bodies;
  std::map<std::string, int> tag_counts;  ///< folded
};
Fold read_fold(const std::filesystem::path& vault, const std::string& left_out) {
  Fold fold;
  for (const auto& path : notes_in(vault)) {
    const auto bytes = read_text(vault / path);
    const auto tags = own_tags(bytes, left_out);
    for (const auto& tag : tags) ++fold.tag_counts[tag];
    fold.bodies[path] = bytes.substr(parse_frontmatter(bytes).body_begin);
    fold.corpus.add(path, fold.bodies[path], {tags.begin(), tags.end()});
  }
  fold.corpus.finish();
  return fold;
}

/// The best by weight, ties by name, as keys.
std::vector<std::string> best(const std::map<std::string, double>& weights) {
  std::vector<std::pair<std::string, double>> rows(weights.begin(), weights.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> keys;
  for (const auto& [tag, weight] : rows)
    if (keys.size() < kDepth) keys.push_back(tag_key(tag));
  return keys;
}

std::vector<std::string> by_tf_idf(const Fold& fold, const std::string& path) {
  std::map<std::string, double> weights;
  for (const auto& word : content_words(fold.bodies.at(path)))
    if (!is_stop_word(word)) weights[word] += fold.corpus.inverse_document_frequency(word);
  return best(weights);
}
std::vector<std::string> by_frequency(const Fold& fold) {
  return best({fold.tag_counts.begin(), fold.tag_counts.end()});
}
std::vector<std::string> by_neighbours(const Fold& fold, const std::string& path) {
  std::map<std::string, double> weights;
  for (const auto& note : fold.corpus.nearest(fold.bodies.at(path), kNeighbours, path))
    for (const auto& tag : note.tags) weights[tag] += note.similarity;
  return best(weights);
}

struct TagScores {
  std::vector<double> precision, recall;
  void add(const std::vector<std::string>& ranked, const std::set<std::string>& gold) {
    precision.push_back(precision_at(ranked, gold, kDepth));
    recall.push_back(recall_at(ranked, gold, kDepth));
  }
};
struct Methods {
  TagScores ours, tf_idf, frequent, neighbours;
  std::vector<double> shown_precision;  ///< of what the operation shows when left to itself
  std::size_t shown = 0;
};

/// path -> suggestions as keys, best first.
std::map<std::string, std::vector<std::string>> suggestions(const QualityVault& vault,
                                                            const std::vector<TagCase>& cases,
                                                            const Json& vocabulary,
                                                            Report& report) {
  Json paths = Json::array();
  for (const auto& one : cases) paths.push_back(one.path);
  const auto answer = vault.call(
      "ai_tag", {{"scope", {{"kind", "paths"}, {"paths", paths}}}, {"vocabulary", vocabulary}});
  std::map<std::string, std::vector<std::string>> result;
  if (!answer.has_value()) {
    report.fail(cat("tag: ", answer.error().message));
    return result;
  }
  for (const auto& note : (*answer)["suggestions"])
    for (const auto& tag : note["tags"]) result[note["path"]].push_back(tag_key(tag["tag"]));
  return result;
}

/// `cases`: those whose tags are gone in this vault.
void measure_fold(const std::filesystem::path& folder, const std::vector<TagCase>& cases,
                  const std::string& left_out, Methods& methods, Report& report) {
  const QualityVault vault(folder, Embeds::No);
  Json plain = Json::object();
  if (!left_out.empty()) plain["forbid"] = Json::array({left_out});
  // The baselines have no threshold, so ours is measured without one.
  Json ranked = plain;
  ranked["min_confidence"] = 0;
  ranked["max_per_note"] = kDepth;
  auto ours = suggestions(vault, cases, ranked, report);
  auto shown = suggestions(vault, cases, plain, report);
  const Fold fold = read_fold(vault.vault(), left_out);
  for (const auto& one : cases) {
    const auto gold = tag_keys(one.tags);
    methods.ours.add(ours[one.path], gold);
    methods.tf_idf.add(by_tf_idf(fold, one.path), gold);
    methods.frequent.add(by_frequency(fold), gold);
    methods.neighbours.add(by_neighbours(fold, one.path), gold);
    const auto& left_to_itself = shown[one.path];
    methods.shown += left_to_itself.size();
    if (!left_to_itself.empty())
      methods.shown_precision.push_back(precision_at(left_to_itself, gold, left_to_itself.size()));
  }
}

/// Each note is untagged once, with a fifth of the others.
void measure_pack(Packs& packs, const std::string& pack, const std::vector<TagCase>& cases,
                  const std::string& left_out, Methods& methods, Report& report) {
  for (std::size_t number = 0; number < kFolds; ++number) {
    const auto folder = packs.copy(pack);
    std::vector<TagCase> tested;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto file = folder / "vault" / cases[i].path;
      const auto bytes = read_text(file);
      const bool is_tested = i % kFolds == number;
      if (is_tested) tested.push_back(cases[i]);
      // The demo's other notes keep their tags as they are.
      if (is_tested || left_out.empty())
        write_text(file, is_tested ? bench::need(untagged(bytes)) : tagged(bytes, cases[i].tags));
    }
    measure_fold(folder, tested, left_out, methods, report);
  }
}

void show(Report& report, const char* set, const char* measure, std::vector<double> TagScores::*of,
          const Methods& methods) {
  const auto value = [&](const TagScores& scores) { return mean(scores.*of); };
  const auto named = [&](const char* method) { return cat("tag/", set, '/', method, measure); };
  const double floor = std::max(value(methods.tf_idf), value(methods.frequent));
  const auto n = (methods.ours.*of).size();
  report.add({.name = named(""),
              .value = value(methods.ours),
              .unit = "share",
              .floor = floor,
              .bar = above(floor),
              .bar_is_maximum = false,
              .n = n});
  report.add({.name = named("tfidf_"), .value = value(methods.tf_idf), .unit = "share", .n = n});
  report.add(
      {.name = named("frequent_"), .value = value(methods.frequent), .unit = "share", .n = n});
  report.add(
      {.name = named("neighbours_"), .value = value(methods.neighbours), .unit = "share", .n = n});
}

void show(Report& report, const char* set, const Methods& methods) {
  show(report, set, "precision3", &TagScores::precision, methods);
  show(report, set, "recall3", &TagScores::recall, methods);
  report.add({.name = cat("tag/", set, "/shown_precision"),
              .value = mean(methods.shown_precision),
              .unit = "share",
              .n = methods.shown_precision.size()});
  report.add({.name = cat("tag/", set, "/shown_per_note"),
              .value = static_cast<double>(methods.shown) /
                       static_cast<double>(std::max<std::size_t>(1, methods.ours.recall.size())),
              .unit = "tags",
              .n = methods.ours.recall.size()});
}

}  // namespace

void measure_tag(Packs& packs, Report& report) {
  std::map<std::string, std::vector<TagCase>> by_pack;
  for (auto& one : tag_cases()) by_pack[one.pack].push_back(one);
  Methods own;
  for (const auto& [pack, cases] : by_pack) measure_pack(packs, pack, cases, {}, own, report);
  show(report, "own", own);

  constexpr const char *kDemo = "d1-tasks-demo", *kLeftOut = "task";
  std::vector<TagCase> cases;
  const auto vault = packs.folder(kDemo) / "vault";
  for (const auto& path : notes_in(vault)) {
    const auto bytes = read_text(vault / path);
    auto tags = own_tags(bytes, kLeftOut);
    if (tags.empty()) continue;
    if (untagged(bytes).has_value())
      cases.push_back({path, kDemo, path, std::move(tags)});
    else
      std::fprintf(stderr, "quality_bench: left out, for its tags stay: %s\n", path.c_str());
  }
  Methods demo;
  measure_pack(packs, kDemo, cases, kLeftOut, demo, report);
  show(report, "demo", demo);
}

}  // namespace indx::quality
