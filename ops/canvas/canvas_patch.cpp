#include "base/text.hpp"
#include "ops/canvas/canvas_view.hpp"
#include "ops/operations.hpp"
#include "ops/step_field.hpp"

#include <algorithm>
#include <array>

namespace indx {
namespace canvas_patch_op {

/// One step, flat: which fields count depends on `op`.
struct Step {
  std::string op;
  std::optional<std::string> id;
  std::optional<JsonObject> node, edge, set;
  std::optional<std::vector<std::string>> unset;
  static Fields<Step> fields();
};
struct Input {
  std::string path;
  std::vector<Step> ops;
  std::string if_match, expected_sha256;
  bool dry_run = false;
};

struct OpRow {
  std::string_view name;
  CanvasOpKind kind;
  bool takes_id, takes_node, takes_edge, takes_set;
};
constexpr std::array kCanvasOps = {
    OpRow{"add_node", CanvasOpKind::AddNode, false, true, false, false},
    OpRow{"update_node", CanvasOpKind::UpdateNode, true, false, false, true},
    OpRow{"remove_node", CanvasOpKind::RemoveNode, true, false, false, false},
    OpRow{"add_edge", CanvasOpKind::AddEdge, false, false, true, false},
    OpRow{"update_edge", CanvasOpKind::UpdateEdge, true, false, false, true},
    OpRow{"remove_edge", CanvasOpKind::RemoveEdge, true, false, false, false}};

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const auto& row : kCanvasOps) names.emplace_back(row.name);
  return names;
}

Fields<Step> Step::fields() {
  return {field("op", &Step::op, "What to do.", one_of(op_names())),
          field("id", &Step::id, "update_*, remove_*: id of the node or edge.", length(1, 1024)),
          field("node", &Step::node,
                "add_node: the node, with id, type, x, y, width, height and what its type needs."),
          field("edge", &Step::edge, "add_edge: the edge, with id, fromNode and toNode."),
          field("set", &Step::set, "update_*: members to set; all others stay as they are."),
          field("unset", &Step::unset, "update_*: names of members to remove.")};
}

/// Refuses a step that lacks a field of its op, or has one of another.
Result<CanvasOp> to_canvas_op(const Step& step, std::size_t index) {
  const auto row = std::find_if(kCanvasOps.begin(), kCanvasOps.end(),
                                [&](const OpRow& r) { return r.name == step.op; });
  INDX_ASSERT(row != kCanvasOps.end());  // the schema allows no other name
  const auto check = [&](const char* name, bool given, bool wanted) -> Status {
    if (given == wanted) return {};
    return wrong_step_field(index, name, wanted ? "is required by" : "means nothing to", step.op,
                            given);
  };
  INDX_TRY(check("id", step.id.has_value(), row->takes_id));
  INDX_TRY(check("node", step.node.has_value(), row->takes_node));
  INDX_TRY(check("edge", step.edge.has_value(), row->takes_edge));
  const bool has_unset = step.unset && !step.unset->empty();
  INDX_TRY(check("set", step.set.has_value() || (row->takes_set && has_unset), row->takes_set));
  if (!row->takes_set) INDX_TRY(check("unset", has_unset, false));
  CanvasOp op{row->kind, step.id.value_or(""), Json::object(),
              step.unset.value_or(std::vector<std::string>())};
  for (const auto* object : {&step.node, &step.edge, &step.set})
    if (object->has_value()) op.object = (*object)->value;
  return op;
}

Result<CanvasWritten> run(Context& ctx, const Input& in) {
  NoteChange change = change_of(NoteChange::Kind::CanvasPatch, INDX_TRY(canvas_path(in.path)));
  for (std::size_t i = 0; i < in.ops.size(); ++i)
    change.canvas_ops.push_back(INDX_TRY(to_canvas_op(in.ops[i], i)));
  guard(change, in);
  return write_and_view(ctx, change);
}

}  // namespace canvas_patch_op

Operation canvas_patch() {
  using namespace canvas_patch_op;
  return define<Input, CanvasWritten>({
      .name = "canvas_patch",
      .title = "Edit a canvas",
      .summary = "Add, change and remove nodes and edges of a canvas; everything else in it stays "
                 "byte for byte.",
      .guidance = "Steps run in order, all or nothing. Removing a node removes its edges. Give "
                  "`if_match`. For a new or whole canvas use canvas_write.",
      .scopes = {Scope::VaultWrite},
      .route = {"PATCH", "/v1/canvas/{path}"},
      .cli = "canvas patch",
      .cli_positional = {"path"},
      .example = "boards/Plan.canvas --ops '[{\"op\":\"remove_node\",\"id\":\"a1\"}]'",
      .effect = Effect::Writes,
      .input = {path_field(&Input::path),
                field("ops", &Input::ops, "The steps, in order.", length(1, 1000)),
                if_match_field(&Input::if_match),
                field("expected_sha256", &Input::expected_sha256,
                      "SHA-256 that the file must still have.", optional, length(0, 64)),
                field("dry_run", &Input::dry_run, "Only show what would change.", optional)},
      .output = canvas_written_fields(),
      .failures = {{Reason::NotFound, "No canvas has that path."},
                   {Reason::ValidationFailed,
                    "A step breaks the format; details hold the op_index."},
                   {Reason::TargetNotFound, "No node or edge has that id; details hold op_index."},
                   {Reason::Conflict, "The id of an added node or edge is taken."},
                   {Reason::EtagMismatch, "The canvas is no longer at `if_match`."},
                   {Reason::ParseFailed, "The file is no JSON Canvas and is left alone."},
                   {Reason::NotUtf8, "The file is not UTF-8 text."},
                   {Reason::Forbidden, "The path is outside your globs, or hidden from indx."}},
      .handler = run,
  });
}

}  // namespace indx
