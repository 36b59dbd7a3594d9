#include "ops/canvas/canvas_view.hpp"

#include "base/text.hpp"

namespace indx {

Fields<CanvasView::Dangling> CanvasView::Dangling::fields() {
  return {field("id", &Dangling::id, "The edge."),
          field("missing", &Dangling::missing, "Ids that no node has.")};
}

Fields<CanvasView> CanvasView::fields() {
  return {
      field("path", &CanvasView::path, "Vault-relative path."),
      field("etag", &CanvasView::etag,
            "Version of these bytes; give it as `if_match` when writing."),
      field("size", &CanvasView::size, "Bytes on disk."),
      field("canvas", &CanvasView::canvas,
            "JSON Canvas 1.0: `nodes` and `edges`, and whatever else the file holds. List order is "
            "z order, the first at the bottom."),
      field("dangling_edges", &CanvasView::dangling_edges, "Edges to nodes that are not there."),
      field("warnings", &CanvasView::warnings, "Codes of what was odd in the file.")};
}

Result<CanvasView> view_canvas(const NoteFile& file) {
  const CanvasFile canvas = INDX_TRY(read_canvas(file.bytes));
  CanvasView view;
  view.path = file.path.str();
  view.etag = file.etag;
  view.size = file.size;
  if (!canvas.is_blank) {
    view.canvas.value = Json::parse(file.bytes, nullptr, false);
    if (view.canvas.value.is_discarded())
      return make_error(Reason::ParseFailed, "The canvas holds a number that is out of range.",
                        {{"path", view.path}});
  }
  for (const auto* key : {"nodes", "edges"})
    if (!view.canvas.value.contains(key)) view.canvas.value[key] = Json::array();
  for (auto& edge : dangling_edges(canvas))
    view.dangling_edges.push_back({std::move(edge.id), std::move(edge.missing)});
  view.warnings = canvas_warnings(canvas);
  return view;
}

Result<NotePath> canvas_path(const std::string& path) {
  auto parsed = INDX_TRY(NotePath::parse(path));
  if (!parsed.str().ends_with(".canvas"))
    return invalid(cat("`", parsed.str(), "` is no canvas; its name must end in `.canvas`."),
                   {{"path", "path"}});
  return parsed;
}

Fields<CanvasWritten> canvas_written_fields() {
  Fields<CanvasWritten> fields;
  const auto lift = [&]<typename Part>(Part CanvasWritten::*part, const Fields<Part>& list) {
    for (const auto& f : list) {
      const bool is_taken = std::any_of(fields.begin(), fields.end(), [&](const auto& other) {
        return std::string_view(other.name) == f.name;
      });
      if (is_taken) continue;
      fields.push_back(
          {f.name, f.is_list, f.property,
           [f, part](const Json& json, CanvasWritten& out) { f.decode(json, out.*part); },
           [f, part](const CanvasWritten& out) { return f.encode(out.*part); }});
    }
  };
  lift(&CanvasWritten::canvas, CanvasView::fields());
  lift(&CanvasWritten::write, WriteView::fields());
  return fields;
}

Result<CanvasWritten> write_and_view(Context& ctx, const NoteChange& change) {
  std::optional<NoteFile> imagined;
  if (change.dry_run) {  // the bytes after a dry run exist nowhere, so they are made here
    std::optional<std::string> before;
    auto file = ctx.notes().read(change.path);
    if (file.has_value())
      before = file->bytes;
    else if (file.error().reason != Reason::NotFound)
      return file.error();
    const auto after = INDX_TRY(apply_change(change, before));
    imagined = NoteFile{change.path, after.value_or(""), "", {}, after.value_or("").size()};
  }
  const WriteOutcome outcome = INDX_TRY(ctx.notes().write(change));
  NoteFile file = imagined ? std::move(*imagined) : INDX_TRY(ctx.notes().read(outcome.path));
  if (change.dry_run) file.etag = outcome.etag;
  CanvasWritten written{INDX_TRY(view_canvas(file)), view_write(outcome, change.dry_run)};
  written.canvas.warnings.insert(written.canvas.warnings.end(), outcome.warnings.begin(),
                                 outcome.warnings.end());
  return written;
}

}  // namespace indx
