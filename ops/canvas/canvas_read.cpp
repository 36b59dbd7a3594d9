#include "ops/canvas/canvas_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace canvas_read_op {

struct Input {
  std::string path;
};

Result<CanvasView> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(canvas_path(in.path));
  return view_canvas(INDX_TRY(ctx.notes().read(path)));
}

}  // namespace canvas_read_op

Operation canvas_read() {
  using namespace canvas_read_op;
  return define<Input, CanvasView>({
      .name = "canvas_read",
      .title = "Read a canvas",
      .summary = "Read a canvas: its nodes, its edges, and what is odd about it.",
      .guidance = "Use the ids of the answer in canvas_patch, and its etag as `if_match`.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/canvas/{path}"},
      .cli = "canvas get",
      .cli_positional = {"path"},
      .example = "boards/Plan.canvas",
      .needs = Needs::Files,
      .is_idempotent = true,
      .input = {path_field(&Input::path)},
      .output = CanvasView::fields(),
      .failures = {{Reason::NotFound, "No canvas has that path."},
                   {Reason::ParseFailed, "The file is no JSON Canvas; details say where."},
                   {Reason::NotUtf8, "The file is not UTF-8 text."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
