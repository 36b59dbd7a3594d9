#include "ai/extractive/text_tiling.hpp"

#include "ai/note_text.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace indx {
namespace {

/// Paragraphs about gardens, then as many about databases.
std::string garden_paragraphs() {
  return "The garden wakes in spring. Roses need pruning before the buds swell, and the soil "
         "around "
         "the roses wants compost. A gardener with sharp shears prunes roses on a dry morning.\n\n"
         "Compost feeds the soil of the garden. Leaves, peelings and old roses rot into compost "
         "over the winter, and worms carry the compost into the soil of the beds.\n\n"
         "Water the garden in the evening. Soil under roses dries out in summer, and a layer of "
         "compost keeps the water in the soil of the garden beds around the roses.\n\n";
}
std::string database_paragraphs() {
  return "The database keeps rows in pages. A query reads pages through the cache, and an index on "
         "the table lets a query find rows without reading every page of the table.\n\n"
         "A transaction writes its log before the pages. After a crash the database replays the "
         "log, so that each committed transaction of a query is in the table pages again.\n\n"
         "The planner picks an index for a query. Statistics of the table say how many rows a "
         "query will read, and the database reads pages by index or scans the whole table.\n\n";
}
std::vector<TextTile> tiles_of(const std::string& bytes, std::size_t most = 20) {
  const NoteText text(bytes);
  return text_tiles(text.prose(), text.body_begin(), bytes.size(), most);
}

}  // namespace

TEST_CASE("a text is cut between paragraphs where its words change", "[ai]") {
  const auto garden = garden_paragraphs(), database = database_paragraphs();

  const auto tiles = tiles_of(garden + database);

  REQUIRE(tiles.size() == 2);
  CHECK(tiles[0].begin == 0);
  CHECK(tiles[0].end == garden.size());
  CHECK(tiles[1].begin == garden.size());
  CHECK(tiles[1].end == garden.size() + database.size());
}

TEST_CASE("three subjects are three tiles, and fewer when fewer are wanted", "[ai]") {
  const auto garden = garden_paragraphs(), database = database_paragraphs();
  const std::string music =
      "The quartet tunes before the concert. A violin carries the melody while the cello answers, "
      "and the viola holds the chord under the melody of the violin.\n\n"
      "The composer wrote the melody in one night. In the concert the quartet plays the slow "
      "movement twice, for the cello and the violin share one melody and one chord.\n\n"
      "After the concert the quartet records the melody. The violin stands near the microphone, "
      "the cello behind, and the chord of the viola is heard in the slow movement.\n\n";
  const auto bytes = garden + database + music;

  CHECK(tiles_of(bytes).size() == 3);
  CHECK(tiles_of(bytes, 2).size() == 2);
  CHECK(tiles_of(bytes, 1).size() == 1);
  CHECK(tiles_of(bytes, 0).empty());
}

TEST_CASE("a text about one thing is one tile, and so is a short one", "[ai]") {
  CHECK(tiles_of(garden_paragraphs()).size() == 1);
  CHECK(tiles_of("Buy milk.\n\nCall Ana.\n").size() == 1);
  CHECK(tiles_of("").empty());
  CHECK(tiles_of("```\ncode only\n```\n").empty());
}

TEST_CASE("where there are no paragraphs a text is cut between sentences", "[ai]") {
  auto bytes = garden_paragraphs() + database_paragraphs();
  for (std::size_t at = bytes.find("\n\n"); at != std::string::npos; at = bytes.find("\n\n"))
    bytes.replace(at, 2, " ");

  const auto tiles = tiles_of(bytes);

  REQUIRE(tiles.size() == 2);
  CHECK(bytes[tiles[1].begin - 2] == '.');
  const auto distance =
      static_cast<double>(tiles[1].begin) - static_cast<double>(bytes.find("The database keeps"));
  CHECK(std::abs(distance) < 200);
}

TEST_CASE("tiles cover a long hostile text without gaps", "[ai]") {
  std::string bytes;
  for (int i = 0; i < 20000; ++i) bytes += i % 7 == 0 ? "one two\n\n" : "][ \xFF three\xE2\x80 ";

  const auto tiles = tiles_of(bytes);

  REQUIRE_FALSE(tiles.empty());
  CHECK(tiles.front().begin == 0);
  CHECK(tiles.back().end == bytes.size());
  for (std::size_t i = 1; i < tiles.size(); ++i) CHECK(tiles[i].begin == tiles[i - 1].end);
}

}  // namespace indx
