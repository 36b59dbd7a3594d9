#pragma once
#include "vault/markdown.hpp"

#include <string_view>

namespace indx {

/// Internal to `vault/`: links as they are written (rule 5.1).

/// The parts of a link as written: views into the text that was scanned.
struct WrittenLink {
  std::string_view target, display, subpath;
};

/// Target, subpath and display of `[[content]]`; false if it is no link.
bool parse_wikilink(std::string_view content, Link& link, WrittenLink& written);
/// Fills target and subpath from a Markdown destination as written; false when there is nothing to
/// link to.
bool parse_destination(std::string_view destination, Link& link);

}  // namespace indx
