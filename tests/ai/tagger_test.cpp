#include "ai/extractive/tagger.hpp"

#include "base/unicode.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

struct SampleNote {
  const char* path;
  const char* text;
  std::vector<std::string> tags;
};

const std::vector<SampleNote>& notes() {
  static const std::vector<SampleNote> all = {
      {"bread.md",
       "Sourdough bread needs flour, water, salt and a lively starter. Knead the dough and bake it "
       "in a hot oven.",
       {"baking", "recipes"}},
      {"cake.md",
       "A cake of flour, butter, sugar and eggs. Bake the dough in the oven for forty minutes.",
       {"baking", "recipes"}},
      {"pizza.md",
       "Pizza dough of flour, water and salt; bake it in a very hot oven on a stone.",
       {"baking", "recipes"}},
      {"roses.md",
       "Prune roses in spring. Roses want compost, sun and deep soil in the garden.",
       {"gardening"}},
      {"compost.md",
       "Compost turns garden waste into soil. Turn the heap, keep it moist.",
       {"gardening"}},
      {"tomato.md",
       "Tomatoes in the garden need compost, water and support; prune the side shoots.",
       {"gardening", "topic/Vegetables"}},
      {"raft.md",
       "Raft is a consensus protocol: a leader replicates its log to a quorum of followers.",
       {"distributed-systems"}},
      {"paxos.md",
       "Paxos reaches consensus among replicas with a quorum of acceptors and a proposer.",
       {"distributed-systems"}}};
  return all;
}

const Corpus& corpus() {
  static const auto built = [] {
    Corpus made;
    for (const auto& note : notes()) made.add(note.path, note.text, note.tags);
    made.finish();
    return made;
  }();
  return built;
}

TagTask rule_task(const std::string& title, const std::string& bytes) {
  TagTask task;
  task.path = "new.md";
  task.title = title;
  task.bytes = bytes;
  task.vocabulary = {{"baking", 3},
                     {"recipes", 3},
                     {"gardening", 3},
                     {"topic/Vegetables", 1},
                     {"distributed-systems", 2}};
  return task;
}

std::vector<std::string> tag_names(const TagReply& reply) {
  std::vector<std::string> all;
  for (const auto& one : reply.tags) all.push_back(one.tag);
  return all;
}

const TagSuggestion* find(const TagReply& reply, const std::string& tag) {
  for (const auto& one : reply.tags)
    if (one.tag == tag) return &one;
  return nullptr;
}

constexpr const char* kRye =
    "---\nauthor: me\n---\n# Rye loaf\n\nMix rye flour, water and salt with the starter, and let "
    "the dough rest.\n\n## Oven\n\nBake it in a hot oven.\n";
constexpr const char* kBees =
    "# Keeping bees\n\nBeekeeping starts in spring. Beekeeping needs a hive, a smoker and "
    "patience.\n\n"
    "## Honey harvest\n\nThe honey harvest comes in July. A honey harvest of twenty kilos is "
    "normal.\n";

}  // namespace

TEST_CASE("the tags of similar notes come first, with verbatim evidence", "[ai][C49][C52]") {
  const auto task = rule_task("Rye loaf", kRye);

  const auto reply = extractive_tags(task, corpus());

  CHECK(reply.source == "extractive");
  REQUIRE(tag_names(reply) == std::vector<std::string>{"baking", "recipes"});
  for (const auto& tag : reply.tags) {
    CHECK_FALSE(tag.is_new);
    CHECK(tag.confidence >= 0.6);
    CHECK(tag.confidence <= 1);
    CHECK(tag.rationale.starts_with("extractive: "));
    REQUIRE_FALSE(tag.evidence.empty());
    for (const auto& evidence : tag.evidence) {
      CHECK(task.bytes.substr(evidence.begin, evidence.end - evidence.begin) == evidence.quote);
      CHECK(evidence.line >= 4);
      CHECK((evidence.anchor == "rye-loaf" || evidence.anchor == "oven"));
    }
  }
}

TEST_CASE("a tag that the note names is found by its words and by its last part", "[ai]") {
  const auto systems = extractive_tags(
      rule_task("On distributed systems",
                "A distributed system fails in parts. Distributed systems need clocks.\n"),
      corpus());
  REQUIRE(find(systems, "distributed-systems") != nullptr);
  CHECK(find(systems, "distributed-systems")->evidence[0].line == 1);

  const auto vegetables = extractive_tags(
      rule_task("Vegetables",
                "Vegetables for the winter. Store vegetables in sand; other vegetables in jars.\n"),
      corpus());
  REQUIRE(find(vegetables, "topic/Vegetables") != nullptr);
  CHECK_FALSE(find(vegetables, "topic/Vegetables")->is_new);
}

TEST_CASE("a word in passing is not enough for a tag", "[ai]") {
  const auto reply = extractive_tags(
      rule_task("Tax letter",
                "The tax office wrote about the income of last year. Recipes for savings do not "
                "exist. The office wants the form and the receipts by May.\n"),
      corpus());
  CHECK(find(reply, "recipes") == nullptr);
}

TEST_CASE("new tags come from the note's phrases when nothing fits", "[ai][C47]") {
  const auto reply = extractive_tags(rule_task("Keeping bees", kBees), corpus());

  REQUIRE_FALSE(reply.tags.empty());
  CHECK(find(reply, "honey-harvest") != nullptr);
  CHECK(find(reply, "beekeeping") != nullptr);
  CHECK(find(reply, "honey") == nullptr);
  for (const auto& tag : reply.tags) {
    CHECK(tag.is_new);
    CHECK_FALSE(tag.evidence.empty());
  }
  CHECK(find(reply, "honey-harvest")->evidence[0].anchor == "honey-harvest");
}

TEST_CASE("the options of the vocabulary hold for extractive tags too", "[ai][C47][C53]") {
  const auto run = [](const char* bytes, const std::function<void(TagTask&)>& set) {
    auto task = rule_task("Note", bytes);
    set(task);
    return tag_names(extractive_tags(task, corpus()));
  };
  CHECK(run(kBees, [](TagTask& t) { t.options.allow_new = false; }).empty());
  CHECK(run(kRye, [](TagTask& t) { t.options.forbid = {"Recipes"}; }) ==
        std::vector<std::string>{"baking"});
  CHECK(run(kRye, [](TagTask& t) { t.options.max_per_note = 1; }).size() == 1);
  CHECK(run(kRye, [](TagTask& t) { t.options.min_confidence = 0.999; }).empty());
  CHECK(run(kRye, [](TagTask& t) {
          t.options.candidates = {"gardening", "rye-loaf"};
        }) == std::vector<std::string>{"rye-loaf"});
  for (const auto& tag : run(kBees, [](TagTask& t) { t.options.namespace_prefix = "bees"; }))
    CHECK(tag.starts_with("bees/"));
  for (const auto& tag : run(kRye, [](TagTask& t) { t.options.use_existing = false; }))
    CHECK((tag != "baking" && tag != "recipes"));
}

TEST_CASE("a note that has a fitting tag gets no more, so that a second run changes nothing",
          "[ai][C84]") {
  auto task = rule_task("Rye loaf", kRye);
  task.current_tags = {"Baking"};
  CHECK(extractive_tags(task, corpus()).tags.empty());
  task.current_tags = {"unrelated"};
  CHECK_FALSE(extractive_tags(task, corpus()).tags.empty());
  task.current_tags = {"Baking"};
  task.options.candidates = {"recipes", "baking"};
  CHECK(tag_names(extractive_tags(task, corpus())) == std::vector<std::string>{"recipes"});
}

TEST_CASE("an empty note gives an empty result", "[ai]") {
  for (const char* bytes :
       {"", "\n\n", "---\ntags: []\n---\n", "```\ncode only\n```\n", "the and of\n", "12 34\n"}) {
    const auto reply = extractive_tags(rule_task("Rye loaf", bytes), corpus());
    CHECK(reply.tags.empty());
    CHECK(reply.warnings.empty());
    CHECK(reply.source == "extractive");
  }
}

TEST_CASE("the same note gives the same tags, to the last digit", "[ai]") {
  const auto one = extractive_tags(rule_task("Keeping bees", kBees), corpus()),
             two = extractive_tags(rule_task("Keeping bees", kBees), corpus());
  REQUIRE(tag_names(one) == tag_names(two));
  for (std::size_t i = 0; i < one.tags.size(); ++i)
    CHECK(one.tags[i].confidence == two.tags[i].confidence);
}

TEST_CASE("code, frontmatter and URLs give no phrases", "[ai]") {
  const auto reply = extractive_tags(
      rule_task("Note",
                "---\nkeyword: zebrafish zebrafish\n---\nSee https://walrus.example/walrus and "
                "[it](walrus.html).\n```\nocelot ocelot\n```\nBadgers dig. Badgers sleep.\n"),
      Corpus());
  CHECK(tag_names(reply) == std::vector<std::string>{"badgers"});
}

TEST_CASE("who asks for less confidence gets the weak votes of similar notes too", "[ai][C47]") {
  auto task = rule_task("Walk", "The walk was long and the weather was fine near the garden.\n");
  CHECK(find(extractive_tags(task, corpus()), "topic/Vegetables") == nullptr);

  task.options.min_confidence = 0;
  task.options.max_per_note = 20;
  const auto reply = extractive_tags(task, corpus());

  const auto* weak = find(reply, "topic/Vegetables");
  REQUIRE(weak != nullptr);
  CHECK(weak->confidence > 0);
  CHECK(weak->confidence < 0.3);
  CHECK_FALSE(weak->evidence.empty());
}

TEST_CASE("an empty corpus, other scripts and broken bytes are no obstacle", "[ai]") {
  const Corpus empty;
  const auto japanese = extractive_tags(
      rule_task("機械学習", "機械学習の応用について。機械学習は便利です。\n"), empty);
  CHECK(find(japanese, "機械学習") != nullptr);
  const auto russian = extractive_tags(
      rule_task("Сад", "Розы растут в саду. Розы любят солнце, и мы поливаем розы.\n"), empty);
  CHECK(find(russian, "розы") != nullptr);
  const auto broken =
      extractive_tags(rule_task("x", "caf\xE9 \xFF\xFE badgers \x80 badgers\n"), empty);
  for (const auto& tag : broken.tags) CHECK(is_valid_utf8(tag.tag));
}

TEST_CASE("confidence grows with the support", "[ai]") {
  const auto confidence_of = [](const std::string& bytes) {
    auto task = rule_task("Note", bytes);
    task.options.min_confidence = 0;
    const auto reply = extractive_tags(task, corpus());
    const auto* tag = find(reply, "gardening");
    return tag == nullptr ? 0.0 : tag->confidence;
  };
  const auto weak = confidence_of("The walk was long and the weather was fine near the garden.\n");
  const auto strong =
      confidence_of("Prune the roses, spread compost, dig the soil of the garden.\n");
  const auto named =
      confidence_of("# Gardening\nPrune the roses, spread compost, dig the soil of the garden.\n");
  CHECK(weak < strong);
  CHECK(strong < named);
  CHECK(named <= 1);
}

TEST_CASE("keyphrases are ranked, at their first place, as written", "[ai]") {
  const std::string text =
      "Google is acquiring data science community Kaggle. Sources tell us that Google is acquiring "
      "Kaggle, a platform that hosts data science competitions.";
  const auto phrases = yake_keyphrases(text, 20);

  REQUIRE(phrases.size() > 10);
  for (std::size_t i = 1; i < phrases.size(); ++i) CHECK(phrases[i - 1].score <= phrases[i].score);
  for (const auto& phrase : phrases)
    CHECK(text.substr(phrase.begin, phrase.end - phrase.begin) == phrase.text);
  const auto in_top = [&](const std::string& wanted) {
    return std::any_of(phrases.begin(), phrases.begin() + 10, [&](const Keyphrase& p) {
      return p.folded.find(wanted) != std::string::npos;
    });
  };
  CHECK(in_top("kaggle"));
  CHECK(in_top("google"));
  CHECK(yake_keyphrases("", 5).empty());
  CHECK(yake_keyphrases(text, 3).size() == 3);
}

}  // namespace indx
