#pragma once
#include "ops/notes/note_view.hpp"
#include "vault/canvas.hpp"

namespace indx {

/// A canvas with what is odd about it.
struct CanvasView {
  std::string path, etag;
  std::size_t size = 0;
  JsonObject canvas;
  struct Dangling {
    std::string id;
    std::vector<std::string> missing;
    static Fields<Dangling> fields();
  };
  std::vector<Dangling> dangling_edges;
  std::vector<std::string> warnings;
  static Fields<CanvasView> fields();
};

/// Fails as read_canvas does.
Result<CanvasView> view_canvas(const NoteFile& file);

/// The path of a canvas; other extensions are `validation_failed`.
Result<NotePath> canvas_path(const std::string& path);

/// What canvas_write and canvas_patch answer: the canvas as it is now, and what the write did.
struct CanvasWritten {
  CanvasView canvas;
  WriteView write;
};
Fields<CanvasWritten> canvas_written_fields();
Result<CanvasWritten> write_and_view(Context& ctx, const NoteChange& change);

}  // namespace indx
