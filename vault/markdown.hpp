#pragma once
#include "vault/block_scanner.hpp"
#include "vault/frontmatter.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// Lines and columns are 1-based and count bytes in the whole file; offsets are bytes in the whole
/// file.
struct Heading {
  int level = 1;
  std::string text;  ///< raw source of the heading, without marks, closing `#`s
  std::string slug;  ///< lower-case, spaces to `-`, unique in the note (`-1`, `-2` … on repeats)
  int line = 0;
  std::size_t begin = 0;  ///< first byte of the heading's line
  std::size_t content =
      0;                ///< first byte after the heading (after the underline of a setext heading)
  bool nested = false;  ///< inside a list item or quote
  bool setext = false;
};

struct TagUse {
  std::string tag;                 ///< as written, without `#`
  int line = 0;                    ///< 0: from the `tags` property
  std::size_t begin = 0, end = 0;  ///< of the tag without `#`; 0,0 for a property tag
};

enum class LinkKind : std::uint8_t { Link, Embed, Property, Canvas };
enum class LinkSyntax : std::uint8_t { Wiki, Markdown, Path };  ///< Path: of a canvas node

struct Link {
  LinkKind kind = LinkKind::Link;
  LinkSyntax syntax = LinkSyntax::Wiki;
  std::string target;   ///< as written, decoded, without subpath
  std::string subpath;  ///< without the first `#`; empty if none
  std::optional<std::string> display;
  std::string key;  ///< property name when kind is Property
  bool external = false;
  int line = 0, column = 0;
  /// The whole construct in the file; nothing at the value's begin where a property spells it with
  /// escapes or over several lines.
  std::size_t begin = 0, end = 0;
  /// The target as written, without brackets and subpath, and the display text; equal: none.
  std::size_t target_begin = 0, target_end = 0, display_begin = 0, display_end = 0;
  std::size_t subpath_begin = 0, subpath_end = 0;  ///< the same, without the first `#`
};

struct Block {
  std::string id;  ///< without `^`
  int line = 0, end_line = 0;
  std::size_t begin = 0, end = 0;
  BlockKind kind = BlockKind::Paragraph;
  std::size_t text = 0;  ///< first byte behind the marks of the containers on its first line
  std::size_t mark = 0;  ///< of the `^`
};

struct Task {
  char status = ' ';  ///< `?` when the mark is no ASCII character
  std::string mark;   ///< the character between the brackets, as written
  std::string text;
  int line = 0;
  std::size_t begin = 0;  ///< of the mark
};

struct ParsedNote {
  Frontmatter frontmatter;
  std::string title;  ///< property `title` if a string, else first level-1 heading, else empty
  std::vector<std::string> aliases;
  std::vector<Heading> headings;
  std::vector<TagUse> tags;  ///< property tags first, then inline in order of offset
  std::vector<Link> links;
  std::vector<Block> blocks;
  std::vector<Block> duplicate_blocks;  ///< whose id an earlier block has
  std::vector<Task> tasks;
  std::vector<std::string> warnings;  ///< codes such as `tag_invalid`, `parsed_as_plain_text`
};

struct ParseOptions {
  bool legacy_properties = false;
};

/// Everything the index needs from one note. Never fails: hostile or invalid input gives fewer
/// items and a warning. Time is linear in the size (input guards of platform.md 5). Bytes that are
/// no UTF-8 are read as U+FFFD.
ParsedNote parse_note(std::string_view bytes, const ParseOptions& options = {});

/// Links in a text that is no part of a body, such as a property value; offsets count in `text`.
std::vector<Link> links_in_text(std::string_view text);

/// Rule 4.2 to 4.4 for a tag without `#`.
bool is_valid_tag(std::string_view tag);
/// Byte ranges [begin, end) of the body that are code, math or HTML comments, in order: no tag or
/// link counts there.
std::vector<std::pair<std::size_t, std::size_t>> masked_ranges(std::string_view bytes);

}  // namespace indx
