#include "vault/markdown.hpp"

#include "base/text.hpp"
#include "tests/fuzz/claims.hpp"
#include "vault/chunk.hpp"
#include "vault/line_ends.hpp"
#include "vault/section.hpp"

/// Input: a note. Whatever is found in it stands inside of it, between characters, in order, and
/// holds what it says; every heading has an address that leads back to it.

namespace indx::fuzz {
namespace {

int line_of(std::string_view bytes, std::size_t at) {
  int line = 1;
  for (std::size_t i = 0; i < at; i = next_line_of(bytes, line_end_of(bytes, i))) {
    const std::size_t next = next_line_of(bytes, line_end_of(bytes, i));
    if (next > at || (next == bytes.size() && line_end_of(bytes, i) == next)) break;
    ++line;
  }
  return line;
}

void check_items(std::string_view bytes, bool is_utf8, const ParsedNote& note) {
  std::size_t last = 0;
  for (const auto& heading : note.headings) {
    CLAIM(heading.level >= 1 && heading.level <= 6);
    CLAIM(is_range(bytes, is_utf8, heading.begin, heading.content));
    CLAIM(heading.begin >= last && heading.line == line_of(bytes, heading.begin));
    last = heading.begin;
  }
  last = 0;
  for (const auto& use : note.tags) {
    CLAIM(is_valid_tag(use.tag));
    if (use.line == 0) continue;
    CLAIM(is_range(bytes, is_utf8, use.begin, use.end) && use.begin >= last);
    CLAIM(!is_utf8 || bytes.substr(use.begin, use.end - use.begin) == use.tag);
    CLAIM(use.line == line_of(bytes, use.begin));
    last = use.end;
  }
  last = note.frontmatter.body_begin;
  for (const auto& link : note.links) {
    CLAIM(is_range(bytes, is_utf8, link.begin, link.end));
    if (link.kind == LinkKind::Property) {
      CLAIM(link.begin >= note.frontmatter.content_begin);
      CLAIM(link.end <= note.frontmatter.content_end);
      CLAIM(link.line == line_of(bytes, link.begin) && link.column > 0);
      continue;
    }
    CLAIM(link.begin >= last && link.end > link.begin);
    CLAIM(is_range(bytes, is_utf8, link.target_begin, link.target_end));
    CLAIM(is_range(bytes, is_utf8, link.display_begin, link.display_end));
    if (link.target_begin < link.target_end)
      CLAIM(link.begin <= link.target_begin && link.target_end <= link.end);
    CLAIM(link.line == line_of(bytes, link.begin));
    last = link.begin;
  }
  last = 0;
  for (const auto& block : note.blocks) {
    CLAIM(is_range(bytes, is_utf8, block.begin, block.end) && block.begin >= last);
    CLAIM(block.begin <= block.text && block.text <= bytes.size());
    CLAIM(block.mark < bytes.size() && bytes[block.mark] == '^');
    CLAIM(bytes.substr(block.mark + 1, block.id.size()) == block.id);
    CLAIM(block.line <= block.end_line && block.line == line_of(bytes, block.begin));
    last = block.begin;
  }
  for (const auto& task : note.tasks) {
    CLAIM(task.begin > 0 && task.begin < bytes.size() && bytes[task.begin - 1] == '[');
    CLAIM(is_border(bytes, is_utf8, task.begin));
    CLAIM(task.line == line_of(bytes, task.begin));
  }
}

void check(std::string_view bytes) {
  const bool is_utf8 = is_valid_utf8(bytes);
  const ParsedNote note = parse_note(bytes);
  check_items(bytes, is_utf8, note);

  std::size_t last = 0;
  for (const auto& [begin, end] : masked_ranges(bytes)) {
    CLAIM(is_range(bytes, is_utf8, begin, end) && begin >= last);
    last = begin;
  }
  std::size_t covered = note.frontmatter.body_begin;
  for (const auto& chunk : chunk_note("a.md", bytes, note)) {
    CLAIM(is_range(bytes, is_utf8, chunk.char_start, chunk.char_end));
    CLAIM(chunk.char_start >= covered);
    CLAIM(!is_utf8 ||
          bytes.substr(chunk.char_start, chunk.char_end - chunk.char_start) == chunk.content);
    CLAIM(trim(bytes.substr(covered, chunk.char_start - covered)).empty());
    covered = chunk.char_end;
  }
  CLAIM(trim(bytes.substr(covered)).empty() || !is_utf8);

  const auto addresses = heading_addresses(note);
  CLAIM(addresses.size() == note.headings.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (note.headings[i].nested) continue;
    const auto found = find_heading(note, addresses[i]);
    CLAIM(found.has_value() && *found == i);
    const auto section = section_at(note, bytes.size(), i);
    CLAIM(section.begin <= section.content && section.content <= section.end &&
          section.end <= bytes.size());
  }
  for (const auto& block : note.blocks) CLAIM(find_block(note, block.id).has_value());
}

}  // namespace
}  // namespace indx::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  indx::fuzz::check(FUZZ_INPUT(data, size));
  return 0;
}
