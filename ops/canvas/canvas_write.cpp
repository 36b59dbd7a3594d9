#include "ops/canvas/canvas_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace canvas_write_op {

struct Input {
  std::string path;
  JsonObject canvas;
  std::string if_match, expected_sha256;
  bool if_not_exists = false, dry_run = false;
};

Result<CanvasWritten> run(Context& ctx, const Input& in) {
  NoteChange change = change_of(NoteChange::Kind::CanvasWrite, INDX_TRY(canvas_path(in.path)));
  change.canvas = in.canvas.value;
  guard(change, in);
  change.if_not_exists = in.if_not_exists;
  return write_and_view(ctx, change);
}

}  // namespace canvas_write_op

Operation canvas_write() {
  using namespace canvas_write_op;
  return define<Input, CanvasWritten>({
      .name = "canvas_write",
      .title = "Write a whole canvas",
      .summary = "Create a canvas, or replace a whole one.",
      .guidance = "For a change of some nodes or edges use canvas_patch, which leaves the rest "
                  "byte for byte. Ids must be unique and edges must reach nodes.",
      .scopes = {Scope::VaultWrite},
      .route = {"PUT", "/v1/canvas/{path}"},
      .cli = "canvas create",
      .cli_positional = {"path"},
      .example = "boards/Plan.canvas --canvas '{\"nodes\":[],\"edges\":[]}'",
      .effect = Effect::Writes,
      .is_idempotent = true,
      .input = {path_field(&Input::path),
                field("canvas", &Input::canvas, "The whole canvas by JSON Canvas 1.0."),
                if_match_field(&Input::if_match),
                field("expected_sha256", &Input::expected_sha256,
                      "SHA-256 that the file must still have.", optional, length(0, 64)),
                field("if_not_exists", &Input::if_not_exists,
                      "Create only: an existing canvas is a conflict.", optional),
                field("dry_run", &Input::dry_run, "Only show what would change.", optional)},
      .output = canvas_written_fields(),
      .failures = {{Reason::ValidationFailed, "The canvas breaks the format; details say where."},
                   {Reason::Conflict, "The canvas exists already (`if_not_exists`)."},
                   {Reason::EtagMismatch, "The canvas is no longer at `if_match`."},
                   {Reason::ParseFailed, "The present file is no JSON Canvas and is left alone."},
                   {Reason::NotUtf8, "The present file is not UTF-8 text."},
                   {Reason::Forbidden, "The path is outside your globs, or hidden from indx."}},
      .handler = run,
  });
}

}  // namespace indx
