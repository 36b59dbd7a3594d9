#include "tests/store/index_fixture.hpp"

#include <algorithm>
#include <random>

namespace indx {
namespace {

/// Notes that link each other by name and path, some names twice, some nowhere.
std::map<std::string, std::string> linked_notes(Random& random) {
  std::map<std::string, std::string> notes;
  for (int i = 0; i < 60; ++i) {
    std::string text = "# Note\n";
    for (auto links = random.next() % 4; links > 0; --links)
      text += cat("[[", random.next() % 3 == 0 ? "b/" : "", "n", random.next() % 45, "]] ");
    notes[cat(random.next() % 2 == 0 ? "a/" : "b/", "n", random.next() % 40, ".md")] = text;
  }
  return notes;
}

/// Every link with the path it reaches and what an unresolved one is grouped under; then every file
/// with what is kept for orphans.
std::vector<std::string> links_and_orphans(IndexFixture& index) {
  auto db = Database::open(index.folder.str() + "/index.db", {.read_only = true}).value();
  std::vector<std::string> rows;
  auto links = db.prepare(
      "SELECT s.path, l.position, l.target, t.path, l.target_key, l.target_id IS NULL FROM links l "
      "JOIN files s ON s.id=l.source_id LEFT JOIN files t ON t.id=l.target_id ORDER BY 1, 2");
  while (links.step().value())
    rows.push_back(cat(links.text(0), ' ', links.text(1), ' ', links.text(2), " > ", links.text(3),
                       ' ', links.text(4), ' ', links.text(5)));
  auto files = db.prepare("SELECT path, unlinked FROM files ORDER BY 1");
  while (files.step().value()) rows.push_back(cat(files.text(0), ' ', files.text(1)));
  return rows;
}

void finish(NoteIndexWriter& writer) {
  for (bool is_done = false; !is_done;) {
    writer.begin().value();
    is_done = writer.end_bulk().value();
    writer.commit().value();
  }
}

}  // namespace

TEST_CASE("files that were told of first are linked as files that were not", "[store]") {
  SeededRandom random(11);
  for (int round = 0; round < 20; ++round) {
    const auto notes = linked_notes(random);
    IndexFixture plain, bulk;
    plain.put(notes);
    std::vector<std::string> coming = {"a/never.md", "b/n41.md", "n42.md"};  // will not come
    for (const auto& [path, text] : notes) coming.push_back(path);
    coming.erase(coming.begin() + 5);  // comes untold

    bulk.writer.begin_bulk(coming).value();
    REQUIRE(bulk.writer.is_bulk_open());
    auto order = std::vector<std::pair<std::string, std::string>>(notes.begin(), notes.end());
    std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(round)));
    for (const auto& [path, text] : order) bulk.put(path, text);
    bulk.put(order[0].first, "changed [[n1]]\n");  // somebody edits, deletes and makes notes
    bulk.remove(order[1].first);
    finish(bulk.writer);
    plain.put(order[0].first, "changed [[n1]]\n");
    plain.remove(order[1].first);

    CHECK_FALSE(bulk.writer.is_bulk_open());
    CHECK(links_and_orphans(bulk) == links_and_orphans(plain));
  }
}

TEST_CASE("a scan that was broken off is made good by the next one", "[store]") {
  SeededRandom random(12);
  const auto notes = linked_notes(random);
  IndexFixture plain, bulk;
  plain.put(notes);
  std::vector<std::string> coming;
  for (const auto& [path, text] : notes) coming.push_back(path);
  bulk.writer.begin_bulk(coming).value();
  for (std::size_t i = 0; i < coming.size() / 2; ++i) bulk.put(coming[i], notes.at(coming[i]));

  bulk.writer = NoteIndexWriter::open(bulk.folder.str(), Durability::Off, bulk.random).value();

  REQUIRE(bulk.writer.is_bulk_open());
  coming.erase(coming.begin(), coming.begin() + static_cast<std::ptrdiff_t>(coming.size() / 2));
  std::reverse(coming.begin(), coming.end());  // they get other ids
  bulk.writer.begin_bulk(coming).value();
  for (const auto& path : coming) bulk.put(path, notes.at(path));
  finish(bulk.writer);
  CHECK(links_and_orphans(bulk) == links_and_orphans(plain));
}

}  // namespace indx
