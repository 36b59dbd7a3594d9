#include "ops/ai/ai_grounding.hpp"

#include "tests/support/fake_context.hpp"

#include <catch2/catch.hpp>

#include <chrono>

namespace indx {
namespace {

const char* const kCitedNote =
    "---\ntitle: T\n---\n# One\n\nThe roses bloom in June.\n\n## Two\n\nThe roses bloom in June, "
    "again.\n\nA block. ^b1\n";

struct CitedWorld : FakeWorld {
  CitedWorld() { files["a.md"] = kCitedNote; }
  AiSources sources() {
    FakeContext context(*this);
    AiSources all;
    all.add(read_scoped(context, {"a.md", etag("a.md")}).value());
    return all;
  }
  /// The line of the citation, or the code of the warning.
  std::string verdict(const Json& claim) {
    const auto result = sources().verify(claim_from_json(claim), "the point");
    if (result.citation) return "line " + std::to_string(result.citation->line.value_or(0));
    CHECK(result.warning["key"] == "the point");
    return result.warning["code"].get<std::string>();
  }
};

}  // namespace

TEST_CASE("a citation holds where its path, etag, anchor, line and snippet do",
          "[ops][D38][D40][D65]") {
  CitedWorld world;
  const std::string snippet = "The roses bloom in June";
  const auto claim = [&](Json more) {
    Json json{{"path", "a.md"}, {"snippet", snippet}};
    json.update(more);
    return json;
  };

  CHECK(world.verdict(claim(Json::object())) == "line 6");
  CHECK(world.verdict(claim({{"etag", world.etag("a.md")}})) == "line 6");
  CHECK(world.verdict(claim({{"anchor", "one"}})) == "line 6");
  CHECK(world.verdict(claim({{"anchor", "#one"}, {"line", 6}})) == "line 6");
  CHECK(world.verdict(claim({{"line", 10}, {"anchor", "two"}})) == "line 10");
  CHECK(world.verdict(claim({{"snippet", "The  roses bloom\nin June"}})) == "line 6");
  CHECK(world.verdict(claim({{"anchor", "^b1"}, {"snippet", "A block."}})) == "line 12");

  CHECK(world.verdict(claim({{"path", "b.md"}})) == "citation_invalid");
  CHECK(world.verdict(claim({{"path", "../a.md"}})) == "citation_invalid");
  CHECK(world.verdict(claim({{"etag", "0000000000000000"}})) == "citation_drift");
  CHECK(world.verdict(claim({{"anchor", "three"}})) == "citation_invalid");
  CHECK(world.verdict(claim({{"anchor", "two"}, {"line", 6}})) == "citation_invalid");
  CHECK(world.verdict(claim({{"line", 7}})) == "citation_invalid");
  CHECK(world.verdict(claim({{"line", 4000}})) == "citation_invalid");
  CHECK(world.verdict(claim({{"line", -3}})) == "citation_invalid");
  CHECK(world.verdict(claim({{"snippet", "The roses bloom in July"}})) == "citation_invalid");
  CHECK(world.verdict(claim({{"snippet", "…"}})) == "citation_invalid");
  CHECK(world.verdict(Json::array()) == "citation_invalid");
}

TEST_CASE("a snippet has to stand in the span that is cited", "[ops][D38][D40]") {
  CitedWorld world;
  const std::string text = kCitedNote;
  const auto first = text.find("The roses"), second = text.rfind("The roses");
  const auto claim = [&](std::size_t begin, std::size_t end) {
    return Json{{"path", "a.md"}, {"snippet", "The roses bloom"}, {"span", {begin, end}}};
  };

  CHECK(world.verdict(claim(first, first + 15)) == "line 6");
  CHECK(world.verdict(claim(second, second + 15)) == "line 10");
  CHECK(world.verdict(claim(first + 1, first + 40)) == "citation_invalid");
  CHECK(world.verdict(claim(first, first + 5)) == "citation_invalid");
  CHECK(world.verdict(claim(1 << 20, 1 << 21)) == "citation_invalid");
}

TEST_CASE("citations of a note that changed since are taken away, once told", "[ops][D40][D65]") {
  CitedWorld world;
  world.files["b.md"] = "stays\n";
  std::vector<AiCitation> citations(3);
  citations[0].path = citations[1].path = "a.md";
  citations[0].etag = citations[1].etag = world.etag("a.md");
  citations[2].path = "b.md";
  citations[2].etag = world.etag("b.md");
  world.files["a.md"] += "edit\n";
  FakeContext context(world);
  std::vector<Json> warnings;

  drop_drifted(context, citations, warnings);

  REQUIRE(citations.size() == 1);
  CHECK(citations[0].path == "b.md");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0]["code"] == "citation_drift");
}

TEST_CASE("nothing left to cite is an error only when something was dropped", "[ops][D41]") {
  const std::vector<Json> none = {"ai_cache_hit", ai_warning("truncated", "a.md", "")};
  const std::vector<Json> dropped = {ai_warning("citation_drift", "a.md", "")};

  CHECK(check_grounding(0, none, "No point"));
  CHECK(check_grounding(1, dropped, "No point"));
  const auto failed = check_grounding(0, dropped, "No point");
  REQUIRE_FALSE(failed);
  CHECK(failed.error().reason == Reason::AiGroundingFailed);
  CHECK(failed.error().details["dropped"].size() == 1);
}

TEST_CASE("a snippet of a word or two proves nothing, also with spaces around it", "[ops][D40]") {
  CitedWorld world;

  CHECK(world.verdict({{"path", "a.md"}, {"snippet", "in"}}) == "citation_invalid");
  CHECK(world.verdict({{"path", "a.md"}, {"snippet", "in          "}}) == "citation_invalid");
  CHECK(world.verdict({{"path", "a.md"}, {"snippet", "  A block.  "}}) == "line 12");
}

TEST_CASE("a snippet with other white space is found in its span, whatever stands behind",
          "[ops][D38][D40]") {
  CitedWorld world;
  world.files["a.md"] = "The roses  bloom.\n\nThe roses bloom.\n";

  CHECK(world.verdict({{"path", "a.md"},
                       {"snippet", "The roses bloom"},
                       {"span", {std::size_t{0}, std::size_t{17}}}}) == "line 1");
}

TEST_CASE("the span of a citation holds its snippet and no more", "[ops][D38]") {
  Evidence evidence;
  for (int i = 0; i < 100; ++i) evidence.quote += "wörds ";
  evidence.line = 2;
  evidence.begin = 10;
  evidence.end = 10 + evidence.quote.size();

  const auto citation = to_citation(evidence, "a.md", "e");

  CHECK(citation.snippet.size() < evidence.quote.size());
  CHECK(citation.span == std::vector<std::size_t>{10, 10 + citation.snippet.size()});
}

TEST_CASE("bytes that are no UTF-8 are not cited", "[ops][D38]") {
  CitedWorld world;
  world.files["a.md"] = "caf\xE9 roses\n";
  FakeContext context(world);
  const AiNote note = read_scoped(context, {"a.md", world.etag("a.md")}).value();

  CHECK_FALSE(is_grounded({"caf\xE9 roses", 1, "", 0, 10}, note.file, *note.note));
  CHECK(is_grounded({"roses", 1, "", 5, 10}, note.file, *note.note));
}

TEST_CASE("hundreds of claims about a large note are checked with one reading of it", "[ops]") {
  CitedWorld world;
  while (world.files["a.md"].size() < 2000000)
    world.files["a.md"] += "Roses bloom [here](x) in June.\n";
  const auto sources = world.sources();

  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 200; ++i) {
    AiClaim claim;
    claim.path = "a.md";
    claim.snippet = "Roses bloom [here](x)";
    CHECK(sources.verify(claim, "p").citation.has_value());
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}

}  // namespace indx
