// Questions about links over an index of many notes: links_bench [notes].
#include "base/hash.hpp"
#include "bench/support.hpp"
#include "store/link_index.hpp"
#include "store/note_index.hpp"

#include <cstdlib>

namespace {

using namespace indx;
using namespace indx::bench;

/// About five links a note, one in ten to a name that is not there; one note in a hundred has none;
/// a thousand notes link to the hub.
std::string note_text(int number, int notes, Random& random) {
  if (number % 100 == 7) return cat("# Note ", number, "\nNothing is linked here.\n");
  std::string text = cat("# Note ", number, "\n");
  for (int link = 0; link < 5; ++link) {
    const auto other = random.next() % static_cast<std::uint64_t>(notes);
    text += cat("Some words and a link to [[", random.next() % 10 == 0 ? "gone" : "note", "-",
                other, "]] follow.\n");
  }
  if (number % (notes / 1000 + 1) == 0) text += "[[hub]]\n";
  return text;
}

std::string note_path(std::size_t number) {
  return cat("area-", number % 40, "/note-", number, ".md");
}

/// What the list asks for in one page, read by nothing but its key: the floor of every list.
double floor_ms(const std::string& folder) {
  auto db = Database::open(folder + "/index.db", {.read_only = true}).value();
  return percentile(
      times_ms(50,
               [&](std::size_t i) {
                 auto query =
                     db.prepare("SELECT path, title FROM files WHERE id>?1 ORDER BY id LIMIT 100");
                 query.bind(i * 100);
                 while (query.step().value()) query.text(0);
               }),
      0.5);
}

void report(const char* name, const std::vector<double>& times, double floor) {
  print({.name = name, .value = percentile(times, 0.5), .unit = "ms", .floor = floor, .bar = 20.0});
  print({.name = cat(name, "_p95"),
         .value = percentile(times, 0.95),
         .unit = "ms",
         .floor = floor,
         .bar = 20.0});
}

}  // namespace

int main(int argc, char** argv) {
  const int notes = argc > 1 ? std::atoi(argv[1]) : 100000;
  const Folder folder("links");
  SeededRandom random(1);
  auto writer = NoteIndexWriter::open(folder.path.string(), Durability::Off, random).value();
  const double begin = now_s();
  const auto put = [&](const std::string& path, const std::string& text) {
    const auto note = parse_note(text);
    writer
        .put({NotePath::parse(path).value(), text.size(), 0, 0}, etag_of(text), sha256_hex(text),
             &text, &note)
        .value();
  };
  for (int i = 0; i < notes; ++i) {
    if (i % 500 == 0) writer.begin().value();
    put(note_path(static_cast<std::size_t>(i)), note_text(i, notes, random));
    if (i % 500 == 499 || i + 1 == notes) writer.commit().value();
  }
  writer.begin().value();
  put("hub.md", "# Hub\n");
  writer.commit().value();
  print({.name = "links_index", .value = now_s() - begin, .unit = "s", .floor = {}, .bar = {}});

  const double floor = floor_ms(folder.path.string());
  const auto reader = NoteIndexReader::open(folder.path.string()).value();
  LinkIndex links(reader->pool());
  report("backlinks",
         times_ms(200, [&](std::size_t i) { links.backlinks(note_path(i), {}, 100, "").value(); }),
         floor);
  report("backlinks_of_hub",
         times_ms(20, [&](std::size_t) { links.backlinks("hub.md", {}, 100, "").value(); }), floor);
  std::string cursor;
  report("unresolved",
         times_ms(50,
                  [&](std::size_t) {
                    cursor = links.unresolved({}, 100, cursor).value().next_cursor.value_or("");
                  }),
         floor);
  cursor.clear();
  report("orphans",
         times_ms(50,
                  [&](std::size_t) {
                    cursor = links.orphans(OrphanKind::NoIncoming, {}, 100, cursor)
                                 .value()
                                 .next_cursor.value_or("");
                  }),
         floor);
  NeighborQuestion two_hops;
  two_hops.depth = 2;
  report("neighbors_2",
         times_ms(20, [&](std::size_t i) { links.neighbors(note_path(i), two_hops, {}).value(); }),
         floor);
  report("move_ground",
         times_ms(20,
                  [&](std::size_t) {
                    links.move_ground({{"hub.md", "new/hub2.md"}}).value();
                  }),
         floor);
}
