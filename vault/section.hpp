#pragma once
#include "vault/markdown.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// How a call names a heading (rule 6.3): a text (`Text`, `## Text`: the level must match then), or
/// the headings above it and itself; `occurrence` (from 1; 0: none) picks one of several.
struct HeadingAddress {
  std::string heading = {};
  std::vector<std::string> heading_path = {};
  int occurrence = 0;

  bool is_empty() const { return heading.empty() && heading_path.empty(); }
};

/// The one resolver for reads and writes: an index into `note.headings`, never a nested one.
/// Compares exact texts first, then by rule 5.3. A path may leave headings out; one that names
/// every heading above wins. Errors: `target_not_found`, `ambiguous`, both with details
/// {candidates[{line, level, text, path, occurrence}], total}.
Result<std::size_t> find_heading(const ParsedNote& note, const HeadingAddress& address);

/// A block id as callers write it, without its `^`.
std::string_view plain_block_id(std::string_view id);
/// The block with that id, with or without `^`; case does not count and of several the first is
/// meant (rule 6.6). `target_not_found` with details {candidates[{block_id, line}], total}.
Result<const Block*> find_block(const ParsedNote& note, std::string_view id);

/// The texts of the headings above a heading and its own, block ids left out.
std::vector<std::string> heading_path_of(const ParsedNote& note, std::size_t index);
/// An address for each heading that names it alone; nested ones get an empty one.
std::vector<HeadingAddress> heading_addresses(const ParsedNote& note);

/// A heading and its section (rule 6.2), in bytes of the file.
struct NoteSection {
  std::size_t heading = 0;           ///< index
  std::size_t begin = 0;             ///< of the heading's line
  std::size_t content = 0, end = 0;  ///< the section
  std::optional<std::size_t> next;   ///< the heading that stands at `end`
};
/// `own_text_only` stops at the first heading below it.
NoteSection section_at(const ParsedNote& note, std::size_t size, std::size_t index,
                       bool own_text_only = false);

/// What a link's subpath or a slug reaches (rule 5.3).
struct Anchor {
  enum class Kind : std::uint8_t { Heading, Block };
  Kind kind = Kind::Heading;
  std::size_t index = 0;  ///< into `headings` or `blocks`
  int line = 0;
  std::size_t begin = 0, end = 0;  ///< of the heading with its section, or of the block
};
/// `Heading`, `A#B`, `^id`, each with or without a `#` in front, or a slug; the first match counts.
/// `target_not_found` with candidates.
Result<Anchor> find_anchor(const ParsedNote& note, std::size_t size, std::string_view text);

/// The 1-based line that holds the last byte before `end`, which stands at or after the beginning
/// of line `line` at `begin`.
int last_line_before(std::string_view bytes, std::size_t begin, int line, std::size_t end);

}  // namespace indx
