#pragma once
#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

/// JSON Canvas 1.0 (vault-rules 9) with the place of everything in the source, so that an edit
/// touches only the bytes it is about. Offsets are bytes in the whole file.

struct CanvasSpan {
  std::size_t begin = 0, end = 0;
};

enum class CanvasValue : std::uint8_t { String, Number, Literal, Object, Array };

/// One `"key": value` of the root, of a node or of an edge.
struct CanvasMember {
  std::string key;
  CanvasValue type = CanvasValue::Literal;
  CanvasSpan key_span = {}, value = {};  ///< quotes and brackets included
  std::string text = {};                 ///< of a string, unescaped
};

/// A node or an edge.
struct CanvasItem {
  std::string id;  ///< empty: it has none, and cannot be addressed
  CanvasSpan span;
  std::vector<CanvasMember> members;
  const CanvasMember* find(std::string_view key) const;
  /// The text of a string member; empty when it is missing or no string.
  std::string_view text(std::string_view key) const;
};

struct CanvasFile {
  bool is_blank = false;  ///< no bytes, or white space only: an empty canvas (rule 9.3)
  CanvasSpan root;
  std::vector<CanvasMember> members;
  std::vector<CanvasItem> nodes, edges;
  std::optional<CanvasSpan> nodes_array, edges_array;
};

/// Fails with `parse_failed` (details line, column, offset) for broken JSON, a root that is no
/// object, `nodes` or `edges` that are no lists of objects, repeated keys and repeated ids; with
/// `not_utf8`. Linear in the size; nesting is bounded.
Result<CanvasFile> read_canvas(std::string_view bytes);
/// Reads one JSON object as read_canvas reads a node.
Result<CanvasItem> read_canvas_item(std::string_view bytes);
/// Where the items of a JSON list are.
Result<std::vector<CanvasSpan>> read_canvas_list(std::string_view bytes);

/// An edge whose ends are not all there.
struct DanglingEdge {
  std::string id;
  std::vector<std::string> missing;  ///< node ids
};
std::vector<DanglingEdge> dangling_edges(const CanvasFile& canvas);
/// What is odd but kept: `node_without_id`, `edge_without_id`, `node_type_unknown:<type>`.
std::vector<std::string> canvas_warnings(const CanvasFile& canvas);

struct CanvasStringEdit {
  CanvasSpan span;  ///< of a string value, quotes included
  std::string value;
};
/// The bytes with the string values at the given spans replaced; all others stay. The spans must
/// not overlap.
std::string replace_canvas_strings(std::string_view bytes, std::vector<CanvasStringEdit> edits);

}  // namespace indx
