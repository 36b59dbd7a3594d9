#pragma once
#include "base/json.hpp"
#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace indx {

enum class CanvasOpKind : std::uint8_t {
  AddNode,
  UpdateNode,
  RemoveNode,
  AddEdge,
  UpdateEdge,
  RemoveEdge
};

/// One step of a canvas patch.
struct CanvasOp {
  CanvasOpKind kind = CanvasOpKind::AddNode;
  std::string id = {};                  ///< update, remove
  Json object = Json::object();         ///< add: the whole node or edge; update: members to set
  std::vector<std::string> unset = {};  ///< update: members to remove
};

/// The canvas after all steps, in order, all or nothing. Objects that no step touches keep their
/// bytes, and so does all between them; of a changed object only the changed members are written
/// anew. Removing a node removes its edges. Errors, with details `op_index`: `parse_failed` and
/// `not_utf8` (see read_canvas), `target_not_found` (no such id), `conflict` (id taken),
/// `validation_failed` (a member that JSON Canvas 1.0 does not allow, an edge to a missing node).
Result<std::string> apply_canvas_ops(std::string_view bytes, const std::vector<CanvasOp>& ops);

/// A whole canvas as bytes. Without `before` one node a line, as the app writes it. With it, all
/// that is the same JSON value there keeps its bytes: an equal canvas all of them, nodes and edges
/// (found by id), other members of the root, and in a changed object each member that did not
/// change. Fails with `validation_failed` for repeated ids, edges to missing nodes and bad members;
/// with `parse_failed` when `before` cannot be read.
Result<std::string> write_canvas(const Json& canvas, const std::optional<std::string>& before);

}  // namespace indx
