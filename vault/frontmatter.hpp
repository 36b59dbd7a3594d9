#pragma once
#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

struct FrontmatterError {
  int line = 0, column = 0;  ///< 1-based, in the file
  std::string message;
};

/// A text among the property values that may hold a link. Offsets are bytes in the whole file.
struct PropertyText {
  std::string text;                ///< as it reads, unescaped
  std::size_t begin = 0, end = 0;  ///< its source, quotes and block scalar header included
};

/// The property block of a note (vault-rules 3). Offsets are bytes in the whole file.
struct Frontmatter {
  bool exists = false;            ///< both fences are there
  std::size_t begin = 0;          ///< of the opening fence (after a BOM)
  std::size_t content_begin = 0;  ///< first byte after the opening fence's line
  std::size_t content_end = 0;    ///< first byte of the closing fence
  std::size_t body_begin =
      0;  ///< first byte of the body: after the closing fence's line, or after the BOM
  Json values = Json::object();  ///< YAML 1.2 core types, in file order; dates stay strings
  std::optional<FrontmatterError> error;  ///< invalid YAML: `values` is empty
  std::vector<PropertyText> link_texts;   ///< keys are none of them; in order of place
};

/// Whether a property's text may hold a wikilink or a Markdown link.
bool is_link_text(std::string_view text);

Frontmatter parse_frontmatter(std::string_view bytes);

/// A whole mapping as block-style YAML lines in the spelling of rule 3.9, for `note_write`; ends in
/// a line end.
std::string render_frontmatter(const Json& values, std::string_view line_end);

/// Whether the values may be written: keys without control characters, finite numbers, UTF-8,
/// bounded depth.
Status check_frontmatter(const Json& values);

/// Rules 3.9 and 3.10: the new bytes of the whole file; everything outside the edit stays. Fails
/// with `parse_failed` (invalid block, or a value that cannot be edited safely), `not_utf8`,
/// `validation_failed` (bad key).
Result<std::string> set_frontmatter(std::string_view bytes, std::string_view key,
                                    const Json& value);
Result<std::string> delete_frontmatter(std::string_view bytes, std::string_view key);

/// Property lookup without regard to case (rule 3.5); nullptr if missing.
const Json* find_property(const Json& values, std::string_view name);
/// Tags of the `tags` property by rules 3.7 and 4.8, without `#`; items that are no tags go to
/// `*invalid`.
std::vector<std::string> property_tags(const Json& values, bool legacy,
                                       std::vector<std::string>* invalid = nullptr);
std::vector<std::string> property_aliases(const Json& values, bool legacy);

}  // namespace indx
