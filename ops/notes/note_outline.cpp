#include "ops/notes/note_view.hpp"
#include "ops/operations.hpp"

namespace indx {
namespace note_outline_op {

struct Input {
  std::string path;
};
struct Output {
  std::string path, etag, title;
  std::vector<HeadingView> outline;
};

Result<Output> run(Context& ctx, const Input& in) {
  const NotePath path = INDX_TRY(NotePath::parse(in.path));
  const NoteFile file = INDX_TRY(ctx.notes().read(path));
  NoteView view = view_note(ctx, file, {"outline"});
  return Output{view.path, view.etag, view.title,
                view.outline.value_or(std::vector<HeadingView>())};
}

}  // namespace note_outline_op

Operation note_outline() {
  using namespace note_outline_op;
  return define<Input, Output>({
      .name = "note_outline",
      .title = "List headings of a note",
      .summary = "List the headings of a note with level, line and anchor.",
      .guidance = "A cheap look at a long note before reading it. `note_read` with `include: "
                  "[\"outline\"]` gives the same.",
      .scopes = {Scope::VaultRead},
      .route = {"GET", "/v1/outline/{path}"},
      .cli = "note outline",
      .cli_positional = {"path"},
      .needs = Needs::Files,
      .is_idempotent = true,
      .input = {path_field(&Input::path)},
      .output = {field("path", &Output::path, "Vault-relative path."),
                 field("etag", &Output::etag, "Version of the note."),
                 field("title", &Output::title, "Title of the note."),
                 field("outline", &Output::outline, "Headings in order.")},
      .failures = {{Reason::NotFound, "No note has that path."},
                   {Reason::Forbidden, "The path is outside your globs."}},
      .handler = run,
  });
}

}  // namespace indx
