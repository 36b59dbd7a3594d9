#include "actors/parsed_notes.hpp"

#include "base/text.hpp"

#include <catch2/catch.hpp>

namespace indx {
namespace {

NoteFile note_file(const std::string& bytes, const std::string& etag) {
  return {NotePath::parse("a.md").value(), bytes, etag, {}, bytes.size()};
}

}  // namespace

TEST_CASE("a note that was read before is not parsed again") {
  ParsedNotes notes({}, 1000);
  const auto first = notes.get(note_file("# One\n", "e1"));
  CHECK(first->title == "One");
  CHECK(notes.get(note_file("# One\n", "e1")) == first);
  CHECK(notes.get(note_file("# Two\n", "e2"))->title == "Two");
}

TEST_CASE("other bytes with the same etag are another note") {
  ParsedNotes notes({}, 1000);
  notes.get(note_file("# One\n", "e1"));
  CHECK(notes.get(note_file("# Forged\n", "e1"))->title == "Forged");
  CHECK(notes.get(note_file("# One\n", "e1"))->title == "One");
}

TEST_CASE("the notes that were read longest ago are forgotten first") {
  ParsedNotes notes({}, 100);
  const auto text = [](int i) { return cat("# ", i, "\n"); };
  const auto read = [&](int i) { return notes.get(note_file(text(i), cat("e", i))); };
  const auto first = read(0);
  const auto second = read(1);
  for (int i = 2; i < 40; ++i) {
    read(i);
    CHECK(read(0) == first);
  }
  CHECK(read(1) != second);
}

TEST_CASE("a note larger than its share of the memory is parsed each time") {
  ParsedNotes notes({}, 100);
  const std::string text = "# " + std::string(50, 'x') + "\n";
  CHECK(notes.get(note_file(text, "e")) != notes.get(note_file(text, "e")));
}

}  // namespace indx
