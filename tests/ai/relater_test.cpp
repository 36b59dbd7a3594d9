#include "ai/extractive/relater.hpp"

#include "ai/extractive/relation_rules.hpp"
#include "ai/relation.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>

namespace indx {
namespace {

RelateCandidate near_by_words(const std::string& path, double words) {
  RelateCandidate candidate;
  candidate.path = path;
  candidate.words = words;
  return candidate;
}
std::vector<std::string> ranked_paths(const std::vector<RelateCandidate>& candidates,
                                      RelateMode mode, std::size_t most = 10) {
  std::vector<std::string> paths;
  for (const auto& rank : rank_related(candidates, mode, most))
    paths.push_back(candidates[rank.index].path);
  return paths;
}
using Ranking = std::vector<std::string>;

RelationClues garden_clues() {
  RelationClues clues;
  clues.source_name = "Roses";
  clues.other_name = "Compost";
  clues.source_text = "Roses are pruned in spring.";
  clues.other_text = "Compost warms the heap.";
  clues.similarity = 0.5;
  return clues;
}

}  // namespace

TEST_CASE("the mix is standardised words, a third of meaning and half of shared links",
          "[ai][C36]") {
  std::vector<RelateCandidate> notes = {near_by_words("a.md", 0.4), near_by_words("b.md", 0.2),
                                        near_by_words("c.md", 0)};
  notes[1].links = 3;
  notes[2].meaning = 0.9;
  notes[0].meaning = 0.1;

  const auto ranked = rank_related(notes, RelateMode::Hybrid, 10);

  // Of (.4, .2, 0), (.1, .1, .9) and (0, 3, 0): the one without a vector counts as the farthest.
  const double z = std::sqrt(1.5), low = -1 / std::sqrt(2.0), high = std::sqrt(2.0);
  REQUIRE(ranked.size() == 3);
  std::map<std::string, RankedCandidate> by_path;
  for (const auto& rank : ranked) by_path[notes[rank.index].path] = rank;
  CHECK(by_path["a.md"].score == Approx(z + 0.3 * low + 0.5 * low));
  CHECK(by_path["b.md"].score == Approx(0.3 * low + 0.5 * high));
  CHECK(by_path["c.md"].score == Approx(-z + 0.3 * high + 0.5 * low));
  CHECK(by_path["a.md"].similarity == Approx(0.4));
  CHECK(by_path["c.md"].similarity == Approx(0.9));
  CHECK(ranked_paths(notes, RelateMode::Hybrid) == Ranking{"a.md", "b.md", "c.md"});
}

TEST_CASE("each mode looks at what it names", "[ai][C36]") {
  std::vector<RelateCandidate> notes = {near_by_words("a.md", 0.1), near_by_words("b.md", 0.3),
                                        near_by_words("c.md", 0.2)};
  notes[0].meaning = 0.8;
  notes[2].meaning = -0.5;

  CHECK(ranked_paths(notes, RelateMode::Semantic) == Ranking{"a.md", "c.md"});
  CHECK(ranked_paths(notes, RelateMode::Lexical) == Ranking{"b.md", "c.md", "a.md"});
  CHECK(rank_related(notes, RelateMode::Semantic, 10)[1].similarity == 0);
  CHECK(rank_related(notes, RelateMode::Lexical, 10)[2].similarity == Approx(0.1));
  CHECK(ranked_paths(notes, RelateMode::Lexical, 1) == Ranking{"b.md"});
}

TEST_CASE("equal candidates are ordered by path, and none are no trouble", "[ai][C45]") {
  CHECK(ranked_paths({near_by_words("b.md", 0.3), near_by_words("a.md", 0.3)},
                     RelateMode::Hybrid) == Ranking{"a.md", "b.md"});
  CHECK(rank_related({}, RelateMode::Hybrid, 10).empty());
}

TEST_CASE("a mention and a common folder lift a note", "[ai]") {
  std::vector<RelateCandidate> notes = {near_by_words("a.md", 0.3), near_by_words("b.md", 0.29),
                                        near_by_words("c.md", 0.29), near_by_words("d.md", 0)};
  notes[1].is_same_folder = true;
  notes[2].is_mentioned = true;

  CHECK(ranked_paths(notes, RelateMode::Lexical) == Ranking{"c.md", "b.md", "a.md", "d.md"});
}

TEST_CASE("shared neighbours count less the more links they have", "[ai]") {
  // s and x share hub and quiet; s and y the hub only. A link between s and x itself adds nothing.
  const auto overlaps = adamic_adar("s", {{"s", "hub"},
                                          {"x", "hub"},
                                          {"y", "hub"},
                                          {"quiet", "s"},
                                          {"quiet", "x"},
                                          {"s", "x"},
                                          {"s", "s"}});

  CHECK(overlaps.at("x").value == Approx(1 / std::log(3.0) + 1 / std::log(2.0)));
  CHECK(overlaps.at("x").via == std::vector<std::string>{"quiet", "hub"});
  CHECK(overlaps.at("y").value == Approx(1 / std::log(3.0)));
  CHECK_FALSE(overlaps.contains("s"));
  CHECK(adamic_adar("alone", {{"a", "b"}}).empty());
}

TEST_CASE("names are found as whole words in any case", "[ai]") {
  NoteNames names;
  names.add("Compost.md", "Compost");
  names.add("Compost bins.md", "Compost bins");
  names.add("Äpfel.md", "Äpfel");
  names.add("the.md", "the");
  names.add("x.md", "x");
  for (const auto* folder : {"a", "b", "c", "d"})
    names.add(std::string(folder) + "/README.md", "README");

  CHECK(names.find("Our COMPOST bins are full; the x, the README.") ==
        std::vector<std::string>{"Compost bins.md", "Compost.md"});
  CHECK(names.find("Composting äpfel") == std::vector<std::string>{"Äpfel.md"});
  CHECK(names.find("").empty());
}

TEST_CASE("the sentence with the weightiest words is quoted as it stands", "[ai][C39]") {
  const std::string note =
      "---\ntitle: heap heap\n---\n# Heap\n\nWinter is long. The heap warms in winter.\n\n"
      "```\nheap winter compost\n```\n";

  const auto found = sentence_with(note, {"heap", "winter", "compost"});

  REQUIRE(found);
  CHECK(found->quote == "The heap warms in winter.");
  CHECK(found->line == 6);
  CHECK(note.substr(found->begin, found->end - found->begin) == found->quote);
  CHECK_FALSE(sentence_with(note, {"tulip"}));
  CHECK_FALSE(sentence_with("", {"tulip"}));
  CHECK(sentence_with("木の下。日本語の本。\n", {"日本"})->quote.find("日本語") !=
        std::string::npos);
}

TEST_CASE("rules say how two notes stand to each other without a model", "[ai][C46]") {
  const auto guess = [](const RelationClues& clues) {
    return guess_relation(clues, relation_labels())->relation;
  };
  auto clues = garden_clues();
  CHECK(guess(clues) == "same_topic");
  CHECK(guess_relation(clues, relation_labels())->confidence == Approx(0.6));
  clues.names_it = true;
  CHECK(guess(clues) == "cites");
  CHECK(guess_relation(clues, {"same_topic"})->relation == "same_topic");
  CHECK_FALSE(guess_relation(clues, {"contradicts"}));

  clues = garden_clues();
  clues.source_name = "Compost bins";
  CHECK(guess(clues) == "extends");
  clues.source_name = "Composting";
  CHECK(guess(clues) == "same_topic");
  clues.source_folder = "Garden/Compost";
  CHECK(guess(clues) == "extends");

  clues = garden_clues();
  clues.source_name = "Part 9";
  clues.other_name = "Part 10";
  CHECK(guess(clues) == "precedes");
  std::swap(clues.source_name, clues.other_name);
  CHECK(guess(clues) == "same_topic");
  clues.source_name = "2026-01-31";
  clues.other_name = "2026-02-01";
  CHECK(guess(clues) == "precedes");
  clues.other_folder = "Elsewhere";
  CHECK(guess(clues) == "same_topic");

  clues = garden_clues();
  const std::string text = "Roses  are pruned in spring.\n";
  clues.other_text = text;
  CHECK(guess(clues) == "duplicates");
  CHECK(guess_relation(clues, relation_labels())->confidence == 1);

  clues = garden_clues();
  const std::string brief = "Heap, worms, barrel, straw, water, garden, winter, compost.";
  const std::string full = brief + std::string(200, ' ') +
                           "The heap feeds worms; the barrel holds straw and water for the garden.";
  clues.source_text = brief;
  clues.other_text = full;
  CHECK(guess(clues) == "summarizes");
  std::swap(clues.source_text, clues.other_text);
  CHECK(guess(clues) == "same_topic");
}

TEST_CASE("a property that links says which relation it is", "[ai][C46]") {
  for (const auto& [key, relation] :
       std::vector<std::pair<std::string, std::string>>{{"depends_on", "depends_on"},
                                                        {"Depends-On", "depends_on"},
                                                        {"same_as", "duplicates"},
                                                        {"see also", "same_topic"},
                                                        {"contradicts", "contradicts"}}) {
    auto clues = garden_clues();
    clues.link_keys = {"author", key};
    const auto guessed = guess_relation(clues, relation_labels());
    CHECK(guessed->relation == relation);
    CHECK(guessed->confidence == Approx(0.95));
    CHECK(guessed->rationale.starts_with("extractive: "));
  }
}

}  // namespace indx
