#pragma once
#include "ops/ai/ai_result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace indx {

/// One line of a table of contents, with what stands behind it in the notes.
struct TocEntry {
  std::string title;      ///< plain text of one line
  int level = 0;          ///< in the tree, from 0; at most one more than that of the entry before
  bool is_group = false;  ///< of notes: a heading, where the others are items of lists
  std::string path, anchor;  ///< the note of an item; the slug of a heading. Empty: none
  std::string link;          ///< target and subpath of a wikilink that reaches it; empty: none does
  std::optional<AiCitation> evidence;  ///< the sentence that a description says again
  std::string description;             ///< empty: none
  static Fields<TocEntry> fields();
};
struct TocPlan {
  std::vector<TocEntry> entries;
  std::int64_t total_tokens = 0;  ///< of the notes that were read, estimated
  std::vector<Json> warnings;
  static Fields<TocPlan> fields();
};

struct TocNode {
  std::string title, path, anchor, description;  ///< empty ones are left out
  std::vector<TocNode> children;
};
std::vector<TocNode> toc_tree(const std::vector<TocEntry>& entries);

/// Levels of a tree that the schema tells: those of headings.
inline constexpr int kMaxTocLevels = 6;
/// Nested as deep as a table of contents goes: a schema for MCP hosts names no type of its own.
template <>
struct Codec<TocNode> {
  static SchemaNode schema();
  static void decode(const Json& json, TocNode& node);
  static std::optional<Json> encode(const TocNode& node);
};

enum class TocStyle : std::uint8_t {
  Compact,  ///< description behind its item
  Expanded  ///< description as a paragraph of its own
};
/// Markdown: groups are headings of level 2, below `title` as one of level 1 unless it is empty;
/// all else is nested lists. Whatever titles hold, each line is one item, its wikilink reaches what
/// `link` says, and it makes no other link, no tag and no markup.
std::string toc_markdown(const std::vector<TocEntry>& entries, const std::string& title,
                         TocStyle style);

/// What a reader sees of a heading or title: without block id, marks of emphasis and code, links as
/// their text, white space as single spaces. At most 300 bytes.
std::string plain_title(std::string_view text);

}  // namespace indx
