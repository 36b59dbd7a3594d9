#include "ai/extractive/answerer.hpp"

#include "ai/extractive/language.hpp"
#include "ai/extractive/question.hpp"
#include "tests/support/word_embedder.hpp"

#include <catch2/catch.hpp>

#include <cmath>

namespace indx {
namespace {

/// One chunk a note, with the note's first heading above it.
AnswerTask task_of(const std::string& question, const std::vector<std::string>& notes,
                   double gate = 0.3) {
  AnswerTask task;
  task.question = question;
  task.gate = gate;
  const auto corpus = std::make_shared<Corpus>();
  for (const auto& bytes : notes) {
    const auto place = task.notes.size();
    const auto path = "n" + std::to_string(place) + ".md";
    task.notes.push_back({path, "Note", bytes});
    task.chunks.push_back({place, 0, bytes.size(), {"Top"}});
    corpus->add(path, bytes, {});
  }
  corpus->finish();
  task.corpus = corpus;
  return task;
}

ExtractiveAnswer answer_by_meaning(const AnswerTask& task) {
  WordEmbedder embedder;
  const ExtractiveAnswerer answerer(task);
  return answerer.answer(*embedder.embed(answerer.texts(), {}));
}
ExtractiveAnswer answer_by_words(const AnswerTask& task) {
  return ExtractiveAnswerer(task).answer({});
}

const std::string kGarden =
    "# Garden\n\nThe shed is painted green. Roses are pruned in March with clean shears. Burn the "
    "cuttings afterwards.\n\nCompost warms the heap in winter.\n";

}  // namespace

TEST_CASE("the sentence that answers is quoted with the one behind it", "[ai][C19]") {
  const auto task = task_of("When are the roses pruned?", {kGarden});
  for (const auto& answer : {answer_by_meaning(task), answer_by_words(task)}) {
    REQUIRE_FALSE(answer.passages.empty());
    const auto& first = answer.passages.front();
    CHECK(first.evidence.quote == "Roses are pruned in March with clean shears.");
    CHECK(first.text ==
          "Roses are pruned in March with clean shears. Burn the cuttings afterwards.");
    CHECK(first.evidence.line == 3);
    CHECK(first.evidence.anchor == "garden");
    CHECK(kGarden.substr(first.evidence.begin, first.evidence.quote.size()) ==
          first.evidence.quote);
    CHECK(first.heading == "Top");
  }
}

TEST_CASE("a question that no sentence is near to has no answer", "[ai][C23]") {
  CHECK(answer_by_meaning(task_of("Which wine goes with salmon?", {kGarden})).passages.empty());
  CHECK(answer_by_words(task_of("Which wine goes with salmon?", {kGarden})).passages.empty());
  CHECK(answer_by_meaning(task_of("When are the roses pruned?", {kGarden}, 0.99)).passages.empty());
  CHECK(answer_by_meaning(task_of("", {kGarden})).passages.empty());
  CHECK(answer_by_words(task_of("When are the roses pruned?", {})).passages.empty());
}

TEST_CASE("a sentence that is near but lacks the question's words answers nothing", "[ai][C23]") {
  AnswerTask task = task_of("Which insurance covers the roses?", {kGarden}, 0.1);
  CHECK(answer_by_meaning(task).passages.empty());
  CHECK(answer_by_words(task).passages.empty());
  // A vector that says "the same" does not make up for that.
  const ExtractiveAnswerer answerer(task);
  const std::vector<std::vector<float>> same(answerer.texts().size(), {1.0F, 0.0F});
  CHECK(answerer.answer(same).passages.empty());
}

TEST_CASE("steps are given whole when it is asked how to", "[ai]") {
  const std::string note =
      "# Bread\n\nBread needs a starter.\n\n1. Feed the starter.\n2. Mix the bread dough "
      "overnight.\n   It rises by itself.\n3. Bake it hot.\n\nEnjoy the bread.\n";
  const auto steps =
      "1. Feed the starter.\n2. Mix the bread dough overnight.\n   It rises by "
      "itself.\n3. Bake it hot.";

  const auto how = answer_by_words(task_of("How do I mix bread dough?", {note}));
  REQUIRE_FALSE(how.passages.empty());
  CHECK(how.passages.front().evidence.quote == steps);
  CHECK(how.passages.front().text == steps);

  const auto what =
      answer_by_words(task_of("What does the bread dough do when we mix it?", {note}));
  REQUIRE_FALSE(what.passages.empty());
  CHECK(what.passages.front().evidence.quote == "Mix the bread dough overnight.");
}

TEST_CASE("what is asked for counts: a date, a name, a number", "[ai]") {
  const std::string note =
      "The reader launch needs a plan.\n\nThe reader launch is on 2024-03-05.\n\nThe reader launch "
      "is led by Ana Silva.\n\nThe reader launch costs 500 coins.\n";
  const auto best = [&](const std::string& question) {
    const auto answer = answer_by_words(task_of(question, {note}));
    return answer.passages.empty() ? std::string() : answer.passages.front().evidence.quote;
  };

  CHECK(best("When is the reader launch?") == "The reader launch is on 2024-03-05.");
  CHECK(best("Who does the reader launch?") == "The reader launch is led by Ana Silva.");
  const Corpus none;
  CHECK(Question("How many are there?", none).is_answered_by("It costs 500 coins.", false));
  CHECK_FALSE(Question("How many are there?", none).is_answered_by("It costs coins.", false));
  CHECK(Question("Who is it?", none).kind() == Question::Kind::Who);
  CHECK(Question("How do I bake?", none).kind() == Question::Kind::HowTo);
  CHECK(Question("Is it red?", none).kind() == Question::Kind::Other);
}

TEST_CASE("at most three passages are shown, each once", "[ai]") {
  std::vector<std::string> notes;
  for (const std::string word : {"red", "white", "wild", "old", "tall"})
    notes.push_back("Roses are pruned in March, the " + word + " ones.\n");
  auto task = task_of("When are roses pruned?", notes);
  task.chunks.push_back(task.chunks.front());  // the same piece again

  const auto answer = answer_by_meaning(task);

  CHECK(answer.passages.size() == 3);
  std::set<std::size_t> from;
  for (const auto& passage : answer.passages) from.insert(passage.note);
  CHECK(from.size() == 3);
  const auto again = answer_by_meaning(task);
  REQUIRE(again.passages.size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(again.passages[i].evidence.quote == answer.passages[i].evidence.quote);
}

TEST_CASE("only prose of the piece that was found is quoted", "[ai]") {
  const std::string note =
      "---\nrose: Roses are pruned in March.\n---\n```\nRoses are pruned in April.\n```\n\n"
      "| Roses are pruned in May. | x |\n\n## Roses are pruned when\n\nSee [[Roses are pruned]].\n";
  CHECK(answer_by_words(task_of("When are roses pruned?", {note, "Nothing else is here.\n"}))
            .passages.size() <= 1);
  const auto with_answer = note + "\nRoses are pruned in June.\n";
  auto task = task_of("When are roses pruned?", {with_answer});
  CHECK(answer_by_words(task).passages.front().evidence.quote == "Roses are pruned in June.");
  task.chunks.front().end = note.size();
  for (const auto& passage : answer_by_words(task).passages)
    CHECK(passage.evidence.quote.find("June") == std::string::npos);
}

TEST_CASE("inflections of a word are the same word", "[ai]") {
  CHECK(word_keys("pruned") == word_keys("pruning"));
  CHECK(word_keys("prunes") == word_keys("prune"));
  CHECK(word_keys("planning") == word_keys("planned"));
  CHECK(word_keys("the of and").empty());
  CHECK(word_keys("rose") != word_keys("heap"));
  const Corpus none;
  const Question question("Which roses are pruned?", none);
  CHECK(question.overlap("We prune every rose.") == Approx(1));
  CHECK(question.overlap("A rose.") == Approx(0.5));
  CHECK(question.overlap("Compost.") == 0);
}

TEST_CASE("a text lacks of a question its rarest missing word, and its names", "[ai]") {
  Corpus corpus;
  corpus.add("a.md", "roses in spring", {});
  corpus.add("b.md", "roses in autumn", {});
  corpus.finish();
  const Question question("Which roses does Ana prune in spring?", corpus);
  CHECK(question.missing("Ana prunes roses in spring.") == 0);
  CHECK(question.missing("Roses.") == Approx(1));  // nobody speaks of Ana
  const double spring = corpus.inverse_document_frequency("spring");
  CHECK(question.missing("Ana prunes roses.") ==
        Approx(spring / corpus.inverse_document_frequency("nowhere")));
  CHECK(question.lacks_name("We prune roses in spring."));
  CHECK_FALSE(question.lacks_name("Ana prunes."));
  CHECK_FALSE(Question("Which roses are these?", corpus).lacks_name("Heap."));
  const Question dated("Which roses came in 2021?", corpus);
  CHECK(dated.lacks_name("Roses of 2020 and 20210."));
  CHECK_FALSE(dated.lacks_name("Roses, 2021-12-07."));
  CHECK_FALSE(Question("Which roses stand in A6?", corpus).lacks_name("In a6."));
}

TEST_CASE("a sentence must be the nearer the more its chunk lacks of the question", "[ai][C23]") {
  const std::string note = "Roses are pruned in March.\n";
  const auto passes = [&](const std::string& question, float cosine) {
    const auto task = task_of(question, {note}, 0.5);
    const ExtractiveAnswerer answerer(task);
    std::vector<std::vector<float>> vectors(answerer.texts().size(),
                                            {cosine, std::sqrt(1 - cosine * cosine)});
    vectors.front() = {1.0F, 0.0F};
    return !answerer.answer(vectors).passages.empty();
  };
  CHECK(passes("When are roses pruned?", 0.31F));
  CHECK_FALSE(passes("When are roses pruned?", 0.29F));
  CHECK(passes("When are roses pruned short?", 0.71F));
  CHECK_FALSE(passes("When are roses pruned short?", 0.69F));
  CHECK_FALSE(passes("When are roses pruned by Ana?", 0.89F));
  CHECK(passes("When are roses pruned by Ana?", 0.91F));
  CHECK_FALSE(passes("When are roses pruned in 2021?", 0.49F));
  CHECK(passes("When are roses pruned in 2021?", 0.51F));
}

TEST_CASE("a short English question is no Polish", "[ai]") {
  CHECK(language_of("How do I attach a photograph to a note?") != "pl");
  CHECK(language_of("How do I invite guests to a shared board?") != "pl");
  CHECK(language_of("Nie wiem, jak to jest, i do tego się nie da") == "pl");
}

}  // namespace indx
