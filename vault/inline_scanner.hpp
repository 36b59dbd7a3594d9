#pragma once
#include "vault/block_scanner.hpp"
#include "vault/markdown.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace indx {

/// Internal to `vault/`: tags, links and masked ranges in the text of one leaf block.
struct InlineResult {
  std::vector<TagUse> tags;
  std::vector<Link> links;
  std::vector<std::pair<std::size_t, std::size_t>> masked;  ///< code spans, math and HTML comments
};

enum class InlineMode : std::uint8_t {
  Markdown,
  Html,  ///< inside an HTML block: links and comments only, since no Markdown counts there
};

/// Scans the lines of a leaf in time linear in their length and appends what it finds.
void scan_inline(std::string_view bytes, const std::vector<BlockLine>& lines, InlineMode mode,
                 InlineResult& result);
/// The link of a reference definition.
void scan_definition(std::string_view bytes, const std::vector<BlockLine>& lines,
                     InlineResult& result);

}  // namespace indx
