#pragma once
#include "vault/section.hpp"

namespace indx {

/// Edits of sections (rule 6.5): the new bytes of the whole file. Everything outside of the edited
/// range stays, and JOIN (6.4) holds. Errors: those of find_heading, `not_utf8`,
/// `validation_failed`.
Result<std::string> insert_before_heading(std::string_view bytes, const HeadingAddress& heading,
                                          std::string_view markdown);
Result<std::string> insert_after_heading(std::string_view bytes, const HeadingAddress& heading,
                                         std::string_view markdown);
/// The blank lines next to the headings stay. With `keep_subsections` it stops at the first heading
/// below.
Result<std::string> replace_section(std::string_view bytes, const HeadingAddress& heading,
                                    std::string_view markdown, bool keep_subsections);
/// Last in the section, or with `keep_subsections` last before the first heading below.
Result<std::string> append_to_section(std::string_view bytes, const HeadingAddress& heading,
                                      std::string_view markdown, bool keep_subsections);
/// The heading goes too; with `keep_subsections` the headings below and their text stay.
Result<std::string> delete_section(std::string_view bytes, const HeadingAddress& heading,
                                   bool keep_subsections);

enum class SectionSide : std::uint8_t { Before, After };
/// A heading with its section goes to one side of another one; levels stay.
Result<std::string> move_section(std::string_view bytes, const HeadingAddress& heading,
                                 const HeadingAddress& target, SectionSide side);

/// A heading whose anchors (text or slug) an edit changed.
struct AnchorChange {
  std::string from, to;  ///< texts without block id
  std::string from_slug, to_slug;
  int line = 0;  ///< after the edit
  bool operator==(const AnchorChange&) const = default;
};
/// Between two versions of a note with the same headings in the same order.
std::vector<AnchorChange> changed_anchors(const ParsedNote& before, const ParsedNote& after);
struct HeadingRename {
  std::string bytes;
  Heading before, after;
  std::vector<AnchorChange> anchors;  ///< also those of repeated headings whose slugs moved
};
/// The text only: level, style, closing marks and block id stay. `to` may bring `#` marks of the
/// same level. `validation_failed` when `to` cannot be the text of a heading.
Result<HeadingRename> rename_heading(std::string_view bytes, const HeadingAddress& heading,
                                     std::string_view to);

}  // namespace indx
