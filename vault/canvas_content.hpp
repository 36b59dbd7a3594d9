#pragma once
#include "vault/markdown.hpp"

#include <string>
#include <string_view>

namespace indx {

/// What the index needs from a canvas: the text that a search looks through (text cards and the
/// labels of groups and edges, one after the other) and the links of file nodes, of group
/// backgrounds and in text cards, all of kind Canvas. Line and column of a link are those of the
/// JSON text it stands in; its offsets count in `text`, and are 0 where the link is no part of it.
struct CanvasContent {
  std::string text;
  ParsedNote note;  ///< links and warnings only
};
/// Never fails: what is no canvas gives nothing and the warning `canvas_invalid`.
CanvasContent canvas_content(std::string_view bytes);

/// The link that a file of a node is, without a place; `subpath` as a node has it, with its `#`.
Link canvas_file_link(std::string_view path, std::string_view subpath);

/// Whether the path is that of a canvas.
bool is_canvas_path(std::string_view path);

}  // namespace indx
